"""A gate for CI: python -m shoal gate gate.yaml DUMPS…

The file has limits for the modules whose names match, and patterns that may not occur:

    modules:
      jit_train_step:
        flops: 1.2e15             # at most
        wire_bytes: 4e9
        peak_memory: 80e9
        collectives: {all-gather: 64, all-reduce: 2}
        step_seconds: {on: h100x8, max: 0.35}
        forbid:
          - all-gather bytes>1e9       # opcode, then conditions
          - all-reduce type=f32
        golden: golden/step.hlo        # equal but for names, order and metadata
    same_across_ranks: true
"""
from __future__ import annotations

import argparse
import dataclasses
import fnmatch
import json
import pathlib
import re
import sys
from xml.sax.saxutils import quoteattr

from ._errors import Error
from ._load import load

_METRICS = ("flops", "bytes", "wire_bytes", "peak_memory", "instructions", "transcendentals")
_ELEMENT_BITS = re.compile(r"[a-z]+?(\d+)")


@dataclasses.dataclass
class Finding:
    """A limit that does not hold."""

    module: str
    rule: str
    message: str
    file: str = ""
    line: int = 0


def _bytes_of(shape):
    if shape.elements:
        return sum(_bytes_of(element) for element in shape.elements)
    bits = _ELEMENT_BITS.match(shape.dtype)
    count = (int(bits[1]) if bits else 8) / 8
    for size in shape.dims:
        count *= size
    return count


def _matches(hlo, pattern):
    opcode, *conditions = pattern.split()
    if not fnmatch.fnmatch(hlo.opcode.removesuffix("-start"), opcode):
        return False
    for condition in conditions:
        found = re.fullmatch(r"(bytes)(>=|>|<=|<)([\d.e+]+)|(type|op_name|source)=(.+)", condition)
        if not found:
            raise ValueError(f"unknown condition '{condition}' in forbid; known: bytes>N, type=T, op_name=X, source=X")
        if found[1]:
            size, limit = _bytes_of(hlo.shape), float(found[3])
            if not {">": size > limit, ">=": size >= limit, "<": size < limit, "<=": size <= limit}[found[2]]:
                return False
        elif found[4] == "type":
            if found[5] not in (hlo.shape.dtype, *(element.dtype for element in hlo.shape.elements)):
                return False
        elif found[5] not in getattr(hlo, found[4]):
            return False
    return True


def check_module(module, limits, folder=pathlib.Path(".")):
    """The findings of one module."""
    name, totals = module.name, module.stats()
    findings = []

    def report(rule, message, line=0):
        findings.append(Finding(name, rule, message, module.path, line))

    for key, limit in limits.items():
        if key in _METRICS:
            if totals[key] > float(limit):
                report(key, f"{key} is {totals[key]:.6g}, at most {float(limit):.6g} is allowed")
        elif key == "collectives":
            for kind, most in limit.items():
                count = totals["collectives_by_kind"].get(kind, 0)
                if count > most:
                    report(f"collectives.{kind}", f"{count:g} × {kind} per step, at most {most} are allowed")
        elif key == "step_seconds":
            seconds = module.time(on=limit["on"]).step_seconds
            if seconds > float(limit["max"]):
                report(key, f"a step is predicted to take {seconds:.4g} s on {limit['on']}, at most {limit['max']} is allowed")
        elif key == "forbid":
            for pattern in limit:
                for hlo in module.instructions():
                    if _matches(hlo, pattern):
                        report("forbid", f"{hlo.name} = {hlo.shape} {hlo.opcode} is forbidden by '{pattern}'"
                               + (f" (from {hlo.source})" if hlo.source else ""), hlo.line)
        elif key == "golden":
            differences = load(folder / limit).diff(module)
            if not differences.same:
                report(key, f"differs from {limit}: {differences.changes[0].kind} {differences.changes[0].get('what', '')}".rstrip())
        else:
            raise ValueError(f"unknown limit '{key}'")
    return findings


def same_across_ranks(modules):
    """Findings for modules of one name that differ between ranks: the first difference of each to the first rank."""
    findings, first = [], {}
    for module in modules:
        reference = first.setdefault(module.name, module)
        if reference is module:
            continue
        differences = reference.diff(module)
        if not differences.same:
            change = differences.changes[0]
            where = (change.get("b") or change.get("a") or {}).get("name", "")
            findings.append(Finding(module.name, "ranks", f"{module.path} differs from {reference.path}: "
                                    f"{change.kind} {change.get('opcode', '')} {where}".rstrip(), module.path))
    return findings


def run_gate(config, modules, folder=pathlib.Path(".")):
    """All findings. A limit that no module matches is a finding too."""
    findings = []
    for pattern, limits in (config.get("modules") or {}).items():
        chosen = [module for module in modules if fnmatch.fnmatch(module.name, pattern)]
        if not chosen:
            findings.append(Finding(pattern, "missing", f"no module matches '{pattern}'"))
        for module in chosen:
            findings += check_module(module, limits, folder)
    if config.get("same_across_ranks"):
        findings += same_across_ranks(modules)
    return findings


def find_modules(paths):
    """The modules of files and dump folders: of each compilation, the last stage."""
    files = []
    for path in map(pathlib.Path, paths):
        if path.is_dir():
            inside = sorted(path.rglob("*after_optimizations.txt")) or sorted(path.rglob("*.hlo"))
            files += inside
        else:
            files.append(path)
    return [load(file) for file in files]


def junit(findings, modules):
    """JUnit XML, a test case for each module."""
    cases = []
    for module in modules:
        own = [finding for finding in findings if finding.file == module.path]
        failures = "".join(f"<failure message={quoteattr(one.message)} type={quoteattr(one.rule)}/>" for one in own)
        cases.append(f"<testcase classname=\"shoal.gate\" name={quoteattr(module.name)}>{failures}</testcase>")
    for one in findings:
        if not one.file:
            cases.append(f"<testcase classname=\"shoal.gate\" name={quoteattr(one.module)}>"
                         f"<failure message={quoteattr(one.message)}/></testcase>")
    return (f'<?xml version="1.0" encoding="utf-8"?>\n<testsuite name="shoal gate" tests="{len(cases)}" '
            f'failures="{sum("<failure" in case for case in cases)}">{"".join(cases)}</testsuite>\n')


def sarif(findings):
    """SARIF 2.1.0, which code hosts show beside the changed lines."""
    results = [{"ruleId": one.rule, "level": "error", "message": {"text": f"{one.module}: {one.message}"},
                "locations": [{"physicalLocation": {"artifactLocation": {"uri": one.file},
                                                    "region": {"startLine": max(one.line, 1)}}}] if one.file else []}
               for one in findings]
    rules = [{"id": rule} for rule in sorted({one.rule for one in findings})]
    return json.dumps({"$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0",
                       "runs": [{"tool": {"driver": {"name": "shoal gate", "rules": rules}}, "results": results}]}, indent=1)


def main(arguments=None):
    """Exit status: 0 if all limits hold, 3 if not, 1 for an invalid module, 2 for a wrong call."""
    parser = argparse.ArgumentParser(prog="python -m shoal gate", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("config", type=pathlib.Path, help="the limits, as YAML or JSON")
    parser.add_argument("dumps", nargs="+", help="modules or XLA dump folders")
    parser.add_argument("--junit", type=pathlib.Path, help="write JUnit XML to this file")
    parser.add_argument("--sarif", type=pathlib.Path, help="write SARIF to this file")
    options = parser.parse_args(arguments)
    try:
        text = options.config.read_text()
        if options.config.suffix == ".json":
            config = json.loads(text)
        else:
            import yaml
            config = yaml.safe_load(text)
        modules = find_modules(options.dumps)
        findings = run_gate(config or {}, modules, options.config.parent)
    except Error as error:
        print(error, file=sys.stderr)
        return 1
    except (OSError, ValueError, ImportError) as error:
        print(f"gate: {error}", file=sys.stderr)
        return 2
    if options.junit:
        options.junit.write_text(junit(findings, modules))
    if options.sarif:
        options.sarif.write_text(sarif(findings))
    for one in findings:
        place = f"{one.file}:{one.line}: " if one.line else f"{one.file}: " if one.file else ""
        print(f"{place}{one.module}: {one.message} [{one.rule}]")
    print(f"{len(modules)} modules, {len(findings)} findings")
    return 3 if findings else 0
