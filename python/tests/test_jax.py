"""The programs of JAX; skipped without JAX."""
import importlib.util
import os
import pathlib
import subprocess
import sys

import pytest

import shoal

jax = pytest.importorskip("jax")
import jax.numpy as jnp  # noqa: E402
import numpy  # noqa: E402

import shoal.jax  # noqa: E402


def f(x, y):
    return jnp.tanh(x @ y).sum(axis=0)


def attention(x, w):
    q, k, v = jnp.split(x @ w, 3, axis=-1)
    return jax.nn.softmax(q @ k.T / 2) @ v


def scanned(x, w):
    def layer(carry, one):
        return jnp.sin(carry @ one), carry.sum()
    return jax.lax.scan(layer, x, jnp.stack([w[:4, :4]] * 3))


def branches(x, w):
    return jax.lax.cond(x[0, 0] > 0, lambda: jnp.sort(x, axis=1), lambda: jnp.cumsum(x, axis=0)), jnp.argmax(w)


def bits(x, w):
    return (x * 10).astype(jnp.int8), x.astype(jnp.bfloat16) * 3, x > 0, jnp.fft.fft(x[0]), w[::-1, ::2]


def gradient(x, w):
    return jax.grad(lambda w: (jnp.tanh(x @ w) ** 2).mean())(w)


def arguments():
    generator = numpy.random.default_rng(0)
    return generator.standard_normal((8, 4), numpy.float32), generator.standard_normal((4, 12), numpy.float32)


def agree(found, expected):
    leaves = jax.tree.leaves(expected)
    found = found if isinstance(found, list) else [found]
    assert len(found) == len(leaves)
    for one, leaf in zip(found, leaves):
        array, leaf = one.numpy(), numpy.asarray(leaf)
        assert array.dtype == leaf.dtype and array.shape == leaf.shape
        numpy.testing.assert_allclose(array.astype(numpy.complex128), leaf.astype(numpy.complex128), rtol=2e-5, atol=1e-5)


@pytest.mark.parametrize("function", [f, attention, scanned, branches, bits, gradient], ids=lambda one: one.__name__)
def test_every_stage_runs_as_in_jax(function, tmp_path):
    x, w = arguments()
    expected = function(x, w)
    lowered = jax.jit(function).lower(x, w)
    exported = jax.export.export(jax.jit(function))(x, w)
    (tmp_path / "program.mlir").write_text(lowered.as_text())
    sources = [lowered, lowered.compile(), exported, lowered.as_text(), tmp_path / "program.mlir", lowered.compiler_ir()]
    if importlib.util.find_spec("flatbuffers"):  # which JAX needs to write files
        (tmp_path / "program.export").write_bytes(exported.serialize())
        sources += [bytes(exported.serialize()), tmp_path / "program.export"]
    for source in sources:
        compiled = shoal.load(source).compile()
        assert compiled.engine == "jit"
        agree(compiled(x, w), expected)
        agree(compiled(jnp.asarray(x), jnp.asarray(w)), expected)


def test_instructions_know_their_source():
    x, w = arguments()
    module = shoal.load(jax.jit(attention).lower(x, w))
    sources = {hlo.source for hlo in module.find("opcode:dot")}
    assert sources and all("test_jax.py:" in source for source in sources)
    assert any("attention" in function for hlo in module.find("opcode:dot") for _, _, function in hlo.source_stack)


def test_capture(tmp_path):
    x, w = arguments()

    def unique(a, b):
        return f(a, b) * 3

    with shoal.jax.capture() as captured:
        jax.jit(unique)(x, w)
    program = captured["jit_unique"]
    assert program.compile_seconds > 0 and program.module.compile()(x, w).shape == (12,)
    assert [str(shape) for shape in program.module.parameter_shapes] == ["f32[8,4]{1,0}", "f32[4,12]{1,0}"]
    assert program.source.startswith("test_jax.py:") and program.shardings in ([], ["{replicated}"] * 2)
    assert f"jit_unique ({program.source}): 1 device, " in captured.summary(on="h100") and captured.largest() is program
    page = captured.report(tmp_path / "page.html", on="h100")
    assert "jit_unique" in pathlib.Path(page).read_text()
    with pytest.raises(KeyError, match="jit_unique"):
        captured["nothing"]

    @shoal.jax.capture()
    def decorated():
        return jax.jit(lambda a: a * 5)(x)

    assert decorated().shape == (8, 4)


def test_capture_ends_after_an_exception():
    with pytest.raises(ZeroDivisionError), shoal.jax.capture() as captured:
        1 / 0  # noqa: B018
    jax.jit(lambda a: a * 7)(1.0)
    assert len(captured) == 0
    with pytest.raises(ValueError, match="no program"):
        captured.report("page.html")


def test_explain(capsys):
    x, w = arguments()
    module = shoal.jax.explain(f)(x, w, on="h100")
    assert module.stats()["flops"] > 0 and "h100" in capsys.readouterr().out


def test_sharded_programs():
    """Two devices in another process, because the number of devices cannot change in this one."""
    code = """
import jax, numpy, shoal.jax
from jax.sharding import NamedSharding, PartitionSpec as P
mesh = jax.make_mesh((2, 2), ("data", "model"))
place = lambda *spec: NamedSharding(mesh, P(*spec))
x, w = numpy.ones((8, 4), numpy.float32), numpy.ones((4, 6), numpy.float32)
lowered = jax.jit(lambda x, w: x @ w, in_shardings=(place("data", "model"), place("model", None)),
                  out_shardings=place("data", None)).lower(x, w)
for source in (lowered, lowered.compile()):
    module = shoal.load(source)
    assert module.devices == 4 or module.num_partitions == 4, module
with shoal.jax.capture() as captured:
    jax.jit(lambda x: x * 2, in_shardings=place("data"))(x)
assert captured.largest().shardings == ["{devices=[2,1,2]<=[4] last_tile_dim_replicate}"], captured.largest().shardings
module = shoal.load(lowered.compile())
assert [row.kind for row in module.comm().collectives] == ["all-reduce"]
run = module.run(devices=[[x[4 * i:4 * i + 4, 2 * j:2 * j + 2], w[2 * j:2 * j + 2]] for i in range(2) for j in range(2)])
assert all((run.device(n)[0].numpy() == 4).all() for n in range(4))
print("good")
"""
    environment = {**os.environ, "XLA_FLAGS": "--xla_force_host_platform_device_count=4", "JAX_PLATFORMS": "cpu"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, env=environment)
    assert done.stdout == "good\n", done.stderr[-3000:]


def test_traced_and_functions():
    traced = jax.jit(f).trace(jnp.ones((4, 4)), jnp.ones((4, 4)))
    assert shoal.load(traced).fingerprint() == shoal.load(traced.lower()).fingerprint()
    with pytest.raises(shoal.Error, match=r"load\(f.lower\(\*args\)\)"):
        shoal.load(jax.jit(f))
