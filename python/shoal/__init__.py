"""Read, run, analyze and compare the compiled programs of distributed machine learning.

>>> import shoal
>>> m = shoal.load("HloModule m\\nENTRY e { p = f32[2,3] parameter(0)\\n ROOT r = f32[2,3] add(p, p) }")
>>> m.entry.root.opcode
'add'
>>> m.compile()(shoal.zeros((2, 3))).tolist()
[[0.0, 0.0, 0.0], [0.0, 0.0, 0.0]]
"""
from ._core import Computation, Instruction, ModuleBuilder, Shape, machines, version as _version
from ._edit import Editor
from ._errors import Error
from ._execution import Array, CompiledModule, Run, zeros
from ._load import load
from ._module import Module
from ._results import Check, Comm, Compare, Cost, Diff, Mem, Result, Show, Time

__version__ = _version()
__all__ = ["Array", "Check", "Comm", "Compare", "CompiledModule", "Computation", "Cost", "Diff", "Editor", "Error", "Instruction",
           "Mem", "Module", "ModuleBuilder", "Result", "Run", "Shape", "Show", "Time", "load", "machines", "zeros"]
