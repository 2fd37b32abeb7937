"""sort: keys and values, stable or not, with comparators as frameworks write them."""
import element_types as et
from program import Program, pick, random_dims


def _comparator(program, types, keys, direction):
    """Compares the first `keys` operands lexicographically. Operand i is a(2i) on the left, a(2i+1) on the right."""
    parameters = [f"{type}[]" for type in types for _ in range(2)]
    body = []
    for key in range(keys):
        total = ", type=TOTALORDER" if et.is_float(types[key]) else ""
        body.append(f"less{key} = pred[] compare(a{2 * key}, a{2 * key + 1}), direction={direction}{total}")
        body.append(f"same{key} = pred[] compare(a{2 * key}, a{2 * key + 1}), direction=EQ{total}")
    root = f"less{keys - 1}"
    for key in reversed(range(keys - 1)):
        body.append(f"both{key} = pred[] and(same{key}, {root})")
        body.append(f"or{key} = pred[] or(less{key}, both{key})")
        root = f"or{key}"
    body.append(f"ROOT r = pred[] copy({root})")
    return program.computation("comparator", parameters, body)


def sort(rng):
    """One or several operands. An unstable sort has a unique result only if all operands are keys."""
    program = Program("sort", rng)
    dims = random_dims(rng, low=1, high=3)
    count = int(rng.integers(1, 4))
    types = [pick(rng, ["f32", "s32", "u8", "bf16", "f64", "s64", "f16", "u32"]) for _ in range(count)]
    stable = rng.random() < 0.6
    keys = int(rng.integers(1, count + 1)) if stable else count
    operands = [program.parameter(type, dims, pick(rng, ["small", "extreme"])) for type in types]
    applied = _comparator(program, types, keys, pick(rng, ["LT", "GT"]))
    attributes = f"dimensions={{{int(rng.integers(len(dims)))}}}, "
    attributes += f"is_stable={str(stable).lower()}, to_apply={applied}"
    if count == 1:
        return program.finish(program.op("sort", types[0], dims, operands, attributes))
    return program.finish(*program.tuple_op("sort", operands, operands, attributes))


def top_k(rng):
    """The k largest elements of each row: a sort and slices, like JAX's top_k."""
    program = Program("top-k", rng)
    type = pick(rng, ["f32", "f32", "s32", "bf16"])
    rows, columns = int(rng.integers(1, 5)), int(rng.integers(1, 20))
    k = int(rng.integers(1, columns + 1))
    x = program.parameter(type, (rows, columns))
    key = program.op("iota", "s32", x.dims, [], "iota_dimension=1")
    applied = _comparator(program, [type, "s32"], 1, "GT")
    attributes = f"dimensions={{1}}, is_stable=true, to_apply={applied}"
    parts = program.tuple_op("sort", [x, key], [x, key], attributes)
    window = f"slice={{[0:{rows}], [0:{k}]}}"
    return program.finish(*[program.op("slice", part.type, (rows, k), [part], window) for part in parts])
