"""dot and convolution: batch dimensions, windows, strides, dilations, groups, all orders of dimensions."""
import element_types as et
from program import Program, braces, pick

DOT_TYPES = ["f32", "f32", "f64", "bf16", "f16", "s32", "s8", "u8", "s64", "c64", "c128"]
WIDER = {"bf16": ["f32"], "f16": ["f32"], "s8": ["s32"], "u8": ["u32"], "f8e4m3fn": ["f32", "bf16"], "f8e5m2": ["f32"]}


def _ulps(type, length):
    return 0 if et.is_int(type) or type == "pred" else 4 + length / 8


def dot(rng):
    program = Program("dot", rng)
    type = pick(rng, DOT_TYPES + sorted(WIDER))
    result = pick(rng, WIDER[type]) if type in WIDER and (type.startswith("f8") or rng.random() < 0.5) else type
    sizes = {}  # label -> size
    batch, contracted, left, right = ([f"{kind}{i}" for i in range(int(rng.integers(0, 3)))] for kind in "bklr")
    for label in batch + contracted + left + right:
        sizes[label] = int(rng.integers(1, 6))
    lhs, rhs = (list(rng.permutation(batch + contracted + free)) for free in (left, right))
    x, y = (program.parameter(type, [sizes[label] for label in labels], pick(rng, ["small", "unit"]))
            for labels in (lhs, rhs))
    free_left = [label for label in lhs if label in left]
    free_right = [label for label in rhs if label in right]
    attributes = []
    if batch:
        attributes += [f"lhs_batch_dims={braces(lhs.index(l) for l in batch)}"]
    attributes += [f"lhs_contracting_dims={braces(lhs.index(l) for l in contracted)}"]
    if batch:
        attributes += [f"rhs_batch_dims={braces(rhs.index(l) for l in batch)}"]
    attributes += [f"rhs_contracting_dims={braces(rhs.index(l) for l in contracted)}"]
    dims = [sizes[label] for label in batch + free_left + free_right]
    length = 1
    for label in contracted:
        length *= sizes[label]
    return program.finish(program.op("dot", result, dims, [x, y], ", ".join(attributes), ulps=_ulps(result, length)))


class Window:
    """A random window over spatial dimensions: sizes of the input, the kernel, the output, and the attribute."""

    def __init__(self, rng, rank):
        self.inputs, self.kernel, self.outputs, parts = [], [], [], []
        for _ in range(rank):
            self._axis(rng, parts)
        names = ["size", "stride", "pad", "lhs_dilate", "rhs_dilate", "rhs_reversal"]
        fields = []
        for name, column, default in zip(names, zip(*parts), [None, "1", "0_0", "1", "1", "0"]):
            if any(entry != default for entry in column):
                fields.append(f"{name}={'x'.join(column)}")
        self.attribute = "window={" + " ".join(fields) + "}, " if rank else ""

    def _axis(self, rng, parts):
        size, kernel = int(rng.integers(1, 8)), int(rng.integers(1, 4))
        stride, base, step = (int(rng.integers(1, 4)) if rng.random() < 0.4 else 1 for _ in range(3))
        low, high = (int(rng.integers(-1, 4)) if rng.random() < 0.6 else 0 for _ in range(2))
        spread, reach = (size - 1) * base + 1 + low + high, (kernel - 1) * step + 1
        if spread < reach:
            high += reach - spread
            spread = reach
        self.inputs.append(size)
        self.kernel.append(kernel)
        self.outputs.append((spread - reach) // stride + 1)
        reverse = "1" if rng.random() < 0.15 else "0"
        parts.append([str(kernel), str(stride), f"{low}_{high}", str(base), str(step), reverse])


def _labelled(rng, letters, rank):
    """A random order of `letters` and the spatial digits, as in "b01f"."""
    labels = list(letters) + [str(i) for i in range(rank)]
    if rng.random() < 0.6:
        return labels[:1] + labels[2:] + labels[1:2] if letters != "oi" else labels[2:] + ["i", "o"]
    return [str(label) for label in rng.permutation(labels)]


def convolution(rng):
    program = Program("convolution", rng)
    type = pick(rng, ["f32", "f32", "f32", "f64", "bf16", "f16", "s32", "s8", "c64"])
    rank = pick(rng, [1, 2, 2, 2, 3, 0])
    window = Window(rng, rank)
    groups, batch_groups = 1, 1
    if rng.random() < 0.3:
        groups = int(rng.integers(2, 4))
    elif rng.random() < 0.15 and type == "f32":
        batch_groups = int(rng.integers(2, 4))
    features, batch = int(rng.integers(1, 4)), int(rng.integers(1, 3)) * batch_groups
    output_features = int(rng.integers(1, 4)) * groups * batch_groups
    lhs, kernel, out = _labelled(rng, "bf", rank), _labelled(rng, "oi", rank), _labelled(rng, "bf", rank)
    size = {"b": batch, "f": features * groups, **{str(i): n for i, n in enumerate(window.inputs)}}
    x = program.parameter(type, [size[label] for label in lhs])
    size = {"o": output_features, "i": features, **{str(i): n for i, n in enumerate(window.kernel)}}
    w = program.parameter(type, [size[label] for label in kernel])
    size = {"b": batch // batch_groups, "f": output_features, **{str(i): n for i, n in enumerate(window.outputs)}}
    attributes = window.attribute + f"dim_labels={''.join(lhs)}_{''.join(kernel)}->{''.join(out)}"
    if groups > 1:
        attributes += f", feature_group_count={groups}"
    if batch_groups > 1:
        attributes += f", batch_group_count={batch_groups}"
    dims = [size[label] for label in out]
    return program.finish(program.op("convolution", type, dims, [x, w], attributes, ulps=_ulps(type, 30)))
