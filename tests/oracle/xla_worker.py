"""Executes HLO modules with XLA's CPU backend, in a separate process, because XLA aborts on modules it rejects.

Reads pickled jobs from standard input and writes a pickled answer to each on standard output. A job is a dict of
text, replicas, partitions and input_sets (set -> device -> leaf -> array); the answer is set -> device -> leaf ->
array, or an error message.
"""
import os
import pickle
import re
import sys

DEVICES = 8


def start():
    """Imports JAX with virtual devices. bf16 and f16 are rounded after every op, as HLO defines."""
    os.environ["JAX_PLATFORMS"] = "cpu"
    os.environ["JAX_ENABLE_X64"] = "1"
    os.environ["XLA_FLAGS"] = f"--xla_force_host_platform_device_count={DEVICES} --xla_allow_excess_precision=false"
    import jax
    import numpy
    from jaxlib import _jax, xla_client
    try:
        from jaxlib import _hlo
    except ImportError:
        _hlo = _jax
    return jax, numpy, _jax, xla_client, _hlo


def leaf_count(shape):
    """Number of arrays in a shape, given as text."""
    return len(re.findall(r"\b(?:pred|token|[subfc]f?\d+(?:e\d+m\d+\w*)?)\[", re.sub(r"/\*.*?\*/", "", shape)))


def shape_text(line):
    """The shape in `  name = SHAPE opcode(…)`, or None if the line is not an instruction."""
    match = re.match(r"\s+(?:ROOT )?%?[\w.\-]+ = (?=(.))", line)
    if not match:
        return None
    rest, depth = line[match.end():], 0
    for index, char in enumerate(rest):
        depth += {"(": 1, ")": -1}.get(char, 0)
        if depth == 0 and char in ") ":
            return rest[:index + 1].strip()
    return None


def all_manual(text):
    """The module with every instruction marked as already partitioned, so that XLA's partitioner does not change it."""
    lines = []
    for line in text.split("\n"):
        shape = shape_text(line)
        if shape is None:
            lines.append(re.sub(r", allow_spmd_sharding_propagation_to_\w+=\{[^}]*\}", "", line))
            continue
        line = re.sub(r", sharding=(\{[^{}]*\}|\{(\{[^{}]*\}(, ?)?)*\})", "", line)
        manual = "{manual}"
        if shape.startswith("("):
            manual = "{" + ", ".join([manual] * max(1, leaf_count(shape))) + "}"
        at = line.find(", metadata={")
        at = len(line) if at < 0 else at
        lines.append(f"{line[:at]}, sharding={manual}{line[at:]}")
    return "\n".join(lines)


def without_fusions(text):
    """The module with calls instead of fusions: XLA's CPU backend aborts on most fusions that it has not created."""
    return re.sub(r" fusion\((.*?)\), kind=k\w+, calls=", r" call(\1), to_apply=", text)


def compiled(modules, text, replicas, partitions):
    jax, np, _jax, xla_client, _hlo = modules
    module = _hlo.hlo_module_from_text(without_fusions(text))
    if partitions > 1:
        options = _hlo.HloPrintOptions()
        options.print_large_constants = True
        module = _hlo.hlo_module_from_text(all_manual(module.to_string(options)))
    computation = _hlo.XlaComputation(module.as_serialized_hlo_module_proto())
    options = xla_client.CompileOptions()
    build = options.executable_build_options
    for settings in (options, build):
        settings.num_replicas, settings.num_partitions = replicas, partitions
    build.use_spmd_partitioning = partitions > 1
    grid = np.arange(replicas * partitions, dtype=np.int32).reshape(replicas, partitions)
    build.device_assignment = xla_client.DeviceAssignment.create(grid)
    client = jax.devices("cpu")[0].client
    devices = client.local_devices()[:replicas * partitions]
    mlir = _jax.mlir.xla_computation_to_mlir_module(computation)
    return client.compile_and_load(mlir, _jax.DeviceList(tuple(devices)), options), devices


def execute(modules, job):
    jax, np = modules[:2]
    program, devices = compiled(modules, job["text"], job["replicas"], job["partitions"])
    mesh = jax.sharding.Mesh(np.array(devices), ("d",))
    replicated = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec())
    answers = []
    for inputs in job["input_sets"]:
        arguments = []
        for leaf, array in enumerate(inputs[0]):
            shards = [jax.device_put(inputs[d][leaf], device) for d, device in enumerate(devices)]
            arguments.append(jax.make_array_from_single_device_arrays(array.shape, replicated, shards))
        results = program.execute_sharded(arguments).disassemble_into_single_device_arrays()
        answers.append([[np.asarray(result[d]) for result in results] for d in range(len(devices))])
    return answers


def main():
    answers = os.fdopen(os.dup(1), "wb")
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    os.dup2(null, 2)
    modules = start()
    while True:
        try:
            job = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        try:
            answer = execute(modules, job)
        except Exception as error:  # XLA's errors have many types; each is an answer
            answer = f"{type(error).__name__}: {error}"[:2000]
        pickle.dump(answer, answers)
        answers.flush()


if __name__ == "__main__":
    main()
