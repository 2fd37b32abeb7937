"""while, conditional and fusion, nested in each other."""
import dataclasses

import element_types as et
from program import Program, pick, random_dims

STEPS = ["add", "multiply", "maximum", "subtract"]


def loop(rng):
    """A counted loop over a state of two arrays; the trip count is a constant or a parameter."""
    program = Program("loop", rng)
    type, dims = pick(rng, ["f32", "s32", "f64", "u8"]), random_dims(rng, high=2)
    x, y = program.parameter(type, dims), program.parameter(type, dims)
    shape, opcode = x.shape, pick(rng, STEPS)
    state = f"(s32[], s32[], {shape}, {shape})"
    parts = ["i = s32[] get-tuple-element(a0), index=0", "n = s32[] get-tuple-element(a0), index=1"]
    body = program.computation("body", [state], parts + [
        f"u = {shape} get-tuple-element(a0), index=2", f"v = {shape} get-tuple-element(a0), index=3",
        "one = s32[] constant(1)", "next = s32[] add(i, one)", f"w = {shape} {opcode}(u, v)",
        f"ROOT r = {state} tuple(next, n, v, w)"])
    condition = program.computation("condition", [state], parts + ["ROOT r = pred[] compare(i, n), direction=LT"])
    zero = program.constant("s32", 0)
    trips = program.parameter("s32", ()) if rng.random() < 0.5 else program.constant("s32", int(rng.integers(0, 6)))
    start = program.pack([zero, trips, x, y])
    inexact = et.is_float(type) and opcode != "maximum"
    states = [dataclasses.replace(value, ulps=16 if inexact else 0) for value in (x, y)]
    results = [zero, trips] + states
    parts = program.tuple_op("while", results, [start], f"condition={condition}, body={body}")
    return program.finish(parts[0], *parts[2:])


def conditional(rng):
    """A branch chosen by a predicate, or by an index that may be out of bounds."""
    program = Program("conditional", rng)
    type, dims = pick(rng, ["f32", "s32", "bf16", "pred"]), random_dims(rng, high=3)
    x = program.parameter(type, dims, "extreme")
    opcodes = ["not", "copy"] if type == "pred" else ["negate", "abs", "copy", "sign"]
    count = 2 if rng.random() < 0.5 else int(rng.integers(1, 5))
    names = [program.computation("branch", [x.shape], [f"ROOT r = {x.shape} {pick(rng, opcodes)}(a0)"])
             for _ in range(count)]
    if count == 2 and rng.random() < 0.7:
        chosen = program.parameter("pred", ())
        attributes = f"true_computation={names[0]}, false_computation={names[1]}"
    else:
        chosen = program.parameter("s32", ())
        attributes = "branch_computations={" + ", ".join(names) + "}"
    operands = [chosen] + [x] * count
    return program.finish(program.op("conditional", type, dims, operands, attributes))


def fusion(rng):
    """A fusion of a few elementwise ops, with one or two results."""
    program = Program("fusion", rng)
    type, dims = pick(rng, ["f32", "s32", "f64"]), random_dims(rng)
    x, y = program.parameter(type, dims), program.parameter(type, dims)
    lines = [f"l0 = {x.shape} {pick(rng, STEPS)}(a0, a1)"]
    for index in range(int(rng.integers(1, 4))):
        operand = pick(rng, ["a0", "a1", f"l{index}"])
        lines.append(f"l{index + 1} = {x.shape} {pick(rng, STEPS)}(l{index}, {operand})")
    last = f"l{len(lines) - 1}"
    ulps = 16 if et.is_float(type) else 0
    if rng.random() < 0.5:
        lines.append(f"ROOT r = {x.shape} copy({last})")
        fused = program.computation("fused", [x.shape] * 2, lines)
        return program.finish(program.op("fusion", type, dims, [x, y], f"kind=kLoop, calls={fused}", ulps=ulps))
    lines.append(f"ROOT r = ({x.shape}, {x.shape}) tuple(l0, {last})")
    fused = program.computation("fused", [x.shape] * 2, lines)
    results = [dataclasses.replace(x, ulps=ulps)] * 2
    return program.finish(*program.tuple_op("fusion", results, [x, y], f"kind=kLoop, calls={fused}"))
