"""Steps on several devices for run_vs_xla.py --devices: name -> (function, arguments, in_specs, out_specs)."""


def patterns(jax, jnp, np):
    from jax.sharding import PartitionSpec as P
    r = np.random.default_rng(3)
    lax = jax.lax

    def f(*dims):
        return r.standard_normal(dims).astype(np.float32) * np.float32(0.1)

    def loss(w1, w2, x):
        return (jnp.tanh(jnp.tanh(x @ w1) @ w2) ** 2).mean()

    def data_parallel(w1, w2, x):
        grads = jax.grad(loss, (0, 1))(w1, w2, x)
        return tuple(w - 0.1 * lax.pmean(g, "x") for w, g in zip((w1, w2), grads))

    def tensor_parallel(w1, w2, x):
        def whole(w1, w2):
            return (lax.psum(jax.nn.gelu(x @ w1) @ w2, "x") ** 2).mean()
        grads = jax.grad(whole, (0, 1))(w1, w2)
        return tuple(w - 0.1 * g for w, g in zip((w1, w2), grads))

    def fully_sharded(w1, w2, x):
        full = [lax.all_gather(w, "x", tiled=True) for w in (w1, w2)]
        grads = jax.grad(loss, (0, 1))(*full, x)
        return tuple(w - 0.1 * lax.psum_scatter(g, "x", tiled=True) for w, g in zip((w1, w2), grads))

    def sequence_parallel(q, k, v):
        q, k, v = [lax.all_to_all(a, "x", 2, 1, tiled=True) for a in (q, k, v)]
        a = jax.nn.softmax(jnp.einsum("bqhd,bkhd->bhqk", q, k) / 8)
        return lax.all_to_all(jnp.einsum("bhqk,bkhd->bqhd", a, v), "x", 1, 2, tiled=True)

    def ring(x, w):
        n = lax.axis_size("x")
        pairs = [(i, (i + 1) % n) for i in range(n)]
        def body(_, c):
            return c[0] + x @ c[1], lax.ppermute(c[1], "x", pairs)
        return lax.fori_loop(0, n, body, (jnp.zeros((x.shape[0], w.shape[1]), x.dtype), w))[0]

    rows, all_ = P("x"), P()
    return {
        "devices_data_parallel": (data_parallel, [f(512, 1024), f(1024, 512), f(1024, 512)], (all_, all_, rows), (all_, all_)),
        "devices_tensor_parallel": (tensor_parallel, [f(512, 2048), f(2048, 512), f(256, 512)], (P(None, "x"), rows, all_), (P(None, "x"), rows)),
        "devices_fully_sharded": (fully_sharded, [f(512, 1024), f(1024, 512), f(1024, 512)], (rows, rows, rows), (rows, rows)),
        "devices_sequence_parallel": (sequence_parallel, [f(2, 512, 8, 64) for _ in range(3)], (P(None, "x"),) * 3, P(None, "x")),
        "devices_ring": (ring, [f(1024, 512), f(2048, 512)], (rows, rows), rows),
        "devices_all_reduce": (lambda x: lax.psum(x, "x"), [f(4096, 1024)], (rows,), all_),
        "devices_tiny_layers": (data_parallel, [f(64, 64), f(64, 64), f(64, 64)], (all_, all_, rows), (all_, all_)),
    }
