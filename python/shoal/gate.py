"""A gate for CI: python -m shoal gate gate.yaml DUMPS…

The file has limits for the modules whose names match, and patterns that may not occur:

    modules:
      jit_train_step:
        flops: 1.2e15             # at most
        wire_bytes: 4e9
        peak_memory: 80e9
        collectives: {all-gather: 64, all-reduce: 2}
        axes: {model: {all-reduce: 48, wire_bytes: 1e9}}
        step_seconds: {on: h100x8, max: 0.35}
        forbid:
          - all-gather bytes>1e9 of=parameter      # opcode, then conditions
          - all-reduce type=f32 widened_from=bf16
        golden: golden/step.hlo        # equal but for names, order and metadata
    same_across_ranks: true
"""
from __future__ import annotations

import argparse
import fnmatch
import json
import pathlib
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ._errors import Error
from ._findings import Finding, junit, sarif
from ._load import load
from ._module import Module
from ._patterns import matches
from ._results import Row

METRICS = ("flops", "bytes", "wire_bytes", "peak_memory", "instructions", "transcendentals")
Report = Callable[..., None]


def first_difference(a: Module, b: Module) -> str:
    """The first difference in the program order of `a`, of collectives if any differs; empty if the programs are equal."""
    if a.fingerprint() == b.fingerprint():
        return ""
    changes = a.diff(b).changes

    def order(change: Row) -> tuple[bool, int]:
        here = change.get("a") or {}
        name = here.get("name", "")
        line = a[name].line if name in a else 1 << 30
        return change["opcode"].removesuffix("-start") not in _COLLECTIVES, line

    for change in sorted(changes, key=order):
        where = change.get("a") or change.get("b") or {}
        values = f": {change['before']} -> {change['after']}" if change["before"] != change["after"] else ""
        source = f" ({where['source']})" if where.get("source") else ""
        parts = (change["kind"], change["opcode"], where.get("name", ""), change["what"])
        return " ".join(filter(None, parts)) + values + source
    return ""


_COLLECTIVES = ("all-gather", "all-reduce", "reduce-scatter", "all-to-all", "collective-permute", "collective-broadcast",
                "ragged-all-to-all", "send", "recv")


def _check_axes(module: Module, axes: Mapping[str, Mapping[str, float]], report: Report) -> None:
    rows = module.comm(top=0).collectives
    for axis, limits in axes.items():
        on_axis = [row for row in rows if any(fnmatch.fnmatch(name, axis) for name in
                   (row.axis, *(part.strip().partition("=")[0] for part in row.axis.split(","))))]
        for key, most in limits.items():
            if key == "wire_bytes":
                found = sum(row.times * row.wire_bytes_ring for row in on_axis)
                unit = "bytes received"
            else:
                found, unit = sum(row.times for row in on_axis if row.kind == key), key
            if found > float(most):
                report(f"axes.{axis}.{key}", f"{found:.6g} {unit} on axis {axis} per step, at most {float(most):.6g} are allowed")


def _check_limit(module: Module, key: str, limit: Any, folder: pathlib.Path, report: Report) -> None:
    if key in METRICS:
        found = module.stats()[key]
        if found > float(limit):
            report(key, f"{key} is {found:.6g}, at most {float(limit):.6g} is allowed")
    elif key == "collectives":
        for kind, most in limit.items():
            count = module.stats()["collectives_by_kind"].get(kind, 0)
            if count > float(most):
                report(f"collectives.{kind}", f"{count:g} × {kind} per step, at most {most} are allowed")
    elif key == "axes":
        _check_axes(module, limit, report)
    elif key == "step_seconds":
        seconds = module.time(on=limit["on"]).step_seconds
        if seconds > float(limit["max"]):
            report(key, f"a step is predicted to take {seconds:.4g} s on {limit['on']}, at most {limit['max']} is allowed")
    elif key == "forbid":
        for pattern in limit:
            for hlo in module.instructions():
                if matches(hlo, pattern):
                    report(key, f"{hlo.name} = {hlo.shape} {hlo.opcode} is forbidden by '{pattern}'"
                           + (f" (from {hlo.source})" if hlo.source else ""), hlo.line)
    elif key == "golden":
        if difference := first_difference(load(folder / limit), module):
            report(key, f"differs from {limit}: {difference}")
    elif key == "fingerprint":
        if (found := module.fingerprint()) != limit:
            report(key, f"the fingerprint is {found}, expected {limit}")
    else:
        raise ValueError(f"unknown limit '{key}'; known: {', '.join(METRICS)}, collectives, axes, step_seconds, forbid, golden, "
                         "fingerprint")


def check_module(module: Module, limits: Mapping[str, Any], folder: pathlib.Path = pathlib.Path(".")) -> list[Finding]:
    """The findings of one module. Paths of golden files are relative to `folder`."""
    findings: list[Finding] = []

    def report(rule: str, message: str, line: int = 0) -> None:
        findings.append(Finding(module.name, rule, message, module.path, line))

    for key, limit in limits.items():
        _check_limit(module, key, limit, folder, report)
    return findings


def same_across_ranks(ranks: Mapping[str, Sequence[Module]]) -> list[Finding]:
    """Findings for programs that differ from those of the first rank, or that only some ranks have."""
    def numbered(modules: Sequence[Module]) -> dict[tuple[str, int], Module]:
        # A name may stand for several programs, which are in the order of their compilation.
        count: dict[str, int] = {}
        keys: dict[tuple[str, int], Module] = {}
        for module in modules:
            count[module.name] = count.get(module.name, 0) + 1
            keys[module.name, count[module.name]] = module
        return keys

    if not ranks:
        return []
    (first, modules), *others = ranks.items()
    reference = numbered(modules)
    findings = []
    for rank, own in ((rank, numbered(modules)) for rank, modules in others):
        for key, module in own.items():
            if key not in reference:
                findings.append(Finding(key[0], "ranks", f"{rank} has program {key[0]}, {first} does not", module.path))
            elif difference := first_difference(reference[key], module):
                findings.append(Finding(key[0], "ranks", f"{module.path} differs from {reference[key].path}: {difference}",
                                        module.path))
        findings += [Finding(name, "ranks", f"{first} has program {name}, {rank} does not", module.path)
                     for (name, number), module in reference.items() if (name, number) not in own]
    return findings


def find_modules(paths: Sequence[str | pathlib.Path]) -> dict[str, list[Module]]:
    """The modules of files and dump folders by rank. A file given by name is a rank of its own, and so is each folder.

    Of each compilation in a dump folder, the last stage is read.
    """
    ranks: dict[str, list[Module]] = {}
    for path in map(pathlib.Path, paths):
        inside = [path]
        if path.is_dir():
            inside = sorted(path.rglob("*after_optimizations.txt")) or sorted(path.rglob("*.hlo"))
            if not inside:
                raise FileNotFoundError(f"{path} has no *after_optimizations.txt and no *.hlo")
        for file in inside:
            ranks.setdefault(str(file.parent if path.is_dir() else file), []).append(load(file))
    return ranks


def run_gate(config: Mapping[str, Any], ranks: Mapping[str, Sequence[Module]],
             folder: pathlib.Path = pathlib.Path(".")) -> list[Finding]:
    """All findings. A limit that no module matches is a finding too."""
    unknown = set(config) - {"modules", "same_across_ranks"}
    if unknown:
        raise ValueError(f"unknown key '{min(unknown)}'; known: modules, same_across_ranks")
    modules = [module for own in ranks.values() for module in own]
    findings = []
    for pattern, limits in (config.get("modules") or {}).items():
        chosen = [module for module in modules if fnmatch.fnmatch(module.name, pattern)]
        if not chosen:
            findings.append(Finding(pattern, "missing", f"no module matches '{pattern}'"))
        for module in chosen:
            findings += check_module(module, limits or {}, folder)
    if config.get("same_across_ranks"):
        findings += same_across_ranks(ranks)
    return findings


def _read_config(path: pathlib.Path) -> dict[str, Any]:
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".json":
        config = json.loads(text)
    else:
        try:
            import yaml
        except ImportError:
            raise ValueError("a YAML file needs the package pyyaml; JSON needs none") from None
        try:
            config = yaml.safe_load(text)
        except yaml.YAMLError as error:
            raise ValueError(f"{path}: {error}") from None
    if not isinstance(config, dict):
        raise ValueError(f"{path} must be a mapping with the key modules")
    return config


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit status: 0 if all limits hold, 3 if not, 1 for an invalid module, 2 for a wrong call."""
    parser = argparse.ArgumentParser(prog="python -m shoal gate", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("config", type=pathlib.Path, help="the limits, as YAML or JSON")
    parser.add_argument("dumps", nargs="+", help="modules or XLA dump folders")
    parser.add_argument("--junit", type=pathlib.Path, help="write JUnit XML to this file")
    parser.add_argument("--sarif", type=pathlib.Path, help="write SARIF to this file")
    options = parser.parse_args(arguments)
    try:
        config = _read_config(options.config)
        ranks = find_modules(options.dumps)
        findings = run_gate(config, ranks, options.config.parent)
        modules = [module for own in ranks.values() for module in own]
        if options.junit:
            options.junit.write_text(junit(findings, modules), encoding="utf-8")
        if options.sarif:
            options.sarif.write_text(sarif(findings), encoding="utf-8")
    except Error as error:
        print(error, file=sys.stderr)
        return 1 if error.kind == "module" else 2
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        print(f"gate: {error}", file=sys.stderr)
        return 2
    for one in findings:
        place = f"{one.file}:{one.line}: " if one.line else f"{one.file}: " if one.file else ""
        print(f"{place}{one.module}: {one.message} [{one.rule}]")
    print(f"{len(modules)} modules, {len(findings)} findings")
    return 3 if findings else 0
