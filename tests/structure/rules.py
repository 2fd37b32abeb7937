"""The table of rules in docs/check.md, and the check that it is complete. Run as a program, it updates the table."""
import re

from op_facts import ops
from sources import ROOT, SRC, code_of, cpp_files

PAGE = ROOT / "docs/check.md"
MESSAGE = re.compile(r"(?:error|warning): (.*) \[([a-z][a-z0-9-]*)\.([A-Za-z0-9-]+)\]$", re.M)


def examples():
    """A message of each tested rule, by subject and rule."""
    found = {}
    for path in sorted((ROOT / "tests").rglob("*.hlo")) + sorted((ROOT / "tests").rglob("*.mlir")):
        for message, subject, rule in MESSAGE.findall(path.read_text(encoding="utf-8")):
            known = found.get((subject, rule))
            found[subject, rule] = message if known is None or len(message) < len(known) else known
    return found


def rules_by_subject():
    """Every rule with its example: the tested rules, and others that the source names. An op may have none of its own."""
    rules = {op: {} for op in ops().values()}
    for (subject, rule), message in examples().items():
        rules.setdefault(subject, {})[rule] = message
    for path in cpp_files(SRC):
        code = code_of(path)
        found = re.findall(r'"([a-z][a-z0-9-]*)\.([A-Z]+\d+)"', code) + re.findall(r'"(loose)\.([a-z-]+)"', code)
        found += re.findall(r'\b(?:Fail|Refused)\([^"]*"(stablehlo)\.([a-z]+)"', code)
        for subject, rule in found:
            rules.setdefault(subject, {}).setdefault(rule, "")
    return rules


def sort_key(rule):
    letters, digits = re.fullmatch(r"(\D*)(\d*)", rule).groups()
    return letters, int(digits or 0)


def table():
    """One row for each subject, and one for all ops that only have rules of their family."""
    lines = ["| subject | rules, with an example of each |", "| --- | --- |"]
    plain = []
    for subject, rules in sorted(rules_by_subject().items()):
        anchor = f'<a id="{subject}"></a>{subject}'
        if not rules:
            plain.append(anchor)
            continue
        items = (f"**{rule}** {rules[rule]}".strip() for rule in sorted(rules, key=sort_key))
        lines.append(f"| {anchor} | {'<br>'.join(re.sub('[|<>]', lambda found: chr(92) + found[0], item) for item in items)} |")
    lines.append(f"| {', '.join(plain)} | the rules of their families, as for [add](#add) and [all-gather](#all-gather) |")
    return "\n".join(lines) + "\n"


def check_rule_table(_):
    """The table in docs/check.md has every rule, because diagnostics link to it. tests/structure/rules.py updates the table."""
    rows = dict(re.findall(r'<a id="([a-z0-9-]+)"></a>(.*)', PAGE.read_text(encoding="utf-8").replace(", <a", "\n<a")))
    return [f"{subject}.{rule} has no row in docs/check.md" for subject, rules in rules_by_subject().items()
            for rule in rules or ("",) if subject not in rows or rule and f"**{rule}**" not in rows[subject]]


def main():
    text = PAGE.read_text(encoding="utf-8")
    head = text.partition("\n| subject | rules")[0]
    PAGE.write_text(f"{head}\n{table()}", encoding="utf-8")


if __name__ == "__main__":
    main()
