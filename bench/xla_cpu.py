"""Compiles and runs modules with XLA's CPU backend, through JAX, for run_vs_xla.py."""
import os
import time


def start(threads, devices=1):
    os.environ.setdefault("JAX_PLATFORMS", "cpu")
    if devices > 1:
        os.environ["XLA_FLAGS"] = f"{os.environ.get('XLA_FLAGS', '')} --xla_force_host_platform_device_count={devices}"
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    if threads:
        os.sched_setaffinity(0, set(list(os.sched_getaffinity(0))[:threads]))
    global jax, jnp, np, _hlo, _jax, xc, ml_dtypes
    import jax
    import jax.numpy as jnp
    import ml_dtypes
    import numpy as np
    from jaxlib import _jax
    from jaxlib import xla_client as xc
    try:
        from jaxlib import _hlo
    except ImportError:
        _hlo = _jax


def lowered(function, arguments):
    wide = any(np.asarray(a).dtype.name in ("float64", "complex128") for a in jax.tree.leaves(arguments))
    with jax.enable_x64(wide):
        return jax.jit(function, keep_unused=True).lower(*arguments).compiler_ir("hlo").as_hlo_text(True)


def leaves(shape):
    return [leaf for part in shape.tuple_shapes() for leaf in leaves(part)] if shape.is_tuple() else [shape]


def parameters(text):
    """The shapes of a module's parameters, with tuples flattened."""
    module = _hlo.XlaComputation(_hlo.hlo_module_from_text(text).as_serialized_hlo_module_proto())
    return [leaf for shape in module.program_shape().parameter_shapes() for leaf in leaves(shape)]


def placed(arguments):
    with jax.enable_x64(True):  # keeps 64-bit types
        return [jax.device_put(argument) for argument in arguments]


class Xla:
    """A module compiled by XLA."""

    def __init__(self, text):
        module = _hlo.hlo_module_from_text(text)
        self.computation = _hlo.XlaComputation(module.as_serialized_hlo_module_proto())
        client = jax.devices("cpu")[0].client
        devices = client.local_devices()[:1]
        mlir = _jax.mlir.xla_computation_to_mlir_module(self.computation)
        begin = time.perf_counter()
        self.executable = client.compile_and_load(mlir, _jax.DeviceList(tuple(devices)), xc.CompileOptions())
        self.compile_seconds = time.perf_counter() - begin

    def optimised_text(self):
        """The module as XLA compiles it to machine code."""
        options = _hlo.HloPrintOptions()
        options.print_large_constants = True
        return self.executable.hlo_modules()[0].to_string(options)

    def run(self, arguments, repeats):
        seconds = []
        for _ in range(repeats):
            begin = time.perf_counter()
            outs = self.executable.execute_sharded(arguments).disassemble_into_single_device_arrays()
            for out in outs:
                out[0].block_until_ready()
            seconds.append(time.perf_counter() - begin)
        return seconds, [np.asarray(out[0]) for out in outs]


class XlaDevices:
    """A function compiled by XLA for several devices; shoal runs the text of the compiled module."""

    def __init__(self, function, arguments, places, results, devices):
        mesh = jax.make_mesh((devices,), ("x",))
        mapped = jax.jit(jax.shard_map(function, mesh=mesh, in_specs=places, out_specs=results, check_vma=False))
        self.arguments = [jax.device_put(argument, jax.NamedSharding(mesh, place)) for argument, place in zip(arguments, places)]
        lowered_form = mapped.lower(*self.arguments)
        begin = time.perf_counter()
        self.executable = lowered_form.compile()
        self.compile_seconds = time.perf_counter() - begin
        self.text = self.executable.as_text()

    def run(self, arguments, repeats):
        seconds = []
        for _ in range(repeats):
            begin = time.perf_counter()
            outs = jax.block_until_ready(self.executable(*arguments))
            seconds.append(time.perf_counter() - begin)
        return seconds, [shards(out)[0] for out in jax.tree.leaves(outs)]


def shards(array):
    """The shards of an array, by device id."""
    return [np.asarray(shard.data) for shard in sorted(array.addressable_shards, key=lambda shard: shard.device.id)]
