"""Programs in the style of JAX's users. Run by run.py with one version of JAX: writes to FOLDER, for each program, the
HLO before and after optimization as text and protobuf, and the inputs and outputs of a run."""
import pathlib
import sys

import numpy as np
import jax
import jax.numpy as jnp


def mlp_loss(params, x, y):
    h = x
    for w, b in params[:-1]:
        h = jax.nn.gelu(h @ w + b)
    w, b = params[-1]
    return -jnp.mean(jnp.sum(jax.nn.log_softmax(h @ w + b) * y, axis=-1))


def mlp_train(params, x, y):
    loss, grads = jax.value_and_grad(mlp_loss)(params, x, y)
    return loss, jax.tree_util.tree_map(lambda p, g: p - 0.1 * g, params, grads)


def attention(q, k, v):
    scores = jnp.einsum("bhqd,bhkd->bhqk", q, k) / np.sqrt(q.shape[-1])
    mask = jnp.tril(jnp.ones(scores.shape[-2:], bool))
    return jnp.einsum("bhqk,bhkd->bhqd", jax.nn.softmax(jnp.where(mask, scores, -1e9)), v)


def convnet(x, k1, k2):
    x = jax.nn.relu(jax.lax.conv_general_dilated(x, k1, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")))
    x = jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")
    x = jax.lax.conv_general_dilated(x, k2, (2, 2), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
    return x.mean(axis=(1, 2))


def linalg(a, b):
    spd = a @ a.T + 3 * jnp.eye(a.shape[0])
    q, r = jnp.linalg.qr(a)
    return (jnp.linalg.cholesky(spd), jnp.linalg.solve(spd, b), jnp.abs(q), jnp.abs(r), jnp.linalg.eigh(spd)[0],
            jnp.linalg.svd(a, compute_uv=False), jnp.linalg.det(spd), jnp.linalg.inv(spd))


def spectra(x):
    return jnp.abs(jnp.fft.fft(x)), jnp.fft.irfft(jnp.fft.rfft(x)), jnp.abs(jnp.fft.fft2(x))


def scan_rnn(w, u, xs):
    def step(h, x):
        h = jnp.tanh(w @ h + u @ x)
        return h, h.sum()
    return jax.lax.scan(step, jnp.zeros(w.shape[0]), xs)


def indexing(x, i, updates):
    return x[i], x.at[i].add(updates), jnp.take_along_axis(x, jnp.argsort(x, axis=1), axis=1), jnp.cumsum(x, axis=0)


def randoms(key):
    return jax.random.normal(key, (4, 5)), jax.random.randint(key, (6,), 0, 100), jax.random.permutation(key, 8)


def while_loop(x):
    return jax.lax.while_loop(lambda s: s[1] < 20, lambda s: (s[0] * 1.1 + 0.1, s[1] + 1), (x, 0))


def topk_sort(x):
    return tuple(jax.lax.top_k(x, 3)) + (jnp.sort(x, axis=0), jnp.argmax(x, axis=1))


def programs():
    rng = np.random.default_rng(0)
    f = lambda *shape: rng.standard_normal(shape).astype(np.float32)
    params = [(f(8, 16) * 0.3, f(16) * 0.1), (f(16, 16) * 0.3, f(16) * 0.1), (f(16, 4) * 0.3, f(4) * 0.1)]
    one_hot = np.eye(4, dtype=np.float32)[rng.integers(0, 4, 10)]
    yield mlp_train, (params, f(10, 8), one_hot)
    yield attention, (f(2, 2, 6, 4), f(2, 2, 6, 4), f(2, 2, 6, 4))
    yield convnet, (f(2, 8, 8, 3), f(3, 3, 3, 5), f(3, 3, 5, 6))
    yield linalg, (f(6, 6), f(6, 2))
    yield spectra, (f(4, 8),)
    yield scan_rnn, (f(5, 5) * 0.3, f(5, 3), f(7, 3))
    yield indexing, (f(6, 4), np.array([1, 5, 1], np.int32), f(3, 4))
    yield randoms, (np.array([1, 2], np.uint32),)
    yield while_loop, (np.float32(0.5),)
    yield topk_sort, (f(5, 7),)
    yield llama_train, (f(2, 6, 16), *(f(16, 16) * 0.2 for _ in range(4)), f(16, 32) * 0.2, f(32, 16) * 0.2, f(16, 32) * 0.2, f(16))
    yield bfloat16_mlp, (f(4, 8), f(8, 16), f(16, 4))
    yield adam, (f(6), f(6), f(6) * 0.1, np.abs(f(6)), np.float32(3))


def llama_block(x, wq, wk, wv, wo, w1, w2, w3, scale):
    b, t, c = x.shape
    heads, size = 4, c // 4
    norm = lambda h: h * jax.lax.rsqrt(jnp.mean(h * h, -1, keepdims=True) + 1e-6) * scale
    angles = jnp.arange(t)[:, None] * 10000.0 ** (-jnp.arange(0, size, 2) / size)
    def rope(h):
        a, b = h[..., ::2], h[..., 1::2]
        return jnp.concatenate([a * jnp.cos(angles) - b * jnp.sin(angles), a * jnp.sin(angles) + b * jnp.cos(angles)], -1)
    split = lambda h: h.reshape(b, t, heads, size).swapaxes(1, 2)
    h = norm(x)
    x = x + attention(rope(split(h @ wq)), rope(split(h @ wk)), split(h @ wv)).swapaxes(1, 2).reshape(b, t, c) @ wo
    h = norm(x)
    return x + (jax.nn.silu(h @ w1) * (h @ w3)) @ w2


def llama_train(x, *weights):
    loss, grads = jax.value_and_grad(lambda *w: jnp.mean(llama_block(x, *w) ** 2), argnums=tuple(range(len(weights))))(*weights)
    return loss, [w - 0.1 * g for w, g in zip(weights, grads)]


def bfloat16_mlp(x, w1, w2):
    h = jax.nn.relu(x.astype(jnp.bfloat16) @ w1.astype(jnp.bfloat16))
    return (h @ w2.astype(jnp.bfloat16)).astype(jnp.float32)


def adam(p, g, m, v, step):
    m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g * g
    return p - 1e-3 * (m / (1 - 0.9 ** step)) / (jnp.sqrt(v / (1 - 0.999 ** step)) + 1e-8), m, v


def write(stem, lowered, compiled):
    """Writes STEM.before.hlo, STEM.after.hlo and their protobufs."""
    before, after = lowered.compiler_ir("hlo"), compiled.runtime_executable().hlo_modules()[0]
    for stage, module, text in (("before", before, before.as_hlo_text()), ("after", after, after.to_string())):
        stem.with_name(f"{stem.name}.{stage}.hlo").write_text(text)
        stem.with_name(f"{stem.name}.{stage}.hlo.pb").write_bytes(module.as_serialized_hlo_module_proto())


def main(folder):
    folder.mkdir(parents=True, exist_ok=True)
    for function, arguments in programs():
        name = function.__name__
        try:
            lowered = jax.jit(function).lower(*arguments)
            write(folder / name, lowered, lowered.compile())
            outputs = jax.jit(function)(*arguments)
        except Exception as error:  # an old version may lack something
            print(f"{name}: not produced: {str(error).splitlines()[0]}")
            continue
        np.savez(folder / f"{name}.inputs.npz", *[np.asarray(x) for x in jax.tree_util.tree_leaves(arguments)])
        np.savez(folder / f"{name}.outputs.npz", *[np.asarray(x) for x in jax.tree_util.tree_leaves(outputs)])


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
