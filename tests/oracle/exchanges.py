"""Collectives between the processes of a job: arrays of all sizes, loops, starts and dones. XLA does not run these
programs, so they may contain constructs that it rejects."""
import collectives
from program import Program, pick

MESHES = [(8, 1), (1, 8), (2, 4), (4, 2), (3, 1), (1, 4), (5, 1), (2, 3)]


def _dims(rng, max_elements=200_000):
    """From a few elements (sent in the header message) to several hundred thousand (sent in several messages)."""
    dims = [int(rng.integers(1, 5)) for _ in range(int(rng.integers(1, 4)))]
    dims[int(rng.integers(len(dims)))] *= pick(rng, [1, 30, 500, 3000, 20_000])
    while len(dims) > 1 and dims[0] * dims[-1] > max_elements:
        dims.pop()
    return dims


def large(rng):
    """A chain of one to four collectives on arrays of any size."""
    program = Program("large", rng, *pick(rng, MESHES))
    value = program.parameter(pick(rng, collectives.TYPES), _dims(rng))
    for _ in range(int(rng.integers(1, 5))):
        if value.size < 300_000:
            value = pick(rng, collectives.COLLECTIVES)(program, value)
    return program.finish(value)


def _reduced(program, shape, type, at):
    rng = program.rng
    opcode = pick(rng, ["and", "or"] if type == "pred" else ["add", "maximum", "multiply"])
    attributes = f"{collectives.groups_of(program, uniform=False).text}, to_apply={program.scalar_computation(opcode, type)}"
    if rng.random() < 0.5:
        return [f"v{at + 1} = {shape} all-reduce(v{at}), {attributes}"]
    return [f"start{at} = {shape} all-reduce-start(v{at}), {attributes}", f"v{at + 1} = {shape} all-reduce-done(start{at})"]


def _permuted(program, shape, at):
    rng, across = program.rng, program.partitions > 1
    count = program.partitions if across else program.replicas
    shift = int(rng.integers(1, count))
    pairs = ",".join(f"{{{i},{(i + shift) % count}}}" for i in range(count) if rng.random() < 0.8) or "{0,0}"
    attributes = ("channel_id=1, " if across else "") + f"source_target_pairs={{{pairs}}}"
    return [f"start{at} = ({shape}, {shape}) collective-permute-start(v{at}), {attributes}",
            f"v{at + 1} = {shape} collective-permute-done(start{at})"]


def _gathered(program, type, dims, shape, at):
    groups = collectives.groups_of(program)
    whole = f"{type}[{','.join(map(str, [dims[0] * groups.size, *dims[1:]]))}]"
    applied = program.scalar_computation("or" if type == "pred" else "maximum", type)
    return [f"all{at} = {whole} all-gather(v{at}), {groups.text}, dimensions={{0}}",
            f"v{at + 1} = {shape} reduce-scatter(all{at}), {groups.text}, dimensions={{0}}, to_apply={applied}"]


def looped(rng):
    """A loop whose body is a chain of one to three collectives."""
    program = Program("looped", rng, *pick(rng, MESHES))
    type, dims = pick(rng, collectives.TYPES), _dims(rng, max_elements=20_000)
    x = program.parameter(type, dims)
    state = f"(s32[], {x.shape})"
    lines = ["i = s32[] get-tuple-element(a0), index=0", f"v0 = {x.shape} get-tuple-element(a0), index=1"]
    steps = int(rng.integers(1, 4))
    for at in range(steps):
        lines += pick(rng, [lambda: _reduced(program, x.shape, type, at), lambda: _permuted(program, x.shape, at),
                            lambda: _gathered(program, type, dims, x.shape, at)])()
    body = program.computation("body", [state], lines + [
        "one = s32[] constant(1)", "j = s32[] add(i, one)", f"ROOT r = {state} tuple(j, v{steps})"])
    condition = program.computation("condition", [state], [
        "i = s32[] get-tuple-element(a0), index=0", f"n = s32[] constant({int(rng.integers(1, 7))})",
        "ROOT r = pred[] compare(i, n), direction=LT"])
    zero = program.constant("s32", 0)
    start = program.pack([zero, x])
    return program.finish(*program.tuple_op("while", [zero, x], [start], f"condition={condition}, body={body}"))
