#!/usr/bin/env python3
"""Checks properties of `shoal diff` on every module: a copy with other names, another order, other channel numbers and
no metadata must have no difference; a copy with one change must have that difference and no other.

The modules are examples/ and, if ../shared exists, its goldens, corpus and seeds.
"""
import argparse
import json
import pathlib
import random
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
NAME = re.compile(r"%[\w.\-]+")
ELEMENTWISE = ("add", "subtract", "multiply", "divide", "maximum", "minimum", "negate", "exponential", "tanh", "abs")
LINE = re.compile(r"^  (ROOT )?(%[\w.\-]+) = (\S+?|\(.*?\)) ([\w\-]+)\((.*)$")


def shoal(binary, *arguments, text=None):
    result = subprocess.run([binary, *arguments], input=text, capture_output=True, timeout=120, check=False)
    return result.returncode, result.stdout, result.stderr.decode("utf-8", "replace")


class Text:
    """The output of `shoal print`, split into its header and computations, each a list of lines."""

    def __init__(self, text):
        head, *rest = re.split(r"^(?=(?:ENTRY )?%[\w.\-]+ \(.*\{$)", text, flags=re.M)
        self.header = head.split("\n", 1)[0]
        self.computations = []
        for block in rest:
            lines = block.rstrip("\n").split("\n")
            first = re.sub(r"^((?:ENTRY )?%[\w.\-]+) \(.*\{$", r"\1 {", lines[0])
            self.computations.append([first] + lines[1:])

    def __str__(self):
        return self.header + "\n\n" + "\n\n".join("\n".join(lines) for lines in self.computations) + "\n"

    def copy(self):
        copy = Text.__new__(Text)
        copy.header, copy.computations = self.header, [list(lines) for lines in self.computations]
        return copy


def outside_strings(text, change):
    """Applies `change` to the text outside quotes."""
    return "".join(part if i % 2 else change(part)
                   for i, part in enumerate(re.split(r'("(?:[^"\\]|\\.)*")', text)))


def without_metadata(line):
    # The braces of metadata contain strings and at most one inner list, profile_type.
    return re.sub(r', metadata=\{(?:"(?:[^"\\]|\\.)*"|\{[^{}]*\}|[^{}"])*\}', "", line)


def shuffled(lines, rng):
    """The instructions in another order that keeps operands and control predecessors before their users."""
    defined = {LINE.match(line)[2]: line for line in lines if LINE.match(line)}
    if len(defined) != len(lines):
        return lines
    needs = {name: {other for other in NAME.findall(re.sub(r'"(?:[^"\\]|\\.)*"', "", line.split(" = ", 1)[1]))
                    if other in defined} for name, line in defined.items()}
    users = {name: [] for name in defined}
    for name, wanted in needs.items():
        for other in wanted:
            users[other].append(name)
    ready = [name for name, wanted in needs.items() if not wanted]
    order = []
    while ready:
        at = rng.randrange(len(ready))
        ready[at], ready[-1] = ready[-1], ready[at]
        name = ready.pop()
        order.append(defined[name])
        for user in users[name]:
            needs[user].discard(name)
            if not needs[user]:
                ready.append(user)
    return order if len(order) == len(lines) else lines


def disguise(text, rng):
    """A copy with other names, another order, other channels and no metadata."""
    copy = text.copy()
    copy.computations = [[lines[0]] + shuffled([without_metadata(line) for line in lines[1:-1]], rng) + lines[-1:]
                         for lines in copy.computations]
    rng.shuffle(copy.computations)
    names, channels = {}, {}

    def rename(match):
        return names.setdefault(match[0], f"%n{rng.randrange(10**9)}_{len(names)}")

    def renumber(match):
        return f"channel_id={channels.setdefault(match[1], 1000 + len(channels) * 7)}"

    def change(part):
        return re.sub(r"channel_id=(\d+)", renumber, NAME.sub(rename, part))
    copy.computations = [[outside_strings(line, change) for line in lines] for lines in copy.computations]
    copy.header = re.sub(r"^HloModule [^,]+", "HloModule other", copy.header)
    return copy


def candidates(text, wanted):
    for c, lines in enumerate(text.computations):
        for i, line in enumerate(lines):
            match = LINE.match(line)
            if match and wanted(match, lines):
                yield c, i, match


def uses(lines, name):
    return sum(bool(re.search(re.escape(name) + r"(?![\w.\-])", line.split(" = ", 1)[-1])) for line in lines[1:])


def pick(text, rng, wanted):
    found = list(candidates(text, wanted))
    return rng.choice(found) if found else None


def operands_of(match):
    return NAME.findall(match[5].split(")", 1)[0])


def type_of(lines, name):
    for line in lines:
        match = LINE.match(line)
        if match and match[2] == name:
            return match[3]
    return None


def delete_op(text, rng):
    found = pick(text, rng, lambda m, lines: not m[1] and m[4] in ELEMENTWISE and uses(lines, m[2]) > 0 and
                 type_of(lines, operands_of(m)[0]) == m[3])
    if not found:
        return None
    c, i, match = found
    lines = text.computations[c]
    del lines[i]
    pattern = re.compile(re.escape(match[2]) + r"(?![\w.\-])")
    lines[1:] = [pattern.sub(operands_of(match)[0], line) for line in lines[1:]]
    return {("removed", match[4])}


def add_op(text, rng):
    found = pick(text, rng, lambda m, lines: not m[1] and m[4] in ELEMENTWISE and m[3][0] in "fsb" and
                 uses(lines, m[2]) > 0)
    if not found:
        return None
    c, i, match = found
    lines = text.computations[c]
    pattern = re.compile(re.escape(match[2]) + r"(?![\w.\-])")
    lines[i + 1:] = [pattern.sub("%put.in", line) for line in lines[i + 1:]]
    lines.insert(i + 1, f"  %put.in = {match[3]} cosine({match[2]})")
    return {("added", "cosine")}


def change_type(text, rng):
    found = pick(text, rng, lambda m, lines: m[4] in ELEMENTWISE and m[3].startswith("f32[") and not m[1])
    if not found:
        return None
    c, i, match = found
    text.computations[c][i] = text.computations[c][i].replace(" = f32[", " = f64[", 1)
    return {("type", match[4])}


def change_groups(text, rng):
    found = pick(text, rng, lambda m, lines: re.search(r"replica_groups=(\{\{|\[)", m[5]) and "(" not in m[3])
    if not found:
        return None
    c, i, match = found
    line = text.computations[c][i]
    text.computations[c][i] = re.sub(r"replica_groups=(\{\{.*?\}\}|\[[^a-z]*?(?=, [a-z]|$))", "replica_groups={{0,5},{1,7}}", line)
    return {("groups", match[4])}


def change_opcode(text, rng):
    found = pick(text, rng, lambda m, lines: m[4] == "multiply" and len(set(operands_of(m))) == 2)
    if not found:
        return None
    c, i, match = found
    text.computations[c][i] = text.computations[c][i].replace(" multiply(", " power(", 1)
    return {("replaced", "power")}


def change_constant(text, rng):
    found = pick(text, rng, lambda m, lines: m[4] == "constant" and m[3] == "f32[]" and uses(lines, m[2]) == 1)
    if not found:
        return None
    c, i, match = found
    text.computations[c][i] = re.sub(r"constant\([^)]*\)", "constant(123.25)", text.computations[c][i], count=1)
    return {("value", "constant")}


def swap_operands(text, rng):
    found = pick(text, rng, lambda m, lines: m[4] in ("subtract", "divide") and len(set(operands_of(m))) == 2 and
                 not all(re.search(re.escape(o) + r" = \S+ constant", "\n".join(lines)) for o in operands_of(m)))
    if not found:
        return None
    c, i, match = found
    a, b = operands_of(match)
    text.computations[c][i] = text.computations[c][i].replace(f"({a}, {b})", f"({b}, {a})", 1)
    return {("operands", match[4])}


MUTATIONS = (delete_op, add_op, change_type, change_groups, change_opcode, change_constant, swap_operands)
# Differences that a change entails: propagated types, and trip counts that depend on a constant.
COMPANIONS = {"propagated", "trips"}


class Checker:
    def __init__(self, binary, folder):
        self.binary, self.folder = binary, pathlib.Path(folder)
        self.passed, self.failed = 0, 0

    def diff(self, a, b):
        (self.folder / "a.hlo").write_text(str(a), encoding="utf-8")
        (self.folder / "b.hlo").write_text(str(b), encoding="utf-8")
        status, out, err = shoal(self.binary, "diff", "--json", self.folder / "a.hlo", self.folder / "b.hlo")
        if status != 0:
            raise RuntimeError(f"exit status {status}: {err[:500]}")
        return {(c["kind"], c["opcode"]): c["count"] for c in json.loads(out)["changes"]}

    def expect(self, case, good, found):
        self.passed += good
        self.failed += not good
        if not good:
            print(f"FAILED {case}: {found}")

    def check(self, path, seed):
        status, out, _ = shoal(self.binary, "print", path)
        if status != 0:
            return
        text = Text(out.decode("utf-8", "replace"))
        rng = random.Random(f"{seed} {path.name}")
        try:
            found = self.diff(text, disguise(text, rng))
            self.expect(f"{path}: a copy with other names", not found, found)
            for mutate in MUTATIONS:
                changed = text.copy()
                wanted = mutate(changed, rng)
                if wanted is None:
                    continue
                found = {key: count for key, count in self.diff(text, disguise(changed, rng)).items()
                         if key[0] not in COMPANIONS}
                if mutate is swap_operands and set(found) == {("forwarding", "")}:
                    continue  # both operands have the same value
                if mutate is change_opcode and set(found) == {("removed", "multiply"), ("added", "power")}:
                    continue  # in an uncalled function, where the two ops cannot be matched
                self.expect(f"{path}: {mutate.__name__}", set(found) == wanted and sum(found.values()) == 1,
                            f"expected {wanted}, found {found}")
        except (RuntimeError, subprocess.TimeoutExpired) as error:
            self.expect(str(path), False, error)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("shared", nargs="?", type=pathlib.Path, default=ROOT.parent / "shared")
    parser.add_argument("--bin", type=pathlib.Path, default=ROOT / "build/shoal")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--max_bytes", type=int, default=60_000, help="skip larger modules")
    options = parser.parse_args()
    paths = sorted((ROOT / "examples").glob("*.hlo"))
    for pattern in ("golden/*/*.hlo", "corpus/xla/*.hlo", "seeds/*.txt"):
        paths += sorted(options.shared.glob(pattern))
    with tempfile.TemporaryDirectory() as folder:
        checker = Checker(options.bin.resolve(), folder)
        for path in paths:
            if path.stat().st_size <= options.max_bytes:
                checker.check(path, options.seed)
    print(f"{checker.passed} passed, {checker.failed} failed")
    return 1 if checker.failed else 0


if __name__ == "__main__":
    sys.exit(main())
