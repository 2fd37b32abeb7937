"""Collectives on up to eight devices: all kinds of groups, all interpretations of their ids, all notations."""
import dataclasses

import element_types as et
from program import Program, Value, braces, pick

MESHES = [(8, 1), (1, 8), (2, 4), (4, 2), (2, 2), (4, 1), (1, 4), (3, 1), (1, 2)]
TYPES = ["f32", "f32", "s32", "bf16", "f64", "u8", "s64", "f16", "pred"]


@dataclasses.dataclass
class Groups:
    """The attributes that define the groups, and the number of devices in a group."""

    text: str
    size: int


def _partition(rng, count, uniform):
    """The ids 0 … count-1 in random groups."""
    ids = [int(i) for i in rng.permutation(count)] if rng.random() < 0.5 else list(range(count))
    if not uniform and count > 2:
        split = int(rng.integers(1, count))
        return [ids[:split], ids[split:]]
    size = pick(rng, [d for d in range(1, count + 1) if count % d == 0])
    return [ids[i:i + size] for i in range(0, count, size)]


def _random_groups(rng, count, uniform, may_be_empty):
    """replica_groups over `count` ids in a random notation, and the size of a group."""
    form = pick(rng, ["list", "list", "iota", "transposed", "empty"])
    if form == "empty" and may_be_empty:
        return "{}", count
    sizes = [d for d in range(1, count + 1) if count % d == 0]
    size = pick(rng, sizes)
    if form == "iota":
        return f"[{count // size},{size}]<=[{count}]", size
    if form == "transposed":
        other = pick(rng, sizes)
        return f"[{count // size},{size}]<=[{other},{count // other}]T(1,0)", size
    groups = _partition(rng, count, uniform)
    return "{" + ",".join(braces(group) for group in groups) + "}", len(groups[0])


def groups_of(program, uniform=True):
    """Groups by replica, by replica with all partitions, or by flattened device id."""
    rng = program.rng
    mode = pick(rng, ["replica", "both", "flattened"])
    if mode == "replica":
        text, size = _random_groups(rng, program.replicas, uniform, True)
        return Groups(f"replica_groups={text}", size)
    if mode == "both":
        text, size = _random_groups(rng, program.replicas, uniform, True)
        return Groups(f"channel_id=1, replica_groups={text}", size * program.partitions)
    text, size = _random_groups(rng, program.devices, uniform, False)
    return Groups(f"channel_id=1, replica_groups={text}, use_global_device_ids=true", size)


def one_axis_groups(program, may_be_empty):
    """Groups of the ops whose ids are partitions with a channel_id, and replicas without."""
    rng = program.rng
    across = rng.random() < 0.5
    text, size = _random_groups(rng, program.partitions if across else program.replicas, True, may_be_empty)
    return Groups(("channel_id=1, " if across else "") + f"replica_groups={text}", size)


def _dims(rng):
    return [int(rng.integers(1, 5)) for _ in range(int(rng.integers(1, 4)))]


def _ulps(opcode, type):
    return 16 if opcode in ("add", "multiply") and et.is_float(type) else 0


def _combiner(rng, type):
    return pick(rng, ["and", "or"] if type == "pred" else ["add", "add", "maximum", "minimum", "multiply"])


def all_reduce(program, x):
    rng = program.rng
    opcode = _combiner(rng, x.type)
    applied = program.scalar_computation(opcode, x.type)
    attributes = f"{groups_of(program, uniform=False).text}, to_apply={applied}"
    ulps = x.ulps + _ulps(opcode, x.type)
    if rng.random() < 0.3 and program.partitions == 1:  # XLA's partitioner rejects tuples here
        y = program.parameter(x.type, _dims(rng))
        results = [dataclasses.replace(value, ulps=ulps) for value in (x, y)]
        return program.tuple_op("all-reduce", results, [x, y], attributes)[0]
    return program.op("all-reduce", x.type, x.dims, [x], attributes, ulps=ulps)


def all_gather(program, x):
    groups, axis = groups_of(program), int(program.rng.integers(len(x.dims)))
    dims = list(x.dims)
    dims[axis] *= groups.size
    return program.op("all-gather", x.type, dims, [x], f"{groups.text}, dimensions={{{axis}}}")


def reduce_scatter(program, x):
    groups, axis = groups_of(program), int(program.rng.integers(len(x.dims)))
    opcode = _combiner(program.rng, x.type)
    dims = list(x.dims)
    dims[axis] *= groups.size
    whole = program.parameter(x.type, dims)
    attributes = f"{groups.text}, dimensions={{{axis}}}, to_apply={program.scalar_computation(opcode, x.type)}"
    return program.op("reduce-scatter", x.type, x.dims, [whole], attributes, ulps=_ulps(opcode, x.type))


def all_to_all(program, x):
    """The form with one operand per device of the group, or the form that splits one operand and needs groups."""
    split = program.rng.random() < 0.5
    groups = one_axis_groups(program, may_be_empty=not split)
    if not split and groups.size == 1:  # XLA aborts on a tuple of one
        return x
    if not split:
        operands = [x] + [program.parameter(x.type, x.dims) for _ in range(groups.size - 1)]
        return program.tuple_op("all-to-all", operands, operands, groups.text)[-1]
    axis = int(program.rng.integers(len(x.dims)))
    dims = list(x.dims)
    dims[axis] *= groups.size
    whole = program.parameter(x.type, dims)
    return program.op("all-to-all", x.type, dims, [whole], f"{groups.text}, dimensions={{{axis}}}")


def collective_permute(program, x):
    """A device that is not a target gets zeros."""
    rng = program.rng
    across = rng.random() < 0.5
    count = program.partitions if across else program.replicas
    pairs = [(int(a), int(b)) for a, b in zip(rng.permutation(count), rng.permutation(count)) if rng.random() < 0.7]
    attributes = ("channel_id=1, " if across else "") + \
        "source_target_pairs={" + ",".join(braces(pair) for pair in pairs or [(0, 0)]) + "}"
    return program.op("collective-permute", x.type, x.dims, [x], attributes)


def device_ids(program, x):
    replica = program.op("replica-id", "u32", ())
    partition = program.op("partition-id", "u32", ())
    ten = program.constant("u32", 10)
    code = program.op("add", "u32", (), [program.op("multiply", "u32", (), [replica, ten]), partition])
    number = program.op("convert", x.type, (), [code])
    broadcast = program.op("broadcast", x.type, x.dims, [number], "dimensions={}")
    opcode = "or" if x.type == "pred" else "maximum"
    return program.op(opcode, x.type, x.dims, [x, broadcast])


COLLECTIVES = [all_reduce, all_gather, reduce_scatter, all_to_all, collective_permute, device_ids]


def collective(rng):
    """A chain of one to three collectives."""
    program = Program("collective", rng, *pick(rng, MESHES))
    value: Value = program.parameter(pick(rng, TYPES), _dims(rng))
    for _ in range(int(rng.integers(1, 4))):
        if value.size < 3000:
            value = pick(rng, COLLECTIVES)(program, value)
    return program.finish(value)
