"""The programs of JAX; skipped without JAX."""
import pytest

import shoal

jax = pytest.importorskip("jax")
import jax.numpy as jnp  # noqa: E402
import numpy  # noqa: E402

import shoal.jax  # noqa: E402


def f(x, y):
    return jnp.tanh(x @ y).sum(axis=0)


def arguments():
    generator = numpy.random.default_rng(0)
    return generator.standard_normal((8, 4), numpy.float32), generator.standard_normal((4, 16), numpy.float32)


def test_compiled_and_lowered_run_as_in_jax():
    x, y = arguments()
    compiled = shoal.load(jax.jit(f).lower(x, y).compile())
    assert numpy.allclose(compiled.compile()(x, y).numpy(), f(x, y), rtol=1e-5)
    assert numpy.allclose(compiled.compile()(jnp.asarray(x), jnp.asarray(y)).numpy(), f(x, y), rtol=1e-5)


def test_capture_and_explain(tmp_path):
    x, y = arguments()
    with shoal.jax.capture() as captured:
        jax.jit(lambda a, b: f(a, b) * 3)(x, y)
    assert len(captured) >= 1 and "flops" in captured.summary()
    captured.report(tmp_path / "page.html")
    assert shoal.jax.explain(f)(x, y).stats()["flops"] > 0
