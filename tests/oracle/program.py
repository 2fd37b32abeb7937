"""A program under construction: HLO text, its inputs, and the tolerances of its results."""
import dataclasses

import numpy as np

import element_types as et


@dataclasses.dataclass(frozen=True)
class Value:
    """A result of an instruction. `ulps` is the allowed difference between correct results; 0: only one is correct."""

    name: str
    type: str
    dims: tuple
    ulps: float = 0.0

    @property
    def shape(self):
        return f"{self.type}[{','.join(map(str, self.dims))}]"

    @property
    def size(self):
        return int(np.prod(self.dims, dtype=np.int64))


def braces(numbers):
    return "{" + ",".join(str(int(number)) for number in numbers) + "}"


class Program:
    """Generators call parameter(), op() and finish(); the tester reads text, inputs and outputs."""

    def __init__(self, family, rng, replicas=1, partitions=1):
        self.family, self.rng = family, rng
        self.replicas, self.partitions = replicas, partitions
        self.inputs = [[] for _ in range(self.devices)]  # device -> leaf -> array
        self.outputs = []  # Values, one per leaf of the result
        self.reference = None  # function from the inputs of a device to wide results, if numpy supports the op
        self._lines, self._computations, self._name_counts = [], [], {}
        self._text = None

    @property
    def devices(self):
        return self.replicas * self.partitions

    def _name(self, hint):
        self._name_counts[hint] = self._name_counts.get(hint, 0) + 1
        return f"{hint.replace('-', '_')}.{self._name_counts[hint]}"

    def parameter(self, type, dims, style="small", array=None):
        """A parameter with different values on each device, or with `array` on all devices."""
        leaf = len(self.inputs[0])
        for device in self.inputs:
            device.append(et.values(self.rng, type, tuple(dims), style) if array is None else array)
        value = Value(f"p{leaf}", type, tuple(int(d) for d in dims))
        self._lines.append(f"  {value.name} = {value.shape} parameter({leaf})")
        return value

    def op(self, opcode, type, dims, operands=(), attributes="", ulps=None):
        """An instruction. By default its tolerance is the largest of its operands."""
        if ulps is None:
            ulps = max((operand.ulps for operand in operands), default=0.0)
        value = Value(self._name(opcode), type, tuple(int(d) for d in dims), float(ulps))
        names = ", ".join(operand.name for operand in operands)
        attributes = f", {attributes}" if attributes else ""
        self._lines.append(f"  {value.name} = {value.shape} {opcode}({names}){attributes}")
        return value

    def constant(self, type, number):
        text = {"pred": str(bool(number)).lower()}.get(type, f"({number}, 0)" if et.is_complex(type) else str(number))
        value = Value(self._name("constant"), type, ())
        self._lines.append(f"  {value.name} = {value.shape} constant({text})")
        return value

    def tuple_op(self, opcode, results, operands, attributes):
        """An instruction with a tuple as result; returns its elements. `results`: Values whose names are ignored."""
        name = self._name(opcode)
        shapes = ", ".join(result.shape for result in results)
        names = ", ".join(operand.name for operand in operands)
        self._lines.append(f"  {name} = ({shapes}) {opcode}({names}), {attributes}")
        parts = []
        for index, result in enumerate(results):
            part = dataclasses.replace(result, name=self._name("part"))
            self._lines.append(f"  {part.name} = {part.shape} get-tuple-element({name}), index={index}")
            parts.append(part)
        return parts

    def pack(self, values):
        """A tuple of values, for ops with a tuple operand."""
        name = self._name("tuple")
        shapes = ", ".join(value.shape for value in values)
        names = ", ".join(value.name for value in values)
        self._lines.append(f"  {name} = ({shapes}) tuple({names})")
        return Value(name, "tuple", ())

    def computation(self, hint, parameters, body):
        """A computation: `parameters` are shapes, `body` the other lines, with the parameters as a0, a1, …"""
        name = self._name(hint)
        lines = [f"  a{index} = {shape} parameter({index})" for index, shape in enumerate(parameters)]
        self._computations.append("\n".join([name + " {"] + lines + ["  " + line for line in body] + ["}"]))
        return name

    def scalar_computation(self, opcode, type):
        """The computation of two scalars that reductions and scatters apply."""
        return self.computation(opcode, [f"{type}[]"] * 2, [f"ROOT r = {type}[] {opcode}(a0, a1)"])

    def finish(self, *outputs):
        """The results, as a tuple if there are several."""
        self.outputs = list(outputs)
        shapes = ", ".join(output.shape for output in outputs)
        names = ", ".join(output.name for output in outputs)
        self._lines.append(f"  ROOT result = ({shapes}) tuple({names})")
        return self

    @property
    def text(self):
        if self._text is not None:
            return self._text
        header = f"HloModule {self.family.replace('-', '_')}"
        if self.devices > 1:
            header += f", replica_count={self.replicas}, num_partitions={self.partitions}"
        return "\n\n".join([header] + self._computations + ["ENTRY e {\n" + "\n".join(self._lines) + "\n}"]) + "\n"

    @text.setter
    def text(self, text):
        self._text = text


@dataclasses.dataclass
class Sizes:
    """Limits of random arrays: number of elements, and size of each dimension."""

    max_elements: int = 200
    max_side: int = 9


sizes = Sizes()


def random_dims(rng, low=0, high=4, empty=0.02):
    """Random dimensions with `low` to `high` axes within `sizes`; one is zero with probability `empty`."""
    rank = int(rng.integers(low, high + 1))
    dims, room = [], sizes.max_elements
    for _ in range(rank):
        dims.append(int(rng.integers(1, max(2, min(sizes.max_side, room + 1)))))
        room //= dims[-1]
    if dims and rng.random() < empty:
        dims[int(rng.integers(rank))] = 0
    return tuple(dims)


def pick(rng, choices):
    return choices[int(rng.integers(len(choices)))]
