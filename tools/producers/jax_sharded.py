"""Programs of JAX on eight virtual devices, as users shard them. Run by run.py: writes each before and after partitioning."""
import pathlib
import sys

import numpy as np
import jax
import jax.numpy as jnp
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
try:
    from jax import shard_map
except ImportError:
    from jax.experimental.shard_map import shard_map

from jax_programs import attention, mlp_train, write


def mesh(*sizes):
    names = ("data", "model")[:len(sizes)]
    return Mesh(np.array(jax.devices()[:int(np.prod(sizes))]).reshape(sizes), names)


def place(mesh, array, *spec):
    return jax.ShapeDtypeStruct(array.shape, array.dtype, sharding=NamedSharding(mesh, P(*spec)))


def block(x, wqkv, wo, w1, w2):
    b, t, c = x.shape
    q, k, v = jnp.moveaxis((x @ wqkv).reshape(b, t, 3, 4, c // 4), 2, 0).swapaxes(2, 3)
    x = x + attention(q, k, v).swapaxes(1, 2).reshape(b, t, c) @ wo
    return x + jax.nn.gelu(x @ w1) @ w2


def block_train(x, *weights):
    return jax.value_and_grad(lambda *w: (block(x, *w) ** 2).mean(), argnums=(0, 1, 2, 3))(*weights)


def uneven_sort(x, i):
    return jnp.sort(x, axis=0), jnp.take(x, i, axis=0), x[::-1]


def programs():
    f = lambda *shape: np.zeros(shape, np.float32)
    m8, m24, m4 = mesh(8), mesh(2, 4), mesh(4)
    params = [(place(m8, f(8, 16)), place(m8, f(16))), (place(m8, f(16, 4)), place(m8, f(4)))]
    yield "data_parallel8", mlp_train, (params, place(m8, f(16, 8), "data"), place(m8, f(16, 4), "data"))
    column, row = (None, "model"), ("model", None)
    yield "tensor_parallel8", block_train, (place(m24, f(4, 6, 16), "data"), place(m24, f(16, 48), *column), place(m24, f(16, 16), *row),
                                            place(m24, f(16, 64), *column), place(m24, f(64, 16), *row))
    yield "fsdp8", mlp_train, ([(place(m8, f(8, 16), "data"), place(m8, f(16), "data")), (place(m8, f(16, 4), "data"), place(m8, f(4)))],
                               place(m8, f(16, 8), "data"), place(m8, f(16, 4), "data"))
    def uneven4(x):  # the result's 6 rows do not divide by 4
        rows = jnp.sort(x, axis=0)[1:7]
        return jax.lax.with_sharding_constraint(rows * 2, NamedSharding(m4, P("data"))).sum(0), rows[::2]
    yield "uneven4", uneven4, (place(m4, f(8, 5), "data"),)
    yield "sort_gather4", uneven_sort, (place(m4, f(8, 5), "data"), place(m4, np.zeros(4, np.int32)))
    ring = lambda x: jax.lax.ppermute(x, "data", [(i, (i + 1) % 8) for i in range(8)]) + jax.lax.pmean(x, "data")
    yield "shard_map_ring8", shard_map(ring, mesh=m8, in_specs=P("data"), out_specs=P("data")), (place(m8, f(16, 4), "data"),)
    exchange = lambda x: jax.lax.all_to_all(x, "data", 1, 0, tiled=True)
    yield "all_to_all8", shard_map(exchange, mesh=m8, in_specs=P("data"), out_specs=P(None, "data")), (place(m8, f(8, 16), "data"),)
    scatter = lambda x: jax.lax.psum_scatter(x, "data", tiled=True)
    yield "reduce_scatter8", shard_map(scatter, mesh=m8, in_specs=P(None), out_specs=P("data"), **UNCHECKED), (place(m8, f(16, 4)),)


UNCHECKED = {"check_vma": False} if "check_vma" in shard_map.__code__.co_varnames or not shard_map.__module__.startswith("jax.experimental") else {"check_rep": False}


def main(folder):
    folder.mkdir(parents=True, exist_ok=True)
    for name, function, arguments in programs():
        try:
            lowered = jax.jit(function).lower(*arguments)
            write(folder / name, lowered, lowered.compile())
        except Exception as error:
            print(f"{name}: not produced: {str(error).splitlines()[0]}")
    parallel = jax.pmap(lambda w, x: jax.lax.pmean(jax.grad(lambda w: ((x @ w) ** 2).sum())(w), "i"), axis_name="i")
    try:
        lowered = parallel.lower(np.zeros((8, 4, 3), np.float32), np.zeros((8, 5, 4), np.float32))
        write(folder / "pmap8", lowered, lowered.compile())
    except Exception as error:
        print(f"pmap8: not produced: {str(error).splitlines()[0]}")


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
