#!/usr/bin/env python3
"""The traffic that `shoal comm` predicts equals that of `shoal run`: tests/conservation.py [--bin PATH] [SHARED].

Checks every module in examples/, in tests/interp/collectives/ and, with SHARED, in golden/jax. Compares the calls,
payload bytes and wire bytes of each device by kind of collective, and the trip count of each loop. Every module must
run within a time limit, except those that test errors (bad-*). If a trip count or a branch depends on data, `comm` gets
options with the values that `run` observed.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
TIMEOUT = 120
# If `comm` makes one of these assumptions, the received bytes of the given kinds depend on data.
DEPENDS_ON_DATA = {
    "the split sizes depend on data": {"ragged-all-to-all"},
    "the root depends on data": {"collective-broadcast", "collective-reduce"},
}


def shoal(*command):
    """The printed JSON; None if the command fails."""
    # The interpreter runs the module as written; the engine skips iterations without effect.
    done = subprocess.run(command, env=os.environ | {"SHOAL_ENGINE": "interp"}, capture_output=True, timeout=TIMEOUT,
                          stdin=subprocess.DEVNULL, check=False)
    if done.returncode not in (0, 1):
        raise RuntimeError(f"exit status {done.returncode}: {done.stderr.decode()[:500]}")
    return json.loads(done.stdout) if done.returncode == 0 else None


def by_device(folded):
    return {device: entry["kinds"] for entry in folded for device in entry["devices"]}


def options_from(run):
    """Options that give `comm` the trip counts of this run, if all executions of a loop agree, and its branches."""
    for loop in run["loops"]:
        if loop["executions"] and loop["iterations"] % loop["executions"] == 0:
            yield "--trips"
            yield f"{loop['name']}={loop['iterations'] // loop['executions']}"
    for branch in run["branches"]:
        yield "--probability"
        yield f"{branch['computation']}={branch['taken'] / branch['executions']!r}"


def loop_differences(run, comm):
    trips = {(loop["computation"], loop["name"]): loop for loop in comm["loops"]}
    for loop in run["loops"]:
        expected = trips[loop["computation"], loop["name"]]
        if expected["from"] != "unknown" and expected["trip_count"] * loop["executions"] != loop["iterations"]:
            yield f"{loop['name']}: trip count {expected['trip_count']} ({expected['from']}), ran " \
                  f"{loop['iterations']} iterations in {loop['executions']} executions"


def traffic_differences(run, comm):
    ran, expected = by_device(run["collectives_by_device"]), by_device(comm["by_device"])
    assumptions = " ".join(comm["assumptions"])
    open_kinds = set().union(*(kinds for text, kinds in DEPENDS_ON_DATA.items() if text in assumptions))
    bounded = "counted at their upper bounds" in assumptions  # then `run` may move less
    for device, kinds in ran.items():
        for kind in kinds.keys() | expected[device].keys():
            for metric in ("calls", "payload_bytes", "wire_bytes"):
                if kind in open_kinds and metric == "wire_bytes":
                    continue
                moved, counted = (side.get(kind, {}).get(metric, 0) for side in (kinds, expected[device]))
                if abs(moved - counted) > 1e-9 * abs(moved) and not (bounded and moved < counted):
                    yield f"device {device}, {kind}, {metric}: comm predicts {counted}, run moved {moved}"


def check(binary, path):
    """Differences; None if the module does not run."""
    try:
        run = shoal(binary, "run", "--json", path)
    except subprocess.TimeoutExpired:
        return [f"takes longer than {TIMEOUT} s"]
    if run is None:
        return None
    plain = shoal(binary, "comm", "--json", path)
    with_options = shoal(binary, "comm", "--json", path, *options_from(run))
    return [*loop_differences(run, plain), *traffic_differences(run, with_options)]


def modules(shared):
    yield from sorted((ROOT / "examples").glob("*.hlo"))
    for path in sorted((ROOT / "tests/interp/collectives").glob("*.hlo")):
        if "ENTRY" in path.read_text():  # else it is a script
            yield path
    if shared:
        yield from sorted((shared / "golden/jax").glob("*.hlo"))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("shared", nargs="?", type=pathlib.Path)
    parser.add_argument("--bin", default="build/shoal")
    options = parser.parse_args()
    paths = list(modules(options.shared))
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        found = list(pool.map(lambda path: check(options.bin, path), paths))
    failed = 0
    for path, differences in zip(paths, found):
        if differences is None and not path.name.startswith("bad-"):
            differences = ["does not run"]
        if differences:
            failed += 1
            print(f"{path}:", *differences[:6], sep="\n  ")
    print(f"{len(paths) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
