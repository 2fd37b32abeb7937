"""Shared by all page tests: counting checks, running shoal, comparing numbers."""

import contextlib
import json
import math
import os
import resource
import subprocess
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
VIEWS = ["overview", "program", "timeline", "memory", "communication", "cost", "graph"]
# A time limit fails only if it is exceeded by this factor, because the machine may be busy.
TIME_TOLERANCE = 3

passed = failed = 0
spent = {}


@contextlib.contextmanager
def phase(name):
    """Measures the time of a part of the tests."""
    begin = time.monotonic()
    yield
    spent[name] = spent.get(name, 0) + time.monotonic() - begin


def check(name, passes, detail=""):
    global passed, failed
    if passes:
        passed += 1
    else:
        failed += 1
        print(f"FAILED {name}{': ' + str(detail)[:600] if detail != '' else ''}", flush=True)
    return passes


def check_time(name, seconds, limit):
    """Fails if the limit is exceeded by more than TIME_TOLERANCE. The caller prints the time."""
    return check(f"{name} in {limit:g} s", seconds <= TIME_TOLERANCE * limit, f"{seconds:.3f} s")


def near(a, b):
    return math.isclose(a, b, rel_tol=1e-9, abs_tol=0.5)


def shoal(options, *arguments):
    return subprocess.run([options.bin, *arguments], capture_output=True, text=True)


def command_json(options, *arguments):
    """The JSON of a command. Results are cached."""
    cache = options.__dict__.setdefault("json_cache", {})
    if arguments not in cache:
        cache[arguments] = json.loads(shoal(options, *arguments, "--json").stdout)
    return cache[arguments]


def write_page(options, files, out, *more):
    """Writes a page and returns the CPU seconds used."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = shoal(options, "report", *files, "-o", out, *more)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    check(f"page of {files}", done.returncode == 0, done.stderr)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def example(name):
    return os.path.join(ROOT, "examples", name)
