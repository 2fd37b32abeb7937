#!/usr/bin/env python3
"""Compares the outputs of two builds of shoal: tools/same_outputs.py OLD_BINARY NEW_BINARY.

Runs every command of both builds on the modules of tests/ (also with the options of their RUN lines), examples/ and
the folder --shared (its seeds, golden/jax and a sample of corpus/xla). Compares the exit status, the JSON, the written
files, and the locations and rules of messages, but not sentences and measured times. If only OLD_BINARY writes
version 1, its options and JSON are first mapped to version 2; tools/json_versions.py has the tables.
"""
import argparse
import concurrent.futures
import dataclasses
import hashlib
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True  # the tables are beside this file, in the repository
import json_versions
import page_data

ROOT = pathlib.Path(__file__).resolve().parent.parent
TIMEOUT = 60
SHOWN = 5  # maximum number of printed differences per call
TRIES = 3  # further runs of the old build where it differs from the new one
OLD, NEW = 0, 1
LIMITS = "--max_memory=256MB --max_instructions="
EVERY = 4  # MORE_CALLS run on every fourth module of tests/ and on all other modules
ENVIRONMENT = {k: v for k, v in os.environ.items() if k not in ("COLUMNS", "LINES") and not k.startswith("SHOAL_")}

# The calls of each command: {m} is a module, {n} the next one in its folder, {out} a path for files.
CALLS = {
    "check": ["{m} --json"],
    "print": ["{m}", "{m} --format=pb -o {out}.pb"],
    "show": ["{m} --json --op=all --fusion"],
    "comm": ["{m} --json --matrix --devices_per_node=4"],
    "cost": ["{m} --json"],
    "mem": ["{m} --json --top=0 --run"],
    "time": ["{m} --json --on=h100x8 --all"],
    "diff": ["{m} {n} --json --threshold=flops>=0 --threshold=wire_bytes<=+2%"],
    "report": ["{m} -o {out}.html --on=h100x8 --budget=1MiB"],
    "opt": ["{m}"],
    "run": [f"{{m}} --json --outputs={{out}} {LIMITS}50000"],
    "compare": [f"{{m}} {{n}} --json {LIMITS}50000"],
}
MORE_CALLS = {
    "check": ["{m} --warnings"],
    "print": ["{m} --format=short", "{m} --format=json", "{m} --strict --elide_large_constants"],
    "show": ["{m} --json --groups"],
    "comm": ["{m} --matrix=csv"],
    "cost": ["{m} --json --by=line"],
    "mem": ["{m} --json --backend=tpu --budget=1KiB"],
    "time": ["{m} --json --on=h200 --on=tpu-v5p-4x4x4 --set device.matrix_efficiency=0.5",
             "{m} --json --on=b200x8 --sweep=cluster.nic_efficiency=0.5,0.9"],
    "report": ["{m} {n} -o {out}.html"],
    "opt": ["{m} --communication"],
}
# In addition to MORE_CALLS, for the small modules of tests/ and examples/.
SMALL_CALLS = {
    "run": [f"{{m}} --json --engine=interp --check_nans {LIMITS}50000",
            f"{{m}} --json --dump=. --dump_dir={{out}} {LIMITS}500"],
    "compare": [f"{{m}} {{m}} --json {LIMITS}50000"],
}
# Calls without a module; {s} is the folder --shared.
OTHER_CALLS = {
    "ops": ["--json"],
    "opt": ["--list_passes"],
    "machines": ["--json", "h100x8x64 --json", "tpu-v5p-4x4x4 --json", "unknown --json"],
    "stats": [f"--json --diff {folder}" for folder in ("examples", "tests/analysis", "tests/interp", "tests/text",
                                                       "tests/proto", "{s}/seeds", "{s}/golden/jax")],
}
JSON_COMMANDS = {"check", "show", "comm", "cost", "mem", "time", "diff", "run", "compare", "stats", "ops", "machines"}
# RUN lines with one of these are skipped: help, measured times, a YAML of one version, pipes and other files.
NOT_COMPARED = re.compile(r"--help|--profile|--explain\b(?!=)|\.yaml|--cache_dir|%t|[|;<>&$`*]")


@dataclasses.dataclass(frozen=True)
class Case:
    command: str
    arguments: str  # in the spelling of version 2, with {m}, {n} and {out}
    module: str = ""
    following: str = ""
    folder: pathlib.Path = ROOT

    def words(self, version, out):
        paths = {"{m}": self.module, "{n}": self.following, "{out}": str(out)}
        words = shlex.split(json_versions.spelled(self.arguments, version))
        return [self.command, *(re.sub(r"\{\w+\}", lambda match: paths.get(match[0], match[0]), word) for word in words)]

    @property
    def is_raw(self):
        """Standard output is data, to be compared byte by byte."""
        return self.command in ("print", "opt") or "--matrix=csv" in self.arguments or "--print_literals" in self.arguments


def calls_for(module, following, *tables):
    for table in tables:
        for command, calls in table.items():
            for call in calls:
                yield Case(command, call, str(module), str(following))


def written_calls(path):
    """The calls of a test's RUN lines, with --json where the command has it."""
    for line in re.findall(r"^// RUN: shoal (.*)$", path.read_text(encoding="utf-8", errors="replace"), re.M):
        command, _, arguments = line.partition(" ")
        if command not in CALLS or "%s" not in arguments or arguments == "%s" or NOT_COMPARED.search(arguments):
            continue
        arguments = json_versions.spelled(arguments.replace("%s", "{m}").replace("%S", "."), 2)
        case = Case(command, arguments, path.name, folder=path.parent)
        if command in JSON_COMMANDS and not case.is_raw and "--json" not in arguments:
            case = dataclasses.replace(case, arguments=arguments + " --json")
        yield case


def modules(shared, sample):
    """The folders of modules outside of tests/."""
    yield sorted((ROOT / "examples").glob("*.hlo"))
    if shared is None:
        return
    yield sorted((shared / "seeds").iterdir())
    yield sorted(path for path in (shared / "golden/jax").iterdir() if path.name.endswith((".hlo", ".hlo.pb")))
    corpus = sorted((shared / "corpus/xla").iterdir())
    yield corpus[::max(1, len(corpus) // sample)][:sample] if sample > 0 else []


def all_cases(shared, sample):
    """Each case once, in the order of the modules."""
    cases = []
    for command, calls in OTHER_CALLS.items():
        cases += [Case(command, call.replace("{s}", str(shared))) for call in calls if shared or "{s}" not in call]
    for paths in modules(shared, sample):
        for path, following in zip(paths, paths[1:] + paths[:1]):
            cases += calls_for(path, following, CALLS, MORE_CALLS, *([SMALL_CALLS] if ROOT in path.parents else []))
    tests = sorted((ROOT / "tests").rglob("*.hlo"))
    for number, (path, following) in enumerate(zip(tests, tests[1:] + tests[:1])):
        more = (MORE_CALLS, SMALL_CALLS) if number % EVERY == 0 else ()
        cases += [*written_calls(path), *calls_for(path, following, CALLS, *more)]
    return list(dict.fromkeys(cases))


def messages_in(text, version):
    """Location, severity and rule of each message, and the columns of the carets below it."""
    pattern = re.compile(r"^(?P<at>[^\s:][^:]*(?::\d+:\d+)?): (?P<severity>error|warning|note): "
                         r"|\[(?P<rule>[a-z][a-z-]*\.[\w-]+)\]$|^(?P<caret> +\^+)$", re.M)
    for match in pattern.finditer(json_versions.spelled(text, version)):
        if match["at"] or match["caret"]:
            yield match["at"] or match["caret"], match["severity"]
        else:
            yield "rule", match["rule"]


def stdout_of(case, text, version, newest):
    if "--json" in case.arguments and not case.is_raw:
        try:
            value = json.loads(text)
        except ValueError:
            return text
        return json_versions.masked(value if version == newest else json_versions.upgraded(value, case.command), case.command)
    if "--list_passes" in case.arguments:
        return re.findall(r"^([\w-]+): ", json_versions.spelled(text.decode(), newest), re.M)
    if case.command == "opt":
        return json_versions.spelled(text.decode("utf-8", "surrogateescape"), newest)
    return text if case.is_raw else None


def files_under(folder, version, newest):
    files = {}
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        data = path.read_bytes()
        if path.suffix == ".html":
            page = page_data.page_data(data)
            files[path.name] = page if version == newest else json_versions.upgraded(page, "report")
        else:
            files[path.relative_to(folder).as_posix()] = hashlib.sha256(data).hexdigest()
    return files


def outcome(binary, version, newest, case, folder):
    """The compared parts of a run; None if it takes too long. The files of a failed run are not compared."""
    out = folder / "out"
    try:
        done = subprocess.run([binary, *case.words(version, out)], cwd=case.folder, env=ENVIRONMENT, timeout=TIMEOUT,
                              stdin=subprocess.DEVNULL, capture_output=True, check=False)
        return {"exit status": done.returncode, "stdout": stdout_of(case, done.stdout, version, newest),
                "messages": list(messages_in(done.stderr.decode("utf-8", "replace"), newest)),
                "files": files_under(folder, version, newest) if done.returncode == 0 else {}}
    except subprocess.TimeoutExpired:
        return None
    finally:
        for path in folder.iterdir():
            shutil.rmtree(path) if path.is_dir() else path.unlink()


def differences(old, new, path):
    """Path, old and new value of every difference, including the order of keys and the types of numbers."""
    if isinstance(old, dict) and isinstance(new, dict):
        if list(old) != list(new):
            yield path + " (keys)", list(old), list(new)
        for key in (key for key in old if key in new):
            yield from differences(old[key], new[key], f"{path}.{key}")
    elif isinstance(old, (list, tuple)) and isinstance(new, (list, tuple)):
        if len(old) != len(new):
            yield path + " (length)", len(old), len(new)
        for i, (one, other) in enumerate(zip(old, new)):
            yield from differences(one, other, f"{path}[{i}]")
    elif type(old) is not type(new) or old != new:
        if isinstance(old, (str, bytes)) and isinstance(new, type(old)) and len(old) + len(new) > 200:
            at = len(os.path.commonprefix([old, new]))
            path, old, new = f"{path} (from {at})", old[at:at + 80], new[at:at + 80]
        yield path, old, new


def compare(case, binaries, versions):
    """The differences between the two builds, or the reason why they are not compared."""
    with tempfile.TemporaryDirectory() as folder:
        def run(build):
            return outcome(binaries[build], versions[build], max(versions), case, pathlib.Path(folder))

        old, new = run(OLD), run(NEW)
        if old is None or new is None:
            both = old is None and new is None
            return [] if both else [("$", *("no answer" if each is None else "an answer" for each in (old, new)))], both and "too slow"
        found = list(differences(old, new, "$"))
        for _ in range(TRIES if found else 0):
            again = run(OLD)
            if again is not None and (varied := list(differences(old, again, "$"))):
                return [], f"the old build varies in {varied[0][0]}"
        return found, None


def version_of(binary):
    return json.loads(subprocess.check_output([binary, "ops", "--json"], timeout=TIMEOUT))["version"]


def call_text(case, versions):
    return f"(cd {shlex.quote(str(case.folder))}; {shlex.join(['shoal', *case.words(versions[NEW], '/tmp/out')])})"


def show(case, found, versions):
    print("FAILED", call_text(case, versions))
    for path, *values in found[:SHOWN]:
        print(f"  {path}:", *(f"\n    {name} {value!r:.300}" for name, value in zip(("old", "new"), values)))
    if len(found) > SHOWN:
        print(f"  … and {len(found) - SHOWN} more")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old", type=pathlib.Path)
    parser.add_argument("new", type=pathlib.Path)
    parser.add_argument("--shared", type=pathlib.Path, default=ROOT.parent / "shared", help="folder of modules (default: ../shared)")
    parser.add_argument("--jobs", type=int, default=2, help="number of runs at a time")
    parser.add_argument("--sample", type=int, default=100, help="number of modules of corpus/xla")
    parser.add_argument("--only", metavar="COMMAND", help="only this command of shoal")
    parser.add_argument("--quick", action="store_true", help="run one call in twelve, which takes about a minute")
    options = parser.parse_args()
    binaries = [path.resolve() for path in (options.old, options.new)]
    versions = [version_of(binary) for binary in binaries]
    cases = all_cases(options.shared.resolve() if options.shared.is_dir() else None, options.sample)
    cases = [case for case in cases if options.only in (None, case.command)][::12 if options.quick else 1]
    failed, skipped = 0, []
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        results = pool.map(lambda case: compare(case, binaries, versions), cases)
        for number, (case, (found, reason)) in enumerate(zip(cases, results), 1):
            if sys.stderr.isatty():
                print(f"\r\033[K{number} of {len(cases)}, {failed} failed: {case.command}", end="", file=sys.stderr)
            if reason:
                skipped.append(f"not compared, {reason}: {call_text(case, versions)}")
            elif found:
                failed += 1
                show(case, found, versions)
    if sys.stderr.isatty():
        print("\r\033[K", end="", file=sys.stderr)
    print(*skipped, f"{len(cases) - failed - len(skipped)} passed, {failed} failed", sep="\n")
    return 1 if failed or not cases else 0


if __name__ == "__main__":
    sys.exit(main())
