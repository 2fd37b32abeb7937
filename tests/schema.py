#!/usr/bin/env python3
"""Validates the output of --json against docs/schema: tests/schema.py [--bin PATH] [SHARED].

`shoal COMMAND --json` must match docs/schema/COMMAND.schema.json for every module in examples/ and, with SHARED, for its
seeds. CALLS has the arguments of commands that take more than a file. The output of a command that fails must match
error.schema.json; `check` lists files with errors in its own format. BAD_FILES must be refused.
"""
import argparse
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
TIMEOUT = 60
FOLDER = pathlib.Path(tempfile.mkdtemp())
SMALL = "--max_memory=64MB"  # the error for a larger module is validated too

# The arguments of each call of a command, {} being the module. The default is one call with the module.
CALLS = {
    "check": [["{}"], ["{}", str(FOLDER / "empty.hlo"), str(FOLDER / "ill_typed.hlo")]],
    "comm": [["{}"], ["{}", "--matrix"]],
    "compare": [["{}", "{}", SMALL], ["{}", str(ROOT / "examples/mlp.hlo"), SMALL]],
    "cost": [["{}"], ["{}", "--by=line"]],
    "diff": [["{}", "{}"], ["{}", str(ROOT / "examples/fsdp_mlp.hlo"), "--threshold=flops>=0"]],
    "mem": [["{}"], ["{}", "--budget=1KiB", "--top=0"], ["{}", "--run"]],
    "report": [["{}", "-o", str(FOLDER / "page.html")]],
    "run": [["{}", SMALL], ["{}", SMALL, "--engine=interp", "--num_repeats=2"]],
    "show": [["{}"], ["{}", "--op=all", "--fusion"]],
    "time": [["{}", "--on=h100x8"], ["{}", "--on=h200", "--all"], ["{}", "--on=h100x8", "--on=tpu-v5p-4x4x4"], ["{}", "--on=h100x8", "--sweep=nic=25GB/s,50GB/s"]],
}
# Commands that read no module, or a folder of modules.
OTHER_CALLS = {
    "machines": [[], ["h100x8x64"], ["tpu-v5p-4x4x4"]],
    "ops": [[]],
    "stats": [[str(ROOT / "examples")], [str(FOLDER), "--diff"]],
}
# Files that are refused by commands that verify a module, and those that every command refuses.
BAD_FILES = {
    "ill_typed.hlo": "HloModule m\nENTRY e {\n  p = f32[2] parameter(0)\n  ROOT r = f32[3] negate(p)\n}\n",
    "empty.hlo": "",
    "no_module.hlo": "This is not HLO.\n",
    "undefined.hlo": "HloModule m\nENTRY e {\n  ROOT r = f32[2] negate(p)\n}\n",
}
VERIFYING = ("check", "compare", "run")
# Two different stages of a module in a dump.
STAGES = {
    "m.0001.x.after_a.before_b.txt": "HloModule m\nENTRY e {\n  p = f32[2] parameter(0)\n  a = f32[2] negate(p)\n  ROOT r = f32[2] sine(a)\n}\n",
    "m.0002.x.after_b.before_c.txt": "HloModule m\nENTRY e {\n  p = f32[2] parameter(0)\n  ROOT r = f32[2] sine(p)\n}\n",
}

TYPES = {
    "object": dict, "array": list, "string": str, "boolean": bool, "null": type(None), "integer": int,
    "number": (int, float),
}


class Schema:
    """The part of JSON Schema (draft 2020-12) that shoal's schemas use. An unknown keyword is an error."""

    def __init__(self, root):
        self.root = root

    def check(self, value, schema=None, at="$"):
        """Yields the deviations of a value from a schema."""
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
            yield f"{at}: {' or '.join(names)} expected, got {value!r:.60}"

    def check_const(self, value, wanted, _, at):
        if value != wanted:
            yield f"{at}: {wanted!r} expected, got {value!r:.60}"

    def check_enum(self, value, wanted, _, at):
        if value not in wanted:
            yield f"{at}: one of {wanted} expected, got {value!r:.60}"

    def check_anyOf(self, value, wanted, _, at):
        found = [list(self.check(value, schema, at)) for schema in wanted]
        if all(found):
            yield from min(found, key=len)

    def check_minimum(self, value, wanted, _, at):
        if isinstance(value, (int, float)) and value < wanted:
            yield f"{at}: at least {wanted} expected, got {value}"

    def check_minItems(self, value, wanted, _, at):
        if isinstance(value, list) and len(value) < wanted:
            yield f"{at}: at least {wanted} items expected, got {len(value)}"

    def check_maxItems(self, value, wanted, _, at):
        if isinstance(value, list) and len(value) > wanted:
            yield f"{at}: at most {wanted} items expected, got {len(value)}"

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


def load(name):
    return Schema(json.loads((ROOT / f"docs/schema/{name}.schema.json").read_text(encoding="utf-8")))


def is_failure(output):
    """True for an output in the format of error.schema.json; `check` lists files with errors in its own format."""
    return isinstance(output, dict) and "error" in output and "files" not in output


def problems(binary, command, arguments, schemas, must_fail):
    """The deviations of an output from its schema, and any mismatch between output and exit status."""
    done = subprocess.run([binary, command, "--json", *arguments], capture_output=True, timeout=TIMEOUT, stdin=subprocess.DEVNULL,
                          check=False)
    if done.returncode not in (0, 1, 2, 3):  # 3: a threshold is exceeded
        return [f"exit status {done.returncode}: {done.stderr.decode('utf-8', 'replace')[:300]}"]
    try:
        output = json.loads(done.stdout)
    except json.JSONDecodeError as error:
        return [f"the output is not JSON: {error}"]
    found = list(schemas["error" if is_failure(output) else command].check(output))
    if done.returncode == 0 and (must_fail or is_failure(output)):
        found.append("exit status 0 in spite of an error")
    if done.returncode == 2 and not is_failure(output) and command != "check":
        found.append("exit status 2 without an error")
    return found


def calls(commands, modules):
    """Command, arguments, and whether the call must fail."""
    for command in commands:
        if command in OTHER_CALLS:
            yield from ((command, arguments, False) for arguments in OTHER_CALLS[command])
        else:
            for module in modules:
                for arguments in CALLS.get(command, [["{}"]]):
                    is_bad = any(str(FOLDER) in argument and argument.endswith(".hlo") for argument in arguments)
                    yield command, [argument.replace("{}", str(module)) for argument in arguments], is_bad
            for name in (*BAD_FILES, "missing.hlo"):
                if name != "ill_typed.hlo" or command in VERIFYING:
                    arguments = CALLS.get(command, [["{}"]])[0]
                    yield command, [argument.replace("{}", str(FOLDER / name)) for argument in arguments], True
        yield command, ["--no_such_option"], True
    yield "machines", ["no-such-machine"], True
    yield "stats", [str(FOLDER / "missing")], True


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("shared", nargs="?", type=pathlib.Path)
    parser.add_argument("--bin", default="build/shoal")
    options = parser.parse_args()
    for name, text in (BAD_FILES | STAGES).items():
        (FOLDER / name).write_text(text, encoding="utf-8")
    modules = sorted((ROOT / "examples").glob("*.hlo"))
    if options.shared:
        modules += sorted((options.shared / "seeds").iterdir())
    names = sorted(path.name.removesuffix(".schema.json") for path in (ROOT / "docs/schema").glob("*.schema.json"))
    schemas = {name: load(name) for name in names}
    passed = failed = 0
    for command, arguments, must_fail in calls([name for name in names if name != "error"], modules):
        found = problems(options.bin, command, arguments, schemas, must_fail)
        passed, failed = (passed, failed + 1) if found else (passed + 1, failed)
        if found:
            print(" ".join([options.bin, command, "--json", *arguments]), *found[:5], sep="\n  ")
    shutil.rmtree(FOLDER)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
