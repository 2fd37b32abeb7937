"""The results of analyses. Each prints as the command line prints it and has its data as attributes.

`result.to_dict()` is the JSON of the command line (docs/schema/ describes it); `result.to_pandas()` is its main table.
"""
from __future__ import annotations

import dataclasses
import html
import json
import os
import shutil
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from . import _core

_R = TypeVar("_R", bound="Result")


class Row(dict[str, Any]):
    """A row of a table: a dict whose members are attributes too."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None


def _rows(values: Iterable[dict[str, Any]] | None) -> list[Row]:
    return [Row(value) for value in values or []]


@dataclasses.dataclass(frozen=True, repr=False)
class Result:
    """What all results have in common."""

    _text: Callable[[int], str] | str = dataclasses.field(default="", kw_only=True)
    _data: dict[str, Any] = dataclasses.field(default_factory=dict, kw_only=True)
    _page: Callable[[], str] | None = dataclasses.field(default=None, kw_only=True)

    @classmethod
    def _of(cls: type[_R], view: _core.View, **more: Any) -> _R:
        return cls._from(json.loads(view.to_json()), _text=view.to_text, **more)

    @classmethod
    def _from(cls: type[_R], data: dict[str, Any], **more: Any) -> _R:
        known = {field.name for field in dataclasses.fields(cls) if not field.name.startswith("_")}
        values = {name: value for name, value in data.items() if name in known}
        for name, value in values.items():
            if isinstance(value, list) and value and isinstance(value[0], dict):
                values[name] = _rows(value)
            elif isinstance(value, dict):
                values[name] = Row(value)
        return cls(**{**values, "_data": data, **more})

    def to_text(self, width: int = 0) -> str:
        """The text of the command line, wrapped at `width` columns (0: never)."""
        return self._text(width) if callable(self._text) else self._text

    def __str__(self) -> str:
        return self.to_text(shutil.get_terminal_size((100, 24)).columns).rstrip("\n")

    def __repr__(self) -> str:
        return str(self)

    def to_dict(self) -> dict[str, Any]:
        """The JSON of the command line as a dict."""
        return self._data

    def _table(self) -> list[Row]:
        """The rows of the main table."""
        return []

    def to_pandas(self) -> Any:
        """The main table as a DataFrame."""
        import pandas
        return pandas.DataFrame(self._table())

    def _repr_html_(self) -> str:
        if self._page is not None:
            from ._notebook import frame
            return frame(self._page(), self.to_text(120))
        rows = self._table()[:50]
        if not rows:
            return f"<pre>{html.escape(self.to_text(120))}</pre>"
        columns = [name for name, value in rows[0].items() if not isinstance(value, (dict, list))
                   and any(row.get(name) is not None for row in rows)]
        head = "".join(f"<th>{html.escape(name)}</th>" for name in columns)
        body = "".join("<tr>" + "".join(f"<td>{html.escape(_cell(row.get(name, '')))}</td>" for name in columns) + "</tr>"
                       for row in rows)
        more = len(self._table()) - len(rows)
        return (f'<div style="overflow-x:auto"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'
                + (f"<p>{more} more rows</p>" if more else ""))


def _cell(value: object) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)


@dataclasses.dataclass(frozen=True, repr=False)
class Comm(Result):
    """The collectives of a module. Each row of `collectives` has kind, axis, times, payload_bytes, wire_bytes_ring, …"""

    collectives: list[Row] = dataclasses.field(default_factory=list)
    by_kind: list[Row] = dataclasses.field(default_factory=list)
    by_axis: list[Row] = dataclasses.field(default_factory=list)
    by_line: list[Row] = dataclasses.field(default_factory=list)
    mesh: list[Row] = dataclasses.field(default_factory=list)
    assumptions: list[str] = dataclasses.field(default_factory=list)

    @property
    def wire_bytes(self) -> float:
        """Bytes that a device receives per step, in rings."""
        return sum((row.times * row.wire_bytes_ring for row in self.collectives), 0.0)

    def _table(self) -> list[Row]:
        return self.collectives


@dataclasses.dataclass(frozen=True, repr=False)
class Cost(Result):
    """Flops and memory traffic; `rows` has the most expensive group first."""

    total: Row = dataclasses.field(default_factory=Row)
    rows: list[Row] = dataclasses.field(default_factory=list)
    assumptions: list[str] = dataclasses.field(default_factory=list)

    @property
    def flops(self) -> float:
        """Flops per device and step."""
        return float(self.total["flops"])

    @property
    def bytes(self) -> float:
        """Memory traffic per device and step."""
        return float(self.total["bytes_read"] + self.total["bytes_written"])

    def _table(self) -> list[Row]:
        return self.rows


@dataclasses.dataclass(frozen=True, repr=False)
class Mem(Result):
    """Peak memory of a device in bytes; `live_at_peak` has the largest buffer first."""

    device: Row = dataclasses.field(default_factory=Row)
    spaces: list[Row] = dataclasses.field(default_factory=list)
    live_at_peak: list[Row] = dataclasses.field(default_factory=list)
    assumptions: list[str] = dataclasses.field(default_factory=list)

    @property
    def peak(self) -> int:
        """The maximum of the live bytes."""
        return int(self.device["peak"])

    def _table(self) -> list[Row]:
        return self.live_at_peak


@dataclasses.dataclass(frozen=True, repr=False)
class Show(Result):
    """The execution outline; `entry` is the tree, `totals` has a row for each kind of op."""

    entry: Row = dataclasses.field(default_factory=Row)
    totals: list[Row] = dataclasses.field(default_factory=list)

    def _table(self) -> list[Row]:
        return self.totals


@dataclasses.dataclass(frozen=True, repr=False)
class Time(Result):
    """The predicted time of a step in seconds; `ops` has the longest op first, `transfers` the most exposed one."""

    machine: str = ""
    step_seconds: float = 0
    matrix_seconds: float = 0
    memory_seconds: float = 0
    communication_seconds: float = 0
    copy_seconds: float = 0
    idle_seconds: float = 0
    ops: list[Row] = dataclasses.field(default_factory=list)
    transfers: list[Row] = dataclasses.field(default_factory=list)
    warnings: list[str] = dataclasses.field(default_factory=list)

    @classmethod
    def _of_prediction(cls, view: _core.View, numbers: dict[str, Any], page: Callable[[], str]) -> Time:
        return cls._from(numbers, _text=view.to_text, _data=json.loads(view.to_json()), _page=page)

    def _table(self) -> list[Row]:
        return self.ops


@dataclasses.dataclass(frozen=True, repr=False)
class Diff(Result):
    """Semantic differences; `same` is true if the modules differ at most in names, order and metadata."""

    same: bool = False
    changes: list[Row] = dataclasses.field(default_factory=list)
    metrics: Row = dataclasses.field(default_factory=Row)
    exceeded: list[str] = dataclasses.field(default_factory=list)

    def _table(self) -> list[Row]:
        return self.changes


@dataclasses.dataclass(frozen=True, repr=False)
class Compare(Result):
    """The comparison of two runs; true if the outputs agree."""

    agrees: bool = False
    outputs: list[Row] = dataclasses.field(default_factory=list)
    notes: list[str] = dataclasses.field(default_factory=list)

    def __bool__(self) -> bool:
        return self.agrees

    def _table(self) -> list[Row]:
        return self.outputs


@dataclasses.dataclass(frozen=True, repr=False)
class Totals(Result):
    """Totals of a module per device and step. `totals["flops"]` is `totals.flops`."""

    computations: int = 0
    instructions: float = 0
    flops: float = 0
    transcendentals: float = 0
    bytes: float = 0
    wire_bytes: float = 0
    collectives: float = 0
    peak_memory: float = 0
    collectives_by_kind: dict[str, float] = dataclasses.field(default_factory=dict)

    @classmethod
    def _of_totals(cls, totals: dict[str, Any]) -> Totals:
        rows = [(name, value) for name, value in totals.items() if name != "collectives_by_kind"]
        rows += sorted(totals["collectives_by_kind"].items())
        width = max(len(name) for name, _ in rows)
        return cls(**totals, _data=totals, _text="\n".join(f"{name:{width}}  {_cell(value)}" for name, value in rows))

    def __getitem__(self, name: str) -> Any:
        return self._data[name]

    def _table(self) -> list[Row]:
        return [Row(self._data)]


@dataclasses.dataclass(frozen=True, repr=False)
class DumpStats(Result):
    """The modules of a dump folder, with the metrics of the last stage of each."""

    modules: list[Row] = dataclasses.field(default_factory=list)
    unreadable: list[Any] = dataclasses.field(default_factory=list)

    def _table(self) -> list[Row]:
        return self.modules


def stats(folder: str | os.PathLike[str], stages: bool = False, top: int = 30) -> DumpStats:
    """Summarizes an XLA dump folder; `stages` adds the changes from each compilation stage to the next."""
    return DumpStats._of(_core.stats(os.fspath(folder), stages, top))


@dataclasses.dataclass(frozen=True, repr=False)
class Check(Result):
    """Verification; true if there are no errors."""

    ok: bool = True
    diagnostics: list[Row] = dataclasses.field(default_factory=list)

    @classmethod
    def _of(cls, diagnostics: list[dict[str, Any]]) -> Check:  # type: ignore[override]
        lines = [f"{one['file']}:{one['line']}:{one['column']}: {one['severity']}: {one['message']}"
                 + (f" [{one['rule']}]" if one["rule"] else "") for one in diagnostics]
        ok = not any(one["severity"] == "error" for one in diagnostics)
        return cls(ok=ok, diagnostics=_rows(diagnostics), _text="\n".join(lines) or "ok",
                   _data={"ok": ok, "diagnostics": diagnostics})

    def __bool__(self) -> bool:
        return self.ok

    def _table(self) -> list[Row]:
        return self.diagnostics
