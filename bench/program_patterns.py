"""Small complete programs in typical JAX style, for run_vs_xla.py: name -> (function, arguments)."""


def patterns(jax, jnp, np, ml_dtypes):
    del ml_dtypes
    r = np.random.default_rng(4)
    lax = jax.lax
    f32 = np.float32

    def f(*dims, scale=1.0, dtype=np.float32):
        return (r.standard_normal(dims) * scale).astype(dtype)

    def ints(most, *dims, dtype=np.int32):
        return r.integers(0, most, dims).astype(dtype)

    def repeat(n, body):
        return lambda x, *rest: lax.fori_loop(0, n, lambda i, x: body(x, *rest), x)

    # loops over arrays
    def mandelbrot(c):
        return lax.fori_loop(0, 40, lambda i, s: (
            jnp.where(jnp.abs(s[0]) < 2, s[0] * s[0] + c, s[0]), s[1] + (jnp.abs(s[0]) < 2)), (c, jnp.zeros(c.shape, np.int32)))[1]

    def life(x):
        n = sum(jnp.roll(x, (i, j), (0, 1)) for i in (-1, 0, 1) for j in (-1, 0, 1) if (i, j) != (0, 0))
        return ((n == 3) | ((n == 2) & (x == 1))).astype(x.dtype)

    def heat(x):
        return x.at[1:-1, 1:-1].add(0.1 * (x[2:, 1:-1] + x[:-2, 1:-1] + x[1:-1, 2:] + x[1:-1, :-2] - 4 * x[1:-1, 1:-1]))

    def bodies(state):
        p, v = state
        d = p[None] - p[:, None]
        a = (d * (jnp.sum(d * d, -1, keepdims=True) + 1e-2) ** -1.5).mean(1)
        return p + 1e-3 * v, v + 1e-3 * a

    def kmeans(c, x):
        near = jnp.argmin(((x[:, None] - c[None]) ** 2).sum(-1), -1)
        hot = jax.nn.one_hot(near, c.shape[0])
        return (hot.T @ x) / (hot.sum(0)[:, None] + 1e-6)

    def conjugate_gradient(a, b):
        def body(_, s):
            x, res, p, rr = s
            ap = a @ p
            step = rr / (p @ ap)
            res = res - step * ap
            new = res @ res
            return x + step * p, res, res + new / rr * p, new
        return lax.fori_loop(0, 50, body, (jnp.zeros_like(b), b, b, b @ b))[0]

    def kalman(a, c, ys):
        def step(s, y):
            x, p = a @ s[0], a @ s[1] @ a.T + 0.1 * jnp.eye(4)
            k = p @ c.T @ jnp.linalg.inv(c @ p @ c.T + jnp.eye(2))
            return (x + k @ (y - c @ x), p - k @ c @ p), x
        return lax.scan(step, (jnp.zeros(4), jnp.eye(4)), ys)[1]

    def rk4(y):
        def g(y):
            return jnp.stack([10 * (y[1] - y[0]), y[0] * (28 - y[2]) - y[1], y[0] * y[1] - 8 / 3 * y[2]])
        def step(y, _):
            k1 = g(y)
            k2 = g(y + 0.005 * k1)
            k3 = g(y + 0.005 * k2)
            k4 = g(y + 0.01 * k3)
            y = y + 0.01 / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
            return y, y
        return lax.scan(step, y, None, length=300)[1]

    def levenshtein(a, b):
        n = b.shape[0]
        def row(above, ca):
            diagonal = jnp.minimum(above[:-1] + (b != ca), above[1:] + 1)
            first = jnp.concatenate([above[:1] + 1, diagonal])
            return lax.cummin(first - jnp.arange(n + 1)) + jnp.arange(n + 1), 0
        return lax.scan(row, jnp.arange(n + 1), a)[0][-1]

    def viterbi(emit, move):
        def step(s, e):
            t = s[:, None] + move
            return t.max(0) + e, t.argmax(0)
        last, back = lax.scan(step, emit[0], emit[1:])
        return lax.scan(lambda k, b: (b[k], k), last.argmax(), back, reverse=True)[1]

    def page_rank(rank, src, dst, degree):
        return 0.15 / rank.shape[0] + 0.85 * jax.ops.segment_sum((rank / degree)[src], dst, rank.shape[0])

    def sinkhorn(u, k):
        return 1 / (k @ (1 / (k.T @ u + 1e-6)) + 1e-6)

    def metropolis(key):
        def step(s, k):
            k1, k2 = jax.random.split(k)
            new = s + jax.random.normal(k1, s.shape)
            take = jnp.log(jax.random.uniform(k2, s.shape)) < (s * s - new * new) / 2
            s = jnp.where(take, new, s)
            return s, s.mean()
        return lax.scan(step, jnp.zeros(64), jax.random.split(jax.random.wrap_key_data(key), 500))[1]

    def newton(a):
        return lax.while_loop(lambda s: jnp.max(jnp.abs(s * s - a)) > 1e-4, lambda s: 0.5 * (s + a / s), a)

    def black_scholes(s, k, t):
        n = jax.scipy.stats.norm.cdf
        d = (jnp.log(s / k) + (0.05 + 0.02) * t) / (0.2 * jnp.sqrt(t))
        return s * n(d) - k * jnp.exp(-0.05 * t) * n(d - 0.2 * jnp.sqrt(t))

    def xorshift(x):
        x = x ^ (x << 13)
        x = x ^ (x >> 17)
        return x ^ (x << 5)

    def crc(table, x):
        step = lambda i, c: table[(c ^ x[:, i]) & 255] ^ (c >> 8)
        return lax.fori_loop(0, x.shape[1], step, jnp.full(x.shape[0], 0xFFFFFFFF, jnp.uint32))

    # networks
    def norm(x, g):
        return (x - x.mean(-1, keepdims=True)) * lax.rsqrt(x.var(-1, keepdims=True) + 1e-5) * g

    def rotate(x):
        t = jnp.arange(x.shape[1])[:, None] / 10000 ** (jnp.arange(x.shape[-1] // 2) / (x.shape[-1] // 2))
        s, c = jnp.sin(t)[:, None], jnp.cos(t)[:, None]
        a, b = jnp.split(x, 2, -1)
        return jnp.concatenate([a * c - b * s, a * s + b * c], -1)

    def grouped_attention(q, k, v):
        b, t, h, d = q.shape
        s = jnp.einsum("btkgd,bskd->bkgts", rotate(q).reshape(b, t, k.shape[2], -1, d), rotate(k)) / 8
        s = jnp.where(jnp.tril(jnp.ones((t, t), bool)), s, -1e9)
        return jnp.einsum("bkgts,bskd->btkgd", jax.nn.softmax(s), v).reshape(b, t, h, d)

    def chunked_attention(q, k, v):
        def chunk(state, kv):
            top, total, acc = state
            s = q @ kv[0].T / 8
            new = jnp.maximum(top, s.max(-1, keepdims=True))
            p, scale = jnp.exp(s - new), jnp.exp(top - new)
            return (new, total * scale + p.sum(-1, keepdims=True), acc * scale + p @ kv[1]), None
        n, d = q.shape
        parts = [a.reshape(-1, 128, d) for a in (k, v)]
        start = (jnp.full((n, 1), -jnp.inf), jnp.zeros((n, 1)), jnp.zeros((n, d)))
        _, total, acc = lax.scan(chunk, start, parts)[0]
        return acc / total

    def decode(q, keys, values, new_k, new_v, at):
        keys = lax.dynamic_update_slice(keys, new_k, (0, at, 0, 0))
        values = lax.dynamic_update_slice(values, new_v, (0, at, 0, 0))
        s = jnp.einsum("bhd,bthd->bht", q, keys) / 8
        s = jnp.where(jnp.arange(keys.shape[1]) <= at, s, -1e9)
        return jnp.einsum("bht,bthd->bhd", jax.nn.softmax(s), values), keys, values

    def transformer(params, tokens):
        x = params["e"][tokens]
        for w in params["layers"]:
            y = norm(x, w["g1"])
            q, k, v = jnp.split((y @ w["qkv"]).reshape(*x.shape[:2], 12, 32), 3, 2)
            s = jnp.where(jnp.tril(jnp.ones((x.shape[1],) * 2, bool)), jnp.einsum("bqhd,bkhd->bhqk", q, k) / 6, -1e9)
            x = x + jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(s), v).reshape(*x.shape[:2], -1) @ w["o"]
            x = x + jax.nn.gelu(norm(x, w["g2"]) @ w["up"]) @ w["down"]
        return x @ params["e"].T

    def language_step(params, tokens):
        def loss(params):
            p = jax.nn.log_softmax(transformer(params, tokens)[:, :-1])
            return -jnp.take_along_axis(p, tokens[:, 1:, None], -1).mean()
        value, grads = jax.value_and_grad(loss)(params)
        return value, jax.tree.map(lambda p, g: p - 0.1 * g, params, grads)

    def params_of(layers, vocabulary=1000, d=128):
        one = lambda: {"g1": np.ones(d, f32), "g2": np.ones(d, f32), "qkv": f(d, 3 * d, scale=.05), "o": f(d, d, scale=.05),
                       "up": f(d, 4 * d, scale=.05), "down": f(4 * d, d, scale=.05)}
        return {"e": f(vocabulary, d, scale=.05), "layers": [one() for _ in range(layers)]}

    def conv(x, w, stride=1, **more):
        return lax.conv_general_dilated(x, w, (stride,) * 2, "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"), **more)

    def image_step(ws, x, y):
        def loss(ws):
            h = jax.nn.relu(conv(x, ws[0], 2))
            h = jax.nn.relu(conv(h, ws[1]) + h)
            h = lax.reduce_window(h, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")
            h = jax.nn.relu(conv(h, ws[2]))
            logits = h.mean((1, 2)) @ ws[3]
            return -jnp.take_along_axis(jax.nn.log_softmax(logits), y[:, None], -1).mean()
        return [w - 0.1 * g for w, g in zip(ws, jax.grad(loss)(ws))]

    def separable(x, deep, wide):
        return jax.nn.relu6(conv(jax.nn.relu6(conv(x, deep, feature_group_count=x.shape[-1])), wide))

    def train_loop(w1, w2, x, y):
        def step(_, ws):
            g = jax.grad(lambda ws: ((jnp.tanh(x @ ws[0]) @ ws[1] - y) ** 2).mean())(ws)
            return jax.tree.map(lambda w, g: w - 0.05 * g, ws, g)
        return lax.fori_loop(0, 100, step, (w1, w2))

    def lstm_loss(w, u, xs):
        def step(c, x):
            i, k, o, g = jnp.split(x @ w + c[0] @ u, 4, -1)
            s = jax.nn.sigmoid(k) * c[1] + jax.nn.sigmoid(i) * jnp.tanh(g)
            return (jax.nn.sigmoid(o) * jnp.tanh(s), s), s
        zero = jnp.zeros((xs.shape[1], u.shape[0]))
        return (lax.scan(step, (zero, zero), xs)[1] ** 2).mean()

    def state_space(a, b, x):
        return lax.scan(lambda h, i: ((a * h + b * i[:, None]),) * 2, jnp.zeros(a.shape), x)[1].sum(-1)

    def experts(x, gate, up, down):
        weights, chosen = lax.top_k(jax.nn.softmax(x @ gate), 2)
        hot = (jax.nn.one_hot(chosen, gate.shape[1]) * weights[..., None]).sum(1)
        h = jax.nn.silu(jnp.einsum("td,edf->etf", x, up))
        return jnp.einsum("etf,efd,te->td", h, down, hot)

    def graph_layer(x, w, src, dst):
        return jax.nn.relu(jax.ops.segment_sum((x @ w)[src], dst, x.shape[0]))

    def nearest(q, x):
        return lax.top_k(-((q ** 2).sum(1)[:, None] - 2 * q @ x.T + (x ** 2).sum(1)), 8)

    def clipped_adam(ps, gs, ms, vs):
        total = jnp.sqrt(sum((g * g).sum() for g in gs))
        gs = [g * jnp.minimum(1, 1 / total) for g in gs]
        ms = [0.9 * m + 0.1 * g for m, g in zip(ms, gs)]
        vs = [0.999 * v + 0.001 * g * g for v, g in zip(vs, gs)]
        return [p - 1e-3 * (m / (jnp.sqrt(v) + 1e-8) + 0.01 * p) for p, m, v in zip(ps, ms, vs)], ms, vs

    bits = np.array([5, 6], np.uint32)
    plane = (np.linspace(-2, 1, 300)[None] + 1j * np.linspace(-1, 1, 200)[:, None]).astype(np.complex64)
    spd = f(400, 400)
    spd = spd @ spd.T + 400 * np.eye(400, dtype=f32)
    shapes = [(512, 512), (512,), (512, 700), (700,), (700, 300)]
    return {
        "program_mandelbrot": (mandelbrot, [plane]),
        "program_life": (repeat(50, life), [ints(2, 256, 256)]),
        "program_heat": (repeat(50, heat), [f(512, 512)]),
        "program_bodies": (repeat(10, bodies), [(f(300, 3), f(300, 3))]),
        "program_kmeans": (repeat(10, kmeans), [f(16, 8), f(5000, 8)]),
        "program_conjugate_gradient": (conjugate_gradient, [spd, f(400)]),
        "program_kalman": (kalman, [f(4, 4, scale=.3), f(2, 4), f(500, 2)]),
        "program_rk4": (rk4, [np.array([1, 2, 3], f32)]),
        "program_levenshtein": (levenshtein, [ints(4, 300), ints(4, 400)]),
        "program_viterbi": (viterbi, [f(400, 40), f(40, 40)]),
        "program_page_rank": (repeat(10, page_rank), [np.full(5000, 1 / 5000, f32), ints(5000, 60000), ints(5000, 60000), np.full(5000, 12, f32)]),
        "program_sinkhorn": (repeat(30, sinkhorn), [np.abs(f(300)), np.exp(f(300, 300))]),
        "program_metropolis": (metropolis, [bits]),
        "program_newton": (newton, [np.abs(f(100000)) + f32(.1)]),
        "program_black_scholes": (black_scholes, [np.abs(f(1 << 19)) + 1, np.abs(f(1 << 19)) + 1, np.abs(f(1 << 19)) + f32(.1)]),
        "program_xorshift": (repeat(64, xorshift), [ints(1 << 31, 100000, dtype=np.uint32)]),
        "program_crc": (crc, [ints(1 << 31, 256, dtype=np.uint32), ints(256, 4096, 64, dtype=np.uint32)]),
        "program_grouped_attention": (grouped_attention, [f(2, 256, 8, 64), f(2, 256, 2, 64), f(2, 256, 2, 64)]),
        "program_chunked_attention": (chunked_attention, [f(1024, 64), f(1024, 64), f(1024, 64)]),
        "program_decode": (decode, [f(4, 8, 64), f(4, 1024, 8, 64), f(4, 1024, 8, 64), f(4, 1, 8, 64), f(4, 1, 8, 64), np.int32(700)]),
        "program_language_step": (language_step, [params_of(2), ints(1000, 4, 64)]),
        "program_image_step": (image_step, [[f(3, 3, 3, 32, scale=.1), f(3, 3, 32, 32, scale=.1), f(3, 3, 32, 64, scale=.1), f(64, 10)], f(16, 32, 32, 3), ints(10, 16)]),
        "program_separable": (separable, [f(4, 56, 56, 64), f(3, 3, 1, 64), f(1, 1, 64, 128)]),
        "program_train_loop": (train_loop, [f(20, 64), f(64, 1), f(256, 20), f(256, 1)]),
        "program_lstm_grad": (jax.grad(lstm_loss, (0, 1)), [f(32, 256, scale=.1), f(64, 256, scale=.1), f(50, 16, 32)]),
        "program_state_space": (state_space, [np.abs(f(256, 16, scale=.1)), f(256, 16), f(300, 256)]),
        "program_experts": (experts, [f(512, 128), f(128, 8), f(8, 128, 256), f(8, 256, 128)]),
        "program_graph_layer": (graph_layer, [f(3000, 64), f(64, 64), ints(3000, 30000), ints(3000, 30000)]),
        "program_nearest": (nearest, [f(500, 32), f(5000, 32)]),
        "program_clipped_adam": (clipped_adam, [[f(*s) for s in shapes], [f(*s) for s in shapes], [f(*s) for s in shapes], [np.abs(f(*s)) for s in shapes]]),
    }
