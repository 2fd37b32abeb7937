"""Module: an HLO module with the commands of shoal as methods."""
from . import _core
from ._edit import Editor
from ._execution import CompiledModule
from ._results import Check, Comm, Compare, Cost, Diff, Mem, Show, Time

_FIELDS = {"opcode": lambda hlo: hlo.opcode, "name": lambda hlo: hlo.name, "op_name": lambda hlo: hlo.op_name,
           "line": lambda hlo: hlo.source, "type": lambda hlo: str(hlo.shape), "scope": lambda hlo: hlo.op_name}


def matching(query, instructions):
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

    def __init__(self, core):
        self._core = core
        self._facts = {}

    name = property(lambda self: self._core.name, doc="The name in the header.")
    path = property(lambda self: self._core.path, doc="The file that the module was read from.")
    replica_count = property(lambda self: self._core.replica_count)
    num_partitions = property(lambda self: self._core.num_partitions)
    is_scheduled = property(lambda self: self._core.is_scheduled)
    computations = property(lambda self: self._core.computations, doc="All computations, in the order of the text.")
    entry = property(lambda self: self._core.entry, doc="The entry computation.")
    warnings = property(lambda self: self._core.warnings, doc="Deviations from XLA's grammar that the reader tolerated.")
    parameter_shapes = property(lambda self: self._core.parameter_shapes)
    result_shape = property(lambda self: self._core.result_shape)

    def __iter__(self):
        return iter(self._core.computations)

    def __getitem__(self, name):
        """The instruction of that name, in any computation."""
        found = self._core.get(name.removeprefix("%"))
        if found is None:
            raise KeyError(name)
        return found

    def __contains__(self, name):
        return self._core.get(name.removeprefix("%")) is not None

    def __str__(self):
        return self._core.to_text()

    def __repr__(self):
        count = sum(len(computation.instructions) for computation in self)
        return f"<shoal.Module {self.name}: {len(self.computations)} computations, {count} instructions>"

    def instructions(self):
        """All instructions of all computations."""
        for computation in self:
            yield from computation.instructions

    def find(self, query):
        """Instructions that fit a query such as "opcode:all-gather line:model.py"; other words fit names.

        >>> import shoal
        >>> m = shoal.load("HloModule m\\nENTRY e { p = f32[2] parameter(0)\\n ROOT r = f32[2] negate(p) }")
        >>> [hlo.name for hlo in m.find("opcode:negate")]
        ['r']
        """
        return matching(query, self.instructions())

    def edit(self):
        """An editor of a copy of the module, for passes in Python: see shoal.Editor."""
        return Editor(self)

    def to_text(self, format="hlo", elide=False):
        """HLO text: `hlo` as XLA prints it, `short` without signatures and metadata, `json` as a protobuf in JSON."""
        return self._core.to_text(format, elide)

    def serialize(self):
        """The module as a HloModuleProto."""
        return self._core.serialize()

    # ---- analyses

    def _facts_of(self, trip_counts=None, backend=""):
        key = (tuple(sorted((trip_counts or {}).items())), backend)
        if key not in self._facts:
            self._facts[key] = _core.facts(self._core, trip_counts or {}, backend)
        return self._facts[key]

    @property
    def devices(self):
        """The number of devices that the module was compiled for."""
        return self._facts_of().devices

    def check(self):
        """Verifies the module."""
        return Check._of(self._core.verify())

    def show(self, ops="important", depth=0, names=False, fusions=False, trip_counts=None):
        """The tree of loops, branches, calls and important ops."""
        return Show._of(self._facts_of(trip_counts).show(ops, depth, names, fusions))

    def comm(self, devices_per_node=8, trip_counts=None, sort="order", top=20):
        """The collectives and their traffic, sorted by order (of execution), payload, ring, direct, count or name.

        The text has `top` rows, 0 for all.
        """
        return Comm._of(self._facts_of(trip_counts).comm(devices_per_node, top, sort))

    def cost(self, by="op", trip_counts=None, sort="cost", top=20):
        """Flops and memory traffic by op, opcode, computation, line or op_name.

        The `top` rows (0: all) are sorted by cost, flops, transcendentals, read, written, count or name.
        """
        return Cost._of(self._facts_of(trip_counts).cost(by, top, sort))

    def mem(self, budget=None, backend=""):
        """Peak memory and the buffers live at the peak."""
        return Mem._of(self._facts_of(backend=backend).mem(budget))

    def time(self, on, set=(), trip_counts=None):
        """The predicted time of a step on a machine such as "h100x8x16"."""
        return Time._of_prediction(*self._facts_of(trip_counts).time(on, list(set)))

    def stats(self):
        """Totals per device and step, as a dict."""
        return self._facts_of().totals()

    def diff(self, other, thresholds=()):
        """The semantic differences to another module, and their effect on cost."""
        view, exceeded = self._facts_of().diff(other._facts_of(), list(thresholds))
        return Diff._of(view, exceeded=exceeded)

    def compare(self, other, seed=0):
        """Runs both modules on the same inputs and compares the results."""
        view, agrees = _core.compare(self._core, other._core, seed)
        return Compare._of(view, agrees=agrees)

    def report(self, path=None, on=(), other=None):
        """The HTML page about the module, or about its differences to `other`; writes it to `path`, if given."""
        machines = [on] if isinstance(on, str) else list(on)
        page = self._facts_of().page(machines, None if other is None else other._facts_of())
        if path is None:
            return page
        with open(path, "w", encoding="utf-8") as file:
            file.write(page)
        return path

    def _repr_html_(self):
        from ._notebook import frame
        return frame(self.report())

    # ---- execution

    def compile(self, engine="jit", threads=0, devices=None):
        """Compiles the module for this machine: a function of arrays."""
        return CompiledModule(_core.compile(self._core, engine, threads, devices))

    def run(self, *arrays, seed=0, progress=False, **options):
        """Runs the module, with generated arguments if none are given. Each array goes to all devices."""
        return self.compile().run(*arrays, seed=seed, progress=progress, **options)
