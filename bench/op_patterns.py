"""Functions, types and data movement not in the other patterns, for run_vs_xla.py: name -> (function, arguments)."""


def patterns(jax, jnp, np, ml_dtypes):
    r = np.random.default_rng(5)
    lax = jax.lax
    bf16, f16, f32 = ml_dtypes.bfloat16, np.float16, np.float32

    def f(*dims, dtype=np.float32):
        return r.standard_normal(dims).astype(dtype)

    def ints(most, *dims, dtype=np.int32):
        return r.integers(0, most, dims).astype(dtype)

    def c64(*dims):
        return (f(*dims) + 1j * f(*dims)).astype(np.complex64)

    def conv(dims=("NHWC", "HWIO", "NHWC"), strides=(1, 1), pad="SAME", **more):
        return lambda x, w: lax.conv_general_dilated(x, w, strides, pad, dimension_numbers=dims, **more)

    def grad(function, argument):
        return jax.grad(lambda *args: (function(*args).astype(np.float32) ** 2).sum(), argument)

    def key(k):
        return jax.random.wrap_key_data(k)

    def drawn(draw):
        return (lambda k: draw(key(k)), [np.array([7, 8], np.uint32)])

    def shuffle(x):
        b, h, w, c = x.shape
        return x.reshape(b, h, w, 2, 2, c // 4).transpose(0, 1, 3, 2, 4, 5).reshape(b, h * 2, w * 2, c // 4)

    near_one = np.tanh(f(1 << 19))
    return {
        # functions
        "silu_bf16": (jax.nn.silu, [f(1 << 21, dtype=bf16)]),
        "trigonometry": (lambda a: jnp.tan(a) + jnp.arctan2(a, a + 1) + jnp.arcsin(jnp.tanh(a)), [f(1 << 19)]),
        "hyperbolic": (lambda a: jnp.sinh(a) + jnp.arcsinh(a) + jnp.expm1(a) + jnp.cbrt(a), [f(1 << 19)]),
        "gamma_functions": (lambda a: lax.lgamma(a) + lax.digamma(a), [np.abs(f(1 << 18)) + 1]),
        "erf_inverse": (lambda a: lax.erf_inv(a) + lax.erfc(a), [near_one]),
        "logistic_f16": (lambda a, b: jax.nn.sigmoid(a) * b, [f(1 << 21, dtype=f16), f(1 << 21, dtype=f16)]),
        "complex_chain": (lambda a, b: a * b + jnp.conj(a) / (b + 2), [c64(1 << 20), c64(1 << 20)]),
        "complex_functions": (lambda a: jnp.exp(a) + jnp.sqrt(a) + jnp.abs(a), [c64(1 << 18)]),
        "bits_of_words": (lambda a: lax.population_count(a) + lax.clz(a) + (a << 3 | a >> 29), [ints(1 << 31, 1 << 21, dtype=np.uint32)]),
        "bytes_chain": (lambda a, b: jnp.clip(a.astype(np.int16) + b, 0, 255).astype(np.uint8), [ints(256, 1 << 22, dtype=np.uint8), ints(99, 1 << 22, dtype=np.int16)]),
        "bitcast_split": (lambda a: lax.bitcast_convert_type(a, np.uint16).sum(-1), [f(1 << 20)]),
        "logic": (lambda a, b: (a & ~b) | (b ^ a), [ints(2, 1 << 22, dtype=bool), ints(2, 1 << 22, dtype=bool)]),
        "digits_s32": (lambda a: (a // 10) % 10 + jnp.sign(a) * (a % 13), [ints(1 << 30, 1 << 20) - (1 << 29)]),
        "round_f8": (lambda a: a.astype(jnp.float8_e4m3fn).astype(np.float32), [f(1 << 21)]),
        "quantize_rows": (lambda a: (lambda s: (jnp.round(a / s).astype(np.int8), s))(jnp.abs(a).max(-1, keepdims=True) / 127), [f(2048, 1024)]),
        # reductions
        "min_and_max": (lambda x: (x.min(), x.max(), x.mean()), [f(2000, 1500)]),
        "norm_rows_bf16": (lambda x: jnp.sqrt((x.astype(f32) ** 2).sum(-1)), [f(4096, 512, dtype=bf16)]),
        "var_all": (lambda x: jnp.var(x), [f(1 << 21)]),
        "nan_mean": (lambda x: jnp.nanmean(x, 0), [f(2000, 700)]),
        "count_s8": (lambda x: (x > 50).sum(1), [ints(100, 2000, 2000, dtype=np.int8)]),
        "sum_s8": (lambda x: x.astype(np.int32).sum(-1), [ints(100, 3000, 1000, dtype=np.int8)]),
        "sum_first_of_4": (lambda x: x.sum((0, 1)), [f(40, 30, 20, 50)]),
        "softmax_first": (lambda x: jax.nn.softmax(x, 0), [f(512, 2048)]),
        "softmax_short": (lambda x: jax.nn.softmax(x), [f(100000, 10)]),
        "log_softmax_grad": (jax.grad(lambda x, y: (jax.nn.log_softmax(x) * y).sum()), [f(999, 1001), f(999, 1001)]),
        "instance_norm": (lambda x: (x - x.mean((1, 2), keepdims=True)) * lax.rsqrt(x.var((1, 2), keepdims=True) + 1e-5), [f(8, 40, 40, 64)]),
        "group_norm": (lambda x: (lambda y: ((y - y.mean((1, 2, 4), keepdims=True)) * lax.rsqrt(y.var((1, 2, 4), keepdims=True) + 1e-5)).reshape(x.shape))(x.reshape(8, 28, 28, 8, 16)), [f(8, 28, 28, 128)]),
        "pairwise": (lambda a, b: jnp.abs(a[:, None] - b[None]).sum(-1), [f(500, 24), f(600, 24)]),
        "max_and_where": (lambda x: jnp.where(x == x.max(-1, keepdims=True), x, 0), [f(4000, 300)]),
        "arg_both": (lambda x: (jnp.argmax(x, 0), jnp.argmin(x, 1)), [f(900, 1100)]),
        # scans
        "cumsum_3d": (lambda x: jnp.cumsum(x, 1), [f(16, 200, 300)]),
        "cumsum_reverse": (lambda x: lax.cumsum(x, 1, reverse=True), [f(1000, 999)]),
        "cummax_f16": (lambda x: lax.cummax(x, 1), [f(500, 999, dtype=f16)]),
        "cumsum_mean": (lambda x: jnp.cumsum(x, 0) / jnp.arange(1, 2001)[:, None], [f(2000, 400)]),
        "scan_outputs": (lambda x: lax.scan(lambda c, a: (0.9 * c + a, c * a), jnp.zeros(1000), x), [f(500, 1000)]),
        "scan_nested": (lambda x: lax.scan(lambda c, a: (lax.fori_loop(0, 10, lambda i, y: jnp.sin(y) + a, c), c.sum()), jnp.zeros(50), x), [f(200, 50)]),
        # dots
        "dot_f64_like": (lambda a, b: lax.dot(a, b, precision="highest"), [f(400, 500), f(500, 300)]),
        "dot_complex": (lambda a, b: a @ b, [c64(256, 256), c64(256, 256)]),
        "dot_s8_odd": (lambda a, b: lax.dot(a, b, preferred_element_type=np.int32), [ints(100, 129, 515, dtype=np.int8), ints(100, 515, 257, dtype=np.int8)]),
        "dot_s16": (lambda a, b: lax.dot(a, b), [ints(50, 256, 256, dtype=np.int16), ints(50, 256, 256, dtype=np.int16)]),
        "dot_bool": (lambda a, b: (a.astype(f32) @ b.astype(f32)) > 9, [ints(2, 300, 400, dtype=bool), ints(2, 400, 300, dtype=bool)]),
        "dot_f8": (lambda a, b: lax.dot(a, b, preferred_element_type=np.float32), [f(256, 512).astype(ml_dtypes.float8_e4m3fn), f(512, 256).astype(ml_dtypes.float8_e4m3fn)]),
        "dot_tall": (lambda a, b: a @ b, [f(100000, 16), f(16, 16)]),
        "dot_points": (lambda a, b: a @ b, [f(200000, 3), f(3, 3)]),
        "dot_rank_one": (lambda a, b: a @ b, [f(1500, 1), f(1, 1500)]),
        "dot_32": (lambda a, b: a @ b, [f(32, 32), f(32, 32)]),
        "dot_100": (lambda a, b: jax.nn.relu(a @ b), [f(100, 100), f(100, 100)]),
        "dot_few_columns": (lambda a, b: a @ b, [f(2000, 2000), f(2000, 5)]),
        "dot_bias_gelu_bf16": (lambda x, w, b: jax.nn.gelu(x @ w + b), [f(512, 512, dtype=bf16), f(512, 1024, dtype=bf16), f(1024, dtype=bf16)]),
        "dot_f16_wide": (lambda a, b: a @ b, [f(64, 2048, dtype=f16), f(2048, 1024, dtype=f16)]),
        "dot_bf16_few": (lambda a, b: a @ b, [f(8, 1024, dtype=bf16), f(1024, 4096, dtype=bf16)]),
        "dot_bf16_nt": (lambda a, b: a @ b.T, [f(384, 640, dtype=bf16), f(512, 640, dtype=bf16)]),
        "batched_3": (lambda a, b: a @ b, [f(50000, 3, 3), f(50000, 3, 3)]),
        "batched_bf16": (lambda a, b: jnp.einsum("bij,bjk->bik", a, b), [f(64, 100, 64, dtype=bf16), f(64, 64, 100, dtype=bf16)]),
        "batched_shared": (lambda a, b: jnp.einsum("bij,jk->bik", a, b), [f(50, 40, 300), f(300, 200)]),
        "einsum_middle": (lambda a, b: jnp.einsum("aib,bjc->aijc", a, b), [f(40, 30, 50), f(50, 20, 60)]),
        "einsum_trace": (lambda a, b: jnp.einsum("bij,bji->b", a, b), [f(500, 40, 40), f(500, 40, 40)]),
        "kron": (lambda a, b: jnp.kron(a, b), [f(40, 50), f(30, 40)]),
        # convolutions
        "conv_s2_wide": (conv(strides=(2, 2)), [f(4, 56, 56, 64), f(3, 3, 64, 128)]),
        "conv_bf16_nchw": (conv(("NCHW", "OIHW", "NCHW")), [f(2, 32, 28, 28, dtype=bf16), f(64, 32, 3, 3, dtype=bf16)]),
        "conv_patches": (lambda x: lax.conv_general_dilated_patches(x, (3, 3), (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")), [f(4, 32, 32, 16)]),
        "conv_patch_embed": (conv(strides=(16, 16), pad="VALID"), [f(8, 224, 224, 3), f(16, 16, 3, 192)]),
        "conv_causal_depthwise": (lambda x, w: lax.conv_general_dilated(x, w, (1,), [(3, 0)], dimension_numbers=("NWC", "WIO", "NWC"), feature_group_count=128), [f(4, 512, 128), f(4, 1, 128)]),
        "conv_1d_grad": (grad(lambda x, w: lax.conv_general_dilated(x, w, (1,), "SAME", dimension_numbers=("NWC", "WIO", "NWC")), (0, 1)), [f(8, 256, 32), f(5, 32, 48)]),
        "conv_3d_grad": (grad(lambda x, w: lax.conv_general_dilated(x, w, (1,) * 3, "SAME", dimension_numbers=("NDHWC", "DHWIO", "NDHWC")), (0, 1)), [f(2, 8, 16, 16, 8), f(3, 3, 3, 8, 16)]),
        "conv_transposed_grad": (grad(lambda x, w: lax.conv_transpose(x, w, (2, 2), "SAME"), (0, 1)), [f(4, 14, 14, 32), f(4, 4, 32, 16)]),
        "conv_bf16_grad": (grad(conv(), (0, 1)), [f(2, 28, 28, 32, dtype=bf16), f(3, 3, 32, 32, dtype=bf16)]),
        "conv_big_kernel": (conv(), [f(2, 64, 64, 8), f(11, 11, 8, 8)]),
        "conv_image_filter": (conv(("NCHW", "OIHW", "NCHW")), [f(8, 1, 200, 200), f(1, 1, 5, 5)]),
        # gathers, scatters, data movement
        "take_clip": (lambda t, i: jnp.take(t, i, axis=1, mode="clip"), [f(300, 1000, 8), ints(1000, 700)]),
        "slices_batched": (lambda t, i: jax.vmap(lambda s: lax.dynamic_slice(t, (s, 0), (16, 64)))(i), [f(5000, 64), ints(4900, 500)]),
        "nonzero": (lambda x: jnp.nonzero(x > 1, size=50000)[0], [f(300000)]),
        "diagonals": (lambda x: jnp.diagonal(x, axis1=1, axis2=2) + jnp.diag(x[0]), [f(200, 100, 100)]),
        "scatter_mul": (lambda t, i, u: t.at[i].multiply(u), [f(5000, 20), ints(5000, 20000), f(20000, 20)]),
        "scatter_mask": (lambda t, m: t.at[jnp.where(m, size=5000)[0]].set(0), [f(20000, 8), ints(2, 20000, dtype=bool)]),
        "scatter_windows": (lambda t, i, u: jax.vmap(lambda s, w: lax.dynamic_update_slice(jnp.zeros((200, 16)), w, (s, 0)))(i, u) + t, [f(100, 200, 16), ints(150, 100), f(100, 50, 16)]),
        "put_along": (lambda t, i, u: jnp.put_along_axis(t, i, u, 1, inplace=False), [f(500, 800), ints(800, 500, 100), f(500, 100)]),
        "embedding_sum": (lambda t, i: t[i].sum(1), [f(10000, 64), ints(10000, 2000, 20)]),
        "lookup_grad": (jax.grad(lambda t, i: (t[i] ** 2).sum()), [f(10000, 64), ints(10000, 5000)]),
        "stack_interleave": (lambda a, b: jnp.stack([a, b], -1).reshape(-1), [f(1 << 20), f(1 << 20)]),
        "concat_many": (lambda *a: jnp.concatenate(a, 1), [f(1000, 60 + i) for i in range(20)]),
        "split_join": (lambda x: jnp.concatenate(jnp.split(x, 4, 1)[::-1], 1) * 2, [f(2000, 1000)]),
        "pixel_shuffle": (shuffle, [f(8, 32, 32, 64)]),
        "transpose_last_two_of_4": (lambda x: x.transpose(0, 1, 3, 2) * 2, [f(16, 32, 60, 62)]),
        "transpose_all": (lambda x: x.transpose(3, 2, 1, 0), [f(20, 30, 40, 50)]),
        "flip_both": (lambda x: x[::-1, ::-1], [f(1500, 1501)]),
        "shift_difference": (lambda x: x[:, 1:] - x[:, :-1], [f(2000, 1001)]),
        "pad_conv_like": (lambda x: jnp.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0))) * 2, [f(16, 56, 56, 32)]),
        "windows_mean": (lambda x: lax.reduce_window(x, 0., lax.add, (1, 7, 7, 1), (1, 7, 7, 1), "VALID") / 49, [f(8, 56, 56, 64)]),
        "mean_pool_whole": (lambda x: x.mean((1, 2)), [f(32, 14, 14, 256)]),
        "mesh": (lambda a, b: jnp.hypot(*jnp.meshgrid(a, b)), [f(1200), f(1000)]),
        # sorts
        "sort_short_rows": (lambda x: jnp.sort(x, -1), [f(50000, 16)]),
        "sort_f16": (lambda x: jnp.sort(x), [f(300000, dtype=f16)]),
        "argsort_descending": (lambda x: jnp.argsort(-x), [f(100000)]),
        "lexsort": (lambda a, b: jnp.lexsort((a, b)), [ints(100, 50000), ints(100, 50000)]),
        "top_1": (lambda x: lax.top_k(x, 1), [f(2000, 1000)]),
        "percentile": (lambda x: jnp.percentile(x, 90, axis=0), [f(1000, 300)]),
        "sort_triples": (lambda a, b, c: lax.sort((a, b, c), num_keys=1), [f(100000), f(100000), ints(9, 100000)]),
        # random numbers
        "truncated_normal": drawn(lambda k: jax.random.truncated_normal(k, -2, 2, (500, 1000))),
        "gumbel": drawn(lambda k: jax.random.gumbel(k, (1000, 500))),
        "choice": drawn(lambda k: jax.random.choice(k, 1000, (100000,))),
        "exponential": drawn(lambda k: jax.random.exponential(k, (600, 999))),
        "random_bytes": drawn(lambda k: jax.random.bits(k, (1 << 20,), np.uint8)),
        "poisson": drawn(lambda k: jax.random.poisson(k, 3.0, (20000,))),
        "multivariate": (lambda k, c: jax.random.multivariate_normal(key(k), jnp.zeros(32), c, (5000,)), [np.array([7, 8], np.uint32), np.eye(32, dtype=f32) * 2]),
        # factorisations
        "inverse": (lambda a: jnp.linalg.inv(a), [f(8, 100, 100) + 20 * np.eye(100, dtype=f32)]),
        "determinant": (lambda a: jnp.linalg.slogdet(a)[1], [f(200, 20, 20)]),
        "eigh": (lambda a: jnp.linalg.eigh(a + a.transpose(0, 2, 1)), [f(4, 100, 100)]),
        "svd": (lambda a: jnp.linalg.svd(a, full_matrices=False), [f(4, 80, 60)]),
        "matrix_power": (lambda a: jnp.linalg.matrix_power(a, 9), [f(200, 200) * f32(.05)]),
        "fft_convolve": (lambda a, b: jnp.fft.irfft(jnp.fft.rfft(a, 2048) * jnp.fft.rfft(b, 2048)), [f(100, 1500), f(100, 500)]),
    }
