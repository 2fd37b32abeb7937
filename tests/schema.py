#!/usr/bin/env python3
"""What verbs print with --json is what docs/schema says: tests/schema.py [--bin PATH] [SHARED].

Each docs/schema/VERB.schema.json is held against `shoal VERB --json` of every module in examples/ and, with SHARED, of
its seeds. CALLS says how to call a verb that takes more than a file.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
TIMEOUT = 60
PAGE = pathlib.Path(tempfile.mkdtemp()) / "page.html"

# Of a verb: the arguments of each call, {} being the module. The default is one call with the module.
CALLS = {
    "comm": [["{}"], ["{}", "--matrix"]],
    "cost": [["{}"], ["{}", "--by=line"]],
    "stats": [[str(ROOT / "examples")]],
    "diff": [["{}", "{}"], ["{}", str(ROOT / "examples/fsdp_mlp.hlo"), "--threshold=flops>=0"]],
    "mem": [["{}"], ["{}", "--budget=1KiB", "--top=0"]],
    "report": [["{}", "-o", str(PAGE)]],
    "time": [["{}", "--on=h100x8"], ["{}", "--on=h200", "--all"], ["{}", "--on=h100x8", "--on=tpu-v5p-4x4x4"], ["{}", "--on=h100x8", "--sweep=nic=25GB/s,50GB/s"]],
    "show": [["{}"], ["{}", "--op=all", "--fusion"]],
}

TYPES = {
    "object": dict, "array": list, "string": str, "boolean": bool, "null": type(None), "integer": int,
    "number": (int, float),
}


class Schema:
    """The part of JSON Schema (draft 2020-12) that our schemas use. A keyword it does not know is an error."""

    def __init__(self, root):
        self.root = root

    def check(self, value, schema=None, at="$"):
        """Yields what is wrong."""
        schema = self.root if schema is None else schema
        for keyword, wanted in schema.items():
            if keyword in ("$schema", "$defs", "title", "description"):
                continue
            yield from getattr(self, "check_" + keyword.strip("$"))(value, wanted, schema, at)

    def check_ref(self, value, wanted, _, at):
        target = self.root
        for part in wanted.removeprefix("#/").split("/"):
            target = target[part]
        yield from self.check(value, target, at)

    def check_type(self, value, wanted, _, at):
        names = wanted if isinstance(wanted, list) else [wanted]
        fits = any(isinstance(value, TYPES[name]) and (name == "boolean") == isinstance(value, bool) for name in names)
        if not fits:
            yield f"{at}: {' or '.join(names)} is wanted, got {value!r:.60}"

    def check_const(self, value, wanted, _, at):
        if value != wanted:
            yield f"{at}: {wanted!r} is wanted, got {value!r:.60}"

    def check_enum(self, value, wanted, _, at):
        if value not in wanted:
            yield f"{at}: one of {wanted} is wanted, got {value!r:.60}"

    def check_anyOf(self, value, wanted, _, at):
        found = [list(self.check(value, schema, at)) for schema in wanted]
        if all(found):
            yield from min(found, key=len)

    def check_minimum(self, value, wanted, _, at):
        if isinstance(value, (int, float)) and value < wanted:
            yield f"{at}: at least {wanted} is wanted, got {value}"

    def check_minItems(self, value, wanted, _, at):
        if isinstance(value, list) and len(value) < wanted:
            yield f"{at}: at least {wanted} items are wanted, got {len(value)}"

    def check_maxItems(self, value, wanted, _, at):
        if isinstance(value, list) and len(value) > wanted:
            yield f"{at}: at most {wanted} items are wanted, got {len(value)}"

    def check_items(self, value, wanted, _, at):
        if isinstance(value, list):
            for i, item in enumerate(value):
                yield from self.check(item, wanted, f"{at}[{i}]")

    def check_required(self, value, wanted, _, at):
        if isinstance(value, dict):
            yield from (f"{at}: {name} is missing" for name in wanted if name not in value)

    def check_properties(self, value, wanted, _, at):
        if isinstance(value, dict):
            for name in wanted.keys() & value.keys():
                yield from self.check(value[name], wanted[name], f"{at}.{name}")

    def check_propertyNames(self, value, wanted, _, at):
        if isinstance(value, dict):
            for name in value:
                yield from self.check(name, wanted, f"{at}.{name}")

    def check_additionalProperties(self, value, wanted, schema, at):
        if not isinstance(value, dict):
            return
        for name in value.keys() - schema.get("properties", {}).keys():
            if wanted is False:
                yield f"{at}: {name} is not in the schema"
            elif wanted is not True:
                yield from self.check(value[name], wanted, f"{at}.{name}")


def run(command, schema):
    """What is wrong with what the command prints; some verbs exit with 1 and still report."""
    done = subprocess.run(command, capture_output=True, timeout=TIMEOUT, stdin=subprocess.DEVNULL, check=False)
    if done.returncode not in (0, 1):
        return [f"exit status {done.returncode}: {done.stderr.decode('utf-8', 'replace')[:300]}"]
    try:
        return list(Schema(schema).check(json.loads(done.stdout)))
    except json.JSONDecodeError as error:
        return [f"no JSON: {error}"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("shared", nargs="?", type=pathlib.Path)
    parser.add_argument("--bin", default="build/shoal")
    options = parser.parse_args()
    modules = sorted((ROOT / "examples").glob("*.hlo"))
    if options.shared:
        modules += sorted((options.shared / "seeds").iterdir())
    passed = failed = 0
    for path in sorted((ROOT / "docs/schema").glob("*.schema.json")):
        verb = path.name.removesuffix(".schema.json")
        schema = json.loads(path.read_text(encoding="utf-8"))
        for module in modules:
            for call in CALLS.get(verb, [["{}"]]):
                command = [options.bin, verb, "--json", *(argument.replace("{}", str(module)) for argument in call)]
                wrong = run(command, schema)
                passed, failed = (passed, failed + 1) if wrong else (passed + 1, failed)
                if wrong:
                    print(" ".join(command), *wrong[:5], sep="\n  ")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
