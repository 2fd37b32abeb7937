"""Checks that facts about ops and custom calls are in core/ops only, and that every op and every rule has a test."""
import functools
import importlib.util
import re
import subprocess

from sources import OPS, ROOT, SRC, Skipped, code_of, cpp_files, line_at, name_of, strings_of, text_of


def outside_ops():
    return [path for path in cpp_files(SRC) if OPS not in path.parents]


@functools.cache
def ops():
    """C++ name to HLO name of every op."""
    return dict(re.findall(r'^OP\((\w+), "([^"]+)"', text_of(OPS / "ops.def"), re.M))


@functools.cache
def tested_rules():
    """The rule ids, as in "reverse.C2", of the expected messages of the text tests."""
    rules = set()
    for path in (ROOT / "tests").rglob("*.hlo"):
        rules |= rules_in(path)
    return rules


def rules_in(path):
    errors = path.read_text(encoding="utf-8").partition("\n// ERROR\n")[2]
    return set(re.findall(r"\[([a-z][a-z0-9-]*\.[A-Z]+\d+)\]$", errors, re.M))


def check_switches(_):
    """No switch on an opcode and no `case Opcode::` outside core/ops."""
    pattern = re.compile(r"switch\s*\([^{;]*\bopcode_?(\(\))?\s*\)\s*\{|case\s+Opcode::k\w+")
    problems = []
    for path in outside_ops():
        code = code_of(path)
        for found in pattern.finditer(code):
            problems.append(f"{name_of(path)}:{line_at(code, found.start())}: {found[0]}: facts about an op belong in core/ops")
    return problems


def check_targets(_):
    """No string outside core/ops is a custom-call target of custom_calls.def or is compared with TargetOf(…)."""
    targets = re.findall(r'^CALL\("([^"]+)"', text_of(OPS / "custom_calls.def"), re.M)
    pattern = re.compile("|".join(re.escape(target).replace(r"\?", ".") for target in targets if "*" not in target))
    comparison = r'\s*(?:[=!]=\s*"|\.(?:find|ends_with|starts_with|substr|compare|contains)\()'
    problems = []
    for path in outside_ops():
        code = code_of(path)
        variables = re.findall(r"\b(\w+) = TargetOf\(", code)
        for found in re.finditer("|".join([r"\bTargetOf\([^()]*(?:\([^()]*\))?[^()]*\)" + comparison,
                                           *(rf"\b{name}\b{comparison}" for name in variables)]), code):
            problems.append(f"{name_of(path)}:{line_at(code, found.start())}: {found[0]}…: ask core/ops")
        problems += [f'{name_of(path)}:{line}: "{string}" is a custom-call target' for line, string in strings_of(path)
                     if pattern.fullmatch(string)]
    return problems


def check_good_tests(_):
    """Every op is in a file tests/ops/*.hlo that must be accepted."""
    used = set()
    for path in (ROOT / "tests/ops").glob("*.hlo"):
        if not path.name.startswith("bad-"):
            used |= set(re.findall(r"(?<![\w.%-])([a-z][a-z0-9-]*)\(", path.read_text(encoding="utf-8")))
    return [f"{text}: no good test in tests/ops" for text in sorted(set(ops().values()) - used)]


def definitions():
    """The definitions of core/ops as (path, name, text). A name is that of an op ("reverse"), function or struct."""
    for path in cpp_files(OPS):
        # A definition begins at the left margin and ends before the next.
        for part in re.split(r"^(?=[A-Za-z])", code_of(path), flags=re.M) if path.suffix != ".def" else ():
            row = re.match(r"(?:UNARY|BINARY|FUNCTION|FUNCTION_OF_TWO)\((\w+)", part)  # of elementwise.h
            if row:
                yield path, ops().get(row[1], row[1]), part + " Elementwise Transcendental"
                continue
            head, body, _ = part.partition("{")
            op = re.search(r"\bOp<Opcode::k(\w+)>", head)
            other = re.search(r"\bstruct (\w+)", head) or re.search(r"(\w+)\(", head)
            if body and (op or other):
                yield path, ops().get(op[1], op[1]) if op else other[1], part


def ops_that_use(parts):
    """For each definition, the ops whose definitions reach it. Among equal names, the one in the same file is meant."""
    indices = {}
    for i, (_, name, _) in enumerate(parts):
        indices.setdefault(name, []).append(i)
    for name, text in ops().items():
        indices[f"k{name}"] = indices.get(text, [])
    users = [set() for _ in parts]
    words = [set(re.findall(r"\w+", text)) & indices.keys() for _, _, text in parts]
    for op in ops().values():
        worklist = list(indices.get(op, ()))
        while worklist:
            i = worklist.pop()
            if op not in users[i]:
                users[i].add(op)
                for word in words[i]:
                    own = [j for j in indices[word] if parts[j][0] == parts[i][0]]
                    worklist += own or indices[word]
    return users


def check_rules(_):
    """Every rule of an op has a bad test that names it; a rule that ops share has one for at least one of them."""
    problems = []
    parts = list(definitions())
    for (path, name, text), users in zip(parts, ops_that_use(parts)):
        for rule in sorted(set(re.findall(r'\bBroken\(\s*[^,"]+,\s*"(\w+)"', text))):
            if not {f"{op}.{rule}" for op in users} & tested_rules():
                some = ", ".join(sorted(users)[:4]) + (", …" if len(users) > 4 else "")
                of = "" if name in users else f" of {some or 'no op'}"
                problems.append(f"{name}.{rule}{of} ({name_of(path)}): no test expects it")
    for path in cpp_files(SRC):
        for rule in sorted(set(re.findall(r'"([a-z][a-z0-9-]*\.[A-Z]+\d+)"', code_of(path))) - tested_rules()):
            problems.append(f"{rule} ({name_of(path)}): no test expects it")
    return problems


def check_test_names(_):
    """A test named bad-OP-cN… expects the rule OP.CN."""
    problems = []
    for path in sorted((ROOT / "tests").rglob("bad-*.hlo")):
        named = re.match(r"bad-(.+?)-c(\d+)(-|\.)", path.name)
        if named and f"{named[1]}.C{named[2]}" not in rules_in(path):
            problems.append(f"{name_of(path)} does not expect [{named[1]}.C{named[2]}]")
    return problems


def check_protobuf_page(_):
    """docs/protobuf.md equals the output of tools/producers/proto_fields.py --markdown."""
    printed = subprocess.run([ROOT / "tools/producers/proto_fields.py", "--markdown"], capture_output=True, timeout=60,
                             check=False)
    if printed.returncode != 0 or (ROOT / "docs/protobuf.md").read_bytes() != printed.stdout:
        return ["docs/protobuf.md is not current; to write it: tools/producers/proto_fields.py --markdown > docs/protobuf.md"]
    return []


def check_ops_page(binary):
    """docs/ops.md equals the output of `shoal ops --markdown`."""
    path = ROOT / "docs/ops.md"
    printed = subprocess.run([binary, "ops", "--markdown"], capture_output=True, timeout=60, check=False)
    if printed.returncode != 0:
        if path.exists():
            return [f"`shoal ops --markdown` exits with {printed.returncode}"]
        raise Skipped("no docs/ops.md")
    if not path.exists() or path.read_bytes() != printed.stdout:
        return ["docs/ops.md is not current; to write it: build/shoal ops --markdown > docs/ops.md"]
    return []


def check_custom_call_list(_):
    """docs/custom_calls.md states for each target what custom_calls.def says."""
    path = ROOT / "tools/producers/custom_calls.py"
    spec = importlib.util.spec_from_file_location("custom_calls", path)
    listing = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(listing)
    document = ROOT / "docs/custom_calls.md"
    problems, count = [], 0
    for line, target, stated in re.findall(r"^(\| `([^`]+)` \|.*\| ([^|]+) \|)$", text_of(document), re.M):
        count += 1
        if stated != listing.treatment(target):
            problems.append(f"{name_of(document)}: {target}: {listing.treatment(target)!r}, not {stated!r}")
    return problems if count > 100 else [f"{name_of(document)} has only {count} targets"]
