#!/usr/bin/env python3
"""Collectives between processes: shoal against plain MPI, and against the threads of one process, side by side.

    bench/hosts.py [--bin build/shoal] [--ranks 2,4] [--bytes 1024,1048576,…] [--seconds 0.5]

One device in each process. Of shoal: the time of a loop of the collective, less that of a shorter one, divided by
the rounds between them. Plain MPI: bench/mpi_loops.c, compiled here. The target is 1.3 times plain MPI from 1 MB on, and
2 times at 1 kB.
"""
import argparse
import json
import os
import pathlib
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
  s = (s32[], f32[{count}], f32[{result}]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  x = f32[{count}] get-tuple-element(s), index=1
  y = f32[{result}] get-tuple-element(s), index=2
  one = s32[] constant(1)
  j = s32[] add(i, one)
  {line}
  ROOT t = (s32[], f32[{count}], f32[{result}]) tuple(j, x, z)
}}
condition {{
  s = (s32[], f32[{count}], f32[{result}]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant({rounds})
  ROOT c = pred[] compare(i, n), direction=LT
}}
ENTRY e {{
  p = f32[{count}] parameter(0)
  zero = s32[] constant(0)
  f = f32[] constant(0)
  r = f32[{result}] broadcast(f), dimensions={{}}
  t = (s32[], f32[{count}], f32[{result}]) tuple(zero, p, r)
  w = (s32[], f32[{count}], f32[{result}]) while(t), condition=condition, body=body
  v = f32[{result}] get-tuple-element(w), index=2
  ROOT first = f32[1] slice(v), slice={{[0:1]}}
}}
"""
GROUP = "channel_id=1, replica_groups={{{{{ids}}}}}, use_global_device_ids=true"
LINES = {
    "all-reduce": "z = f32[{result}] all-reduce(x), " + GROUP + ", to_apply=sum",
    "all-gather": "z = f32[{result}] all-gather(x), " + GROUP + ", dimensions={{0}}",
    "all-to-all": "z = f32[{result}] all-to-all(x), channel_id=1, replica_groups={{{{{ids}}}}}, dimensions={{0}}",
}


def module(kind, n, count, rounds):
    result = count * n if kind == "all-gather" else count
    line = LINES[kind].format(result=result, ids=",".join(map(str, range(n))))
    return MODULE.format(n=n, count=count, result=result, rounds=rounds, line=line)


def shoal_seconds(binary, path, n, in_job):
    words = [binary, "run", path, "--json", "--hlo_argument_mode=use_zeros_as_input"]
    call = mpi.command(n, words) if in_job else words
    done = subprocess.run(call, capture_output=True, text=True, check=True, env=mpi.environment())
    return json.loads(done.stdout)["seconds"]


def shoal_microseconds(binary, scratch, kind, n, count, rounds, in_job):
    """The difference between many rounds and few."""
    seconds = []
    for times in (rounds, max(rounds // 10, 1)):
        path = f"{scratch}/{kind}-{n}-{count}-{times}.hlo"
        pathlib.Path(path).write_text(module(kind, n, count, times), encoding="utf-8")
        seconds.append(shoal_seconds(binary, path, n, in_job))
    return (seconds[0] - seconds[1]) / (rounds - max(rounds // 10, 1)) * 1e6


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", default=str(ROOT / "build/shoal"))
    parser.add_argument("--ranks", default="2,4")
    parser.add_argument("--bytes", default="1024,65536,1048576,16777216,268435456")
    parser.add_argument("--seconds", type=float, default=0.5, help="about how long each measurement takes")
    options = parser.parse_args()
    options.bin = os.path.abspath(options.bin)
    if why := mpi.available(options.bin):
        sys.exit(f"skipped: {why}")
    with tempfile.TemporaryDirectory() as scratch:
        loops = f"{scratch}/mpi_loops"
        subprocess.run(["mpicc", "-O2", "-o", loops, str(ROOT / "bench/mpi_loops.c")], check=True)
        print(f"{'collective':12}{'processes':>10}{'bytes':>12}{'MPI µs':>12}{'shoal µs':>12}{'ratio':>7}{'threads µs':>12}")
        for n in map(int, options.ranks.split(",")):
            for size in map(int, options.bytes.split(",")):
                for kind in LINES:
                    guess = 30 + size * n / 1500  # µs
                    rounds = max(4, min(20000, int(options.seconds * 1e6 / guess)))
                    done = subprocess.run(mpi.command(n, [loops, kind, str(size), str(rounds)]), capture_output=True,
                                          text=True, check=True, env=mpi.environment())
                    plain = float(done.stdout)
                    own = shoal_microseconds(options.bin, scratch, kind, n, size // 4, rounds, True)
                    threads = shoal_microseconds(options.bin, scratch, kind, n, size // 4, rounds, False)
                    print(f"{kind:12}{n:10}{size:12}{plain:12.1f}{own:12.1f}{own / plain:7.2f}{threads:12.1f}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
