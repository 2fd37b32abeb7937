"""Every family of ops, with one or two shapes each, for run_vs_xla.py: name -> (function, arguments)."""


def patterns(jax, jnp, np, ml_dtypes):
    r = np.random.default_rng(0)

    def f(*dims, dtype=np.float32):
        return r.standard_normal(dims).astype(dtype)

    def attention(q, k, v):
        s = jnp.einsum("bqhd,bkhd->bhqk", q, k) / 8
        return jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(s), v)

    def layer_norm(x, g, b):
        m = x.mean(-1, keepdims=True)
        return (x - m) * jax.lax.rsqrt(((x - m) ** 2).mean(-1, keepdims=True) + 1e-5) * g + b

    def rms_norm(x, g):
        y = x.astype(jnp.float32)
        return (y * jax.lax.rsqrt((y * y).mean(-1, keepdims=True) + 1e-6)).astype(x.dtype) * g

    def cross_entropy(x, y):
        return -(jax.nn.log_softmax(x) * jax.nn.one_hot(y, x.shape[-1])).sum(-1).mean()

    def mlp(x, w1, w2):
        return jax.nn.gelu(x @ w1) @ w2

    def loss(w, x):
        return jnp.sum(jnp.tanh(x @ w) ** 2)

    def hash32(x):
        for c in (0x85EBCA6B, 0xC2B2AE35, 0x27D4EB2F):
            x = (x ^ (x >> 16)) * jnp.uint32(c)
        return x ^ (x >> 15)

    def scalar_loop(x):
        return jax.lax.fori_loop(0, 20000, lambda i, s: s * 0.999 + jnp.sin(i * 1.0) * 1e-3, x)

    def rng_loop(k):
        def body(i, c):
            key, sub = jax.random.split(c[0])
            return key, c[1] + jax.random.normal(sub, (3,))
        return jax.lax.fori_loop(0, 1000, body, (jax.random.wrap_key_data(k), jnp.zeros(3)))[1]

    def collatz(n):
        return jax.lax.while_loop(
            lambda c: c[0] < 100000, lambda c: (c[0] + 1, jax.lax.cond(
                c[1] % 2 == 0, lambda x: x // 2, lambda x: 3 * x + 1, c[1])), (jnp.int32(0), n))

    def gru(xs, h, w, u):
        def step(h, x):
            z, n = jnp.split(x @ w + h @ u, 2)
            z = jax.nn.sigmoid(z)
            h = (1 - z) * h + z * jnp.tanh(n)
            return h, h
        return jax.lax.scan(step, h, xs)

    def deep(x, ws):
        return jax.lax.scan(lambda h, w: (jax.nn.relu(h @ w) + h, None), x, ws)[0]

    def recurrence(xs, w):
        return jax.lax.scan(lambda h, x: (jnp.tanh(h @ w + x),) * 2, jnp.zeros(w.shape[0], w.dtype), xs)

    bf16 = ml_dtypes.bfloat16
    img, ker = f(8, 32, 32, 64), f(3, 3, 64, 64)
    conv = lambda x, w: jax.lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
    return {
        "add_8m": (lambda a, b: a + b, [f(1 << 23), f(1 << 23)]),
        "chain_4m": (lambda a, b: jnp.where(a > b, a * b + 1, a - b * 2) * 0.5 + jnp.abs(a), [f(1 << 22), f(1 << 22)]),
        "gelu_4m": (lambda a: jax.nn.gelu(a), [f(1 << 22)]),
        "exp_log_2m": (lambda a: jnp.log1p(jnp.exp(a)) + jnp.tanh(a), [f(1 << 21)]),
        "chain_bf16_4m": (lambda a, b: jnp.maximum(a * b + a, 0), [f(1 << 22, dtype=bf16), f(1 << 22, dtype=bf16)]),
        "bias_relu": (lambda x, b: jax.nn.relu(x + b), [f(4096, 1024), f(1024)]),
        "sum_rows": (lambda x: x.sum(-1), [f(4096, 1024)]),
        "sum_columns": (lambda x: x.sum(0), [f(4096, 1024)]),
        "sum_all": (lambda x: (x * x).sum(), [f(1 << 22)]),
        "max_rows": (lambda x: x.max(-1), [f(8192, 512)]),
        "sum_columns_few": (lambda x: x.sum(0), [f(200000, 12)]),
        "sum_middle": (lambda x: x.sum(1), [f(64, 256, 256)]),
        "mean_var_columns": (lambda x: (x.mean(0), x.var(0)), [f(8192, 512)]),
        "sum_rows_short": (lambda x: x.sum(-1), [f(500000, 8)]),
        "argmax_rows": (lambda x: jnp.argmax(x, -1), [f(4096, 1024)]),
        "argmin_columns": (lambda x: jnp.argmin(x, 0), [f(1024, 4096)]),
        "max_bf16_rows": (lambda x: x.max(-1), [f(4096, 1024, dtype=bf16)]),
        "sum_bf16_rows": (lambda x: x.sum(-1), [f(4096, 1024, dtype=bf16)]),
        "any_rows": (lambda x: (x > 3).any(-1), [f(4096, 1024)]),
        "log_softmax_bf16": (lambda x: jax.nn.log_softmax(x), [f(2048, 1024, dtype=bf16)]),
        "rms_norm_bf16": (rms_norm, [f(4096, 1024, dtype=bf16), f(1024, dtype=bf16)]),
        "residual_layer_norm": (lambda x, y, g, b: layer_norm(x + y, g, b), [f(4096, 768), f(4096, 768), f(768), f(768)]),
        "cross_entropy_grad": (jax.grad(cross_entropy), [f(2048, 2000), r.integers(0, 2000, 2048).astype(np.int32)]),
        "softmax": (lambda x: jax.nn.softmax(x), [f(4096, 1024)]),
        "softmax_grad": (jax.grad(lambda x, y: (jax.nn.softmax(x) * y).sum()), [f(2048, 1024), f(2048, 1024)]),
        "layer_norm": (layer_norm, [f(4096, 768), f(768), f(768)]),
        "layer_norm_grad": (jax.grad(lambda x, g, b: (layer_norm(x, g, b) ** 2).sum(), (0, 1, 2)), [f(2048, 768), f(768), f(768)]),
        "attention": (attention, [f(4, 256, 8, 64)] * 3),
        "attention_grad": (jax.grad(lambda q, k, v: attention(q, k, v).sum(), (0, 1, 2)), [f(2, 256, 8, 64)] * 3),
        "matmul_1024": (lambda a, b: a @ b, [f(1024, 1024), f(1024, 1024)]),
        "matmul_bf16_1024": (lambda a, b: a @ b, [f(1024, 1024, dtype=bf16), f(1024, 1024, dtype=bf16)]),
        "matvec": (lambda a, b: a @ b, [f(1, 4096), f(4096, 4096)]),
        "batched_small": (lambda a, b: jnp.einsum("bij,bjk->bik", a, b), [f(4000, 20, 24), f(4000, 24, 20)]),
        "mlp": (mlp, [f(512, 768), f(768, 3072), f(3072, 768)]),
        "mlp_grad": (jax.grad(lambda w1, w2, x: (mlp(x, w1, w2) ** 2).sum(), (0, 1)), [f(512, 1024), f(1024, 512), f(256, 512)]),
        "train_step": (lambda w, x: w - 0.01 * jax.grad(loss)(w, x), [f(512, 512), f(256, 512)]),
        "conv_3x3": (conv, [img, ker]),
        "conv_grad": (jax.grad(lambda w, x: (conv(x, w) ** 2).sum()), [ker, img]),
        "transpose": (lambda x: jnp.transpose(x) + 1, [f(2048, 2048)]),
        "gather_rows": (lambda t, i: t[i], [f(50000, 128), r.integers(0, 50000, 8192).astype(np.int32)]),
        "scatter_add": (lambda t, i, u: t.at[i].add(u), [f(20000, 64), r.integers(0, 20000, 8192).astype(np.int32), f(8192, 64)]),
        "sort_1m": (lambda x: jnp.sort(x), [f(1 << 20)]),
        "argsort_rows": (lambda x: jnp.argsort(x, -1), [f(700, 900)]),
        "top_k": (lambda x: jax.lax.top_k(x, 16)[0], [f(512, 4096)]),
        "cumsum": (lambda x: jnp.cumsum(x, -1), [f(512, 4096)]),
        "max_pool": (lambda x: jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID"), [img]),
        "hash_4m": (hash32, [r.integers(0, 1 << 32, 1 << 22, dtype=np.uint32)]),
        "random_bits": (lambda k: jax.random.normal(jax.random.wrap_key_data(k), (1 << 20,)), [np.array([1, 2], np.uint32)]),
        "scalar_loop": (scalar_loop, [np.float32(1)]),
        "recurrence": (recurrence, [f(200, 128), f(128, 128) * np.float32(0.05)]),
        "rng_loop": (rng_loop, [np.array([1, 2], np.uint32)]),
        "branch_loop": (collatz, [np.int32(27)]),
        "gru": (gru, [f(400, 32), f(48), f(32, 96) * np.float32(0.1), f(48, 96) * np.float32(0.1)]),
        "deep_scan": (deep, [f(64, 256), f(24, 256, 256) * np.float32(0.05)]),
        "sin_cos_2m": (lambda a: jnp.sin(a) + jnp.cos(a * 3), [f(1 << 21)]),
        "avg_pool": (lambda x: jax.lax.reduce_window(x, 0.0, jax.lax.add, (1, 3, 3, 1), (1, 2, 2, 1), "SAME"), [img]),
        "max_pool_grad": (jax.grad(lambda x: (jax.lax.reduce_window(
            x, -jnp.inf, jax.lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID") ** 2).sum()), [img]),
        "cumsum_columns": (lambda x: jnp.cumsum(x, 0), [f(4096, 512)]),
        "concat_pad": (lambda a, b: jnp.pad(jnp.concatenate([a, b], 1), ((1, 1), (2, 2))), [f(2048, 512), f(2048, 512)]),
    }
