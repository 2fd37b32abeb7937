"""gather and scatter with random dimension numbers; indices may be out of bounds."""
import dataclasses

import numpy as np

import element_types as et
from program import Program, braces, pick, random_dims

COMBINERS = ["add", "multiply", "maximum", "minimum"]


def _axes(rng, rank):
    """Splits the operand's axes into batching axes, collapsed axes and window axes."""
    batching = [axis for axis in range(rank) if rng.random() < 0.15][:2]
    rest = [axis for axis in range(rank) if axis not in batching]
    collapsed = [axis for axis in rest if rng.random() < 0.4]
    return batching, collapsed, [axis for axis in rest if axis not in collapsed]


def _interleave(rng, batch, window):
    """Merges batch and window sizes into one list; returns it and the positions of the window sizes."""
    positions = sorted(rng.permutation(len(batch) + len(window))[:len(window)])
    sizes, batches, windows = [], iter(batch), iter(window)
    for position in range(len(batch) + len(window)):
        sizes.append(next(windows) if position in positions else next(batches))
    return sizes, positions


class Numbers:
    """Random dimension numbers for an operand, shared by gather and scatter."""

    def __init__(self, rng, dims):
        rank = len(dims)
        self.batching, self.inserted, self.windows = _axes(rng, rank)
        self.sizes = [1 if axis in self.batching + self.inserted else int(rng.integers(min(dim, 1), dim + 1))
                      for axis, dim in enumerate(dims)]
        free = [axis for axis in range(rank) if axis not in self.batching]
        indexed = [axis for axis in free if rng.random() < 0.7] or free[:1]
        self.index_map = [int(axis) for axis in rng.permutation(indexed)]
        batch = [int(rng.integers(1, 4)) for _ in range(int(rng.integers(0, 3)))] + \
            [dims[axis] for axis in self.batching]
        self.index_batching = list(range(len(batch) - len(self.batching), len(batch)))
        self.vector = len(batch) if len(self.index_map) != 1 or rng.random() < 0.6 else None
        self.index_dims = batch + ([len(self.index_map)] if self.vector is not None else [])
        window = [self.sizes[axis] for axis in self.windows]
        self.result, self.offsets = _interleave(rng, batch, window)

    @property
    def index_vector_dim(self):
        return len(self.index_dims) if self.vector is None else self.vector


def _indices(program, numbers, dims, unique=False):
    """A parameter of indices: unsigned or signed, a few of them out of bounds."""
    rng = program.rng
    type = pick(rng, ["s32", "s32", "s64", "u32", "s16", "u8"])
    low = 0 if type.startswith("u") else -1
    high = max([dims[axis] for axis in numbers.index_map] + [1])
    if not unique:
        array = rng.integers(low, high + 1, numbers.index_dims)
    else:
        count = int(np.prod(numbers.index_dims, dtype=np.int64))
        array = rng.permutation(max(count, 1))[:count].reshape(numbers.index_dims)
    return program.parameter(type, numbers.index_dims, array=np.asarray(array).astype(et.dtype(type)))


def gather(rng):
    program = Program("gather", rng)
    x = program.parameter(et.common(rng), random_dims(rng, low=1, high=4, empty=0), "extreme")
    numbers = Numbers(rng, x.dims)
    indices = _indices(program, numbers, x.dims)
    attributes = f"offset_dims={braces(numbers.offsets)}, collapsed_slice_dims={braces(numbers.inserted)}, " \
        f"start_index_map={braces(numbers.index_map)}, "
    if numbers.batching:
        attributes += f"operand_batching_dims={braces(numbers.batching)}, " \
            f"start_indices_batching_dims={braces(numbers.index_batching)}, "
    attributes += f"index_vector_dim={numbers.index_vector_dim}, slice_sizes={braces(numbers.sizes)}"
    return program.finish(program.op("gather", x.type, numbers.result, [x, indices], attributes))


def _scatter_attributes(numbers, applied):
    attributes = f"update_window_dims={braces(numbers.offsets)}, inserted_window_dims={braces(numbers.inserted)}, " \
        f"scatter_dims_to_operand_dims={braces(numbers.index_map)}, "
    if numbers.batching:
        attributes += f"input_batching_dims={braces(numbers.batching)}, " \
            f"scatter_indices_batching_dims={braces(numbers.index_batching)}, "
    return attributes + f"index_vector_dim={numbers.index_vector_dim}, to_apply={applied}"


def scatter(rng):
    """Scatters that combine, or that overwrite. The latter have distinct indices: the order of updates is undefined."""
    program = Program("scatter", rng)
    type = pick(rng, ["f32", "s32", "bf16", "u8", "f64", "s64", "c64", "pred"])
    dims = random_dims(rng, low=1, high=1 if rng.random() < 0.2 else 4, empty=0)
    numbers = Numbers(rng, dims)
    overwrite = len(numbers.index_map) == 1 and numbers.sizes == [1] * len(dims) and rng.random() < 0.5
    x = program.parameter(type, dims)
    indices = _indices(program, numbers, dims, unique=overwrite)
    updates = program.parameter(type, numbers.result)
    inexact = type[0] in "fbc"
    if overwrite:
        applied = program.computation("second", [f"{type}[]"] * 2, [f"ROOT r = {type}[] copy(a1)"])
    else:
        combiners = ["and", "or"] if type == "pred" else ["add"] if type == "c64" else COMBINERS
        applied = program.scalar_computation(pick(rng, combiners), type)
    ulps = 8 if inexact and not overwrite else 0
    return program.finish(
        program.op("scatter", type, dims, [x, indices, updates], _scatter_attributes(numbers, applied), ulps=ulps))


def scatter_pair(rng):
    """A scatter with two operands."""
    program = Program("scatter-pair", rng)
    dims = random_dims(rng, low=1, high=3, empty=0)
    numbers = Numbers(rng, dims)
    types = [pick(rng, ["f32", "s32", "u8"]) for _ in range(2)]
    operands = [program.parameter(type, dims) for type in types]
    indices = _indices(program, numbers, dims)
    updates = [program.parameter(type, numbers.result) for type in types]
    a, b = (f"{type}[]" for type in types)
    applied = program.computation("both", [a, b, a, b], [
        f"x = {a} add(a0, a2)", f"y = {b} maximum(a1, a3)", f"ROOT r = ({a}, {b}) tuple(x, y)"])
    parts = program.tuple_op("scatter", operands, operands + [indices] + updates, _scatter_attributes(numbers, applied))
    return program.finish(*[_inexact(part) for part in parts])


def _inexact(value, ulps=8):
    return dataclasses.replace(value, ulps=ulps if et.is_float(value.type) else 0)
