"""Read, run, analyze and compare the compiled programs of distributed machine learning.

>>> import shoal
>>> m = shoal.load("HloModule m\\nENTRY e { p = f32[2,3] parameter(0)\\n ROOT r = f32[2,3] add(p, p) }")
>>> m.entry.root.opcode
'add'
>>> m.compile()(shoal.zeros((2, 3))).tolist()
[[0.0, 0.0, 0.0], [0.0, 0.0, 0.0]]
"""
from ._core import Array, Computation, Instruction, Shape, machines, version as _version
from ._edit import Editor, ModuleBuilder
from ._errors import Error
from ._execution import CompiledModule, Run, zeros
from ._load import load
from ._module import Module

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ._results import Check, Comm, Compare, Cost, Diff, DumpStats, Mem, Result, Show, Time, Totals, stats

__version__ = _version()
__all__ = ["Array", "Check", "Comm", "Compare", "CompiledModule", "Computation", "Cost", "Diff", "DumpStats",
           "Editor", "Error", "Instruction", "Mem", "Module", "ModuleBuilder", "Result", "Run", "Shape", "Show", "Time",
           "Totals", "load", "machines", "stats", "zeros"]


def __getattr__(name: str) -> object:
    # The classes of results are loaded when they are first needed: the modules that they use take half of the import.
    if name in __all__:
        from . import _results
        return getattr(_results, name)
    raise AttributeError(f"module 'shoal' has no attribute '{name}'")


def load_ipython_extension(ipython: object) -> None:
    """%load_ext shoal adds the cell magic %%shoal."""
    from ._notebook import load_ipython_extension
    load_ipython_extension(ipython)
