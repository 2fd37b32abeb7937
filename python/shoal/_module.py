"""Module: an HLO module with the commands of shoal as methods."""
from __future__ import annotations

import os

from . import _core
from ._core import Computation, Instruction, Shape
from ._edit import Editor
from ._execution import CompiledModule, Run

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from typing import Any

    from ._results import Check, Comm, Compare, Cost, Diff, Mem, Show, Time, Totals

    Path = str | os.PathLike[str]

_FIELDS: dict[str, Callable[[Instruction], str]] = {"opcode": lambda hlo: hlo.opcode, "name": lambda hlo: hlo.name, "op_name": lambda hlo: hlo.op_name,
           "line": lambda hlo: hlo.source, "type": lambda hlo: str(hlo.shape), "scope": lambda hlo: hlo.op_name}


def matching(query: str, instructions: Iterable[Instruction]) -> list[Instruction]:
    """The instructions that fit a query of Module.find."""
    terms = []
    for word in query.split():
        field, colon, text = word.partition(":")
        if not colon:
            field, text = "name", word
        if field not in _FIELDS:
            raise ValueError(f"unknown field {field}; known: {', '.join(_FIELDS)}")
        terms.append((_FIELDS[field], text))
    return [hlo for hlo in instructions if all(text in get(hlo) for get, text in terms)]


class Module:
    """A module. `print(module)` shows it as XLA prints it; iteration yields its computations."""

    def __init__(self, core: _core.Module) -> None:
        self._core = core
        self._facts: dict[Any, _core.Facts] = {}

    @property
    def name(self) -> str:
        """The name in the header."""
        return self._core.name

    @property
    def path(self) -> str:
        """The file that the module was read from."""
        return self._core.path

    @property
    def replica_count(self) -> int:
        """The number of replicas in the header."""
        return self._core.replica_count

    @property
    def num_partitions(self) -> int:
        """The number of partitions in the header."""
        return self._core.num_partitions

    @property
    def is_scheduled(self) -> bool:
        """True if the text has the order of execution."""
        return self._core.is_scheduled

    @property
    def computations(self) -> list[Computation]:
        """All computations, in the order of the text."""
        return self._core.computations

    @property
    def entry(self) -> Computation:
        """The entry computation."""
        entry = self._core.entry
        if entry is None:
            raise ValueError(f"module {self.name} has no entry computation")
        return entry

    @property
    def warnings(self) -> list[dict[str, Any]]:
        """Deviations from XLA's grammar that the reader tolerated."""
        return self._core.warnings

    @property
    def parameter_shapes(self) -> list[Shape]:
        """The shapes of the parameters of the entry computation."""
        return self._core.parameter_shapes

    @property
    def result_shape(self) -> Shape:
        """The shape of the result of the entry computation."""
        return self._core.result_shape

    def __iter__(self) -> Iterator[Computation]:
        return iter(self._core.computations)

    def __getitem__(self, name: str) -> Instruction:
        """The instruction of that name, in any computation."""
        found = self._core.get(name.removeprefix("%"))
        if found is None:
            raise KeyError(name)
        return found

    def computation(self, name: str) -> Computation:
        """The computation of that name."""
        for computation in self:
            if computation.name == name.removeprefix("%"):
                return computation
        raise KeyError(name)

    def __contains__(self, name: str) -> bool:
        return self._core.get(name.removeprefix("%")) is not None

    def __str__(self) -> str:
        return self._core.to_text()

    def __repr__(self) -> str:
        count = sum(len(computation.instructions) for computation in self)
        return f"<shoal.Module {self.name}: {len(self.computations)} computations, {count} instructions>"

    def instructions(self) -> Iterator[Instruction]:
        """All instructions of all computations."""
        for computation in self:
            yield from computation.instructions

    def find(self, query: str) -> list[Instruction]:
        """Instructions that fit a query such as "opcode:all-gather line:model.py"; other words fit names.

        >>> import shoal
        >>> m = shoal.load("HloModule m\\nENTRY e { p = f32[2] parameter(0)\\n ROOT r = f32[2] negate(p) }")
        >>> [hlo.name for hlo in m.find("opcode:negate")]
        ['r']
        """
        return matching(query, self.instructions())

    def edit(self) -> Editor:
        """An editor of a copy of the module, for passes in Python: see shoal.Editor."""
        return Editor(self)

    def to_text(self, format: str = "hlo", elide: bool = False) -> str:
        """The module as `hlo` text as XLA prints it, `short` text without signatures and metadata, `json` or `stablehlo`."""
        return self._core.to_text(format, elide)

    def serialize(self) -> bytes:
        """The module as a HloModuleProto."""
        return self._core.serialize()

    def fingerprint(self) -> str:
        """A hash of the program, equal for modules that differ at most in names, text order, channel numbers and metadata.

        >>> import shoal
        >>> text = "HloModule m\\nENTRY e { p = f32[2] parameter(0)\\n ROOT r = f32[2] negate(p) }"
        >>> shoal.load(text).fingerprint() == shoal.load(text.replace("p", "x").replace("xarameter", "parameter")).fingerprint()
        True
        """
        return _core.fingerprint(self._core)

    # ---- analyses

    def _facts_of(self, trip_counts: Mapping[str, int] | None = None, backend: str = "") -> _core.Facts:
        key = (tuple(sorted((trip_counts or {}).items())), backend)
        if key not in self._facts:
            self._facts[key] = _core.facts(self._core, dict(trip_counts or {}), backend)
        return self._facts[key]

    @property
    def devices(self) -> int:
        """The number of devices that the module was compiled for."""
        return self._facts_of().devices

    def check(self) -> Check:
        """Verifies the module."""
        from ._results import Check
        return Check._of(self._core.verify())

    def show(self, ops: str = "important", depth: int = 0, names: bool = False, fusions: bool = False,
             trip_counts: Mapping[str, int] | None = None) -> Show:
        """The tree of loops, branches, calls and ops: the important ones, communication, computation or all."""
        from ._results import Show
        return Show._of(self._facts_of(trip_counts).show(ops, depth, names, fusions))

    def comm(self, devices_per_node: int = 8, trip_counts: Mapping[str, int] | None = None, sort: str = "order",
             top: int = 20) -> Comm:
        """The collectives and their traffic, sorted by order (of execution), payload, ring, direct, count or name.

        The text has `top` rows, 0 for all.
        """
        from ._results import Comm
        return Comm._of(self._facts_of(trip_counts).comm(devices_per_node, top, sort))

    def cost(self, by: str = "op", trip_counts: Mapping[str, int] | None = None, sort: str = "cost", top: int = 20) -> Cost:
        """Flops and memory traffic by op, opcode, computation, line or op_name.

        The `top` rows (0: all) are sorted by cost, flops, transcendentals, read, written, count or name.
        """
        from ._results import Cost
        return Cost._of(self._facts_of(trip_counts).cost(by, top, sort))

    def mem(self, budget: int | None = None, backend: str = "", top: int = 10) -> Mem:
        """Peak memory and the `top` buffers live at the peak (0: all)."""
        from ._results import Mem
        return Mem._of(self._facts_of(backend=backend).mem(budget, top))

    def time(self, on: str, set: Sequence[str] = (), trip_counts: Mapping[str, int] | None = None) -> Time:
        """The predicted time of a step on a machine such as "h100x8x16"; `set` changes parameters: "nic=100GB/s"."""
        from ._results import Time
        view, numbers = self._facts_of(trip_counts).time(on, list(set))
        return Time._of_prediction(view, numbers, lambda: self.report(on=on))

    def stats(self) -> Totals:
        """Totals per device and step: flops, bytes, wire_bytes, peak_memory, collectives_by_kind, …"""
        from ._results import Totals
        return Totals._of_totals(self._facts_of().totals())

    def diff(self, other: Module, thresholds: Sequence[str] = ()) -> Diff:
        """The semantic differences to another module, and their effect on cost."""
        from ._results import Diff
        view, exceeded = self._facts_of().diff(other._facts_of(), list(thresholds))
        return Diff._of(view, exceeded=exceeded, _page=lambda: self.report(other=other))

    def compare(self, other: Module, seed: int = 0) -> Compare:
        """Runs both modules on the same inputs and compares the results."""
        from ._results import Compare
        view, agrees = _core.compare(self._core, other._core, seed)
        return Compare._of(view, agrees=agrees)

    def report(self, path: Path | None = None, on: str | Sequence[str] = (), other: Module | None = None) -> str:
        """Writes the HTML page about the module, or about its differences to `other`, to `path`.

        Returns the path, or without `path` the page. `on` has machines for predictions.
        """
        machines = [on] if isinstance(on, str) else list(on)
        page = self._facts_of().page(machines, None if other is None else other._facts_of())
        if path is None:
            return page
        with open(path, "w", encoding="utf-8") as file:
            file.write(page)
        return os.fspath(path)

    def _repr_html_(self) -> str:
        from ._notebook import frame
        return frame(self.report(), repr(self))

    # ---- execution

    def compile(self, engine: str = "jit", threads: int = 0, devices: int | None = None) -> CompiledModule:
        """Compiles the module for this machine: a function of arrays."""
        return CompiledModule(_core.compile(self._core, engine, threads, devices))

    def run(self, *arrays: Any, devices: Sequence[Sequence[Any]] | None = None, seed: int = 0, progress: bool = False,
            stub_custom_calls: bool = False, max_seconds: float = 0) -> Run:
        """Runs the module on all its devices: see CompiledModule.run."""
        return self.compile().run(*arrays, devices=devices, seed=seed, progress=progress,
                                  stub_custom_calls=stub_custom_calls, max_seconds=max_seconds)
