#!/usr/bin/env python3
"""Compares the engine's array functions (dots, convolutions, data movement, sorts) with the interpreter, on arrays
large enough to be split into tasks. Values must be equal up to the rounding of sums; the number of threads must not
change a bit.

    tests/library.py [--bin build/shoal] [--only TEXT]
"""
import argparse
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parent.parent
NUMPY = {"f32": np.float32, "f64": np.float64, "s32": np.int32, "s64": np.int64, "s8": np.int8, "u8": np.uint8,
         "u32": np.uint32, "bf16": np.uint16, "f16": np.float16, "pred": np.bool_, "s16": np.int16, "c64": np.complex64}

FUNCTIONS = """
add.f32 { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = f32[] add(a, b) }
add.bf16 { a = bf16[] parameter(0)
  b = bf16[] parameter(1)
  ROOT r = bf16[] add(a, b) }
add.s32 { a = s32[] parameter(0)
  b = s32[] parameter(1)
  ROOT r = s32[] add(a, b) }
max.f32 { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = f32[] maximum(a, b) }
set.f32 { a = f32[] parameter(0)
  ROOT r = f32[] parameter(1) }
less.f32 { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = pred[] compare(a, b), direction=LT }
greater.s32 { a = s32[] parameter(0)
  b = s32[] parameter(1)
  c = f32[] parameter(2)
  d = f32[] parameter(3)
  ROOT r = pred[] compare(a, b), direction=GT }
two_keys { a = s32[] parameter(0)
  b = s32[] parameter(1)
  c = f32[] parameter(2)
  d = f32[] parameter(3)
  first = pred[] compare(a, b), direction=LT
  tie = pred[] compare(a, b), direction=EQ
  second = pred[] compare(c, d), direction=GT, type=TOTALORDER
  both = pred[] and(tie, second)
  ROOT r = pred[] or(first, both) }
"""


def conv(x, w, out, window, labels, more=""):
    return ([x, w], f"{out} convolution(p0, p1), window={{{window}}}, dim_labels={labels}{more}")


# name -> (shapes of the parameters, the instruction); a parameter "s32[8]<100" has elements in [0, 100).
CASES = {
    "dot": (["f32[300,200]", "f32[200,250]"], "f32[300,250] dot(p0, p1), lhs_contracting_dims={1}, rhs_contracting_dims={0}"),
    "dot_tn": (["f32[200,300]", "f32[200,250]"], "f32[300,250] dot(p0, p1), lhs_contracting_dims={0}, rhs_contracting_dims={0}"),
    "dot_nt": (["f32[300,200]", "f32[250,200]"], "f32[300,250] dot(p0, p1), lhs_contracting_dims={1}, rhs_contracting_dims={1}"),
    "dot_deep": (["f32[40000,24]", "f32[40000,30]"], "f32[24,30] dot(p0, p1), lhs_contracting_dims={0}, rhs_contracting_dims={0}"),
    "dot_row": (["f32[1,1000]", "f32[1000,1111]"], "f32[1,1111] dot(p0, p1), lhs_contracting_dims={1}, rhs_contracting_dims={0}"),
    "dot_three_rows": (["f32[3,1000]", "f32[1111,1000]"], "f32[3,1111] dot(p0, p1), lhs_contracting_dims={1}, rhs_contracting_dims={1}"),
    "dot_column": (["f32[1111,1000]", "f32[1000]"], "f32[1111] dot(p0, p1), lhs_contracting_dims={1}, rhs_contracting_dims={0}"),
    "dot_small": (["f32[700,20,24]", "f32[700,24,21]"], "f32[700,20,21] dot(p0, p1), lhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_batch_dims={0}, rhs_contracting_dims={1}"),
    "dot_small_nt": (["f32[90,37,33]", "f32[90,35,33]"], "f32[90,37,35] dot(p0, p1), lhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_batch_dims={0}, rhs_contracting_dims={2}"),
    "dot_inner_batch": (["f32[40,6,32]", "f32[40,6,32]"], "f32[6,40,40] dot(p0, p1), lhs_batch_dims={1}, lhs_contracting_dims={2}, rhs_batch_dims={1}, rhs_contracting_dims={2}"),
    "dot_apart": (["f32[16,20,24]", "f32[16,24,30]"], "f32[20,30] dot(p0, p1), lhs_contracting_dims={0,2}, rhs_contracting_dims={0,1}"),
    "dot_copied": (["f32[16,20,24]", "f32[20,50]"], "f32[16,24,50] dot(p0, p1), lhs_contracting_dims={1}, rhs_contracting_dims={0}"),
    "dot_bf16": (["bf16[150,200]", "bf16[200,180]"], "bf16[150,180] dot(p0, p1), lhs_contracting_dims={1}, rhs_contracting_dims={0}"),
    "dot_bf16_row": (["bf16[1,1000]", "bf16[1000,1200]"], "f32[1,1200] dot(p0, p1), lhs_contracting_dims={1}, rhs_contracting_dims={0}"),
    "dot_bf16_column": (["bf16[1200,1000]", "bf16[1000]"], "bf16[1200] dot(p0, p1), lhs_contracting_dims={1}, rhs_contracting_dims={0}"),
    "dot_s8": (["s8[100,900]", "s8[900,130]"], "s32[100,130] dot(p0, p1), lhs_contracting_dims={1}, rhs_contracting_dims={0}"),
    "dot_u8": (["u8[100,600]", "u8[130,600]"], "s32[100,130] dot(p0, p1), lhs_contracting_dims={1}, rhs_contracting_dims={1}"),
    "dot_s32": (["s32[130,90]", "s32[90,75]"], "s32[130,75] dot(p0, p1), lhs_contracting_dims={1}, rhs_contracting_dims={0}"),
    "dot_f64": (["f64[130,90]", "f64[90,75]"], "f64[130,75] dot(p0, p1), lhs_contracting_dims={1}, rhs_contracting_dims={0}"),
    "conv": conv("f32[6,20,20,16]", "f32[3,3,16,24]", "f32[6,20,20,24]", "size=3x3 pad=1_1x1_1", "b01f_01io->b01f"),
    "conv_image": conv("f32[1,40,40,16]", "f32[3,3,16,24]", "f32[1,40,40,24]", "size=3x3 pad=1_1x1_1", "b01f_01io->b01f"),
    "conv_stride": conv("f32[3,21,21,8]", "f32[3,3,8,24]", "f32[3,11,11,24]", "size=3x3 stride=2x2 pad=1_1x1_1", "b01f_01io->b01f"),
    "conv_unused": conv("f32[3,22,22,8]", "f32[3,3,8,24]", "f32[3,7,7,24]", "size=3x3 stride=3x3", "b01f_01io->b01f"),
    "conv_cropped": conv("f32[3,22,22,8]", "f32[3,3,8,24]", "f32[3,17,16,24]", "size=3x3 pad=-2_-1x-1_-3", "b01f_01io->b01f"),
    "conv_dilated": conv("f32[3,22,22,8]", "f32[3,3,8,24]", "f32[3,18,18,24]", "size=3x3 rhs_dilate=2x2", "b01f_01io->b01f"),
    "conv_nchw": conv("f32[3,8,22,22]", "f32[24,8,3,3]", "f32[3,24,20,20]", "size=3x3", "bf01_oi01->bf01"),
    "conv_reversed": conv("f32[3,22,22,8]", "f32[3,3,8,24]", "f32[3,20,20,24]", "size=3x3 rhs_reversal=1x1", "b01f_01io->b01f"),
    "conv_groups": conv("f32[3,22,22,8]", "f32[3,3,4,24]", "f32[3,20,20,24]", "size=3x3", "b01f_01io->b01f", ", feature_group_count=2"),
    "conv_depthwise": conv("f32[3,22,22,16]", "f32[3,3,1,32]", "f32[3,20,20,32]", "size=3x3", "b01f_01io->b01f", ", feature_group_count=16"),
    "conv_holes": conv("f32[3,11,11,8]", "f32[3,3,8,24]", "f32[3,22,22,24]", "size=3x3 pad=1_2x1_2 lhs_dilate=2x2", "b01f_01io->b01f"),
    "conv_holes_groups": conv("f32[3,11,11,8]", "f32[3,3,4,24]", "f32[3,22,22,24]", "size=3x3 pad=1_2x1_2 lhs_dilate=2x2", "b01f_01io->b01f", ", feature_group_count=2"),
    "conv_holes_far": conv("f32[3,11,11,8]", "f32[3,3,8,24]", "f32[3,31,31,24]", "size=3x3 pad=6_6x6_6 lhs_dilate=2x2", "b01f_01io->b01f"),
    "conv_weights": conv("f32[6,20,20,16]", "f32[6,20,20,24]", "f32[3,3,16,24]", "size=20x20 pad=1_1x1_1", "f01b_i01o->01bf"),
    "conv_weights_stride": conv("f32[6,21,21,16]", "f32[6,11,11,24]", "f32[3,3,16,24]", "size=11x11 pad=1_1x1_1 rhs_dilate=2x2", "f01b_i01o->01bf"),
    "conv_batch_groups": conv("f32[6,20,20,16]", "f32[6,20,20,16]", "f32[3,3,1,16]", "size=20x20 pad=1_1x1_1", "f01b_i01o->01bf", ", batch_group_count=16"),
    "conv_1d": conv("f32[4,100,16]", "f32[5,16,24]", "f32[4,96,24]", "size=5", "b0f_0io->b0f"),
    "conv_3d": conv("f32[2,9,10,11,6]", "f32[3,3,3,6,8]", "f32[2,7,8,9,8]", "size=3x3x3", "b012f_012io->b012f"),
    "conv_bf16": conv("bf16[3,22,22,8]", "bf16[3,3,8,24]", "bf16[3,20,20,24]", "size=3x3", "b01f_01io->b01f"),
    "conv_f64": conv("f64[3,22,22,8]", "f64[3,3,8,24]", "f64[3,20,20,24]", "size=3x3", "b01f_01io->b01f"),
    "gather_rows": (["f32[900,70]", "s32[3000,1]<1000"], "f32[3000,70] gather(p0, p1), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,70}"),
    "gather_part": (["f32[900,70]", "s64[3000,2]<900"], "f32[3000,2,30] gather(p0, p1), offset_dims={1,2}, collapsed_slice_dims={}, start_index_map={0,1}, index_vector_dim=1, slice_sizes={2,30}"),
    "gather_columns": (["f32[90,700]", "s32[500]<700"], "f32[90,500] gather(p0, p1), offset_dims={0}, collapsed_slice_dims={1}, start_index_map={1}, index_vector_dim=1, slice_sizes={90,1}"),
    "gather_elements": (["bf16[90,700]", "u32[40000,2]<700"], "bf16[40000] gather(p0, p1), offset_dims={}, collapsed_slice_dims={0,1}, start_index_map={0,1}, index_vector_dim=1, slice_sizes={1,1}"),
    "gather_middle": (["f32[50,60]", "s32[30,40]<50"], "f32[30,60,40] gather(p0, p1), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=2, slice_sizes={1,60}"),
    "gather_batched": (["f32[40,500]", "s32[40,300,1]<500"], "f32[40,300] gather(p0, p1), offset_dims={}, collapsed_slice_dims={1}, start_index_map={1}, operand_batching_dims={0}, start_indices_batching_dims={0}, index_vector_dim=2, slice_sizes={1,1}"),
    "scatter_add": (["f32[500,70]", "s32[3000,1]<520", "f32[3000,70]"], "f32[500,70] scatter(p0, p1, p2), update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add.f32"),
    "scatter_bf16": (["bf16[50,70]", "s32[300,1]<50", "bf16[300,70]"], "bf16[50,70] scatter(p0, p1, p2), update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add.bf16"),
    "scatter_max": (["f32[500,70]", "s64[3000,1]<500", "f32[3000,70]"], "f32[500,70] scatter(p0, p1, p2), update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=max.f32"),
    "scatter_set": (["f32[500,70]", "s32[300,1]<500", "f32[300,70]"], "f32[500,70] scatter(p0, p1, p2), update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=set.f32"),
    "scatter_overlapping": (["f32[500,70]", "s32[900,2]<500", "f32[900,3,30]"], "f32[500,70] scatter(p0, p1, p2), update_window_dims={1,2}, inserted_window_dims={}, scatter_dims_to_operand_dims={0,1}, index_vector_dim=1, to_apply=add.f32"),
    "scatter_turned": (["f32[500,70]", "s32[300]<500", "f32[70,300]"], "f32[500,70] scatter(p0, p1, p2), update_window_dims={0}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add.f32"),
    "histogram": (["s32[100]", "s32[50000,1]<100", "s32[50000]"], "s32[100] scatter(p0, p1, p2), update_window_dims={}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add.s32"),
    "concatenate": (["f32[300,200]", "f32[300,100]", "f32[300,7]"], "f32[300,307] concatenate(p0, p1, p2), dimensions={1}"),
    "concatenate_first": (["bf16[300,200]", "bf16[5,200]"], "bf16[305,200] concatenate(p0, p1), dimensions={0}"),
    "pad": (["f32[300,200]", "f32[]"], "f32[303,201] pad(p0, p1), padding=1_2x3_-2"),
    "pad_interior": (["s16[70,80]", "s16[]"], "s16[141,239] pad(p0, p1), padding=0_2_1x1_0_2"),
    "pad_cut": (["f32[70,80]", "f32[]"], "f32[135,156] pad(p0, p1), padding=-3_-1_1x-2_-1_1"),
    "dynamic_slice": (["f32[300,400]", "s32[]<200", "s32[]<900"], "f32[250,333] dynamic-slice(p0, p1, p2), dynamic_slice_sizes={250,333}"),
    "dynamic_update": (["f32[300,400]", "f32[250,333]", "s32[]<200", "s32[]<900"], "f32[300,400] dynamic-update-slice(p0, p1, p2, p3)"),
    "transpose": (["f32[300,401]"], "f32[401,300] transpose(p0), dimensions={1,0}"),
    "transpose_3d": (["bf16[30,40,50]"], "bf16[50,30,40] transpose(p0), dimensions={2,0,1}"),
    "transpose_bytes": (["s8[4,130,70]"], "s8[4,70,130] transpose(p0), dimensions={0,2,1}"),
    "transpose_heads": (["f32[4,50,6,16]"], "f32[4,6,50,16] transpose(p0), dimensions={0,2,1,3}"),
    "sort": (["f32[5000]"], "f32[5000] sort(p0), dimensions={0}, is_stable=true, to_apply=less.f32"),
    "sort_columns": (["f32[300,40]"], "f32[300,40] sort(p0), dimensions={0}, is_stable=true, to_apply=less.f32"),
    "sort_pairs": (["s32[20,900]<50", "f32[20,900]"], "(s32[20,900], f32[20,900]) sort(p0, p1), dimensions={1}, is_stable=true, to_apply=greater.s32"),
    "sort_unstable": (["s32[20,900]<50", "f32[20,900]"], "(s32[20,900], f32[20,900]) sort(p0, p1), dimensions={1}, to_apply=greater.s32"),
    "sort_two_keys": (["s32[20,900]<50", "f32[20,900]"], "(s32[20,900], f32[20,900]) sort(p0, p1), dimensions={1}, is_stable=true, to_apply=two_keys"),
    "topk": (["f32[60,700]"], "(f32[60,9], s32[60,9]) topk(p0), k=9, largest=true"),
    "topk_least": (["s32[60,700]<100"], "(s32[60,90], s32[60,90]) topk(p0), k=90, largest=false"),
    "rfft": (["f32[61,128]"], "c64[61,65] fft(p0), fft_type=RFFT, fft_length={128}"),
    "irfft": (["c64[61,66]"], "f32[61,130] fft(p0), fft_type=IRFFT, fft_length={130}"),
    "fft_2d": (["c64[5,30,36]"], "c64[5,30,36] fft(p0), fft_type=FFT, fft_length={30,36}"),
    "ifft_prime": (["c64[50,202]"], "c64[50,202] fft(p0), fft_type=IFFT, fft_length={202}"),
}


def parse(shape):
    shape, _, limit = shape.partition("<")
    kind, _, dims = shape.rstrip("]").partition("[")
    return shape, kind, tuple(int(d) for d in dims.split(",") if d), int(limit or 0)


def argument(r, kind, dims, limit):
    if kind == "bf16":
        return (r.standard_normal(dims).astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)
    dtype = NUMPY[kind]
    if np.dtype(dtype).kind in "iu":
        low = 0 if limit or np.dtype(dtype).kind == "u" else -100
        return r.integers(low, limit or 200 if dtype != np.int8 else 100, dims).astype(dtype)
    if kind == "c64":
        return (r.standard_normal(dims) + 1j * r.standard_normal(dims)).astype(dtype)
    return r.standard_normal(dims).astype(dtype)


def run(options, folder, hlo, engine, threads, out):
    command = [options.bin, "run", hlo, f"--engine={engine}", f"--inputs={folder / 'in'}", f"--outputs={out}"]
    if threads:
        command.append(f"--threads={threads}")
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    if done.returncode != 0:
        raise RuntimeError(f"{engine}: {done.stdout[-300:]}{done.stderr[-600:]}")
    return [np.load(path) for path in sorted((out / "d0").iterdir())]


def numbers(array, kind):
    if kind == "bf16":
        return (array.view(np.uint16).astype(np.uint32) << 16).view(np.float32)
    return array


def differs(kind, sums, expected, found):
    """The difference of `found`, or "". Only sums of floats may differ, by rounding."""
    if not sums or kind in ("s32", "s8", "u8", "s16", "pred"):
        return "" if expected.tobytes() == found.tobytes() else "values differ from the interpreter's"
    bound = {"bf16": 2e-2, "f16": 4e-3, "f64": 1e-12}.get(kind, 2e-5)
    a, b = numbers(expected, kind), numbers(found, kind)
    scale = float(np.abs(a).max(initial=0)) + 1e-30
    worst = float(np.abs(a - b).max(initial=0)) / scale
    return "" if worst <= bound else f"differs from the interpreter by {worst:.2g} of the largest value"


def check(options, name, folder):
    shapes, body = CASES[name]
    r = np.random.default_rng(len(name))
    lines = []
    (folder / "in" / "d0").mkdir(parents=True)
    for k, text in enumerate(shapes):
        shape, kind, dims, limit = parse(text)
        lines.append(f"  p{k} = {shape} parameter({k})")
        array = argument(r, kind, dims, limit)
        np.save(folder / "in" / "d0" / f"{k}.npy", array if kind != "bf16" else array.view("V2"))
    hlo = folder / "m.hlo"
    hlo.write_text(f"HloModule m\n{FUNCTIONS}\nENTRY e {{\n" + "\n".join(lines) + f"\n  ROOT r = {body}\n}}\n")
    expected = run(options, folder, hlo, "interp", 0, folder / "interp")
    one = run(options, folder, hlo, "jit", 1, folder / "one")
    many = run(options, folder, hlo, "jit", 3, folder / "many")
    kind = body.lstrip("(").partition("[")[0]
    sums = any(op in body for op in (" dot(", " convolution(", " fft("))
    for k, array in enumerate(expected):
        if one[k].tobytes() != many[k].tobytes():
            return f"output {k} depends on the number of threads"
        wrong = differs(kind, sums, array, one[k])
        if wrong:
            return f"output {k} {wrong}"
    return ""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", default=ROOT / "build/shoal")
    parser.add_argument("--only", default="", help="cases whose name contains this")
    options = parser.parse_args()
    passed = failed = 0
    for name in CASES:
        if options.only not in name:
            continue
        with tempfile.TemporaryDirectory() as folder:
            try:
                wrong = check(options, name, pathlib.Path(folder))
            except (RuntimeError, subprocess.TimeoutExpired) as error:
                wrong = str(error)
        passed, failed = passed + (not wrong), failed + bool(wrong)
        if wrong:
            print(f"{name}: {wrong}")
    print(f"{passed} passed, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
