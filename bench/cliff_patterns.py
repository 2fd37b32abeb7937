"""Programs on which a compiled program can fall back to slow code, for run_vs_xla.py: name -> (function, arguments).

Sorts with comparators of several keys, windows, scatters with unusual functions, loops whose bodies reduce, dilated and
narrow convolutions. `run_vs_xla.py --optimised` measures them in the form that XLA:CPU gives them, which hides most of
the ops in fusions and expands the comparators.
"""


def patterns(jax, jnp, np, ml_dtypes):
    r = np.random.default_rng(11)
    lax = jax.lax
    bf16 = ml_dtypes.bfloat16

    def f(*dims, dtype=np.float32):
        return r.standard_normal(dims).astype(dtype)

    def ints(most, *dims, dtype=np.int32):
        return r.integers(0, most, dims).astype(dtype)

    def pooled(function, init, window, strides=None, padding="VALID"):
        return lambda x: lax.reduce_window(x, init, function, window, strides or window, padding)

    def top_p(logits, p=0.9):
        probabilities = jax.nn.softmax(logits)
        order = jnp.argsort(-probabilities, axis=-1)
        sorted_ = jnp.take_along_axis(probabilities, order, -1)
        kept = jnp.cumsum(sorted_, -1) - sorted_ < p
        return jnp.where(jnp.take_along_axis(kept, jnp.argsort(order, axis=-1), -1), logits, -jnp.inf)

    def median_filter(x):
        rows = [jnp.roll(x, (i, j), (0, 1)) for i in (-1, 0, 1) for j in (-1, 0, 1)]
        return jnp.median(jnp.stack(rows, -1), -1)

    def sinkhorn(cost):
        def step(_, uv):
            u, v = uv
            u = -jax.nn.logsumexp(v[None, :] - cost, axis=1)
            return u, -jax.nn.logsumexp(u[:, None] - cost, axis=0)
        zero = jnp.zeros(cost.shape[0]), jnp.zeros(cost.shape[1])
        return lax.fori_loop(0, 20, step, zero)

    def transposed_3d(x, w):
        return lax.conv_transpose(x, w, (2, 2, 2), "SAME", dimension_numbers=("NDHWC", "DHWIO", "NDHWC"))

    def dynamic_int8(x, w):
        def quantised(a):
            scale = jnp.abs(a).max() / 127
            return jnp.clip(jnp.round(a / scale), -127, 127).astype(np.int8), scale
        (qx, sx), (qw, sw) = quantised(x), quantised(w)
        sums = lax.conv_general_dilated(qx, qw, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"),
                                        preferred_element_type=np.int32)
        return sums.astype(np.float32) * (sx * sw)

    def welford(x):
        def merge(a, b):
            (m, v, n), (m2, v2, n2) = a, b
            total = n + n2
            delta = m2 - m
            part = jnp.where(total > 0, n2 / jnp.maximum(total, 1), 0)
            return m + delta * part, v + v2 + delta * delta * n * part, total
        zero = np.float32(0)
        return lax.reduce((x, jnp.zeros_like(x), jnp.ones_like(x)), (zero, zero, zero), merge, (1,))

    def scatter_apply(x, i, u):
        numbers = lax.ScatterDimensionNumbers((), (0,), (0,))
        return lax.scatter_apply(x, i, lambda a: jnp.tanh(a) + 1, numbers, update_shape=u.shape)

    def gradient(function, argument=0):
        return jax.grad(lambda *args: (function(*args).astype(np.float32) ** 2).sum(), argument)

    maximum, minimum, add = lax.max, lax.min, lax.add
    image = f(8, 64, 64, 32)
    return {
        # sorts
        "argsort_first": (lambda x: jnp.argsort(x, axis=0), [f(2000, 200)]),
        "sort_rows_f64": (lambda x: jnp.sort(x, axis=-1), [f(200, 2000, dtype=np.float64)]),
        "sort_rows_bf16": (lambda x: jnp.sort(x, axis=-1), [f(200, 2000, dtype=bf16)]),
        "lexsort_3": (lambda a, b, c: jnp.lexsort((a, b, c)), [f(200000), ints(50, 200000), ints(9, 200000)]),
        "median_of_rows": (lambda x: jnp.median(x, -1), [f(300, 1500)]),
        "quantile_columns": (lambda x: jnp.quantile(x, jnp.array([0.1, 0.5, 0.9]), axis=0), [f(1500, 300)]),
        "top_p": (top_p, [f(16, 20000)]),
        "median_filter": (median_filter, [f(256, 256)]),
        "searchsorted_by_sort": (lambda a, v: jnp.searchsorted(a, v, method="sort"), [np.sort(f(100000)), f(100000)]),
        "sort_by_two_keys": (lambda a, b, c: lax.sort((a, b, c), num_keys=2), [ints(50, 1 << 17), f(1 << 17), f(1 << 17)]),
        "sort_complex": (lambda x: lax.sort(x, dimension=1), [(f(100, 1000) + 1j * f(100, 1000)).astype(np.complex64)]),
        "unique_counts": (lambda x: jnp.unique(x, return_counts=True, size=1000), [ints(1000, 1 << 17)]),
        # windows
        "max_pool_2x2": (pooled(maximum, -np.inf, (1, 2, 2, 1)), [image]),
        "max_pool_overlap": (pooled(maximum, -np.inf, (1, 3, 3, 1), (1, 2, 2, 1), "SAME"), [image]),
        "average_pool": (pooled(add, np.float32(0), (1, 3, 3, 1), (1, 1, 1, 1), "SAME"), [image]),
        "max_out": (lambda x: x.reshape(4096, 128, 4).max(-1), [f(4096, 512)]),
        "max_pool_gradient": (gradient(pooled(maximum, -np.inf, (1, 2, 2, 1))), [image]),
        "average_pool_gradient": (gradient(pooled(add, np.float32(0), (1, 3, 3, 1), (1, 2, 2, 1), "SAME")), [image]),
        "min_filter": (pooled(minimum, np.inf, (1, 9, 9), (1, 1, 1), "SAME"), [f(8, 256, 256)]),
        "max_pool_bf16": (pooled(maximum, bf16(-np.inf), (1, 2, 2, 1)), [image.astype(bf16)]),
        "product_window": (pooled(lax.mul, np.float32(1), (1, 5), (1, 1), "SAME"), [f(512, 2048)]),
        "window_of_pairs": (lambda x: lax.reduce_window((x, x), (np.float32(0), np.float32(-np.inf)), lambda a, b: (a[0] + b[0], jnp.maximum(a[1], b[1])), (1, 4), (1, 4), "VALID"), [f(512, 4096)]),
        # reductions and scatters by any function
        "welford": (welford, [f(1000, 1000)]),
        "logsumexp_reducer": (lambda x: lax.reduce(x, np.float32(-np.inf), jnp.logaddexp, (1,)), [f(500, 1000)]),
        "scatter_apply": (scatter_apply, [f(1 << 18), ints(1 << 18, 1 << 17, 1), f(1 << 17)]),
        "scatter_multiply": (lambda x, i, u: x.at[i].multiply(u), [f(100000), ints(100000, 1 << 18), f(1 << 18)]),
        "scatter_min_rows": (lambda x, i, u: x.at[i].min(u), [f(5000, 64), ints(5000, 20000), f(20000, 64)]),
        # loops
        "sinkhorn": (sinkhorn, [np.abs(f(256, 256))]),
        "power_iteration": (lambda a, v: lax.fori_loop(0, 50, lambda _, v: (lambda w: w / jnp.linalg.norm(w))(a @ v), v), [f(300, 300), f(300)]),
        "jacobi": (lambda a, b: lax.fori_loop(0, 100, lambda _, x: (b - a @ x + jnp.diagonal(a) * x) / jnp.diagonal(a), jnp.zeros_like(b)), [f(100, 100) + 20 * np.eye(100, dtype=np.float32), f(100)]),
        # convolutions
        "conv_transpose_3d_gradient_bf16": (gradient(transposed_3d, (0, 1)), [f(2, 8, 8, 8, 32, dtype=bf16), f(3, 3, 3, 32, 16, dtype=bf16)]),
        "conv_int8_dynamic": (dynamic_int8, [f(8, 56, 56, 32), f(3, 3, 32, 64)]),
        "conv_dilated_gradient": (gradient(lambda x, w: lax.conv_general_dilated(x, w, (2, 2), "SAME", rhs_dilation=(1, 1), dimension_numbers=("NHWC", "HWIO", "NHWC")), (0, 1)), [f(8, 32, 32, 32), f(3, 3, 32, 64)]),
    }
