"""The families of the other patterns, with other shapes and types, for run_vs_xla.py: name -> (function, arguments)."""


def patterns(jax, jnp, np, ml_dtypes):
    r = np.random.default_rng(2)
    lax = jax.lax
    bf16, f16 = ml_dtypes.bfloat16, np.float16

    def f(*dims, dtype=np.float32):
        return r.standard_normal(dims).astype(dtype)

    def ints(most, *dims, dtype=np.int32):
        return r.integers(0, most, dims).astype(dtype)

    def conv(dims=("NHWC", "HWIO", "NHWC"), strides=(1, 1), pad="SAME", **more):
        return lambda x, w: lax.conv_general_dilated(x, w, strides, pad, dimension_numbers=dims, **more)

    def grad(function, argument):
        return jax.grad(lambda *args: (function(*args).astype(np.float32) ** 2).sum(), argument)

    def pool(op, start, window, strides, pad="VALID"):
        return lambda x: lax.reduce_window(x, np.asarray(start, x.dtype)[()], op, window, strides, pad)

    def causal(q, k, v):
        s = jnp.einsum("bqhd,bkhd->bhqk", q, k).astype(np.float32) / 7
        s = jnp.where(jnp.tril(jnp.ones(s.shape[-2:], bool)), s, -1e9)
        return jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(s).astype(q.dtype), v)

    def norm(x, g, b):
        y = x.astype(np.float32)
        y = (y - y.mean(-1, keepdims=True)) * lax.rsqrt(y.var(-1, keepdims=True) + 1e-5)
        return (y * g + b).astype(x.dtype)

    def batch_norm(x, g, b):
        return jax.nn.relu((x - x.mean((0, 1, 2))) * lax.rsqrt(x.var((0, 1, 2)) + 1e-5) * g + b)

    def key(k):
        return jax.random.wrap_key_data(k)

    def lstm(xs, w, u):
        def step(c, x):
            i, o, g = jnp.split(x @ w + c[0] @ u, 3, -1)
            s = jax.nn.sigmoid(i) * c[1] + jnp.tanh(g)
            return (jax.nn.sigmoid(o) * jnp.tanh(s), s), s.sum(-1)
        zero = jnp.zeros((xs.shape[1], u.shape[0]), xs.dtype)
        return lax.scan(step, (zero, zero), xs)

    def adam(w, m, v, g):
        m, v = 0.9 * m + 0.1 * g, 0.99 * v + 0.01 * g * g
        return w - 0.001 * m / (jnp.sqrt(v) + 1e-8), m, v

    def block(x, wq, wo, w1, w2):
        def loss(*w):
            b, t, d = x.shape
            y = (x @ w[0]).reshape(b, t, 3, 8, -1)
            a = causal(y[:, :, 0], y[:, :, 1], y[:, :, 2]).reshape(b, t, -1) @ w[1] + x
            return ((jax.nn.gelu(a @ w[2]) @ w[3] + a) ** 2).mean()
        return jax.grad(loss, (0, 1, 2, 3))(wq, wo, w1, w2)

    bits = np.array([3, 4], np.uint32)
    return {
        # elementwise, broadcasts, reductions
        "chain_f16": (lambda a, b: jnp.tanh(a * b) + a, [f(1 << 21, dtype=f16), f(1 << 21, dtype=f16)]),
        "select_s32": (lambda a, b: jnp.where(a % 7 == 3, a // 3, b * 5 - a), [ints(1 << 20, 1 << 21), ints(1 << 20, 1 << 21)]),
        "divide_u32": (lambda a, b: a // b + a % b, [ints(1 << 30, 1 << 21, dtype=np.uint32), ints(999, 1 << 21, dtype=np.uint32) + np.uint32(1)]),
        "power_erf": (lambda a: jnp.abs(a) ** 1.7 + jax.scipy.special.erf(a), [f(999, 1001)]),
        "outer_broadcast": (lambda a, b: jnp.maximum(a[:, None] - b[None, :], 0), [f(3001), f(1003)]),
        "convert_u8": (lambda a: a.astype(np.float32) / 255 - 0.5, [ints(256, 64, 3, 111, 113, dtype=np.uint8)]),
        "adam": (adam, [f(777, 1023), f(777, 1023), np.abs(f(777, 1023)), f(777, 1023)]),
        "prod_rows_odd": (lambda x: jnp.prod(x, -1), [f(3333, 777)]),
        "sum_f16_columns": (lambda x: x.sum(0), [f(3333, 777, dtype=f16)]),
        "sum_s32_middle": (lambda x: x.sum(1), [ints(1000, 33, 511, 129)]),
        "sum_two_axes": (lambda x: x.sum((0, 2)), [f(33, 257, 301)]),
        "argmax_bf16": (lambda x: jnp.argmax(x, -1), [f(1000, 2003, dtype=bf16)]),
        "argmax_middle": (lambda x: jnp.argmax(x, 1), [f(65, 257, 129)]),
        "logsumexp_columns": (lambda x: jax.nn.logsumexp(x, 0), [f(1031, 999)]),
        "softmax_bf16_middle": (lambda x: jax.nn.softmax(x, 1), [f(33, 257, 65, dtype=bf16)]),
        "norm_grad_bf16": (grad(norm, (0, 1, 2)), [f(1111, 515, dtype=bf16), f(515), f(515)]),
        "batch_norm": (batch_norm, [f(16, 27, 27, 96), f(96), f(96)]),
        "batch_norm_grad": (grad(batch_norm, (0, 1, 2)), [f(16, 27, 27, 96), f(96), f(96)]),
        "all_close": (lambda a, b: jnp.all(jnp.abs(a - b) < 1e9), [f(2001, 1001), f(2001, 1001)]),
        # scans
        "cumsum_s32": (lambda x: jnp.cumsum(x, 1), [ints(100, 301, 4001)]),
        "cumsum_bf16": (lambda x: jnp.cumsum(x, -1), [f(256, 1000, dtype=bf16)]),
        "cumsum_long": (lambda x: jnp.cumsum(x), [f(1 << 20)]),
        "cumprod_middle": (lambda x: jnp.cumprod(x, 1), [f(32, 301, 129)]),
        "cummax_rows": (lambda x: lax.cummax(x, 1), [f(511, 2001)]),
        "cummin_reverse": (lambda x: lax.cummin(x, 0, reverse=True), [f(1025, 777)]),
        "cumlogsumexp": (lambda x: lax.cumlogsumexp(x, 1), [f(100, 1001)]),
        "associative_scan": (lambda a, b: lax.associative_scan(
            lambda x, y: (x[0] * y[0], y[0] * x[1] + y[1]), (a, b), axis=1), [f(64, 1000), f(64, 1000)]),
        "lstm": (lstm, [f(60, 17, 40), f(40, 120) * np.float32(.1), f(40, 120) * np.float32(.1)]),
        # windows and convolutions
        "max_pool_3x3_nchw": (pool(lax.max, -np.inf, (1, 1, 3, 3), (1, 1, 2, 2), "SAME"), [f(8, 48, 57, 57)]),
        "avg_pool_bf16": (pool(lax.add, 0, (1, 3, 3, 1), (1, 1, 1, 1), "SAME"), [f(4, 35, 35, 64, dtype=bf16)]),
        "window_sum_1d": (pool(lax.add, 0, (1, 64), (1, 1), "SAME"), [f(128, 3001)]),
        "min_pool_s32": (pool(lax.min, 2**31 - 1, (1, 5, 5, 1), (1, 1, 1, 1)), [ints(1000, 4, 61, 61, 24)]),
        "avg_pool_grad": (grad(pool(lax.add, 0, (1, 3, 3, 1), (1, 2, 2, 1), "SAME"), 0), [f(8, 33, 33, 48)]),
        "max_pool_grad_overlap": (grad(pool(lax.max, -np.inf, (1, 3, 3, 1), (1, 2, 2, 1), "SAME"), 0), [f(8, 33, 33, 48)]),
        "conv_odd_nchw": (conv(("NCHW", "OIHW", "NCHW"), (2, 2)), [f(5, 37, 41, 43), f(51, 37, 3, 3)]),
        "conv_5x5_few": (conv(), [f(4, 64, 64, 3), f(5, 5, 3, 17)]),
        "conv_groups_nchw": (conv(("NCHW", "OIHW", "NCHW"), feature_group_count=8), [f(4, 64, 28, 28), f(128, 8, 3, 3)]),
        "conv_f16": (conv(), [f(2, 28, 28, 64, dtype=f16), f(3, 3, 64, 64, dtype=f16)]),
        "conv_transposed": (lambda x, w: lax.conv_transpose(x, w, (2, 2), "SAME"), [f(4, 14, 14, 64), f(4, 4, 64, 32)]),
        "conv_dilated_depthwise": (conv(rhs_dilation=(2, 2), feature_group_count=48), [f(4, 40, 40, 48), f(3, 3, 1, 48)]),
        "conv_depth_multiplier": (conv(strides=(2, 2), feature_group_count=32), [f(4, 40, 40, 32), f(3, 3, 1, 64)]),
        "conv_1d_long": (lambda x, w: lax.conv_general_dilated(x, w, (1,), "SAME", dimension_numbers=("NCW", "OIW", "NCW")), [f(4, 1, 20000), f(8, 1, 33)]),
        "conv_grad_nchw": (grad(conv(("NCHW", "OIHW", "NCHW")), (0, 1)), [f(4, 32, 29, 29), f(48, 32, 3, 3)]),
        "conv_grad_groups": (grad(conv(feature_group_count=4), (0, 1)), [f(4, 28, 28, 64), f(3, 3, 16, 64)]),
        "conv_s8": (lambda x, w: lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"), preferred_element_type=np.int32),
                    [ints(100, 2, 28, 28, 32, dtype=np.int8), ints(100, 3, 3, 32, 32, dtype=np.int8)]),
        # gathers and scatters
        "gather_bf16": (lambda t, i: t[i], [f(5003, 77, dtype=bf16), ints(5003, 99, 101)]),
        "gather_pairs": (lambda t, i, j: t[i, j], [f(1001, 999), ints(1001, 300000), ints(999, 300000)]),
        "gather_batched": (lambda t, i: jax.vmap(lambda a, b: a[b])(t, i), [f(32, 501, 65), ints(501, 32, 300)]),
        "take_along_first": (lambda t, i: jnp.take_along_axis(t, i, 0), [f(777, 1001), ints(777, 500, 1001)]),
        "one_hot_product": (lambda i, w: jax.nn.one_hot(i, 1000) @ w, [ints(1000, 1024), f(1000, 128)]),
        "one_hot_sum": (lambda i: jax.nn.one_hot(i, 257, dtype=np.float32).sum(0), [ints(257, 9999)]),
        "scatter_pairs": (lambda t, i, j, u: t.at[i, j].add(u), [f(1001, 999), ints(1001, 100000), ints(999, 100000), f(100000)]),
        "scatter_bf16": (lambda t, i, u: t.at[i].add(u), [f(3001, 129, dtype=bf16), ints(3001, 7001), f(7001, 129, dtype=bf16)]),
        "scatter_s32_columns": (lambda t, i, u: t.at[:, i].add(u), [ints(9, 500, 999), ints(999, 700), ints(9, 500, 700)]),
        "scatter_batched": (lambda t, i, u: jax.vmap(lambda a, b, c: a.at[b].add(c))(t, i, u), [f(32, 501, 65), ints(501, 32, 300), f(32, 300, 65)]),
        "scatter_unique": (lambda t, i, u: t.at[i].set(u, unique_indices=True), [f(1 << 19), r.permutation(1 << 19)[:300000].astype(np.int32), f(300000)]),
        "scatter_min_elements": (lambda t, i, u: t.at[i].min(u), [f(99999), ints(99999, 300001), f(300001)]),
        "scatter_wide_rows": (lambda t, i, u: t.at[i].add(u), [f(500, 2048), ints(500, 1000), f(1000, 2048)]),
        "segment_max": (lambda x, i: jax.ops.segment_max(x, i, 513), [f(40001, 17), ints(513, 40001)]),
        "segment_sum_elements": (lambda x, i: jax.ops.segment_sum(x, i, 4096), [f(500001), ints(4096, 500001)]),
        "segment_sum_sorted": (lambda x, i: jax.ops.segment_sum(x, i, 5000, indices_are_sorted=True), [f(60000, 12), np.sort(ints(5000, 60000))]),
        "segment_sum_s32": (lambda x, i: jax.ops.segment_sum(x, i, 700), [ints(99, 50000, 8), ints(700, 50000)]),
        "bincount": (lambda i, w: jnp.bincount(i, w, length=2048), [ints(2048, 1 << 19), f(1 << 19)]),
        # sorts
        "sort_bf16_rows": (lambda x: jnp.sort(x, -1), [f(301, 1999, dtype=bf16)]),
        "sort_descending": (lambda x: -jnp.sort(-x, 0), [f(3001, 101)]),
        "sort_middle": (lambda x: jnp.sort(x, 1), [f(31, 301, 65)]),
        "sort_u32": (lambda x: jnp.sort(x), [ints(1 << 31, 300007, dtype=np.uint32)]),
        "argsort_s32": (lambda x: jnp.argsort(x, -1), [ints(50, 101, 3003)]),
        "top_k_bf16": (lambda x: lax.top_k(x, 5), [f(300, 5001, dtype=bf16)]),
        "top_k_s32": (lambda x: lax.top_k(x, 40), [ints(1 << 30, 77, 9999)]),
        "median_rows": (lambda x: jnp.median(x, -1), [f(300, 1001)]),
        "permutation": (lambda k: jax.random.permutation(key(k), 100000), [bits]),
        "unique_sorted": (lambda x: jnp.unique(x, size=5000), [ints(5000, 100003)]),
        "searchsorted": (lambda a, v: jnp.searchsorted(a, v), [np.sort(f(10007)), f(50021)]),
        # random numbers
        "uniform_odd": (lambda k: jax.random.uniform(key(k), (1001, 777)), [bits]),
        "normal_bf16": (lambda k: jax.random.normal(key(k), (512, 1001), jnp.bfloat16), [bits]),
        "randint": (lambda k: jax.random.randint(key(k), (600001,), 0, 1000), [bits]),
        "bernoulli_dropout": (lambda k, x: jnp.where(jax.random.bernoulli(key(k), 0.9, x.shape), x / 0.9, 0), [bits, f(1024, 999)]),
        "categorical": (lambda k, x: jax.random.categorical(key(k), x), [bits, f(500, 1001)]),
        "split_keys": (lambda k: jax.vmap(lambda s: jax.random.normal(s, (3,)))(jax.random.split(key(k), 20000)), [bits]),
        "gamma": (lambda k: jax.random.gamma(key(k), 2.5, (2000,)), [bits]),
        # data movement
        "roll_rows_s32": (lambda x: jnp.roll(x, (5, -3), (0, 1)), [ints(99, 1501, 1003)]),
        "transpose_4d_odd": (lambda x: jnp.transpose(x, (0, 3, 1, 2)), [f(9, 61, 63, 65)]),
        "transpose_f64_small": (lambda x: jnp.transpose(x, (2, 0, 1)), [ints(9, 70, 70, 70, dtype=np.uint8)]),
        "pad_edges": (lambda x: jnp.pad(x, ((0, 0), (3, 5), (2, 1), (0, 0)), mode="edge"), [f(8, 45, 45, 48)]),
        "pad_reflect": (lambda x: jnp.pad(x, ((9, 9), (11, 11)), mode="reflect"), [f(1001, 1003)]),
        "tile_repeat": (lambda x: jnp.repeat(jnp.tile(x, (1, 3)), 2, 0), [f(501, 333)]),
        "strided_slice": (lambda x: x[1::2, 3::5] * 2, [f(2049, 3333)]),
        "resize": (lambda x: jax.image.resize(x, (8, 100, 100, 16), "bilinear"), [f(8, 50, 50, 16)]),
        "tril_triu": (lambda x: jnp.tril(x) + jnp.triu(x, 3), [f(1501, 1501)]),
        # dots, attention, blocks
        "dot_odd_bf16": (lambda a, b: a @ b, [f(257, 511, dtype=bf16), f(511, 301, dtype=bf16)]),
        "dot_f16_batched": (lambda a, b: a @ b, [f(33, 65, 127, dtype=f16), f(33, 127, 63, dtype=f16)]),
        "matvec_batched": (lambda a, b: jnp.einsum("bij,bj->bi", a, b), [f(333, 129, 257), f(333, 257)]),
        "outer_product": (lambda a, b: jnp.einsum("bi,bj->bij", a, b), [f(300, 111), f(300, 115)]),
        "einsum_three": (lambda a, b, c: jnp.einsum("ij,jk,kl->il", a, b, c), [f(301, 299), f(299, 303), f(303, 297)]),
        "dot_u32": (lambda a, b: lax.dot(a, b), [ints(99, 301, 303, dtype=np.uint32), ints(99, 303, 305, dtype=np.uint32)]),
        "gram": (lambda a: a.T @ a, [f(5001, 129)]),
        "attention_causal_odd": (causal, [f(3, 197, 6, 48)] * 3),
        "attention_causal_bf16": (causal, [f(2, 256, 8, 64, dtype=bf16)] * 3),
        "attention_causal_grad": (jax.grad(lambda q, k, v: (causal(q, k, v) ** 2).sum(), (0, 1, 2)), [f(3, 197, 6, 48)] * 3),
        "block_grad": (block, [f(2, 128, 256), f(256, 768), f(256, 256), f(256, 1024), f(1024, 256)]),
        "solve": (lambda a, b: jnp.linalg.solve(a, b), [f(16, 64, 64) + 9 * np.eye(64, dtype=np.float32), f(16, 64, 8)]),
        "qr": (lambda a: jnp.linalg.qr(a), [f(8, 96, 64)]),
        "ifft_batch": (lambda x: jnp.fft.ifft(x), [(f(300, 360) + 1j * f(300, 360)).astype(np.complex64)]),
        "irfft": (lambda x: jnp.fft.irfft(x), [(f(256, 513) + 1j * f(256, 513)).astype(np.complex64)]),
    }
