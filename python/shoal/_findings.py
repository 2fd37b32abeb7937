"""The findings of the gate, and their files for CI systems."""
from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence
from typing import Any
from xml.sax.saxutils import quoteattr

from ._module import Module


@dataclasses.dataclass
class Finding:
    """A limit that does not hold."""

    module: str
    rule: str
    message: str
    file: str = ""
    line: int = 0


def junit(findings: Sequence[Finding], modules: Sequence[Module]) -> str:
    """JUnit XML, a test case for each module."""
    cases = []
    for module in modules:
        own = [finding for finding in findings if finding.file == module.path and finding.module == module.name]
        failures = "".join(f"<failure message={quoteattr(one.message)} type={quoteattr(one.rule)}/>" for one in own)
        cases.append(f"<testcase classname=\"shoal.gate\" name={quoteattr(module.name)} file={quoteattr(module.path)}>"
                     f"{failures}</testcase>")
    for one in findings:
        if not one.file:
            cases.append(f"<testcase classname=\"shoal.gate\" name={quoteattr(one.module)}>"
                         f"<failure message={quoteattr(one.message)} type={quoteattr(one.rule)}/></testcase>")
    return (f'<?xml version="1.0" encoding="utf-8"?>\n<testsuite name="shoal gate" tests="{len(cases)}" '
            f'failures="{sum("<failure" in case for case in cases)}">{"".join(cases)}</testsuite>\n')


def sarif(findings: Sequence[Finding]) -> str:
    """SARIF 2.1.0, which code hosts show beside the changed lines."""
    def result(one: Finding) -> dict[str, Any]:
        found: dict[str, Any] = {"ruleId": one.rule, "level": "error", "message": {"text": f"{one.module}: {one.message}"}}
        if one.file:
            found["locations"] = [{"physicalLocation": {"artifactLocation": {"uri": one.file},
                                                        "region": {"startLine": max(one.line, 1)}}}]
        return found

    rules = [{"id": rule} for rule in sorted({one.rule for one in findings})]
    return json.dumps({"$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0",
                       "runs": [{"tool": {"driver": {"name": "shoal gate", "rules": rules}},
                                 "results": [result(one) for one in findings]}]}, indent=1)
