"""Programs partitioned by JAX: random bodies under shard_map, lowered to the optimised module of each device.

This process uses JAX only for lowering, on as many virtual devices as the programs have. The programs are executed in
the worker, like all others.
"""
import functools
import re

import element_types as et
from program import Program, Value, pick

DEVICES = 8


@functools.cache
def _jax():
    import os
    os.environ.setdefault("JAX_PLATFORMS", "cpu")
    os.environ["XLA_FLAGS"] = f"{os.environ.get('XLA_FLAGS', '')} --xla_force_host_platform_device_count={DEVICES}"
    import jax
    jax.config.update("jax_enable_x64", True)
    return jax


def _steps(jax, rng, axes):
    """Functions of a [4, 8] block that keep its shape."""
    lax, axis = jax.lax, pick(rng, axes)
    size = {"x": 4, "y": 2}[axis]
    shift = int(rng.integers(1, size)) if size > 1 else 0
    ring = [(i, (i + shift) % size) for i in range(size) if rng.random() < 0.8]
    return [
        lambda v: lax.psum(v, axis),
        lambda v: lax.pmax(v, axis),
        lambda v: lax.psum(v, tuple(axes)),
        lambda v: lax.ppermute(v, axis, ring),
        lambda v: v + lax.axis_index(axis).astype(v.dtype),
        lambda v: lax.all_to_all(v, axis, 1, 1, tiled=True),
        lambda v: lax.psum_scatter(lax.all_gather(v, axis, axis=1, tiled=True), axis, scatter_dimension=1, tiled=True),
        lambda v: lax.all_gather(v, axis, axis=0, tiled=True)[:4],
        lambda v: lax.fori_loop(0, 2, lambda i, u: lax.ppermute(u, axis, ring) + u, v),
        lambda v: v * 2,
        lambda v: v[:, ::-1],
    ]


def _leaves(text):
    return [Value("", type, tuple(int(d) for d in dims.split(",") if d))
            for type, dims in re.findall(r"(\w+)\[([\d,]*)\]", text)]


def shard_map(rng):
    """One to four steps over a mesh of 4 x 2 devices."""
    jax = _jax()
    spec = jax.sharding.PartitionSpec("x", "y")
    mesh = jax.make_mesh((4, 2), ("x", "y"))
    steps = [pick(rng, _steps(jax, rng, ("x", "y"))) for _ in range(int(rng.integers(1, 5)))]
    type = pick(rng, ["f32", "s32", "f64", "bf16"])

    def body(value):
        for step in steps:
            value = step(value)
        return value

    mapped = jax.jit(jax.shard_map(body, mesh=mesh, in_specs=spec, out_specs=spec, check_vma=False))
    sharding = jax.sharding.NamedSharding(mesh, spec)
    text = mapped.lower(jax.ShapeDtypeStruct((16, 16), et.dtype(type), sharding=sharding)).compile().as_text()
    program = Program("shard-map", rng, 1, DEVICES)
    program.text = text
    layout = re.search(r"entry_computation_layout=\{\((.*?)\)->(.*?)\}, ", re.sub(r"\{[\d,:]*\}", "", text))
    for leaf in _leaves(layout[1]):
        for device in program.inputs:
            device.append(et.values(rng, leaf.type, leaf.dims))
    ulps = 32 if et.is_float(type) else 0
    program.outputs = [Value("", leaf.type, leaf.dims, ulps) for leaf in _leaves(layout[2])]
    return program
