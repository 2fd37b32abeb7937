"""The programs that JAX compiles: shoal.jax.capture() and shoal.jax.explain()."""
from __future__ import annotations

import contextlib
import dataclasses
import functools
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from types import TracebackType
from typing import Any

from ._load import load
from ._module import Module


@dataclasses.dataclass
class Program:
    """A program that JAX compiled."""

    name: str
    module: Module            # after XLA's optimizations
    compile_seconds: float
    source: str = ""          # the line of the user's program that ran it: "train.py:88"
    # Of each argument and output as HLO text, "{devices=[2,1]<=[2]}"; empty lists if the program has one device.
    shardings: list[str] = dataclasses.field(default_factory=list)
    output_shardings: list[str] = dataclasses.field(default_factory=list)


class Capture:
    """The programs that JAX compiled while the capture was active."""

    def __init__(self) -> None:
        self.programs: list[Program] = []

    def __iter__(self) -> Iterator[Program]:
        return iter(self.programs)

    def __len__(self) -> int:
        return len(self.programs)

    def __getitem__(self, key: int | str) -> Program:
        """A program by number or name."""
        if isinstance(key, int):
            return self.programs[key]
        for program in self.programs:
            if program.name == key:
                return program
        raise KeyError(f"{key}; JAX compiled {', '.join(program.name for program in self.programs) or 'no program'}")

    def largest(self) -> Program:
        """The program with the most flops."""
        if not self.programs:
            raise ValueError("JAX compiled no program: functions that were compiled before are in its cache")
        return max(self.programs, key=lambda one: float(one.module.stats()["flops"]))

    def summary(self, on: str | None = None) -> str:
        """A line for each program."""
        lines = []
        for program in self.programs:
            totals = program.module.stats()
            devices = f"{program.module.devices} device{'s' if program.module.devices != 1 else ''}"
            line = (f"{program.name}{' (' + program.source + ')' if program.source else ''}: {devices}, "
                    f"{totals['flops']:.3g} flops, "
                    f"{totals['wire_bytes']:.3g} B received, peak {totals['peak_memory']:.3g} B, "
                    f"compiled in {program.compile_seconds:.2f} s")
            if on:
                line += f", {program.module.time(on=on).step_seconds:.3g} s on {on}"
            lines.append(line)
        return "\n".join(lines) or "JAX compiled no program"

    def report(self, path: str | os.PathLike[str], on: str | Sequence[str] = (), name: str | None = None) -> str:
        """Writes the page about the largest program, or about the one called `name`."""
        program = self[name] if name else self.largest()
        return program.module.report(path, on=on)


def _shardings(protos: Sequence[Any] | None) -> list[str]:
    from jax._src.lib import xla_client
    return [str(xla_client.HloSharding.from_proto(proto)) for proto in protos or ()]


def _calling_line() -> str:
    """The innermost line on the stack that belongs to neither JAX nor this package."""
    frame = sys._getframe(1)
    own = os.path.dirname(__file__) + os.sep
    while frame is not None:
        name = frame.f_globals.get("__name__", "")
        if name.partition(".")[0] not in ("jax", "jaxlib", "contextlib") and not frame.f_code.co_filename.startswith(own):
            return f"{os.path.basename(frame.f_code.co_filename)}:{frame.f_lineno}"
        frame = frame.f_back  # type: ignore[assignment]
    return ""


class _Capturing(contextlib.ContextDecorator):
    """Watches JAX's compiler while it is active."""

    def __enter__(self) -> Capture:
        from jax._src import compiler
        self.capture: Capture = Capture()
        self._compiler: Any = compiler
        self._original: Any = compiler.compile_or_get_cached

        @functools.wraps(self._original)
        def watched(*args: Any, **kwargs: Any) -> Any:
            start = time.perf_counter()
            executable = self._original(*args, **kwargs)
            seconds = time.perf_counter() - start
            for hlo in executable.hlo_modules():
                self.capture.programs.append(Program(hlo.name, load(hlo), seconds, _calling_line(),
                                                     _shardings(executable.get_parameter_shardings()),
                                                     _shardings(executable.get_output_shardings())))
            return executable

        compiler.compile_or_get_cached = watched
        return self.capture

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 traceback: TracebackType | None) -> None:
        self._compiler.compile_or_get_cached = self._original


def capture() -> _Capturing:
    """Collects every program that JAX compiles inside; a context manager and a decorator.

        with shoal.jax.capture() as captured:
            train_step(params, batch)
        captured.report("page.html", on="h100x8")
    """
    return _Capturing()


def explain(function: Callable[..., Any]) -> Callable[..., Module]:
    """explain(f)(*args) lowers and compiles f for the arguments and returns its module, without running it.

    explain(f)(*args, on="h100x8") also prints the predicted time of a step on that machine.
    """

    @functools.wraps(function)
    def explained(*args: Any, on: str | None = None, **kwargs: Any) -> Module:
        import jax
        jitted: Any = function if hasattr(function, "lower") else jax.jit(function)
        module = load(jitted.lower(*args, **kwargs).compile())
        if on is not None:
            print(module.time(on=on))
        return module

    return explained
