"""Loops with small bodies in typical JAX style, for run_vs_xla.py: name -> (function, arguments)."""


def patterns(jax, jnp, np, ml_dtypes):
    del ml_dtypes
    r = np.random.default_rng(6)
    lax = jax.lax

    def f(*dims, scale=1.0, dtype=np.float32):
        return (r.standard_normal(dims) * scale).astype(dtype)

    def ints(most, *dims, dtype=np.int32):
        return r.integers(0, most, dims).astype(dtype)

    def key():
        return ints(1 << 31, 2, dtype=np.uint32)

    # state of many scalars
    def membrane(current):
        def rates(v):
            a_m = 0.1 * (v + 40) / (1 - jnp.exp(-(v + 40) / 10) + 1e-6)
            a_n = 0.01 * (v + 55) / (1 - jnp.exp(-(v + 55) / 10) + 1e-6)
            return (a_m, 4 * jnp.exp(-(v + 65) / 18), 0.07 * jnp.exp(-(v + 65) / 20), 1 / (1 + jnp.exp(-(v + 35) / 10)),
                    a_n, 0.125 * jnp.exp(-(v + 65) / 80))

        def step(s, i):
            v, m, h, n, spikes, last = s
            a_m, b_m, a_h, b_h, a_n, b_n = rates(v)
            flow = i - 120 * m**3 * h * (v - 50) - 36 * n**4 * (v + 77) - 0.3 * (v + 54.4)
            new = v + 0.01 * flow
            fired = (new > 0) & (v <= 0)
            return (new, m + 0.01 * (a_m * (1 - m) - b_m * m), h + 0.01 * (a_h * (1 - h) - b_h * h),
                    n + 0.01 * (a_n * (1 - n) - b_n * n), spikes + fired, jnp.where(fired, i, last)), new
        start = tuple(jnp.float32(x) for x in (-65, 0.05, 0.6, 0.32)) + (jnp.int32(0), jnp.float32(0))
        return lax.scan(step, start, current)[1]

    def membrane_gradient(current):
        return jax.grad(lambda c: (membrane(c) ** 2).mean())(current)

    def leapfrog(logp, q, p, step, n):
        def body(_, s):
            q, p = s
            p = p + 0.5 * step * jax.grad(logp)(q)
            q = q + step * p
            return q, p + 0.5 * step * jax.grad(logp)(q)
        return lax.fori_loop(0, n, body, (q, p))

    def hamiltonian(key, x, y):
        def logp(w):
            z = x @ w
            return (y * z - jnp.logaddexp(0, z)).sum() - 0.5 * (w @ w)

        def step(s, k):
            k1, k2 = jax.random.split(k)
            p = jax.random.normal(k1, s.shape)
            new, q = leapfrog(logp, s, p, 0.02, 8)
            accept = jnp.log(jax.random.uniform(k2)) < logp(new) - logp(s) - 0.5 * (q @ q - p @ p)
            return lax.cond(accept, lambda: new, lambda: s), accept
        return lax.scan(step, jnp.zeros(x.shape[1]), jax.random.split(jax.random.wrap_key_data(key), 100))

    # a tree of trajectories doubled until it turns round, as in NUTS
    def no_u_turn(key, scale):
        def logp(q):
            return -0.5 * (q * q / scale).sum() - 0.1 * (q**4).sum()

        def draw(q, key):
            k0, k1 = jax.random.split(key)
            p = jax.random.normal(k0, q.shape)
            energy = logp(q) - 0.5 * (p @ p)

            def double(s):
                left, right, best, weight, depth, key, _ = s
                key, k1, k2 = jax.random.split(key, 3)
                forward = jax.random.bernoulli(k1)
                end = jax.tree.map(lambda a, b: jnp.where(forward, a, b), right, left)

                def extend(t):
                    i, (q, p), best, weight, k, _ = t
                    q, p = leapfrog(logp, q, p, jnp.where(forward, 0.1, -0.1), 1)
                    w = logp(q) - 0.5 * (p @ p) - energy
                    k, k3 = jax.random.split(k)
                    total = jnp.logaddexp(weight, w)
                    take = jnp.log(jax.random.uniform(k3)) < w - total
                    return i + 1, (q, p), jnp.where(take, q, best), total, k, w < -1000
                _, end, best, weight, key, bad = lax.while_loop(
                    lambda t: (t[0] < 2**depth) & ~t[5], extend, (0, end, best, weight, key, False))
                left = jax.tree.map(lambda a, b: jnp.where(forward, b, a), end, left)
                right = jax.tree.map(lambda a, b: jnp.where(forward, a, b), end, right)
                along = right[0] - left[0]
                turned = (along @ left[1] < 0) | (along @ right[1] < 0) | bad
                return left, right, best, weight, depth + 1, key, turned
            out = lax.while_loop(lambda s: ~s[6] & (s[4] < 6), double, ((q, p), (q, p), q, jnp.float32(0), 0, k1, False))
            return out[2], out[4]
        return lax.scan(draw, jnp.zeros(scale.shape[0]), jax.random.split(jax.random.wrap_key_data(key), 60))

    # filters and smoothers
    def kalman_smoother(a, c, ys):
        n, m = a.shape[0], c.shape[0]

        def forward(s, y):
            x, p = s
            xp, pp = a @ x, a @ p @ a.T + 0.1 * jnp.eye(n)
            gain = jnp.linalg.solve(c @ pp @ c.T + 0.5 * jnp.eye(m), c @ pp).T
            x, p = xp + gain @ (y - c @ xp), pp - gain @ c @ pp
            return (x, p), (x, p, xp, pp)
        _, (xs, ps, xps, pps) = lax.scan(forward, (jnp.zeros(n), jnp.eye(n)), ys)

        def backward(s, now):
            x, p, xp, pp = now
            g = jnp.linalg.solve(pp, a @ p).T
            x, p = x + g @ (s[0] - s[2]), p + g @ (s[1] - s[3]) @ g.T
            return (x, p, xp, pp), x
        return lax.scan(backward, (xs[-1], ps[-1], xps[-1], pps[-1]), (xs, ps, xps, pps), reverse=True)[1]

    def forward_backward(trans, emit):
        def step(alpha, e):
            new = jax.nn.logsumexp(alpha[:, None] + trans, 0) + e
            return new, new
        alphas = lax.scan(step, emit[0], emit[1:])[1]
        def back(beta, e):
            new = jax.nn.logsumexp(trans + (e + beta)[None], 1)
            return new, new
        betas = lax.scan(back, jnp.zeros(trans.shape[0]), emit[1:], reverse=True)[1]
        return jax.nn.softmax(alphas[:-1] + betas[1:], -1)

    def hmm_likelihood(trans, emit):
        def step(alpha, e):
            return jax.nn.logsumexp(alpha[:, None] + trans, 0) + e, None
        return jax.nn.logsumexp(lax.scan(step, emit[0], emit[1:])[0])

    def particles(key, ys):
        def step(s, now):
            y, k = now
            k1, k2 = jax.random.split(k)
            x = 0.9 * s + jax.random.normal(k1, s.shape)
            w = jax.nn.softmax(-0.5 * (y - x) ** 2)
            at = jnp.searchsorted(jnp.cumsum(w), (jnp.arange(s.shape[0]) + jax.random.uniform(k2)) / s.shape[0])
            return x[jnp.clip(at, 0, s.shape[0] - 1)], (w * x).sum()
        return lax.scan(step, jnp.zeros(128), (ys, jax.random.split(jax.random.wrap_key_data(key), ys.shape[0])))[1]

    # optimisation
    def rosenbrock(x):
        return (100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()

    def lbfgs(x):
        memory, n = 8, x.shape[0]

        def direction(g, s, y, rho, k):
            def first(i, t):
                q, alphas = t
                j = (k - 1 - i) % memory
                alpha = rho[j] * (s[j] @ q)
                return q - alpha * y[j], alphas.at[j].set(alpha)
            q, alphas = lax.fori_loop(0, memory, first, (g, jnp.zeros(memory)))
            def second(i, q):
                j = (k + i) % memory
                return q + s[j] * (alphas[j] - rho[j] * (y[j] @ q))
            return -lax.fori_loop(0, memory, second, q)

        def body(t):
            x, g, s, y, rho, k = t
            d = direction(g, s, y, rho, k)
            value = rosenbrock(x)
            step = lax.while_loop(lambda a: (rosenbrock(x + a * d) > value + 1e-4 * a * (g @ d)) & (a > 1e-8),
                                  lambda a: a * 0.5, jnp.float32(1))
            new = x + step * d
            gn = jax.grad(rosenbrock)(new)
            j, sy = k % memory, (new - x) @ (gn - g)
            return new, gn, s.at[j].set(new - x), y.at[j].set(gn - g), rho.at[j].set(jnp.where(sy > 1e-10, 1 / sy, 0)), k + 1
        start = (x, jax.grad(rosenbrock)(x), jnp.zeros((memory, n)), jnp.zeros((memory, n)), jnp.zeros(memory), 0)
        return lax.while_loop(lambda t: t[5] < 60, body, start)[0]

    def box_qp(q, c):
        def step(x, _):
            new = jnp.clip(x - 0.01 * (q @ x + c), -1, 1)
            return new, None
        def dual(s):
            x, z, k = s
            new = lax.scan(step, x + 0.1 * z, None, length=5)[0]
            return new, z + new - x, k + 1
        return lax.while_loop(lambda s: s[2] < 60, dual, (jnp.zeros_like(c), jnp.zeros_like(c), 0))[0]

    def newton_systems(a, b):
        def residual(x):
            return jnp.tanh(a @ x) + x**3 - b
        def step(_, x):
            return x - jnp.linalg.solve(jax.jacfwd(residual)(x), residual(x))
        return lax.fori_loop(0, 40, step, jnp.zeros_like(b))

    def adam(w, x, y):
        grad = jax.grad(lambda w: ((jnp.tanh(x @ w[0]) @ w[1] - y) ** 2).mean())
        def step(s, _):
            w, m, v, t = s
            g = grad(w)
            m = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, m, g)
            v = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g * g, v, g)
            w = jax.tree.map(lambda w, m, v: w - 1e-3 * (m / (1 - 0.9**t)) / (jnp.sqrt(v / (1 - 0.999**t)) + 1e-8), w, m, v)
            return (w, m, v, t + 1), None
        zero = jax.tree.map(jnp.zeros_like, w)
        return lax.scan(step, (w, zero, zero, jnp.float32(1)), None, length=100)[0][0]

    # differential equations with adaptive steps
    def dormand_prince(y):
        b = [[1 / 5], [3 / 40, 9 / 40], [44 / 45, -56 / 15, 32 / 9], [19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729],
             [9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656], [35 / 384, 0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84]]
        e = [71 / 57600, 0, -71 / 16695, 71 / 1920, -17253 / 339200, 22 / 525, -1 / 40]
        def field(y):
            return jnp.stack([y[1], 2 * (1 - y[0] ** 2) * y[1] - y[0], y[3], -y[2] - 0.1 * y[0] * y[3]])
        def step(s):
            t, y, h, n = s
            h = jnp.minimum(h, 5 - t)
            k = [field(y)]
            for row in b:
                k.append(field(y + h * sum(c * x for c, x in zip(row, k))))
            new = y + h * sum(c * x for c, x in zip(b[-1], k))
            error = jnp.sqrt(jnp.mean((h * sum(c * x for c, x in zip(e, k)) / (1e-7 + 1e-5 * jnp.abs(y))) ** 2))
            ok = error < 1
            return jnp.where(ok, t + h, t), jnp.where(ok, new, y), h * jnp.clip(0.9 * (error + 1e-10) ** -0.2, 0.2, 5), n + 1
        return lax.while_loop(lambda s: (s[0] < 5) & (s[3] < 3000), step, (jnp.float32(0), y, jnp.float32(0.01), 0))[1]

    def neural_ode(w, y):
        def field(y, _):
            return jnp.tanh(y @ w[0]) @ w[1], None
        def rk(y, _):
            k1 = field(y, 0)[0]
            k2 = field(y + 0.05 * k1, 0)[0]
            k3 = field(y + 0.05 * k2, 0)[0]
            k4 = field(y + 0.1 * k3, 0)[0]
            return y + 0.1 / 6 * (k1 + 2 * k2 + 2 * k3 + k4), None
        return (lax.scan(rk, y, None, length=40)[0] ** 2).sum()

    # recurrent networks
    def gru(w, u, xs):
        def step(h, x):
            a, b = x @ w, h @ u
            r, z, n = jnp.split(a, 3, -1), jnp.split(b, 3, -1), None
            gate, keep = jax.nn.sigmoid(r[0] + z[0]), jax.nn.sigmoid(r[1] + z[1])
            n = jnp.tanh(r[2] + gate * z[2])
            h = (1 - keep) * n + keep * h
            return h, h
        return lax.scan(step, jnp.zeros((xs.shape[1], u.shape[0])), xs)[1]

    def lstm(w, u, xs, reverse=False):
        def step(s, x):
            h, c = s
            i, g, o, k = jnp.split(x @ w + h @ u, 4, -1)
            c = jax.nn.sigmoid(k + 1) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
            h = jax.nn.sigmoid(o) * jnp.tanh(c)
            return (h, c), h
        zero = jnp.zeros((xs.shape[1], u.shape[0]))
        return lax.scan(step, (zero, zero), xs, reverse=reverse)[1]

    def bi_lstm(w, u, xs):
        return jnp.concatenate([lstm(w, u, xs), lstm(w, u, xs, reverse=True)], -1)

    def selective_scan(a, b, c, x):
        def step(h, now):
            bt, ct, xt = now
            dt = jax.nn.softplus(xt)
            h = jnp.exp(dt[:, None] * a) * h + dt[:, None] * bt[None] * xt[:, None]
            return h, h @ ct
        return lax.scan(step, jnp.zeros_like(a), (b, c, x))[1]

    # recursions
    def gauss_seidel(a, b):
        def row(i, x):
            return x.at[i].set((b[i] - a[i] @ x + a[i, i] * x[i]) / a[i, i])
        return lax.fori_loop(0, 20, lambda _, x: lax.fori_loop(0, b.shape[0], row, x), jnp.zeros_like(b))

    def levinson(r):
        n = r.shape[0] - 1
        def step(i, s):
            a, error = s
            at = jnp.arange(n + 1)
            mirrored = jnp.where((at <= i) & (at >= 0), a[jnp.clip(i - at, 0, n)], 0)
            k = -(jnp.where(at <= i, a * r[jnp.clip(i + 1 - at, 0, n)], 0)).sum() / error
            return a + k * jnp.concatenate([jnp.zeros(1), mirrored[:-1]]), error * (1 - k * k)
        return lax.fori_loop(0, n, step, (jnp.zeros(n + 1).at[0].set(1), r[0]))[0]

    def sieve(limit):
        def mark(i, flags):
            at = jnp.arange(flags.shape[0])
            return lax.cond(flags[i], lambda f: f & ~((at % i == 0) & (at > i)), lambda f: f, flags)
        return lax.fori_loop(2, 64, mark, jnp.ones(4096, bool).at[:2].set(False)) & (jnp.arange(4096) < limit)

    def tic_tac_toe(key):
        lines = jnp.array([[0, 1, 2], [3, 4, 5], [6, 7, 8], [0, 3, 6], [1, 4, 7], [2, 5, 8], [0, 4, 8], [2, 4, 6]])
        def game(key):
            def move(s):
                board, player, k, _ = s
                k, k1 = jax.random.split(k)
                free = board == 0
                at = jax.random.categorical(k1, jnp.where(free, 0.0, -1e9))
                board = board.at[at].set(player)
                won = (board[lines] == player).all(-1).any()
                return board, -player, k, jnp.where(won, player, 0)
            out = lax.while_loop(lambda s: (s[3] == 0) & (s[0] == 0).any(), move, (jnp.zeros(9, jnp.int32), jnp.int32(1), key, jnp.int32(0)))
            return out[3]
        return lax.map(game, jax.random.split(jax.random.wrap_key_data(key), 200))

    def batched_games(key):
        def play(key):
            def move(s):
                x, k, n = s
                k, k1 = jax.random.split(k)
                return x + jax.random.randint(k1, (), 1, 7), k, n + 1
            return lax.while_loop(lambda s: s[0] < 100, move, (jnp.int32(0), key, jnp.int32(0)))[2]
        return jax.vmap(play)(jax.random.split(jax.random.wrap_key_data(key), 64))

    def tree_search(key, depth=40):
        def simulate(s, k):
            counts, values = s
            def down(t):
                node, path, d = t
                score = values[node] / (counts[node] + 1) + jnp.sqrt(jnp.log(counts[node].sum() + 2) / (counts[node] + 1))
                a = jnp.argmax(score)
                return (node * 4 + a + 1) % counts.shape[0], path.at[d].set(node * 4 + a), d + 1
            node, path, d = lax.while_loop(lambda t: (counts[t[0]].sum() > 0) & (t[2] < 6), down, (jnp.int32(0), jnp.full(8, -1, jnp.int32), 0))
            reward = jax.random.uniform(k) + 0.01 * node
            path = path.at[d].set(node * 4)
            def up(i, t):
                at = path[i]
                return lax.cond(at >= 0, lambda: (t[0].at[at // 4, at % 4].add(1), t[1].at[at // 4, at % 4].add(reward)), lambda: t)
            return lax.fori_loop(0, 8, up, (counts, values)), node
        return lax.scan(simulate, (jnp.zeros((64, 4)), jnp.zeros((64, 4))), jax.random.split(jax.random.wrap_key_data(key), 300))[1]

    def edit_distance(a, b):
        def cell(left, now):
            above, corner, same = now
            new = jnp.minimum(jnp.minimum(left, above) + 1, corner + (~same))
            return new, new
        def row(above, ca):
            rest = lax.scan(cell, above[0] + 1, (above[1:], above[:-1], b == ca))[1]
            return jnp.concatenate([above[:1] + 1, rest]), None
        return lax.scan(row, jnp.arange(b.shape[0] + 1), a)[0][-1]

    def factor_updates(a, us):
        def step(l, u):
            l = jnp.linalg.cholesky(0.9 * l @ l.T + jnp.outer(u, u) + 1e-3 * jnp.eye(l.shape[0]))
            return l, lax.linalg.triangular_solve(l, u[:, None], left_side=True, lower=True)[:, 0]
        return lax.scan(step, jnp.linalg.cholesky(a), us)[1]

    def sorted_window(xs):
        def step(window, x):
            window = jnp.concatenate([window[1:], x[None]])
            return window, jnp.sort(window)[window.shape[0] // 2]
        return lax.scan(step, jnp.zeros(16), xs)[1]

    # bodies of several hundred ops
    def many_leaves(leaves, xs):
        def step(s, x):
            around = s[1:] + s[:1]
            s = [jnp.tanh(a + 0.1 * x * jnp.sin(b)) * (1 + 0.01 * k) for k, (a, b) in enumerate(zip(s, around))]
            return s, sum(s)
        return lax.scan(step, leaves, xs)[1]

    def cable(v, current):
        def step(s, i):
            new = []
            for k, (v, m, h, n) in enumerate(s):
                left, right = s[max(k - 1, 0)][0], s[min(k + 1, len(s) - 1)][0]
                a_m, b_m = 0.1 * (v + 40) / (1 - jnp.exp(-(v + 40) / 10) + 1e-6), 4 * jnp.exp(-(v + 65) / 18)
                a_h, b_h = 0.07 * jnp.exp(-(v + 65) / 20), 1 / (1 + jnp.exp(-(v + 35) / 10))
                a_n, b_n = 0.01 * (v + 55) / (1 - jnp.exp(-(v + 55) / 10) + 1e-6), 0.125 * jnp.exp(-(v + 65) / 80)
                flow = (i if k == 0 else 0) + 0.5 * (left + right - 2 * v) - 120 * m**3 * h * (v - 50) - 36 * n**4 * (v + 77) - 0.3 * (v + 54.4)
                new.append((v + 0.01 * flow, m + 0.01 * (a_m * (1 - m) - b_m * m), h + 0.01 * (a_h * (1 - h) - b_h * h),
                            n + 0.01 * (a_n * (1 - n) - b_n * n)))
            return new, new[-1][0]
        start = [(v + k, jnp.float32(0.05), jnp.float32(0.6), jnp.float32(0.32)) for k in range(12)]
        return lax.scan(step, start, current)[1]

    def rigid_bodies(q, v):
        def rotate(r, u):
            return u + 2 * jnp.cross(r[1:], jnp.cross(r[1:], u) + r[:1] * u)
        def turn(r, w):
            dot, cross = -(r[1:] * w).sum(), r[:1] * w + jnp.cross(w, r[1:])
            new = r + 0.005 * jnp.concatenate([dot[None], cross])
            return new / jnp.linalg.norm(new)
        corners = jnp.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], np.float32) * 0.1
        def step(s, _):
            (p, r), (u, w) = s
            points = jax.vmap(lambda p, r: p + jax.vmap(lambda c: rotate(r, c))(corners))(p, r)
            arms = points - p[:, None]
            def solve(i, t):
                u, w = t
                speed = u[:, None] + jnp.cross(w[:, None], arms)
                push = jnp.where(points[..., 2] < 0, jnp.maximum(-speed[..., 2] - 10 * points[..., 2], 0), 0) / 8
                force = jnp.zeros_like(points).at[..., 2].set(push)
                return u + force.sum(1), w + 0.5 * jnp.cross(arms, force).sum(1)
            u, w = lax.fori_loop(0, 6, solve, (u + jnp.array([0, 0, -0.0981]), w))
            return ((p + 0.01 * u, jax.vmap(turn)(r, w)), (u, w)), p[:, 2]
        return lax.scan(step, (q, v), None, length=60)[1]

    # loops over arrays of some thousand elements
    def mlp_training(w, xs, ys):
        def loss(w, x, y):
            for i, (a, b) in enumerate(w):
                x = x @ a + b
                x = jax.nn.relu(x) if i + 1 < len(w) else x
            return -(jax.nn.log_softmax(x) * y).sum(-1).mean()
        def step(w, now):
            value, g = jax.value_and_grad(loss)(w, *now)
            return jax.tree.map(lambda a, b: a - 0.1 * b, w, g), value
        return lax.scan(step, w, (xs, ys))[1]

    def decode_tokens(w, first):
        layers, length, width = 2, 48, 64
        def token(s, i):
            caches, x = s
            new = []
            for (k, v), (q_w, k_w, v_w, o_w, up, down) in zip(caches, w):
                y = x * lax.rsqrt((x * x).mean() + 1e-5)
                q, k_new, v_new = (y @ q_w).reshape(4, 16), (y @ k_w).reshape(4, 16), (y @ v_w).reshape(4, 16)
                k, v = k.at[i].set(k_new), v.at[i].set(v_new)
                score = jnp.where(jnp.arange(length) <= i, jnp.einsum("hd,thd->ht", q, k) / 4, -1e9)
                x = x + jnp.einsum("ht,thd->hd", jax.nn.softmax(score), v).reshape(width) @ o_w
                y = x * lax.rsqrt((x * x).mean() + 1e-5)
                x = x + jax.nn.gelu(y @ up) @ down
                new.append((k, v))
            return (new, 0.1 * x * (1 + jnp.sin(i))), x
        zero = jnp.zeros((length, 4, 16))
        return lax.scan(token, ([(zero, zero)] * layers, first), jnp.arange(length))[1]

    def ising(key, spins):
        parity = (jnp.arange(spins.shape[0])[:, None] + jnp.arange(spins.shape[1])) % 2
        def step(s, k):
            for color in (0, 1):
                k, k1 = jax.random.split(k)
                around = sum(jnp.roll(s, d, a) for d in (-1, 1) for a in (0, 1))
                flip = (jax.random.uniform(k1, s.shape) < jnp.exp(-0.8 * s * around)) & (parity == color)
                s = jnp.where(flip, -s, s)
            return s, s.mean()
        return lax.scan(step, spins, jax.random.split(jax.random.wrap_key_data(key), 50))[1]

    def wave(u, speed):
        def step(s, _):
            u, before = s
            around = u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4 * u[1:-1, 1:-1]
            new = 2 * u - before
            return (new.at[1:-1, 1:-1].add(speed[1:-1, 1:-1] * around), u), None
        return lax.scan(step, (u, u), None, length=100)[0][0]

    spd = f(8, 8)
    spd = (spd @ spd.T + 8 * np.eye(8)).astype(np.float32)
    stable = f(64, 64, scale=.05) + np.eye(64, dtype=np.float32) * 4
    positive = (stable @ stable.T / 16).astype(np.float32)
    return {
        "loop_membrane": (membrane, [np.full(2000, 10, np.float32)]),
        "loop_membrane_gradient": (membrane_gradient, [np.full(1000, 10, np.float32)]),
        "loop_hamiltonian": (hamiltonian, [key(), f(40, 6), ints(2, 40).astype(np.float32)]),
        "loop_no_u_turn": (no_u_turn, [key(), np.abs(f(8)) + 1]),
        "loop_kalman_smoother": (kalman_smoother, [f(4, 4, scale=.4), f(2, 4), f(300, 2)]),
        "loop_forward_backward": (forward_backward, [f(12, 12), f(300, 12)]),
        "loop_hmm_gradient": (jax.grad(hmm_likelihood, (0, 1)), [f(12, 12), f(300, 12)]),
        "loop_particles": (particles, [key(), f(100)]),
        "loop_lbfgs": (lbfgs, [f(20)]),
        "loop_box_qp": (box_qp, [positive, f(64)]),
        "loop_newton_systems": (newton_systems, [f(10, 10, scale=.3), f(10)]),
        "loop_adam": (adam, [[f(8, 32, scale=.3), f(32, 1, scale=.3)], f(64, 8), f(64, 1)]),
        "loop_dormand_prince": (dormand_prince, [np.array([2, 0, 1, 0], np.float32)]),
        "loop_neural_ode_gradient": (jax.grad(neural_ode), [[f(4, 32, scale=.3), f(32, 4, scale=.3)], f(16, 4)]),
        "loop_gru": (gru, [f(24, 96, scale=.1), f(32, 96, scale=.1), f(200, 8, 24)]),
        "loop_gru_gradient": (jax.grad(lambda *a: (gru(*a) ** 2).sum(), (0, 1)), [f(24, 96, scale=.1), f(32, 96, scale=.1), f(100, 8, 24)]),
        "loop_lstm": (lstm, [f(32, 256, scale=.1), f(64, 256, scale=.1), f(200, 8, 32)]),
        "loop_bi_lstm": (bi_lstm, [f(32, 128, scale=.1), f(32, 128, scale=.1), f(100, 8, 32)]),
        "loop_selective_scan": (selective_scan, [-np.abs(f(64, 8)), f(200, 8), f(200, 8), f(200, 64)]),
        "loop_selective_scan_gradient": (jax.grad(lambda *a: (selective_scan(*a) ** 2).sum(), (0, 3)), [-np.abs(f(64, 8)), f(100, 8), f(100, 8), f(100, 64)]),
        "loop_gauss_seidel": (gauss_seidel, [stable, f(64)]),
        "loop_levinson": (levinson, [0.9 ** np.arange(65, dtype=np.float32)]),
        "loop_sieve": (sieve, [np.int32(4000)]),
        "loop_tic_tac_toe": (tic_tac_toe, [key()]),
        "loop_batched_games": (batched_games, [key()]),
        "loop_tree_search": (tree_search, [key()]),
        "loop_edit_distance": (edit_distance, [ints(4, 60), ints(4, 80)]),
        "loop_factor_updates": (factor_updates, [spd, f(200, 8)]),
        "loop_many_leaves": (many_leaves, [[np.float32(0.01 * k) for k in range(60)], f(500)]),
        "loop_many_leaves_gradient": (jax.grad(lambda *a: many_leaves(*a).sum()), [[np.float32(0.01 * k) for k in range(60)], f(300)]),
        "loop_cable": (cable, [np.float32(-65), np.full(500, 10, np.float32)]),
        "loop_rigid_bodies": (rigid_bodies, [(np.abs(f(6, 3)), np.tile(np.array([1, 0, 0, 0], np.float32), (6, 1))), (f(6, 3), f(6, 3))]),
        "loop_chains": (jax.vmap(no_u_turn, (0, None)), [ints(1 << 31, 8, 2, dtype=np.uint32), np.abs(f(8)) + 1]),
        "loop_mlp_training": (mlp_training, [[(f(64, 128, scale=.1), np.zeros(128, np.float32)), (f(128, 10, scale=.1), np.zeros(10, np.float32))],
                                             f(60, 32, 64), np.eye(10, dtype=np.float32)[ints(10, 60, 32)]]),
        "loop_decode_tokens": (decode_tokens, [[[f(64, 64, scale=.1)] * 4 + [f(64, 256, scale=.1), f(256, 64, scale=.1)]] * 2, f(64)]),
        "loop_ising": (ising, [key(), np.where(f(64, 64) > 0, 1, -1).astype(np.float32)]),
        "loop_wave": (wave, [f(128, 128), np.abs(f(128, 128, scale=.1))]),
        "loop_sorted_window": (sorted_window, [f(1000)]),
    }
