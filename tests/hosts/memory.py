"""A process of a job needs at most 1.15 times the size of the arrays of its own devices. A run in one process reports
that size. The base memory of a process, measured with a scalar module, is not counted."""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import mpi

RANKS, MAX_RATIO = 4, 1.15

# A tensor-parallel layer and its weight update: dots between collectives of activations.
LAYER = """HloModule layer, num_partitions=8
sum {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b)
}
ENTRY e {
  x = f32[512,2048] parameter(0), sharding={replicated}
  up = f32[2048,1024] parameter(1), sharding={devices=[1,8]<=[8]}
  down = f32[1024,2048] parameter(2), sharding={devices=[8,1]<=[8]}
  table = f32[4096,2048] parameter(3), sharding={devices=[8,1]<=[8]}
  h = f32[512,1024] dot(x, up), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  t = f32[512,1024] tanh(h)
  part = f32[512,2048] dot(t, down), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  y = f32[512,2048] all-reduce(part), channel_id=1, replica_groups={{0,1,2,3,4,5,6,7}}, use_global_device_ids=true, to_apply=sum
  slice = f32[64,2048] reduce-scatter(y), channel_id=2, replica_groups={{0,1,2,3,4,5,6,7}}, use_global_device_ids=true, dimensions={0}, to_apply=sum
  whole = f32[512,2048] all-gather(slice), channel_id=3, replica_groups={{0,1,2,3,4,5,6,7}}, use_global_device_ids=true, dimensions={0}
  z = f32[512,2048] add(y, whole)
  dup = f32[2048,1024] dot(z, t), lhs_contracting_dims={0}, rhs_contracting_dims={0}
  ddown = f32[1024,2048] dot(t, z), lhs_contracting_dims={0}, rhs_contracting_dims={0}
  next_up = f32[2048,1024] subtract(up, dup)
  next_down = f32[1024,2048] subtract(down, ddown)
  rate = f32[] constant(0.5)
  rates = f32[4096,2048] broadcast(rate), dimensions={}
  next_table = f32[4096,2048] multiply(table, rates)
  ROOT r = (f32[512,2048], f32[2048,1024], f32[1024,2048], f32[4096,2048]) tuple(z, next_up, next_down, next_table)
}
"""
# Dots of many sizes, each with the sum of the previous one as input. Its buffers must be freed before the next dot.
STEP = """  left{i} = f32[{n},8] broadcast(x{i}), dimensions={{}}
  right{i} = f32[8,1024] broadcast(x{i}), dimensions={{}}
  product{i} = f32[{n},1024] dot(left{i}, right{i}), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}
  total{i} = f32[] reduce(product{i}, x0), dimensions={{0,1}}, to_apply=sum
  x{j} = f32[] all-reduce(total{i}), channel_id={j}, replica_groups={{{{0,1,2,3,4,5,6,7}}}}, use_global_device_ids=true, to_apply=sum
"""
SIZES = ("HloModule sizes, num_partitions=8\n" + LAYER[LAYER.index("sum {"):LAYER.index("ENTRY")] + "ENTRY e {\n"
         "  x0 = f32[] parameter(0), sharding={replicated}\n"
         + "".join(STEP.format(i=i, j=i + 1, n=5000 + 1500 * i) for i in range(10)) + "  ROOT r = f32[] copy(x10)\n}\n")
# The target of a permute must not overwrite a buffer of the source. A member of a group must not overwrite the shared
# result of its collective: the next value needs its own memory, even if no other member is in the process.
SHARED_RESULT = """HloModule shared_result, num_partitions=8
max {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] maximum(a, b)
}
ENTRY e {
  p = f32[100,300] parameter(0), sharding={devices=[8,1]<=[8]}
  x = f32[100,300] collective-permute(p), channel_id=1, source_target_pairs={{0,2},{2,4},{4,6},{6,0}}
  y = f32[100,300] add(x, x)
  z = f32[100,300] all-reduce(y), channel_id=2, replica_groups={{0,2,4,6},{1,3,5,7}}, use_global_device_ids=true, to_apply=max
  u = f32[100,300] sine(z)
  few = f32[2,8] slice(u), slice={[0:2], [0:8]}
  last = f32[2,8] all-reduce(few), channel_id=3, replica_groups={{0,2,4,6},{1,3,5,7}}, use_global_device_ids=true, to_apply=max
  ROOT r = (f32[100,300], f32[2,8]) tuple(u, last)
}
"""
NOTHING = """HloModule nothing, num_partitions=8
ENTRY e {
  ROOT x = f32[] parameter(0)
}
"""


def measure(binary, path, ranks):
    """shoal's JSON output, and the peak memory of each process in bytes."""
    words = [sys.executable, __file__, binary, "run", str(path), "--json"]
    if ranks == 1:
        words.append("--transport=threads")
    done = subprocess.run(words if ranks == 1 else mpi.command(ranks, words), capture_output=True, text=True, timeout=120,
                          check=True, env=mpi.environment())
    return json.loads(done.stdout), [int(kb) << 10 for kb in re.findall(r"^peak memory (\d+) kB", done.stderr, re.M)]


def check(binary):
    """The error; empty if there is none."""
    with tempfile.TemporaryDirectory() as scratch:
        paths = {}
        for name, text in {"layer": LAYER, "sizes": SIZES, "shared_result": SHARED_RESULT, "nothing": NOTHING}.items():
            paths[name] = pathlib.Path(scratch, f"{name}.hlo")
            paths[name].write_text(text, encoding="utf-8")
        _, bases = measure(binary, paths["nothing"], RANKS)
        return (check_share(binary, paths["layer"], bases) or check_share(binary, paths["sizes"], bases)
                or check_equal_reports(paths["shared_result"], measure(binary, paths["shared_result"], 1)[0],
                                       measure(binary, paths["shared_result"], RANKS)[0]))


def check_equal_reports(path, alone, job):
    for key in ("outputs", "peak_bytes", "collectives"):
        if alone[key] != job[key]:
            return f"{path.name}: {key}: one process reports {alone[key]}, the job {job[key]}"
    return ""


def check_share(binary, path, bases):
    alone, _ = measure(binary, path, 1)
    job, each = measure(binary, path, RANKS)
    if reason := check_equal_reports(path, alone, job):
        return reason
    share = sum(alone["peak_bytes"]) / RANKS
    ratios = [(peak - base) / share for peak, base in zip(sorted(each), sorted(bases))]
    share_text = f"share of {share / 2**20:.0f} MiB"
    print(f"memory of {RANKS} processes: {', '.join(f'{each:.2f}' for each in ratios)} of a {share_text}")
    return "" if max(ratios) <= MAX_RATIO else f"{path.name}: a process uses {max(ratios):.2f} times its {share_text}"


def main():
    """Runs a command, then prints its peak memory."""
    pid = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ)
    _, status, usage = os.wait4(pid, 0)
    print(f"peak memory {usage.ru_maxrss} kB", file=sys.stderr, flush=True)
    return os.waitstatus_to_exitcode(status)


if __name__ == "__main__":
    sys.exit(main())
