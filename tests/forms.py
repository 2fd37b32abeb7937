#!/usr/bin/env python3
"""Text and protobuf of one module are one module: tests/forms.py [--bin PATH] [SHARED].

Every verb says the same of both, names of files and places in the text aside. The protobufs are those that XLA wrote
beside its texts (with SHARED) and those that `print --format=pb` makes of our own modules and of all texts of SHARED.
The verbs that take long are tried on a sample. Instructions are shuffled as well: no order of a file is trusted.
"""
import argparse
import concurrent.futures
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
TIMEOUT = 120
# The quick ones, on every module; diff compares the two forms and says nothing.
ALWAYS = [["check"], ["print"], ["print", "--format=short"], ["show", "--op=all", "--name"], ["comm"],
          ["cost", "--by=op", "--top=0"]]
# Not --format=json, which shows the numbers of instructions and the names in computations that texts leave out.
SOMETIMES = [["mem"], ["show"], ["cost"]]
RUNS = [["mem", "--run"], ["run"]]
MOST_BYTES_TO_RUN = 6_000


def said(binary, verb, path):
    """Exit status and standard output; of what is refused only the status, since a text has other liberties to take."""
    command = [binary, verb[0], *verb[1:], str(path)]
    done = subprocess.run(command, capture_output=True, timeout=TIMEOUT, stdin=subprocess.DEVNULL, check=False)
    if done.returncode != 0:
        return done.returncode, b""
    clean = done.stdout.replace(str(path).encode(), b"FILE").replace(path.name.encode(), b"FILE")
    return 0, re.sub(rb"\d+(\.\d+)? (ms|s|us)\b", b"TIME", clean)


def differences(binary, text, proto, verbs):
    for verb in verbs:
        of_text, of_proto = said(binary, verb, text), said(binary, verb, proto)
        if of_text[0] < 0 or of_proto[0] < 0:
            yield f"{' '.join(verb)}: ended by signal {-min(of_text[0], of_proto[0])}"
        elif of_text != of_proto:
            lines = [side[1].splitlines() for side in (of_text, of_proto)]
            first = next((pair for pair in zip(*lines) if pair[0] != pair[1]), (of_text[0], of_proto[0]))
            yield f"{' '.join(verb)}: {first[0]!r:.300} from text, {first[1]!r:.300} from protobuf"
    diff = subprocess.run([binary, "diff", str(text), str(proto)], capture_output=True, timeout=TIMEOUT, check=False)
    if diff.returncode != 0:
        yield f"diff: exit status {diff.returncode}: {diff.stdout[:300]!r}"


def check(binary, path, number, folder):
    """Differences between the forms of one module; None if it has no protobuf."""
    given = path.with_name(path.name + ".pb")
    ours = folder / f"{number}.pb"
    made = subprocess.run([binary, "print", "--format=pb", str(path), "-o", str(ours)], capture_output=True,
                          timeout=TIMEOUT, check=False)
    if made.returncode != 0:
        return None
    verbs = list(ALWAYS)
    size = path.stat().st_size
    if number % 4 == 0 or given.exists():
        verbs += SOMETIMES
    # Short texts of the goldens are large programs; those with a protobuf beside them were made to be run.
    if given.exists() or size <= MOST_BYTES_TO_RUN and path.is_relative_to(ROOT):
        verbs += RUNS
    if said(binary, ["check"], path)[0] == 1:  # a protobuf does not have the liberties that loose text takes
        verbs = [verb for verb in verbs if verb[0] not in ("check", "run") and verb[1:] != ["--run"]]
    found = list(differences(binary, path, ours, verbs))
    if given.exists():
        found += [f"XLA's protobuf: {line}" for line in differences(binary, path, given, verbs)]
    if size <= 200_000 and number % 4 == 0:
        found += shuffled(binary, path, ours, folder / f"{number}.hlo", number)
    ours.unlink()
    return found


def shuffled(binary, path, proto, target, seed):
    """The instructions of each computation in another order: what is computed and costs stays."""
    if b"is_scheduled=true" in path.read_bytes()[:4096]:
        return []
    text = subprocess.run([binary, "print", str(proto)], capture_output=True, timeout=TIMEOUT, check=False).stdout
    chooser, lines, body = random.Random(seed), [], []
    for line in text.splitlines(keepends=True):
        if re.match(rb"  (ROOT )?%\S+ = ", line):
            body.append(line)
            continue
        if body and not line.startswith(b"}"):  # JSON of several lines
            body[-1] += line
            continue
        chooser.shuffle(body)
        lines += [*body, line]
        body = []
    target.write_bytes(b"".join(lines))
    found = []
    for verb in (["cost", "--json"], ["show"], ["mem"]):
        straight, mixed = said(binary, verb, proto), said(binary, verb, target)
        if straight[0] != mixed[0]:
            found.append(f"shuffled, {' '.join(verb)}: exit status {mixed[0]}, {straight[0]} as it was")
    target.unlink()
    return found


def modules(shared):
    own = [ROOT / "examples", ROOT / "tests" / "proto", ROOT / "tests" / "interp" / "collectives"]
    folders = own + ([pathlib.Path(shared) / name for name in ("golden", "corpus", "seeds")] if shared else [])
    for folder in folders:
        for path in sorted(folder.rglob("*")):
            if path.suffix in (".hlo", ".txt") and path.is_file() and not path.name.startswith("bad-"):
                yield path


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("shared", nargs="?")
    parser.add_argument("--bin", default=str(ROOT / "build" / "shoal"))
    parser.add_argument("--only", default="", help="paths with this in them")
    parser.add_argument("--stride", type=int, default=1, help="every n-th module of SHARED")
    options = parser.parse_args()
    paths = [path for path in modules(options.shared) if options.only in str(path)]
    own = [path for path in paths if path.is_relative_to(ROOT)]
    paths = own + [path for path in paths if not path.is_relative_to(ROOT)][:: options.stride]
    passed = failed = 0
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        jobs = [pool.submit(check, options.bin, path, number, pathlib.Path(folder)) for number, path in enumerate(paths)]
        for path, job in zip(paths, jobs):
            try:
                found = job.result()
            except subprocess.TimeoutExpired as late:
                found = [f"{late.cmd[1]} took over {TIMEOUT} s"]
            if found is None:
                continue
            for line in found:
                print(f"{path}: {line}")
            passed += not found
            failed += bool(found)
    if options.shared is None:
        print("without ../shared: only our own modules")
    print(f"{passed} passed, {failed} failed")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
