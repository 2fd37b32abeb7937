"""The programs that JAX compiles: shoal.jax.capture() and shoal.jax.explain()."""
from __future__ import annotations

import contextlib
import dataclasses
import functools
import os
import time

from ._load import load
from ._module import Module


@dataclasses.dataclass
class Program:
    """A program that JAX compiled."""

    name: str
    module: Module            # after XLA's optimizations
    compile_seconds: float


class Capture:
    """The programs that JAX compiled while the capture was active."""

    def __init__(self):
        self.programs: list[Program] = []

    def __iter__(self):
        return iter(self.programs)

    def __len__(self):
        return len(self.programs)

    def __getitem__(self, key):
        if isinstance(key, int):
            return self.programs[key]
        return next(program for program in self.programs if program.name == key)

    def summary(self, on=None):
        """A line for each program."""
        lines = []
        for program in self.programs:
            totals = program.module.stats()
            line = (f"{program.name}: {program.module.devices} devices, {totals['flops']:.3g} flops, "
                    f"{totals['wire_bytes']:.3g} B received, peak {totals['peak_memory']:.3g} B, "
                    f"compiled in {program.compile_seconds:.2f} s")
            if on:
                line += f", {program.module.time(on=on).step_seconds:.3g} s on {on}"
            lines.append(line)
        return "\n".join(lines) or "JAX compiled no program"

    def report(self, path, on=(), name=None):
        """Writes the page about the largest program, or about the one called `name`."""
        if not self.programs:
            raise ValueError("JAX compiled no program")
        program = self[name] if name else max(self.programs, key=lambda one: one.module.stats()["flops"])
        return program.module.report(path, on=on)


class _Capturing(contextlib.ContextDecorator):
    """Watches JAX's compiler while it is active."""

    def __enter__(self):
        from jax._src import compiler
        self.capture = Capture()
        self._compiler, self._original = compiler, compiler.compile_or_get_cached

        @functools.wraps(self._original)
        def watched(*args, **kwargs):
            start = time.perf_counter()
            executable = self._original(*args, **kwargs)
            seconds = time.perf_counter() - start
            for hlo in executable.hlo_modules():
                self.capture.programs.append(Program(hlo.name, load(hlo), seconds))
            return executable

        compiler.compile_or_get_cached = watched
        return self.capture

    def __exit__(self, *_):
        self._compiler.compile_or_get_cached = self._original


def capture():
    """Collects every program that JAX compiles inside; a context manager and a decorator.

        with shoal.jax.capture() as captured:
            train_step(params, batch)
        captured.report("page.html", on="h100x8")
    """
    return _Capturing()


def explain(function, on=None):
    """explain(f)(*args) lowers and compiles f for the arguments and returns its module, without running it."""

    @functools.wraps(function)
    def explained(*args, **kwargs):
        import jax
        jitted = function if hasattr(function, "lower") else jax.jit(function)
        module = load(jitted.lower(*args, **kwargs).compile())
        if on:
            print(module.time(on=on))
        return module

    return explained
