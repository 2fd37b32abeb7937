#!/usr/bin/env python3
"""Replays a user's first day with shoal: commands, and what they must show. With SHARED, also checks invariants of the
predictions over the modules there, each on two machines.

    tests/trial.py [SHARED] [--bin build/shoal] [--stride N] [--only NAME]

The first line of each function trial_… states what it checks.
"""
import argparse
import json
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests/page"))
import container  # noqa: E402

GPU_MACHINES = ("h100x8", "b200x8")
TPU_MACHINES = ("tpu-v5p-2x2x2", "tpu-v6e-4x2")
EPSILON = 1e-9

# A step as XLA:CPU compiles it: bf16 weights, gathered and multiplied in f32, in fusions, with a schedule.
CPU_DUMP = """HloModule jit_step, is_scheduled=true, num_partitions=8
add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] add(a, b) }
widen { p = bf16[512,4096]{1,0} parameter(0) ROOT c = f32[512,4096]{1,0} convert(p) }
product {
  x = bf16[1024,4096]{1,0} parameter(0)
  w = f32[4096,4096]{1,0} parameter(1)
  c = f32[1024,4096]{1,0} convert(x)
  ROOT d = f32[1024,4096]{1,0} dot(c, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}
narrow { p = f32[1024,4096]{1,0} parameter(0) ROOT c = bf16[1024,4096]{1,0} convert(p) }
ENTRY e {
  x = bf16[1024,4096]{1,0} parameter(0)
  w = bf16[512,4096]{1,0} parameter(1)
  wide = f32[512,4096]{1,0} fusion(w), kind=kLoop, calls=widen
  all = f32[4096,4096]{1,0} all-gather(wide), channel_id=1, replica_groups=[1,8]<=[8], dimensions={0}, use_global_device_ids=true
  y = f32[1024,4096]{1,0} fusion(x, all), kind=kOutput, calls=product, backend_config={"outer_dimension_partitions":["2"]}
  sum = f32[1024,4096]{1,0} all-reduce(y), channel_id=2, replica_groups=[1,8]<=[8], use_global_device_ids=true, to_apply=add
  ROOT r = bf16[1024,4096]{1,0} fusion(sum), kind=kLoop, calls=narrow
}
"""
# The same step after SPMD partitioning.
PARTITIONED = """HloModule jit_step, num_partitions=8
add { a = bf16[] parameter(0) b = bf16[] parameter(1) ROOT s = bf16[] add(a, b) }
ENTRY e {
  x = bf16[1024,4096]{1,0} parameter(0)
  w = bf16[512,4096]{1,0} parameter(1)
  all = bf16[4096,4096]{1,0} all-gather(w), channel_id=1, replica_groups=[1,8]<=[8], dimensions={0}, use_global_device_ids=true
  y = bf16[1024,4096]{1,0} dot(x, all), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT sum = bf16[1024,4096]{1,0} all-reduce(y), channel_id=2, replica_groups=[1,8]<=[8], use_global_device_ids=true, to_apply=add
}
"""
# A scan that stacks one residual per iteration.
SCAN = """HloModule scan
max { a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] maximum(a, b) }
body {
  s = (s32[], f32[256,256], f32[16,256,256]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  x = f32[256,256] get-tuple-element(s), index=1
  stack = f32[16,256,256] get-tuple-element(s), index=2
  residual = f32[256,256] exponential(x), metadata={op_name="jit(f)/while/body/exp" source_file="model.py" source_line=42}
  next = f32[256,256] tanh(residual), metadata={op_name="jit(f)/while/body/tanh" source_file="model.py" source_line=43}
  row = f32[1,256,256] reshape(residual)
  zero = s32[] constant(0)
  stacked = f32[16,256,256] dynamic-update-slice(stack, row, i, zero, zero)
  one = s32[] constant(1)
  j = s32[] add(i, one)
  ROOT r = (s32[], f32[256,256], f32[16,256,256]) tuple(j, next, stacked)
}
cond {
  s = (s32[], f32[256,256], f32[16,256,256]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(16)
  ROOT c = pred[] compare(i, n), direction=LT
}
ENTRY e {
  x = f32[256,256] parameter(0)
  zero = s32[] constant(0)
  none = f32[] constant(0)
  empty = f32[16,256,256] broadcast(none), dimensions={}
  init = (s32[], f32[256,256], f32[16,256,256]) tuple(zero, x, empty)
  w = (s32[], f32[256,256], f32[16,256,256]) while(init), condition=cond, body=body, metadata={source_file="model.py" source_line=50}
  b = f32[16,256,256] get-tuple-element(w), index=2
  low = f32[] constant(-1)
  ROOT r = f32[256,256] reduce(b, low), dimensions={0}, to_apply=max
}
"""
ONE_DEVICE = """HloModule m
ENTRY e {
  x = f32[256,256] parameter(0)
  ROOT d = f32[256,256] dot(x, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}
"""


class Trial:
    def __init__(self, binary, shared, stride):
        self.binary, self.shared, self.stride = binary, shared, stride
        self.scratch = pathlib.Path(tempfile.mkdtemp(prefix="trial-"))
        self.passed, self.failed = 0, 0

    def check(self, name, passes, detail=""):
        self.passed, self.failed = self.passed + bool(passes), self.failed + (not passes)
        if not passes:
            print(f"FAILED {name}: {detail}".rstrip(": ")[:600], flush=True)

    def run(self, *arguments):
        return subprocess.run([str(self.binary), *map(str, arguments)], capture_output=True, text=True, check=False, timeout=300)

    def json(self, *arguments):
        done = self.run(*arguments, "--json")
        return json.loads(done.stdout) if done.returncode in (0, 3) and done.stdout.startswith("{") else None

    def file(self, name, text):
        path = self.scratch / name
        path.write_text(text, encoding="utf-8")
        return path


def trial_cpu_dump(t):
    """Item 1: a CPU dump on a GPU is reported first, and predicted like the module after SPMD partitioning."""
    cpu, spmd = t.file("cpu.hlo", CPU_DUMP), t.file("spmd.hlo", PARTITIONED)
    text = t.run("time", cpu, "--on=h100x8").stdout
    t.check("the first line names the mismatch", text.startswith("warning: compiled for CPU, not for GPU"), text[:200])
    a, b = t.json("time", cpu, "--on=h100x8"), t.json("time", spmd, "--on=h100x8")
    t.check("both stages take the same time", abs(a["step_seconds"] / b["step_seconds"] - 1) < .05, f"{a['step_seconds']} {b['step_seconds']}")
    t.check("JSON has the mismatch", a["backend_mismatch"] and a["backend"]["name"] == "cpu" and not b["backend_mismatch"])
    undone = t.scratch / "undone.hlo"
    t.run("opt", cpu, "--communication", "-o", undone)
    moved, wanted = ({row["name"]: row["wire_bytes_ring"] for row in t.json("comm", path)["by_kind"]} for path in (undone, spmd))
    t.check("wire bytes are those of the partitioned module", moved == wanted, f"{moved} {wanted}")
    page = t.scratch / "page.html"
    t.run("report", cpu, "--on=h100x8", "-o", page)
    start = page.read_text(encoding="utf-8").partition("Per device and step")[0]
    t.check("the page has the mismatch above its numbers", "compiled for CPU" in start and "spmd-partitioning" in start, start[-300:])
    t.check("--backend overrides the inference", t.json("time", cpu, "--on=h100x8", "--backend=gpu")["backend_mismatch"] == "")


def trial_sweep(t):
    """Item 2: a sweep that cannot change the result is an error; rescaled rows say so."""
    path = t.file("spmd.hlo", PARTITIONED)
    done = t.run("time", path, "--on=h100x8", "--sweep", "nodes=1,8,64")
    t.check("nodes of a module that fits in one", done.returncode == 2 and "fit in one node" in done.stderr, done.stderr)
    wide = t.file("wide.hlo", PARTITIONED.replace("num_partitions=8", "num_partitions=16").replace("[1,8]<=[8]", "[1,16]<=[16]").replace("bf16[512,", "bf16[256,"))
    text = t.run("time", wide, "--on=h100x8", "--sweep", "nodes=2,8,64").stdout
    t.check("each rescaled row says so", len(re.findall(r"^\d+ .*(as compiled|weak scaling)", text, re.M)) == 3, text)


def trial_residuals(t):
    """Item 3: stacked residuals name the op in the loop body; candidates for rematerialization are ranked."""
    memory = t.json("mem", t.file("scan.hlo", SCAN))
    stack = next(row for row in memory["live_at_peak"] if row["type"].startswith("f32[16,256,256]") and "computed_by" in row)
    t.check("the producer", stack["computed_by"]["name"] == "residual" and stack["computed_by"]["source"] == "model.py:42", str(stack))
    t.check("a candidate", any(row["computed_by"]["name"] == "residual" for row in memory["rematerialization"]), str(memory["rematerialization"]))


def trial_residuals_of_compilers(t):
    """Item 3: conversions that XLA:CPU inserts do not hide the op; the stacks of the golden transformers name an op and its line."""
    text = SCAN.replace("row = f32[1,256,256] reshape(residual)", "narrow = bf16[256,256] convert(residual)\n  row = bf16[1,256,256] reshape(narrow)").replace("f32[16,", "bf16[16,")
    text = text.replace("none = f32[]", "none = bf16[]").replace("low = f32[] constant(-1)", "wide = f32[16,256,256] convert(b)\n  low = f32[] constant(-1)").replace("reduce(b,", "reduce(wide,")
    text = text.replace("wide = bf16[", "wide = f32[")
    memory = t.json("mem", t.file("narrow.hlo", text))
    found = [row["computed_by"]["source"] for row in memory["live_at_peak"] if row["type"].startswith("bf16[16,256,256]") and "computed_by" in row]
    t.check("the op before the conversion", found == ["model.py:42"], str(memory["live_at_peak"][:3]))
    for path in sorted((t.shared / "golden/jax").glob("transformer_*.hlo")) if t.shared else []:
        if "source_line=" not in path.read_text(encoding="utf-8") and "StackFrames" not in path.read_text(encoding="utf-8"):
            continue
        for row in (row for row in t.json("mem", path, "--top=10")["live_at_peak"][:10] if row["name"].startswith("while") and "computed_by" in row):
            by = row["computed_by"]
            t.check(f"{path.name}: {row['name']} has an op and a line", by["name"] and by["source"] and not by["opcode"].startswith("while"), str(row))


def trial_mixed_precision(t):
    """Item 4: bounds follow the types inside the modules; the output has the bound and the error; no false alarm on goldens."""
    narrow = "HloModule a\nENTRY e {\n  x = bf16[64,256] parameter(0)\n  w = bf16[256,64] parameter(1)\n"
    dims = "lhs_contracting_dims={1}, rhs_contracting_dims={0}"
    a = t.file("narrow.hlo", narrow + f"  d = bf16[64,64] dot(x, w), {dims}\n  ROOT r = f32[64,64] convert(d)\n}}\n")
    b = t.file("wide.hlo", narrow + f"  y = f32[64,256] convert(x)\n  v = f32[256,64] convert(w)\n  ROOT r = f32[64,64] dot(y, v), {dims}\n}}\n")
    one = t.json("compare", a, b)
    t.check("bf16 inside", one and one["ok"] and one["outputs"][0]["rel_bound"] > 1e-3 and "error" in one["outputs"][0], str(one))
    wrong = t.file("wrong.hlo", b.read_text(encoding="utf-8").replace("ROOT r = f32[64,64] dot(y, v)", "d = f32[64,64] dot(y, v)").replace("\n}", "\n  two = f32[] constant(1.1)\n  s = f32[64,64] broadcast(two), dimensions={}\n  ROOT r = f32[64,64] multiply(d, s)\n}"))
    t.check("a wrong factor is found", t.run("compare", a, wrong).returncode == 1)
    for before in sorted((t.shared / "golden/jax").glob("*.before.hlo"))[:: t.stride] if t.shared else []:
        for other in ("after", "gpu"):
            path = before.with_name(before.name.replace(".before.", f".{other}."))
            if path.exists():
                done = t.run("compare", before, path)
                t.check(f"{path.name}: no false alarm", done.returncode == 0, done.stdout[-300:] + done.stderr[-300:])


def trial_messages(t):
    """A NaN, a deadlock and an unknown custom call: the Python stack, and a command that can be pasted and works."""
    tables = ('FileNames\n1 "model.py"\n2 "train.py"\n\nFunctionNames\n1 "layer"\n2 "main"\n\nFileLocations\n1 {file_name_id=1 function_name_id=1 line=12 end_line=12 column=1 end_column=2}\n'
              "2 {file_name_id=2 function_name_id=2 line=40 end_line=40 column=1 end_column=2}\n\nStackFrames\n1 {file_location_id=2 parent_frame_id=1}\n2 {file_location_id=1 parent_frame_id=2}\n\n")
    at = ', metadata={op_name="jit(f)/op" stack_frame_id=2}'
    nan = t.file("nan.hlo", f"HloModule m\n\n{tables}ENTRY e {{\n  x = f32[] constant(-1)\n  ROOT y = f32[] log(x){at}\n}}\n")
    call = t.file("call.hlo", f'HloModule m\n\n{tables}ENTRY e {{\n  ROOT y = f32[] custom-call(), custom_call_target="mine"{at}\n}}\n')
    stall = t.file("stall.hlo", f"HloModule m, replica_count=2\n\n{tables}c {{\n  x = u32[] parameter(0)\n  ROOT y = u32[] collective-permute(x), source_target_pairs={{{{0,1}}}}{at}\n}}\n"
                   "d {\n  ROOT x = u32[] parameter(0)\n}\nENTRY e {\n  i = u32[] replica-id()\n  o = u32[] constant(0)\n  p = pred[] compare(i, o), direction=GT\n"
                   "  ROOT r = u32[] conditional(p, i, i), true_computation=c, false_computation=d\n}\n")
    for path, option in ((nan, "--check-nans"), (call, "--engine=interp"), (stall, "--random_seed=1")):
        done = t.run("run", path, option)
        lines = done.stderr.splitlines()
        t.check(f"{path.name}: the stack", "    model.py:12 in layer" in lines and "    train.py:40 in main" in lines, done.stderr)
        command = [line for line in lines if line.startswith("  next: ")]
        t.check(f"{path.name}: the next command", len(command) == 1 and ": shoal " in command[0], done.stderr)
        again = command[0].rpartition(": shoal ")[2] if command else "false"
        done = subprocess.run(f"{t.binary} {again}", shell=True, cwd=t.scratch, capture_output=True, text=True, check=False)
        t.check(f"{path.name}: the next command works", done.returncode == (1 if path == nan else 0), done.stderr)
    t.check("the values were written", list((t.scratch / "dump").rglob("x.npy")) != [])


def trial_tables(t):
    """Sorted tables, the mesh as the user wrote it, two modules side by side, the change of the step time as a threshold."""
    path = t.file("spmd.hlo", PARTITIONED)
    half = t.file("half.hlo", PARTITIONED.replace("bf16[1024,", "bf16[2048,"))
    named = t.file("named.hlo", PARTITIONED.replace("x = bf16[1024,4096]{1,0} parameter(0)", "x = bf16[1024,4096]{1,0} parameter(0), sharding={mesh['fsdp'=4,'tp'=2], [{}, {}]}").replace("[1,8]<=[8]", "[2,4]<=[4,2]T(1,0)"))
    t.check("comm --sort", t.run("comm", path, "--sort=payload").returncode == 0 and t.run("cost", path, "--sort=flops").returncode == 0)
    t.check("names of axes", "fsdp=4" in t.run("comm", named).stdout and "(1)" not in t.run("comm", named).stdout, t.run("comm", named).stdout)
    text = t.run("time", path, half, "--on=h100x8").stdout
    t.check("time A B", "change" in text and "step" in text, text)
    done = t.run("diff", path, half, "--on=h100x8", "--threshold=step_seconds<=+2%")
    t.check("diff --on", done.returncode == 3 and "step_seconds" in done.stdout, done.stdout + done.stderr)


def trial_profiles(t):
    """Item 5: library kernels belong to their calls; a profile of another program is an error."""
    if not t.shared:
        return
    folder = t.shared / "golden/h200_traces"
    against = lambda a, b: ("time", folder / f"{a}.hlo", "--on=h200", f"--against={folder / b}.xplane.pb")
    for path in sorted(folder.glob("*.hlo")):
        one = t.json(*against(path.stem, path.stem))
        t.check(f"{path.stem}: the profile is matched", one and one["against"]["matched_share"] > .95)
    one = t.json(*against("transformer_train_d1024", "transformer_train_d1024"))
    calls = {op["name"]: op["measured_seconds"] for op in one["against"]["ops"]}
    t.check("two calls of 640 us", all(calls[name] > 4e-4 for name in ("custom-call.18", "custom-call.19")), str({k: v for k, v in calls.items() if k.startswith("custom")}))
    done = t.run(*against("softmax_layernorm", "mnist_train"))
    t.check("another program's profile", done.returncode == 2 and "not a profile of" in done.stderr, done.stderr)


def trial_utilization(t):
    """Item 6: MFU does not count recomputation, HFU does; machines state their accuracy."""
    text = ONE_DEVICE.replace("ROOT d", "d").replace("\n}\n", """
  d2 = f32[256,256] dot(x, x), lhs_contracting_dims={0}, rhs_contracting_dims={0}, metadata={op_name="jit(f)/rematted_computation/dot"}
  ROOT r = (f32[256,256], f32[256,256]) tuple(d, d2)
}
""")
    one = t.json("time", t.file("remat.hlo", text), "--on=h100")
    t.check("half of the products are recomputed", abs(one["hfu"] / one["mfu"] - 2) < 1e-6, f"{one['mfu']} {one['hfu']}")
    t.check("accuracy", "accuracy:" in t.run("machines", "h100").stdout and one["accuracy"])


def trial_opt_and_time(t):
    """Item 7: the output of opt --communication takes the time that `time` predicts for its input."""
    paths = [t.file("spmd.hlo", PARTITIONED)]
    if t.shared:
        paths += sorted((t.shared / "golden/jax").glob("*.spmd.hlo"))
    for path in paths:
        out = t.scratch / "scheduled.hlo"
        t.run("opt", path, "--communication", "-o", out)
        a, b = t.json("time", path, "--on=h100x8"), t.json("time", out, "--on=h100x8")
        if a and b:
            t.check(f"{path.name} has a schedule", b["schedule"] == "module" and not b["backend_mismatch"])
            # The steps of the goldens are bound by launches: a scheduled module also launches kernels for the conditions of
            # loops and for slices that the estimate takes as parts of their users.
            limit = 1.05 if path == paths[0] else 1.4
            t.check(f"{path.name} has the same time", 1 / limit < b["step_seconds"] / a["step_seconds"] < limit, f"{a['step_seconds']} {b['step_seconds']}")


def trial_inputs(t):
    """Item 9: a compiled module without shardings gets equal inputs; --shardings-from splits those of the original."""
    text = CPU_DUMP.replace("4096", "64").replace("1024", "32").replace("512", "8")
    done = t.run("run", t.file("small.hlo", text))
    t.check("the same inputs on all devices", "every device gets the same inputs" in done.stderr, done.stderr)
    before = ("HloModule before\nENTRY e {\n  x = bf16[32,64] parameter(0), sharding={replicated}\n"
              "  w = bf16[64,64] parameter(1), sharding={devices=[8,1]<=[8]}\n"
              "  ROOT y = bf16[32,64] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n}\n")
    done = t.run("run", t.file("small.hlo", text), "--shardings-from", t.file("before.hlo", before))
    t.check("split by the shardings of the original", done.returncode == 0 and "split by the shardings" in done.stderr, done.stderr)


def trial_exit_status(t):
    """Item 10: a threshold that is exceeded, invalid input and a wrong command line have different statuses."""
    a = t.file("a.hlo", ONE_DEVICE)
    b = t.file("b.hlo", ONE_DEVICE.replace("256", "512"))
    bad = t.file("bad.hlo", ONE_DEVICE.replace("dot(x, x)", "dot(x, y)"))
    t.check("threshold", t.run("diff", a, b, "--threshold=flops<=+2%").returncode == 3)
    t.check("satisfied", t.run("diff", a, a, "--threshold=flops<=+2%").returncode == 0)
    t.check("input", t.run("diff", a, bad, "--threshold=flops<=+2%").returncode == 1)
    t.check("command line", t.run("diff", a, b, "--threshold=flop<=+2%").returncode == 2)
    t.check("budget", t.run("mem", a, "--budget=1KB").returncode == 3)


def trial_mpi_appears(t):
    """Item 11: a build without MPI is not fresh once MPI is installed."""
    script = ("set -u; root=$1; . tools/build.sh; d=$2; mkdir -p $d; touch $d/build.ninja $d/.fresh $d/shoal; chmod +x $d/shoal;"
              "has_mpi() { return 1; }; mpi_appeared $d; a=$?; has_mpi() { return 0; }; mpi_appeared $d; b=$?; touch $d/.with-mpi; mpi_appeared $d; echo $a $b $?")
    done = subprocess.run(["bash", "-c", script, "bash", ROOT, t.scratch / "build"], cwd=ROOT, capture_output=True, text=True, check=False)
    t.check("mpi_appeared", done.stdout.split() == ["1", "0", "1"], done.stdout + done.stderr)


def trial_command_line(t):
    """Misspelled names are answered with the right one; help, completions, man pages and machine files work."""
    path = t.file("one.hlo", ONE_DEVICE)
    for arguments, words in ((("shwo", path), "did you mean 'show'"), (("run", "--hlep"), "did you mean '--help'"),
                             (("time", path, "--on=mi300x8x2"), "did you mean 'mi300xx8x2'"), (("time", path, "--on=h100x8x"), "unknown machine"),
                             (("time", path, "--on=h100x8", "--set", "nic=5"), "add the unit"), (("opt",), "FILE is required"),
                             (("show", t.scratch), "shoal stats"), (("show", "--depth=-1", path), "--depth"),
                             (("opt", path, "--passes=fuse-loop"), "did you mean 'fuse-loops'"),
                             (("show", t.file("a.py", "import jax\n")), "Python"), (("show", t.file("a.jaxpr", "{ lambda ; a:f32[]. let b = sin a in (b,) }")), "jaxpr")):
        done = t.run(*arguments)
        t.check(" ".join(map(str, arguments[:2])), done.returncode != 0 and words in done.stderr, done.stderr)
    t.check("--check_nans and --check-nans", all(t.run("run", path, f"--check{c}nans").returncode == 0 for c in "_-"))
    t.check("help VERB", t.run("help", "time").stdout == t.run("time", "--help").stdout != "")
    bash = t.file("shoal.bash", t.run("completion", "bash").stdout)
    done = subprocess.run(["bash", "-c", f". {bash}; COMP_WORDS=(shoal time --ex); COMP_CWORD=2; _shoal; echo ${{COMPREPLY[@]}}"], capture_output=True, text=True, check=False)
    t.check("bash completes options", done.stdout.split() == ["--explain"], done.stdout + done.stderr)
    t.check("man page", ".SH OPTIONS" in t.run("man", "time").stdout and "sweep" in t.run("man", "time").stdout)
    rows = t.run("machines", "h100").stdout
    t.check("figures of machines have their size", "0.00" not in rows and "0flop" not in rows and re.search(r"launch_overhead +6.00 us", rows), rows)
    mine = t.file("h100.yaml", t.run("machines", "h100", "--yaml").stdout)
    a, b = t.json("time", path, "--on=h100"), t.json("time", path, f"--on={mine}")
    t.check("machines --yaml reads back", b and a["step_seconds"] == b["step_seconds"])
    based = t.file("based.yaml", "name: mine\nbase: h100\ndevice:\n  bandwidth: 100 GB/s\n")
    slower = t.json("time", path, f"--on={based}")
    t.check("base", slower and slower["step_seconds"] >= a["step_seconds"], t.run("time", path, f"--on={based}").stderr)
    done = t.run("time", path, f"--on={t.file('bad.yaml', 'name: mine' + chr(10) + 'base: h100' + chr(10) + 'device:' + chr(10) + '  bandwith: 1 GB/s' + chr(10))}")
    t.check("unknown key", "did you mean 'device.bandwidth'" in done.stderr, done.stderr)


def page_step_seconds(path):
    """The step times that a page shows for its first module."""
    data = re.search(r"id=shoal-data>([^<]*)<", path.read_text(encoding="utf-8"))
    sections = container.unpack(data[1])[2]
    return [machine["step_seconds"] for machine in json.loads(sections["a.about"].split(b"\0")[0])["machines"]]


def trial_invariants(t):
    """Predictions of all modules: exposed time, sums, bandwidth, the same step time everywhere, mismatches reported."""
    if not t.shared:
        return
    paths = sorted(p for folder in ("golden", "corpus") for p in (t.shared / folder).rglob("*.hlo"))[:: t.stride]
    for path in paths:
        tpu = "T(" in path.read_text(encoding="utf-8", errors="replace")[:200_000]
        for machine in TPU_MACHINES if tpu else GPU_MACHINES:
            one = t.json("time", path, f"--on={machine}")
            if one is None:
                continue  # in global form, too large for the machine, or not a module
            name = f"{path.relative_to(t.shared)} on {machine}"
            for each in one["collectives"]:
                t.check(f"{name}: exposed <= total", each["exposed_seconds"] <= each["seconds"] * (1 + EPSILON) + 1e-15, str(each))
            total = sum(one["kinds"].values())
            t.check(f"{name}: the parts add up", abs(total - one["step_seconds"]) <= EPSILON * max(total, 1e-12), f"{total} {one['step_seconds']}")
            exposed = sum(each["exposed_seconds"] for each in one["collectives"]) + one["late_seconds"]
            waited = one["kinds"]["communication"] + one["kinds"]["copy"]
            t.check(f"{name}: exposed times add up", abs(exposed - waited) <= 1e-6 * max(waited, 1e-9), f"{exposed} {waited}")
            t.check(f"{name}: hfu >= mfu", one["hfu"] >= one["mfu"] >= 0)
            wanted = "tpu" if machine.startswith("tpu") else "gpu"
            scheduled_elsewhere = one["backend"]["name"] != wanted and (one["backend"]["evident"] or one["backend"]["name"] == "cpu")
            t.check(f"{name}: a mismatch is reported", bool(one["backend_mismatch"]) == scheduled_elsewhere, str(one["backend"]))
        machine = (TPU_MACHINES if tpu else GPU_MACHINES)[0]
        parameters = t.json("machines", machine)["machines"][0]["parameters"]
        faster = t.json("time", path, f"--on={machine}", "--set", f"device.bandwidth={2 * parameters['device.bandwidth']['value']}")
        one = t.json("time", path, f"--on={machine}")
        if one and faster:
            t.check(f"{path.name}: more bandwidth is not slower", faster["step_seconds"] <= one["step_seconds"] * (1 + 1e-6), f"{one['step_seconds']} {faster['step_seconds']}")
            page = t.json("report", path, f"--on={machine}", "-o", t.scratch / "page.html")
            t.check(f"{path.name}: report has the same step time", page and [p["step_seconds"] for p in page["predictions"]] == [one["step_seconds"]])
            t.check(f"{path.name}: the page has the same step time", page_step_seconds(t.scratch / "page.html") == [one["step_seconds"]])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("shared", type=pathlib.Path, nargs="?")
    parser.add_argument("--bin", type=pathlib.Path, default=ROOT / "build/shoal")
    parser.add_argument("--stride", type=int, default=1, help="check the invariants on every Nth module")
    parser.add_argument("--only", default="", help="run only the trials whose name contains this")
    options = parser.parse_args()
    t = Trial(options.bin.resolve(), options.shared and options.shared.resolve(), options.stride)
    for name, function in list(globals().items()):
        if name.startswith("trial_") and options.only in name:
            function(t)
    print(f"{t.passed} passed, {t.failed} failed")
    return 1 if t.failed or not t.passed else 0


if __name__ == "__main__":
    sys.exit(main())
