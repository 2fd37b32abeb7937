"""Dots, convolutions, data movement, sorts and factorisations for run_vs_xla.py: name -> (function, arguments)."""


def patterns(jax, jnp, np, ml_dtypes):
    r = np.random.default_rng(1)
    lax = jax.lax
    bf16 = ml_dtypes.bfloat16

    def f(*dims, dtype=np.float32):
        return r.standard_normal(dims).astype(dtype)

    def ints(most, *dims, dtype=np.int32):
        return r.integers(0, most, dims).astype(dtype)

    def conv(dims=("NHWC", "HWIO", "NHWC"), strides=(1, 1), pad="SAME", **more):
        return lambda x, w: lax.conv_general_dilated(x, w, strides, pad, dimension_numbers=dims, **more)

    def grad(function, argument):
        return jax.grad(lambda *args: (function(*args) ** 2).sum(), argument)

    def positive(n, batch):
        a = f(batch, n, n)
        return a @ a.transpose(0, 2, 1) + n * np.eye(n, dtype=np.float32)

    def update_loop(x, u):
        body = lambda i, x: lax.dynamic_update_slice(x, lax.dynamic_slice(x, (i, 0), (1, x.shape[1])) * 0.5 + u, (i, 0))
        return lax.fori_loop(0, x.shape[0], body, x)

    return {
        "dot_nt": (lambda a, b: a @ b.T, [f(768, 1024), f(900, 1024)]),
        "dot_tn": (lambda a, b: a.T @ b, [f(1024, 768), f(1024, 900)]),
        "dot_odd": (lambda a, b: a @ b, [f(333, 777), f(777, 555)]),
        "dot_deep": (lambda a, b: a.T @ b, [f(65536, 64), f(65536, 48)]),
        "dot_s8": (lambda a, b: lax.dot(a, b, preferred_element_type=np.int32), [ints(100, 512, 512, dtype=np.int8)] * 2),
        "dot_s32": (lambda a, b: lax.dot(a, b), [ints(100, 384, 384)] * 2),
        "dot_f16": (lambda a, b: a @ b, [f(512, 512, dtype=np.float16), f(512, 512, dtype=np.float16)]),
        "dot_bf16_mixed": (lambda a, b: lax.dot(a, b, preferred_element_type=np.float32), [f(512, 1024, dtype=bf16), f(1024, 768, dtype=bf16)]),
        "matvec_bf16": (lambda a, b: a @ b, [f(1, 4096, dtype=bf16), f(4096, 4096, dtype=bf16)]),
        "matvec_columns": (lambda a, b: a @ b, [f(8192, 2048), f(2048)]),
        "matvec_4": (lambda a, b: a @ b, [f(4, 2048), f(2048, 8192)]),
        "matmul_12": (lambda a, b: a @ b, [f(12, 784), f(784, 1024)]),
        "batched_8": (lambda a, b: a @ b, [f(20000, 8, 8), f(20000, 8, 8)]),
        "batched_64": (lambda a, b: a @ b, [f(256, 64, 64), f(256, 64, 64)]),
        "batched_nt": (lambda a, b: jnp.einsum("bhqd,bhkd->bhqk", a, b), [f(4, 12, 128, 64), f(4, 12, 128, 64)]),
        "einsum_heads": (lambda x, w: jnp.einsum("btd,dhk->bhtk", x, w), [f(4, 256, 512), f(512, 8, 64)]),
        "conv_1x1": (conv(), [f(8, 28, 28, 128), f(1, 1, 128, 256)]),
        "conv_7x7_s2": (conv(strides=(2, 2)), [f(4, 112, 112, 3), f(7, 7, 3, 64)]),
        "conv_one_image": (conv(), [f(1, 56, 56, 64), f(3, 3, 64, 64)]),
        "conv_depthwise": (conv(feature_group_count=96), [f(4, 56, 56, 96), f(3, 3, 1, 96)]),
        "conv_grouped": (conv(feature_group_count=4), [f(4, 28, 28, 128), f(3, 3, 32, 128)]),
        "conv_dilated": (conv(rhs_dilation=(2, 2)), [f(4, 28, 28, 64), f(3, 3, 64, 64)]),
        "conv_nchw": (conv(("NCHW", "OIHW", "NCHW")), [f(4, 64, 28, 28), f(128, 64, 3, 3)]),
        "conv_1d": (lambda x, w: lax.conv_general_dilated(x, w, (1,), "SAME", dimension_numbers=("NWC", "WIO", "NWC")), [f(8, 512, 64), f(5, 64, 64)]),
        "conv_3d": (lambda x, w: lax.conv_general_dilated(x, w, (1,) * 3, "SAME", dimension_numbers=("NDHWC", "DHWIO", "NDHWC")), [f(2, 12, 24, 24, 16), f(3, 3, 3, 16, 32)]),
        "conv_s2_grad_x": (grad(conv(strides=(2, 2)), 0), [f(4, 28, 28, 64), f(3, 3, 64, 64)]),
        "conv_grad_both": (grad(conv(strides=(2, 2)), (0, 1)), [f(4, 28, 28, 64), f(3, 3, 64, 64)]),
        "conv_depthwise_grad": (grad(conv(feature_group_count=64), (0, 1)), [f(4, 28, 28, 64), f(3, 3, 1, 64)]),
        "conv_bf16": (conv(), [f(4, 28, 28, 64, dtype=bf16), f(3, 3, 64, 64, dtype=bf16)]),
        "gather_elements": (lambda t, i: t[i], [f(1 << 20), ints(1 << 20, 1 << 20)]),
        "gather_columns": (lambda t, i: t[:, i], [f(1024, 2000), ints(2000, 1500)]),
        "gather_small_rows": (lambda t, i: t[i], [f(100000, 4), ints(100000, 200000)]),
        "gather_bf16_scaled": (lambda t, i: t[i] * bf16(2) + bf16(1), [f(30000, 256, dtype=bf16), ints(30000, 8192)]),
        "take_along": (lambda t, i: jnp.take_along_axis(t, i, 1), [f(1000, 2000), ints(2000, 1000, 500)]),
        "embedding_grad": (lambda i, g: jnp.zeros((30000, 64), np.float32).at[i].add(g), [ints(30000, 4096), f(4096, 64)]),
        "scatter_elements": (lambda t, i, u: t.at[i].add(u), [f(1 << 18), ints(1 << 18, 1 << 19), f(1 << 19)]),
        "scatter_sorted": (lambda t, i, u: t.at[i].add(u, indices_are_sorted=True), [f(20000, 32), np.sort(ints(20000, 30000)), f(30000, 32)]),
        "scatter_max": (lambda t, i, u: t.at[i].max(u), [f(20000, 16), ints(20000, 30000), f(30000, 16)]),
        "scatter_set": (lambda t, i, u: t.at[i].set(u), [f(20000, 64), ints(20000, 8192), f(8192, 64)]),
        "histogram": (lambda i: jnp.zeros(1000, np.int32).at[i].add(1), [ints(1000, 1 << 20)]),
        "segment_sum": (lambda x, i: jax.ops.segment_sum(x, i, 1000), [f(50000, 32), ints(1000, 50000)]),
        "dynamic_slice": (lambda x, i: lax.dynamic_slice(x, (i, i), (1500, 1500)) * 2, [f(2048, 2048), np.int32(100)]),
        "dynamic_update": (lambda x, u, i: lax.dynamic_update_slice(x, u, (i, i)), [f(2048, 2048), f(1024, 1024), np.int32(100)]),
        "update_loop": (update_loop, [f(2000, 512), f(1, 512)]),
        "concat_last": (lambda a, b, c: jnp.concatenate([a, b, c], -1) * 2, [f(4096, 200), f(4096, 300), f(4096, 100)]),
        "concat_first": (lambda a, b: jnp.concatenate([a, b], 0), [f(2000, 1000), f(2000, 1000)]),
        "pad_interior": (lambda x: lax.pad(x, np.float32(0), ((1, 1, 1), (2, 2, 1))), [f(1024, 1024)]),
        "reverse": (lambda x: x[:, ::-1] + 1, [f(2048, 2048)]),
        "roll": (lambda x: jnp.roll(x, 17, 1), [f(2048, 2048)]),
        "transpose_3d": (lambda x: jnp.transpose(x, (0, 2, 1)), [f(64, 256, 256)]),
        "transpose_heads": (lambda x: jnp.transpose(x, (0, 2, 1, 3)), [f(8, 512, 16, 64)]),
        "transpose_bf16": (lambda x: x.T, [f(4096, 1024, dtype=bf16)]),
        "sort_rows": (lambda x: jnp.sort(x, -1), [f(2000, 500)]),
        "sort_columns": (lambda x: jnp.sort(x, 0), [f(500, 2000)]),
        "sort_s32": (lambda x: jnp.sort(x), [ints(1 << 30, 1 << 19)]),
        "sort_pairs": (lambda k, v: lax.sort((k, v), num_keys=1), [ints(1 << 20, 1 << 18), f(1 << 18)]),
        "sort_two_keys": (lambda a, b: lax.sort((a, b), num_keys=2), [ints(100, 1 << 17), f(1 << 17)]),
        "argsort_1m": (lambda x: jnp.argsort(x), [f(1 << 20)]),
        "top_k_128": (lambda x: lax.top_k(x, 128), [f(128, 20000)]),
        "fft": (lambda x: jnp.fft.fft(x), [f(256, 1024).astype(np.complex64)]),
        "rfft2": (lambda x: jnp.fft.rfft2(x), [f(32, 128, 128)]),
        "fft_odd": (lambda x: jnp.fft.fft(x), [f(256, 1000).astype(np.complex64)]),
        "cholesky": (lambda a: lax.linalg.cholesky(a), [positive(256, 8)]),
        "triangular_solve": (lambda a, b: lax.linalg.triangular_solve(a, b, left_side=True, lower=True), [positive(256, 8), f(8, 256, 128)]),
    }
