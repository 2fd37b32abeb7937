#!/usr/bin/env python3
"""Shows that what the reading verbs take grows linearly with the module: 4, 40 and 400 MB of text, made by repeating
layers.

    bench/linear.py [--sizes 4 40 400] [--verbs show cost …] [--bin build/shoal]

A layer is a loop with an async all-gather, a product and an all-reduce, a fusion and a conditional, 4 KB of text, each
with computations of its own. In the modules called "alike" all layers are the same but for names; in those called
"varied" each has one of many widths, so that nothing can be folded. For each verb and size it prints seconds of
processor time, those per MB as a multiple of the smallest module's, and the peak memory per byte of text. Ratios that
stay near 1 are what is promised; nothing here fails.
"""
import argparse
import os
import pathlib
import random
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
VERBS = ("print", "show", "comm", "cost", "mem", "diff")

LAYER = """
%cond.{i} (s: (s32[], f32[{w},64], f32[64,64])) -> pred[] {{
  %s = (s32[], f32[{w},64]{{1,0}}, f32[64,64]{{1,0}}) parameter(0)
  %i = s32[] get-tuple-element(%s), index=0
  %n = s32[] constant(12)
  ROOT %lt = pred[] compare(%i, %n), direction=LT
}}

%fused.{i} (x: f32[{w},64], y: f32[{w},64]) -> f32[{w},64] {{
  %x = f32[{w},64]{{1,0}} parameter(0)
  %y = f32[{w},64]{{1,0}} parameter(1)
  %e = f32[{w},64]{{1,0}} exponential(%x)
  %m = f32[{w},64]{{1,0}} multiply(%e, %y)
  %zero = f32[] constant(0)
  %zeros = f32[{w},64]{{1,0}} broadcast(%zero), dimensions={{}}
  ROOT %r = f32[{w},64]{{1,0}} maximum(%m, %zeros)
}}

%body.{i} (s: (s32[], f32[{w},64], f32[64,64])) -> (s32[], f32[{w},64], f32[64,64]) {{
  %s = (s32[], f32[{w},64]{{1,0}}, f32[64,64]{{1,0}}) parameter(0)
  %i = s32[] get-tuple-element(%s), index=0
  %x = f32[{w},64]{{1,0}} get-tuple-element(%s), index=1
  %part = f32[64,64]{{1,0}} get-tuple-element(%s), index=2
  %start = (f32[64,64]{{1,0}}, f32[256,64]{{1,0}}) all-gather-start(%part), channel_id={c1}, replica_groups={{{{0,1,2,3}},{{4,5,6,7}}}}, dimensions={{0}}, use_global_device_ids=true, metadata={{op_name="jit(step)/layer_{i}/while/body/all_gather" source_file="/home/user/model/layers.py" source_line=41}}
  %fusion.{i} = f32[{w},64]{{1,0}} fusion(%x, %x), kind=kLoop, calls=%fused.{i}, metadata={{op_name="jit(step)/layer_{i}/while/body/act" source_file="/home/user/model/layers.py" source_line=43}}
  %done = f32[256,64]{{1,0}} all-gather-done(%start)
  %own = f32[64,64]{{1,0}} slice(%done), slice={{[0:64], [0:64]}}
  %dot = f32[{w},64]{{1,0}} dot(%fusion.{i}, %own), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}, metadata={{op_name="jit(step)/layer_{i}/while/body/dot_general" source_file="/home/user/model/layers.py" source_line=44}}
  %sum = f32[{w},64]{{1,0}} all-reduce(%dot), channel_id={c2}, replica_groups=[4,2]<=[2,4]T(1,0), use_global_device_ids=true, to_apply=%add, metadata={{op_name="jit(step)/layer_{i}/while/body/psum" source_file="/home/user/model/layers.py" source_line=45}}
  %one = s32[] constant(1)
  %next = s32[] add(%i, %one)
  ROOT %t = (s32[], f32[{w},64]{{1,0}}, f32[64,64]{{1,0}}) tuple(%next, %sum, %part)
}}

%then.{i} (x: f32[{w},64]) -> f32[{w},64] {{
  %x = f32[{w},64]{{1,0}} parameter(0)
  ROOT %n = f32[{w},64]{{1,0}} negate(%x)
}}

%else.{i} (x: f32[{w},64]) -> f32[{w},64] {{
  ROOT %x = f32[{w},64]{{1,0}} parameter(0)
}}
"""

CALLS = """  %widen.{i} = f32[{w},64]{{1,0}} {widen}
  %state.{i} = (s32[], f32[{w},64]{{1,0}}, f32[64,64]{{1,0}}) tuple(%zero, %widen.{i}, %w)
  %loop.{i} = (s32[], f32[{w},64]{{1,0}}, f32[64,64]{{1,0}}) while(%state.{i}), condition=%cond.{i}, body=%body.{i}, metadata={{op_name="jit(step)/layer_{i}/while" source_file="/home/user/model/layers.py" source_line=40}}
  %y.{i} = f32[{w},64]{{1,0}} get-tuple-element(%loop.{i}), index=1
  %r.{i} = f32[{w},64]{{1,0}} conditional(%p, %y.{i}, %y.{i}), true_computation=%then.{i}, false_computation=%else.{i}
"""


def write_module(path, megabytes, varied):
    """Layers until the text is as long as asked for; returns their number."""
    rng = random.Random(0)
    size, count = 0, 0
    widths = []
    with open(path, "w", encoding="utf-8") as out:
        out.write("HloModule step, is_scheduled=true, num_partitions=8\n\n"
                  "%add (a: f32[], b: f32[]) -> f32[] {\n  %a = f32[] parameter(0)\n  %b = f32[] parameter(1)\n"
                  "  ROOT %c = f32[] add(%a, %b)\n}\n")
        calls = []
        while size < megabytes * 1e6:
            width = rng.randrange(64, 4096) if varied else 128
            before = widths[-1] if widths else 128
            source = f"%r.{count - 1}" if count else "%x"
            widen = f"copy({source})"
            if width > before:
                widen = f"pad({source}, %f), padding=0_{width - before}x0_0"
            elif width < before:
                widen = f"slice({source}), slice={{[0:{width}], [0:64]}}"
            names = {"i": count, "w": width, "c1": 2 * count + 1, "c2": 2 * count + 2, "widen": widen}
            layer = LAYER.format(**names)
            out.write(layer)
            calls.append(CALLS.format(**names))
            widths.append(width)
            size += len(layer) + len(calls[-1])
            count += 1
        out.write(f"\nENTRY %main (x: f32[128,64], w: f32[64,64], p: pred[]) -> f32[{widths[-1]},64] {{\n"
                  "  %x = f32[128,64]{1,0} parameter(0)\n  %w = f32[64,64]{1,0} parameter(1)\n  %p = pred[] parameter(2)\n"
                  "  %zero = s32[] constant(0)\n  %f = f32[] constant(0)\n")
        out.writelines(calls)
        out.write(f"  ROOT %out = f32[{widths[-1]},64]{{1,0}} copy(%r.{count - 1})\n}}\n")
    return count


def measure(command):
    """Seconds of processor time and peak bytes of a command, or why there are none."""
    with open(os.devnull, "wb") as nowhere:
        child = subprocess.Popen(command, stdout=nowhere, stderr=subprocess.PIPE)
        message = child.stderr.read()
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        return None, (message.decode(errors="replace").strip().splitlines() or ["no message"])[0]
    return (usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024), ""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=pathlib.Path, default=ROOT / "build/shoal")
    parser.add_argument("--sizes", type=float, nargs="+", default=[4, 40, 400], metavar="MB")
    parser.add_argument("--verbs", nargs="+", default=VERBS)
    options = parser.parse_args()
    if not options.bin.exists():
        sys.exit(f"linear.py: {options.bin} is not there")
    known = subprocess.run([options.bin, "--help"], capture_output=True, text=True, check=True).stdout
    verbs = [verb for verb in options.verbs if f"\n  {verb} " in known]
    print(f"{'module':8}{'verb':7}{'MB':>7}{'seconds':>9}{'ratio':>7}{'bytes/byte':>12}")
    with tempfile.TemporaryDirectory() as folder:
        first = {}
        for size in options.sizes:
            for kind in ("alike", "varied"):
                path = os.path.join(folder, f"{kind}.hlo")
                write_module(path, size, kind == "varied")
                length = os.path.getsize(path)
                for verb in verbs:
                    files = [path, path] if verb == "diff" else [path]
                    figures, failure = measure([options.bin, verb, *files])
                    if figures is None:
                        print(f"{kind:8}{verb:7}{length / 1e6:7.0f}  failed: {failure}", flush=True)
                        continue
                    seconds, peak = figures
                    base = first.setdefault((kind, verb), seconds / length)
                    print(f"{kind:8}{verb:7}{length / 1e6:7.0f}{seconds:9.2f}{seconds / length / base:7.2f}"
                          f"{peak / length:12.2f}", flush=True)
                os.remove(path)
    return 0


if __name__ == "__main__":
    sys.exit(main())
