"""What all parts of the page's tests use: counting, running shoal, comparing."""

import contextlib
import json
import math
import os
import resource
import subprocess
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
VIEWS = ["overview", "program", "timeline", "memory", "communication", "cost", "graph"]
# A time that is missed by this much is a fault; by less, it is told: the machine may be busy.
GROSS = 3

passed = failed = 0
spent = {}


@contextlib.contextmanager
def phase(name):
    """Counts what a part of the tests takes."""
    begin = time.monotonic()
    yield
    spent[name] = spent.get(name, 0) + time.monotonic() - begin


def check(what, good, detail=""):
    global passed, failed
    if good:
        passed += 1
    else:
        failed += 1
        print(f"FAILED {what}{': ' + str(detail)[:600] if detail != '' else ''}", flush=True)
    return good


def check_time(what, seconds, limit):
    """Told by the caller; a failure only if it is far off."""
    return check(f"{what} in {limit:g} s", seconds <= GROSS * limit, f"{seconds:.3f} s")


def near(a, b):
    return math.isclose(a, b, rel_tol=1e-9, abs_tol=0.5)


def shoal(options, *arguments):
    return subprocess.run([options.bin, *arguments], capture_output=True, text=True)


def verb(options, *arguments):
    """The verb's JSON; each is asked for once."""
    known = options.__dict__.setdefault("answers", {})
    if arguments not in known:
        known[arguments] = json.loads(shoal(options, *arguments, "--json").stdout)
    return known[arguments]


def write_page(options, files, out, *more):
    """Writes a page; the seconds of a processor it took."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = shoal(options, "report", *files, "-o", out, *more)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    check(f"page of {files}", done.returncode == 0, done.stderr)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def example(name):
    return os.path.join(ROOT, "examples", name)
