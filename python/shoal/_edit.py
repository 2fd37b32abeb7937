"""Module.edit(): passes in Python."""
from __future__ import annotations

from . import _core
from ._core import Computation, ComputationBuilder, Instruction

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import TracebackType
    from typing import Any

    from ._module import Module


class ModuleBuilder:
    """Builds a module from nothing. Shapes, constants and attributes are HLO text.

    >>> builder = ModuleBuilder("m")
    >>> main = builder.computation("main")
    >>> x = main.parameter("f32[4]", "x")
    >>> main.finish(main.add("tanh", [x]))
    >>> builder.finish(main).entry.root
    <shoal.Instruction tanh.1 = f32[4]{0} tanh(x)>
    """

    def __init__(self, name: str, replica_count: int = 1, num_partitions: int = 1) -> None:
        self._core = _core.ModuleBuilder(name, replica_count, num_partitions)

    def computation(self, name: str) -> ComputationBuilder:
        """A computation to fill. Others can call it once it is finished."""
        return self._core.computation(name)

    def finish(self, entry: ComputationBuilder) -> Module:
        """The verified module with this entry computation."""
        from ._module import Module
        return Module(self._core.finish(entry))


def _attributes(attributes: str | dict[str, Any]) -> str:
    if isinstance(attributes, str):
        return attributes
    return ", ".join(f"{name}={value}" for name, value in attributes.items())


def _literal(value: Any) -> str:
    """A value as HLO text."""
    if isinstance(value, str):
        return value
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, (list, tuple)):
        return "{" + ", ".join(map(_literal, value)) + "}"
    if isinstance(value, complex):
        return f"({value.real!r}, {value.imag!r})"
    return str(value).lower() if isinstance(value, bool) else repr(value)


class Editor:
    """Edits a copy of a module. `with module.edit() as edit:` verifies the copy on exit; then `edit.module` is the result.

    Instructions of the copy show its current state: after a replacement, `hlo.operands` and `hlo.users` are the new ones.
    Instructions of the module, and names, stand for their copies. A failed call raises shoal.Error and changes nothing.

    >>> import shoal
    >>> m = shoal.load('''HloModule m
    ... ENTRY e { x = f32[4] parameter(0)
    ...   a = f32[4] negate(x)
    ...   ROOT b = f32[4] negate(a) }''')
    >>> with m.edit() as edit:
    ...     for hlo in edit.find("opcode:negate"):
    ...         if hlo.operands[0].opcode == "negate":
    ...             edit.replace(hlo, hlo.operands[0].operands[0])
    >>> [hlo.name for hlo in edit.module.instructions()]
    ['x']
    """

    def __init__(self, module: Module) -> None:
        self._core = _core.ModuleEditor(module._core)
        self._module: Module | None = None

    def __enter__(self) -> Editor:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 traceback: TracebackType | None) -> None:
        if kind is None:
            self.finish()

    @property
    def module(self) -> Module:
        """The edited module, after the end of the `with` block or finish()."""
        if self._module is None:
            raise ValueError("the edit is not finished: `module` is available after the with block")
        return self._module

    @property
    def computations(self) -> list[Computation]:
        """The computations of the copy."""
        return self._core.computations()

    @property
    def entry(self) -> Computation | None:
        """The entry computation of the copy."""
        return self._core.entry()

    def _hlo(self, hlo: Instruction | str) -> Instruction:
        return self[hlo] if isinstance(hlo, str) else hlo

    def __iter__(self) -> Iterator[Computation]:
        return iter(self.computations)

    def instructions(self) -> list[Instruction]:
        """All instructions of the copy, as they are now: the list may be edited while it is iterated."""
        return [hlo for computation in self for hlo in computation.instructions]

    def __getitem__(self, name: str) -> Instruction:
        """The instruction of that name."""
        found = self._core.get(name.removeprefix("%"))
        if found is None:
            raise KeyError(name)
        return found

    def __contains__(self, name: str) -> bool:
        return self._core.get(name.removeprefix("%")) is not None

    def find(self, query: str) -> list[Instruction]:
        """Instructions that fit a query; see Module.find."""
        from ._module import matching
        return matching(query, self.instructions())

    def add(self, opcode: str, *operands: Instruction | str, attributes: str | dict[str, Any] = "", shape: _core.Shape | str = "",
            name: str = "", at: Instruction | str | None = None) -> Instruction:
        """Adds an instruction to the computation of its operands, and returns it.

        `attributes` is HLO text, or a dict of such texts. Without `shape`, the shape is inferred, which some ops such as
        all-reduce do not allow. The instruction takes its metadata from `at`, by default its first operand; an op without
        operands needs it to choose the computation.

        >>> import shoal
        >>> m = shoal.load("HloModule m\\nENTRY e { x = f32[2,3] parameter(0)\\n ROOT r = f32[2,3] negate(x) }")
        >>> with m.edit() as edit:
        ...     new = edit.add("transpose", edit["r"], attributes={"dimensions": "{1,0}"})
        ...     edit.set_root(new)
        >>> edit.module.result_shape.dims
        (3, 2)
        """
        origin = None if at is None else self._hlo(at)
        return self._core.add(opcode, [self._hlo(one) for one in operands], _attributes(attributes), str(shape), name,
                              origin)

    def constant(self, shape: _core.Shape | str, value: Any, at: Instruction | str, name: str = "") -> Instruction:
        """Adds a constant to the computation of `at`. `value` is a number, a nested list, an array or HLO text.

        >>> import shoal
        >>> m = shoal.load("HloModule m\\nENTRY e { x = f32[2] parameter(0)\\n ROOT r = f32[2] negate(x) }")
        >>> with m.edit() as edit:
        ...     two = edit.constant("f32[2]", [2, 3], at=edit["x"])
        ...     edit.replace("r", edit.add("multiply", "x", two))
        >>> edit.module.compile()(shoal.zeros((2,))).tolist()
        [0.0, 0.0]
        """
        return self._core.constant(str(shape), _literal(value), self._hlo(at), name)

    def new_computation(self, name: str) -> ComputationBuilder:
        """A builder of a new computation, such as the reducer of a reduce, which can be called once it is finished."""
        return self._core.computation(name)

    def replace(self, hlo: Instruction | str, by: Instruction | str) -> None:
        """Replaces `hlo` by a value of the same type and dimensions, as operand and as root, and removes it.

        Instructions that compute `by` keep `hlo` as their operand, so `edit.replace(x, edit.add("negate", x))` negates x
        for all its other users.
        """
        self._core.replace(self._hlo(hlo), self._hlo(by))

    def set_operand(self, hlo: Instruction | str, index: int, operand: Instruction | str) -> None:
        """Changes one operand."""
        self._core.set_operand(self._hlo(hlo), index, self._hlo(operand))

    def set_attributes(self, hlo: Instruction | str, attributes: str | dict[str, Any] = "", **named: Any) -> None:
        """Adds attributes or replaces their values: set_attributes(hlo, replica_groups="{{0,1}}")."""
        self._core.set_attributes(self._hlo(hlo), ", ".join(filter(None, [_attributes(attributes), _attributes(named)])))

    def set_root(self, hlo: Instruction | str) -> None:
        """Makes `hlo` the root of its computation."""
        self._core.set_root(self._hlo(hlo))

    def remove(self, hlo: Instruction | str) -> None:
        """Removes an instruction without users. Those that the edit leaves without users are removed on exit anyway."""
        self._core.remove(self._hlo(hlo))

    def finish(self) -> Module:
        """Verifies the copy and returns it as a module."""
        from ._module import Module
        self._module = Module(self._core.finish())
        return self._module
