#!/usr/bin/env python3
"""Measures collectives between processes: shoal, plain MPI, and the threads of one process.

    bench/hosts.py [--bin build/shoal] [--ranks 2,4] [--bytes 1024,1048576,…] [--seconds 0.5] [--repeat 3] [--realtime]

Each process has one device. shoal's time per collective is the time of a loop of collectives minus that of a shorter
loop, divided by the difference in collectives. For small sizes the loop body has several collectives, so that the loop
overhead does not dominate. Plain MPI is bench/mpi_loops.c, compiled by this script. The three alternate, --repeat
times. The script prints the medians, then the best repetition of each, which is more reliable if other processes
interfere; --realtime runs all of them with real-time priority, for such a machine. The target is at most 1.3 times the
time of plain MPI for 1 MB or more, and at most 2 times for 1 kB.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests/hosts"))
import mpi  # noqa: E402

MODULE = """HloModule loop, num_partitions={n}
sum {{
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b)
}}
body {{
  s = {state} parameter(0)
  i = s32[] get-tuple-element(s), index=0
  x = f32[{count}] get-tuple-element(s), index=1
  one = s32[] constant(1)
  j = s32[] add(i, one)
{lines}
  ROOT t = {state} tuple(j, x, {values})
}}
condition {{
  s = {state} parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant({rounds})
  ROOT c = pred[] compare(i, n), direction=LT
}}
ENTRY e {{
  p = f32[{count}] parameter(0)
  zero = s32[] constant(0)
  f = f32[] constant(0)
  r = f32[{result}] broadcast(f), dimensions={{}}
  t = {state} tuple(zero, p, {firsts})
  w = {state} while(t), condition=condition, body=body
  v = f32[{result}] get-tuple-element(w), index=2
  ROOT first = f32[1] slice(v), slice={{[0:1]}}
}}
"""
GROUP = "channel_id={channel}, replica_groups={{{{{ids}}}}}"
LINES = {
    "all-reduce": "f32[{result}] all-reduce(x), " + GROUP + ", use_global_device_ids=true, to_apply=sum",
    "all-gather": "f32[{result}] all-gather(x), " + GROUP + ", use_global_device_ids=true, dimensions={{0}}",
    "all-to-all": "f32[{result}] all-to-all(x), " + GROUP + ", dimensions={{0}}",
}


def in_body(size):
    """Number of collectives in the loop body. Each has its own channel, so that no two are identical."""
    return 16 if size <= 65536 else 1


def module(kind, n, count, rounds):
    result = count * n if kind == "all-gather" else count
    unrolled = in_body(count * 4)
    ids = ",".join(map(str, range(n)))
    lines = [f"  z{k} = " + LINES[kind].format(result=result, ids=ids, channel=k + 1) for k in range(unrolled)]
    state = f"(s32[], f32[{count}]" + f", f32[{result}]" * unrolled + ")"
    return MODULE.format(n=n, count=count, result=result, rounds=rounds, lines="\n".join(lines), state=state,
                         values=", ".join(f"z{k}" for k in range(unrolled)), firsts=", ".join(["r"] * unrolled))


def priority(options):
    return ["chrt", "--rr", "1"] if options.realtime else []


def shoal_seconds(options, path, n, in_job):
    """The time of the second run in one process: its memory is resident, as it is when plain MPI is timed."""
    words = [options.bin, "run", path, "--json", "--hlo_argument_mode=use_zeros_as_input", "--num_repeats=2"]
    call = priority(options) + (mpi.command(n, words) if in_job else words)
    done = subprocess.run(call, capture_output=True, text=True, check=True, env=mpi.environment())
    return json.loads(done.stdout)["run_seconds"][-1]


def shoal_microseconds(options, scratch, kind, n, size, collectives, in_job):
    """The time of one collective, from the difference between many rounds and few."""
    seconds = []
    rounds = max(collectives // in_body(size), 8)
    few = max(rounds // 10, 2)
    for times in (rounds, few):
        path = f"{scratch}/{kind}-{n}-{size}-{times}.hlo"
        pathlib.Path(path).write_text(module(kind, n, size // 4, times), encoding="utf-8")
        seconds.append(shoal_seconds(options, path, n, in_job))
    return (seconds[0] - seconds[1]) / ((rounds - few) * in_body(size)) * 1e6


def mpi_microseconds(options, loops, kind, n, size, rounds):
    done = subprocess.run(priority(options) + mpi.command(n, [loops, kind, str(size), str(rounds)]), capture_output=True,
                          text=True, check=True, env=mpi.environment())
    return float(done.stdout)


def measure(options, scratch, loops, kind, n, size):
    guess = 1 + size * n / 8000  # µs
    rounds = max(4, min(200000, int(options.seconds * 1e6 / guess)))
    turns = [(mpi_microseconds(options, loops, kind, n, size, rounds),
              shoal_microseconds(options, scratch, kind, n, size, rounds, True),
              shoal_microseconds(options, scratch, kind, n, size, min(rounds, 2000), False) if options.threads else 0)
             for _ in range(options.repeat)]
    plain, own, threads = (statistics.median(column) for column in zip(*turns))
    best_plain, best_own = (min(column) for column in list(zip(*turns))[:2])
    print(f"{kind:12}{n:10}{size:12}{plain:12.2f}{own:12.2f}{own / plain:7.2f}{threads:12.2f}"
          f"{best_plain:14.2f}{best_own:12.2f}{best_own / best_plain:7.2f}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", default=str(ROOT / "build/shoal"))
    parser.add_argument("--ranks", default="2,4")
    parser.add_argument("--bytes", default="1024,65536,1048576,16777216,268435456")
    parser.add_argument("--seconds", type=float, default=0.5, help="approximate duration of each measurement")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--kinds", default=",".join(LINES))
    parser.add_argument("--realtime", action="store_true", help="run the measured processes with real-time priority")
    parser.add_argument("--no-threads", dest="threads", action="store_false", help="skip the threads of one process")
    options = parser.parse_args()
    options.bin = os.path.abspath(options.bin)
    if why := mpi.available(options.bin):
        sys.exit(f"skipped: {why}")
    with tempfile.TemporaryDirectory() as scratch:
        loops = f"{scratch}/mpi_loops"
        subprocess.run(["mpicc", "-O2", "-o", loops, str(ROOT / "bench/mpi_loops.c")], check=True)
        print(f"{'collective':12}{'processes':>10}{'bytes':>12}{'MPI µs':>12}{'shoal µs':>12}{'ratio':>7}{'threads µs':>12}"
              f"{'best: MPI µs':>14}{'shoal µs':>12}{'ratio':>7}")
        for n in map(int, options.ranks.split(",")):
            for size in map(int, options.bytes.split(",")):
                for kind in options.kinds.split(","):
                    measure(options, scratch, loops, kind, n, size)
    return 0


if __name__ == "__main__":
    sys.exit(main())
