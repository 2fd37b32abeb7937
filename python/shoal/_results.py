"""The results of analyses. Each prints as the command line prints it and has its data as attributes.

`result.to_dict()` is the JSON of the command line (docs/schema/ describes it); `result.to_pandas()` is its main table.
"""
from __future__ import annotations

import dataclasses
import html
import json
import shutil


class Row(dict):
    """A row of a table: a dict whose members are attributes too."""

    def __getattr__(self, name):
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None


def _rows(values):
    return [Row(value) for value in values or []]


@dataclasses.dataclass(frozen=True, repr=False)
class Result:
    """What all results have in common."""

    _text: object = dataclasses.field(default=None, kw_only=True)
    _data: dict = dataclasses.field(default_factory=dict, kw_only=True)

    @classmethod
    def _of(cls, view, **more):
        data = json.loads(view.to_json())
        return cls._from(data, _text=view.to_text, **more)

    @classmethod
    def _from(cls, data, _text, **more):
        known = {field.name for field in dataclasses.fields(cls)} - {"_text", "_data"}
        values = {name: value for name, value in data.items() if name in known}
        for name, value in values.items():
            if isinstance(value, list) and value and isinstance(value[0], dict):
                values[name] = _rows(value)
            elif isinstance(value, dict):
                values[name] = Row(value)
        return cls(**{**values, **more}, _text=_text, _data=data)

    def to_text(self, width=0):
        """The text of the command line, wrapped at `width` columns (0: never)."""
        return self._text(width) if callable(self._text) else str(self._text)

    def __str__(self):
        return self.to_text(shutil.get_terminal_size((100, 24)).columns).rstrip("\n")

    def __repr__(self):
        return str(self)

    def to_dict(self):
        """The JSON of the command line as a dict."""
        return self._data

    def _table(self):
        """The rows of the main table."""
        return []

    def to_pandas(self):
        """The main table as a DataFrame."""
        import pandas
        return pandas.DataFrame(self._table())

    def _repr_html_(self):
        rows = self._table()[:50]
        if not rows:
            return f"<pre>{html.escape(self.to_text(120))}</pre>"
        columns = [name for name, value in rows[0].items() if not isinstance(value, (dict, list))]
        head = "".join(f"<th>{html.escape(name)}</th>" for name in columns)
        body = "".join("<tr>" + "".join(f"<td>{html.escape(str(row.get(name, '')))}</td>" for name in columns) + "</tr>"
                       for row in rows)
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


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
    def wire_bytes(self):
        """Bytes that a device receives per step, in rings."""
        return sum(row.times * row.wire_bytes_ring for row in self.collectives)

    def _table(self):
        return self.collectives


@dataclasses.dataclass(frozen=True, repr=False)
class Cost(Result):
    """Flops and memory traffic; `rows` has the most expensive group first."""

    total: Row = dataclasses.field(default_factory=Row)
    rows: list[Row] = dataclasses.field(default_factory=list)
    assumptions: list[str] = dataclasses.field(default_factory=list)

    flops = property(lambda self: self.total["flops"])
    bytes = property(lambda self: self.total["bytes_read"] + self.total["bytes_written"])

    def _table(self):
        return self.rows


@dataclasses.dataclass(frozen=True, repr=False)
class Mem(Result):
    """Peak memory of a device in bytes; `live_at_peak` has the largest buffer first."""

    device: Row = dataclasses.field(default_factory=Row)
    spaces: list[Row] = dataclasses.field(default_factory=list)
    live_at_peak: list[Row] = dataclasses.field(default_factory=list)
    assumptions: list[str] = dataclasses.field(default_factory=list)

    peak = property(lambda self: self.device["peak"])

    def _table(self):
        return self.live_at_peak


@dataclasses.dataclass(frozen=True, repr=False)
class Show(Result):
    """The execution outline; `entry` is the tree, `totals` has a row for each kind of op."""

    entry: Row = dataclasses.field(default_factory=Row)
    totals: list[Row] = dataclasses.field(default_factory=list)

    def _table(self):
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
    def _of_prediction(cls, view, numbers):
        time = cls._from(numbers, _text=view.to_text)
        return dataclasses.replace(time, _data=json.loads(view.to_json()))

    def _table(self):
        return self.ops


@dataclasses.dataclass(frozen=True, repr=False)
class Diff(Result):
    """Semantic differences; `same` is true if the modules differ at most in names, order and metadata."""

    same: bool = False
    changes: list[Row] = dataclasses.field(default_factory=list)
    metrics: Row = dataclasses.field(default_factory=Row)
    exceeded: list[str] = dataclasses.field(default_factory=list)

    def _table(self):
        return self.changes


@dataclasses.dataclass(frozen=True, repr=False)
class Compare(Result):
    """The comparison of two runs; true if the outputs agree."""

    agrees: bool = False
    outputs: list[Row] = dataclasses.field(default_factory=list)
    notes: list[str] = dataclasses.field(default_factory=list)

    def __bool__(self):
        return self.agrees

    def _table(self):
        return self.outputs


@dataclasses.dataclass(frozen=True, repr=False)
class Check(Result):
    """Verification; true if there are no errors."""

    ok: bool = True
    diagnostics: list[Row] = dataclasses.field(default_factory=list)

    @classmethod
    def _of(cls, diagnostics):
        lines = [f"{one['file']}:{one['line']}:{one['column']}: {one['severity']}: {one['message']}"
                 + (f" [{one['rule']}]" if one["rule"] else "") for one in diagnostics]
        ok = not any(one["severity"] == "error" for one in diagnostics)
        return cls(ok=ok, diagnostics=_rows(diagnostics), _text="\n".join(lines) or "ok",
                   _data={"ok": ok, "diagnostics": diagnostics})

    def __bool__(self):
        return self.ok

    def _table(self):
        return self.diagnostics
