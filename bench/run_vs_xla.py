#!/usr/bin/env python3
"""Runs the same modules on the same inputs through shoal and through XLA's CPU back end, by turns, and compares.

    bench/run_vs_xla.py [FILE.hlo …] [--only TEXT] [--rounds N] [--json OUT] [--markdown OUT]
    bench/run_vs_xla.py --devices 4                     steps on several devices, as XLA divided and optimised them
    bench/run_vs_xla.py --from A.json B.json --markdown docs/performance.md    the page of what was measured earlier

Without files: single patterns, written with JAX and lowered to HLO (pip install jax; Python 3.12 or later for the
newest). Each round runs XLA a few times in this process and then `shoal run --num_repeats` in another, so that both
meet the same state of the machine; the median over all rounds counts. First-call compile time stands apart. Results
are compared too: a fast wrong answer is a failure. Exit status 1 if any differ, or if --at-least is not reached.
"""
import argparse
import json
import math
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import device_patterns
import library_patterns
import shape_patterns

ROOT = pathlib.Path(__file__).resolve().parent.parent


def start(threads, devices=1):
    os.environ.setdefault("JAX_PLATFORMS", "cpu")
    if devices > 1:
        os.environ["XLA_FLAGS"] = f"{os.environ.get('XLA_FLAGS', '')} --xla_force_host_platform_device_count={devices}"
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    if threads:
        os.sched_setaffinity(0, set(list(os.sched_getaffinity(0))[:threads]))
    global jax, jnp, np, _hlo, _jax, xc, ml_dtypes
    import jax
    import jax.numpy as jnp
    import ml_dtypes
    import numpy as np
    from jaxlib import _jax
    from jaxlib import xla_client as xc
    try:
        from jaxlib import _hlo
    except ImportError:
        _hlo = _jax


def patterns():
    """name -> (function, arguments): every family of ops, a few shapes and types each."""
    r = np.random.default_rng(0)

    def f(*dims, dtype=np.float32):
        return r.standard_normal(dims).astype(dtype)

    def attention(q, k, v):
        s = jnp.einsum("bqhd,bkhd->bhqk", q, k) / 8
        return jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(s), v)

    def layer_norm(x, g, b):
        m = x.mean(-1, keepdims=True)
        return (x - m) * jax.lax.rsqrt(((x - m) ** 2).mean(-1, keepdims=True) + 1e-5) * g + b

    def rms_norm(x, g):
        y = x.astype(jnp.float32)
        return (y * jax.lax.rsqrt((y * y).mean(-1, keepdims=True) + 1e-6)).astype(x.dtype) * g

    def cross_entropy(x, y):
        return -(jax.nn.log_softmax(x) * jax.nn.one_hot(y, x.shape[-1])).sum(-1).mean()

    def mlp(x, w1, w2):
        return jax.nn.gelu(x @ w1) @ w2

    def loss(w, x):
        return jnp.sum(jnp.tanh(x @ w) ** 2)

    def hash32(x):
        for c in (0x85EBCA6B, 0xC2B2AE35, 0x27D4EB2F):
            x = (x ^ (x >> 16)) * jnp.uint32(c)
        return x ^ (x >> 15)

    def scalar_loop(x):
        return jax.lax.fori_loop(0, 20000, lambda i, s: s * 0.999 + jnp.sin(i * 1.0) * 1e-3, x)

    def rng_loop(k):
        def body(i, c):
            key, sub = jax.random.split(c[0])
            return key, c[1] + jax.random.normal(sub, (3,))
        return jax.lax.fori_loop(0, 1000, body, (jax.random.wrap_key_data(k), jnp.zeros(3)))[1]

    def collatz(n):
        return jax.lax.while_loop(
            lambda c: c[0] < 100000, lambda c: (c[0] + 1, jax.lax.cond(
                c[1] % 2 == 0, lambda x: x // 2, lambda x: 3 * x + 1, c[1])), (jnp.int32(0), n))

    def gru(xs, h, w, u):
        def step(h, x):
            z, n = jnp.split(x @ w + h @ u, 2)
            z = jax.nn.sigmoid(z)
            h = (1 - z) * h + z * jnp.tanh(n)
            return h, h
        return jax.lax.scan(step, h, xs)

    def deep(x, ws):
        return jax.lax.scan(lambda h, w: (jax.nn.relu(h @ w) + h, None), x, ws)[0]

    def recurrence(xs, w):
        return jax.lax.scan(lambda h, x: (jnp.tanh(h @ w + x),) * 2, jnp.zeros(w.shape[0], w.dtype), xs)

    bf16 = ml_dtypes.bfloat16
    img, ker = f(8, 32, 32, 64), f(3, 3, 64, 64)
    conv = lambda x, w: jax.lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
    return {
        "add_8m": (lambda a, b: a + b, [f(1 << 23), f(1 << 23)]),
        "chain_4m": (lambda a, b: jnp.where(a > b, a * b + 1, a - b * 2) * 0.5 + jnp.abs(a), [f(1 << 22), f(1 << 22)]),
        "gelu_4m": (lambda a: jax.nn.gelu(a), [f(1 << 22)]),
        "exp_log_2m": (lambda a: jnp.log1p(jnp.exp(a)) + jnp.tanh(a), [f(1 << 21)]),
        "chain_bf16_4m": (lambda a, b: jnp.maximum(a * b + a, 0), [f(1 << 22, dtype=bf16), f(1 << 22, dtype=bf16)]),
        "bias_relu": (lambda x, b: jax.nn.relu(x + b), [f(4096, 1024), f(1024)]),
        "sum_rows": (lambda x: x.sum(-1), [f(4096, 1024)]),
        "sum_columns": (lambda x: x.sum(0), [f(4096, 1024)]),
        "sum_all": (lambda x: (x * x).sum(), [f(1 << 22)]),
        "max_rows": (lambda x: x.max(-1), [f(8192, 512)]),
        "sum_columns_few": (lambda x: x.sum(0), [f(200000, 12)]),
        "sum_middle": (lambda x: x.sum(1), [f(64, 256, 256)]),
        "mean_var_columns": (lambda x: (x.mean(0), x.var(0)), [f(8192, 512)]),
        "sum_rows_short": (lambda x: x.sum(-1), [f(500000, 8)]),
        "argmax_rows": (lambda x: jnp.argmax(x, -1), [f(4096, 1024)]),
        "argmin_columns": (lambda x: jnp.argmin(x, 0), [f(1024, 4096)]),
        "max_bf16_rows": (lambda x: x.max(-1), [f(4096, 1024, dtype=bf16)]),
        "sum_bf16_rows": (lambda x: x.sum(-1), [f(4096, 1024, dtype=bf16)]),
        "any_rows": (lambda x: (x > 3).any(-1), [f(4096, 1024)]),
        "log_softmax_bf16": (lambda x: jax.nn.log_softmax(x), [f(2048, 1024, dtype=bf16)]),
        "rms_norm_bf16": (rms_norm, [f(4096, 1024, dtype=bf16), f(1024, dtype=bf16)]),
        "residual_layer_norm": (lambda x, y, g, b: layer_norm(x + y, g, b), [f(4096, 768), f(4096, 768), f(768), f(768)]),
        "cross_entropy_grad": (jax.grad(cross_entropy), [f(2048, 2000), r.integers(0, 2000, 2048).astype(np.int32)]),
        "softmax": (lambda x: jax.nn.softmax(x), [f(4096, 1024)]),
        "softmax_grad": (jax.grad(lambda x, y: (jax.nn.softmax(x) * y).sum()), [f(2048, 1024), f(2048, 1024)]),
        "layer_norm": (layer_norm, [f(4096, 768), f(768), f(768)]),
        "layer_norm_grad": (jax.grad(lambda x, g, b: (layer_norm(x, g, b) ** 2).sum(), (0, 1, 2)), [f(2048, 768), f(768), f(768)]),
        "attention": (attention, [f(4, 256, 8, 64)] * 3),
        "attention_grad": (jax.grad(lambda q, k, v: attention(q, k, v).sum(), (0, 1, 2)), [f(2, 256, 8, 64)] * 3),
        "matmul_1024": (lambda a, b: a @ b, [f(1024, 1024), f(1024, 1024)]),
        "matmul_bf16_1024": (lambda a, b: a @ b, [f(1024, 1024, dtype=bf16), f(1024, 1024, dtype=bf16)]),
        "matvec": (lambda a, b: a @ b, [f(1, 4096), f(4096, 4096)]),
        "batched_small": (lambda a, b: jnp.einsum("bij,bjk->bik", a, b), [f(4000, 20, 24), f(4000, 24, 20)]),
        "mlp": (mlp, [f(512, 768), f(768, 3072), f(3072, 768)]),
        "mlp_grad": (jax.grad(lambda w1, w2, x: (mlp(x, w1, w2) ** 2).sum(), (0, 1)), [f(512, 1024), f(1024, 512), f(256, 512)]),
        "train_step": (lambda w, x: w - 0.01 * jax.grad(loss)(w, x), [f(512, 512), f(256, 512)]),
        "conv_3x3": (conv, [img, ker]),
        "conv_grad": (jax.grad(lambda w, x: (conv(x, w) ** 2).sum()), [ker, img]),
        "transpose": (lambda x: jnp.transpose(x) + 1, [f(2048, 2048)]),
        "gather_rows": (lambda t, i: t[i], [f(50000, 128), r.integers(0, 50000, 8192).astype(np.int32)]),
        "scatter_add": (lambda t, i, u: t.at[i].add(u), [f(20000, 64), r.integers(0, 20000, 8192).astype(np.int32), f(8192, 64)]),
        "sort_1m": (lambda x: jnp.sort(x), [f(1 << 20)]),
        "argsort_rows": (lambda x: jnp.argsort(x, -1), [f(700, 900)]),
        "top_k": (lambda x: jax.lax.top_k(x, 16)[0], [f(512, 4096)]),
        "cumsum": (lambda x: jnp.cumsum(x, -1), [f(512, 4096)]),
        "max_pool": (lambda x: jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID"), [img]),
        "hash_4m": (hash32, [r.integers(0, 1 << 32, 1 << 22, dtype=np.uint32)]),
        "random_bits": (lambda k: jax.random.normal(jax.random.wrap_key_data(k), (1 << 20,)), [np.array([1, 2], np.uint32)]),
        "scalar_loop": (scalar_loop, [np.float32(1)]),
        "recurrence": (recurrence, [f(200, 128), f(128, 128) * np.float32(0.05)]),
        "rng_loop": (rng_loop, [np.array([1, 2], np.uint32)]),
        "branch_loop": (collatz, [np.int32(27)]),
        "gru": (gru, [f(400, 32), f(48), f(32, 96) * np.float32(0.1), f(48, 96) * np.float32(0.1)]),
        "deep_scan": (deep, [f(64, 256), f(24, 256, 256) * np.float32(0.05)]),
        "sin_cos_2m": (lambda a: jnp.sin(a) + jnp.cos(a * 3), [f(1 << 21)]),
        "avg_pool": (lambda x: jax.lax.reduce_window(x, 0.0, jax.lax.add, (1, 3, 3, 1), (1, 2, 2, 1), "SAME"), [img]),
        "max_pool_grad": (jax.grad(lambda x: (jax.lax.reduce_window(
            x, -jnp.inf, jax.lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID") ** 2).sum()), [img]),
        "cumsum_columns": (lambda x: jnp.cumsum(x, 0), [f(4096, 512)]),
        "concat_pad": (lambda a, b: jnp.pad(jnp.concatenate([a, b], 1), ((1, 1), (2, 2))), [f(2048, 512), f(2048, 512)]),
    }


def lowered(function, arguments):
    return jax.jit(function).lower(*arguments).compiler_ir("hlo").as_hlo_text(True)


def leaves(shape):
    return [leaf for part in shape.tuple_shapes() for leaf in leaves(part)] if shape.is_tuple() else [shape]


class Xla:
    """A module compiled by XLA."""

    def __init__(self, text):
        module = _hlo.hlo_module_from_text(text)
        self.computation = _hlo.XlaComputation(module.as_serialized_hlo_module_proto())
        client = jax.devices("cpu")[0].client
        devices = client.local_devices()[:1]
        mlir = _jax.mlir.xla_computation_to_mlir_module(self.computation)
        begin = time.perf_counter()
        self.executable = client.compile_and_load(mlir, _jax.DeviceList(tuple(devices)), xc.CompileOptions())
        self.compile_seconds = time.perf_counter() - begin

    def shapes(self):
        return [leaf for shape in self.computation.program_shape().parameter_shapes() for leaf in leaves(shape)]

    def run(self, arguments, repeats):
        seconds = []
        for _ in range(repeats):
            begin = time.perf_counter()
            outs = self.executable.execute_sharded(arguments).disassemble_into_single_device_arrays()
            for out in outs:
                out[0].block_until_ready()
            seconds.append(time.perf_counter() - begin)
        return seconds, [np.asarray(out[0]) for out in outs]


class XlaDevices:
    """A function compiled by XLA for several devices: its text is what shoal runs."""

    def __init__(self, function, arguments, places, results, devices):
        mesh = jax.make_mesh((devices,), ("x",))
        mapped = jax.jit(jax.shard_map(function, mesh=mesh, in_specs=places, out_specs=results, check_vma=False))
        self.arguments = [jax.device_put(argument, jax.NamedSharding(mesh, place)) for argument, place in zip(arguments, places)]
        lowered_form = mapped.lower(*self.arguments)
        begin = time.perf_counter()
        self.executable = lowered_form.compile()
        self.compile_seconds = time.perf_counter() - begin
        self.text = self.executable.as_text()

    def run(self, arguments, repeats):
        seconds = []
        for _ in range(repeats):
            begin = time.perf_counter()
            outs = jax.block_until_ready(self.executable(*arguments))
            seconds.append(time.perf_counter() - begin)
        return seconds, [shards(out)[0] for out in jax.tree.leaves(outs)]


def shards(array):
    """What each device holds, by its number."""
    return [np.asarray(shard.data) for shard in sorted(array.addressable_shards, key=lambda shard: shard.device.id)]


def save(path, array):
    array = np.asarray(array)
    np.save(path, array if array.dtype.kind in "biufc" else array.view(np.dtype(f"V{array.dtype.itemsize}")))


def run_shoal(options, hlo, inputs, outputs, repeats):
    command = [options.bin, "run", hlo, f"--engine={options.engine}", f"--num_repeats={repeats}", "--json",
               f"--inputs={inputs}", f"--outputs={outputs}"]
    if options.threads:
        command.append(f"--threads={options.threads}")
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=options.timeout)
    if done.returncode != 0:
        raise RuntimeError((done.stdout + done.stderr)[-400:])
    return json.loads(done.stdout)


def agree(a, b):
    if b.dtype != a.dtype:
        b = b.view(a.dtype)
    if a.dtype.kind in "biu":
        return bool((a == b).all())
    bound = {"bfloat16": 4e-2, "float16": 1e-2}.get(a.dtype.name, 1e-3)
    a, b = a.astype(np.float64), b.astype(np.float64)
    scale = max(1e-6, float(np.nanmax(np.abs(a), initial=0)))
    return bool(np.allclose(a, b, rtol=bound, atol=bound * scale, equal_nan=True))


def measure(options, name, text, arguments, folder):
    xla = Xla(text)
    return compare(options, name, xla, text, [jax.device_put(a) for a in arguments], [arguments], folder)


def measure_devices(options, name, case, folder):
    xla = XlaDevices(*case, options.devices)
    held = list(zip(*[shards(argument) for argument in xla.arguments]))
    return compare(options, name, xla, xla.text, xla.arguments, held, folder)


def compare(options, name, xla, text, placed, held, folder):
    """`held`: the arguments of each device."""
    hlo, inputs, outputs = folder / f"{name}.hlo", folder / name / "in", folder / name / "out"
    hlo.write_text(text)
    for device, arguments in enumerate(held):
        (inputs / f"d{device}").mkdir(parents=True)
        for k, argument in enumerate(arguments):
            save(inputs / f"d{device}" / f"{k}.npy", argument)
    ours, theirs, compiles, expected = [], [], [], None
    xla.run(placed, 2)
    for _ in range(options.rounds):
        seconds, expected = xla.run(placed, options.repeats)
        theirs += seconds
        report = run_shoal(options, hlo, inputs, outputs, options.repeats + 1)
        ours += report["run_seconds"][1:]
        compiles.append(report["compile_seconds"])
    results = [np.load(outputs / "d0" / f"{k}.npy") for k in range(len(expected))]
    same = all(agree(a, b) for a, b in zip(expected, results))
    return {"name": name, "runs": len(ours), "xla_spread": spread(theirs), "shoal_spread": spread(ours),
            "xla_best": min(theirs), "shoal_best": min(ours), "xla": statistics.median(theirs), "shoal": statistics.median(ours),
            "xla_compile": xla.compile_seconds, "shoal_compile": statistics.median(compiles), "same": same}


def spread(seconds):
    """From the first to the third quartile, as a part of the median."""
    if len(seconds) < 4:
        return 0
    first, middle, third = statistics.quantiles(seconds, n=4)
    return (third - first) / middle


def machine():
    cpu = [line.split(":")[1].strip() for line in open("/proc/cpuinfo", encoding="utf-8") if line.startswith("model name")]
    flags = next((line for line in open("/proc/cpuinfo", encoding="utf-8") if line.startswith("flags")), "")
    vectors = "AVX-512" if "avx512f" in flags else "AVX2, no AVX-512" if "avx2" in flags else "no AVX2"
    return f"{len(os.sched_getaffinity(0))} × {cpu[0]} ({vectors})" if cpu else "an unknown machine"


# What the page says before and after its table; what limits the modules that are slower than XLA's.
PAGE = ROOT / "bench" / "performance.json"


def markdown(measured):
    """The page of one or several runs of this script; of a module that is in several, the last counts."""
    rows = {row["name"]: row for each in measured for row in each["rows"]}
    said = json.loads(PAGE.read_text(encoding="utf-8"))
    ratios = [row["xla"] / row["shoal"] for row in rows.values()]
    compiles = [row["xla_compile"] / row["shoal_compile"] for row in rows.values() if row["shoal_compile"] > 0]
    best = {name: row.get("xla_best", row["xla"]) / row.get("shoal_best", row["shoal"]) for name, row in rows.items()}
    runs = sorted({row.get("runs", 0) for row in rows.values()})
    lines = ["# Performance", "", *said["before"], "",
             f"{measured[0]['machine']}; shoal beside JAX {measured[0]['jax']} on all cores; medians of "
             f"{' to '.join(str(n) for n in dict.fromkeys([runs[0], runs[-1]]))} runs of each, by turns; load of the machine "
             f"before and after (others' work): {', '.join(each['load'] for each in measured)}.", "",
             f"{len(rows)} modules: {geometric_mean(ratios):.2f} times XLA's speed in the geometric mean, "
             f"{sum(r < 1 for r in ratios)} below 1.0, {sum(r < 0.6 for r in ratios)} below 0.6; compiled "
             f"{geometric_mean(compiles):.1f} times as fast. By the best run of each, which others' work disturbs least: "
             f"{geometric_mean(list(best.values())):.2f} times, {sum(r < 1 for r in best.values())} below 1.0, "
             f"{sum(r < 0.6 for r in best.values())} below 0.6.", "",
             "| module | XLA ms | ± % | shoal ms | ± % | speed | of the best | compile ms | XLA's | what limits it |",
             "| --- | --: | --: | --: | --: | --: | --: | --: | --: | --- |"]
    for row in sorted(rows.values(), key=lambda row: best[row["name"]]):
        ratio = row["xla"] / row["shoal"]
        why = said["limits"].get(row["name"], "not looked into") if best[row["name"]] < 1 else ""
        lines.append(f"| {row['name']} | {row['xla'] * 1e3:.3g} | {row.get('xla_spread', 0) * 50:.0f} | {row['shoal'] * 1e3:.3g} "
                     f"| {row.get('shoal_spread', 0) * 50:.0f} | {ratio:.2f} | {best[row['name']]:.2f} | {row['shoal_compile'] * 1e3:.0f} "
                     f"| {row['xla_compile'] * 1e3:.0f} | {why} |")
    return "\n".join([*lines, "", *said["after"], ""])


def write_page(path, measured):
    path.write_text(markdown(measured), encoding="utf-8")


def keep(options, rows, load):
    """After every module, so that a run that is stopped was not for nothing."""
    figures = {"jax": jax.__version__, "machine": machine(), "load": f"{load:.1f} to {os.getloadavg()[0]:.1f}", "rows": rows}
    if options.json:
        options.json.write_text(json.dumps(figures, indent=1))
    if options.markdown:
        write_page(options.markdown, [figures])


def cases(options):
    """(name, what measures it)"""
    def wanted(name):
        return options.only in name and (not options.names or name in options.names.split(","))

    if options.devices > 1:
        for name, case in device_patterns.patterns(jax, jnp, np).items():
            if wanted(name):
                yield name, lambda folder, name=name, case=case: measure_devices(options, name, case, folder)
        return
    for name, text, arguments in single_cases(options, wanted):
        yield name, lambda folder, name=name, text=text, arguments=arguments: measure(options, name, text, arguments, folder)


def single_cases(options, wanted):
    if not options.files:
        every = patterns() | library_patterns.patterns(jax, jnp, np, ml_dtypes) | shape_patterns.patterns(jax, jnp, np, ml_dtypes)
        for name, (function, arguments) in every.items():
            if wanted(name):
                yield name, lowered(function, arguments), [np.asarray(a) for a in arguments]
        return
    for path in options.files:
        if not wanted(path.stem):
            continue
        text = path.read_text()
        r = np.random.default_rng(0)
        module = _hlo.XlaComputation(_hlo.hlo_module_from_text(text).as_serialized_hlo_module_proto())
        arguments = []
        for shape in [leaf for s in module.program_shape().parameter_shapes() for leaf in leaves(s)]:
            dtype = np.dtype(shape.numpy_dtype())
            whole = dtype.kind in "biu"
            numbers = r.integers(0, 2, shape.dimensions()) if whole else r.uniform(-1, 1, shape.dimensions())
            arguments.append(np.asarray(numbers).astype(dtype))
        yield path.stem[-40:], text, arguments


def geometric_mean(numbers):
    return math.exp(statistics.fmean(math.log(x) for x in numbers)) if numbers else float("nan")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", type=pathlib.Path)
    parser.add_argument("--bin", default=ROOT / "build/shoal")
    parser.add_argument("--engine", default="jit")
    parser.add_argument("--only", default="", help="cases whose name contains this")
    parser.add_argument("--names", default="", help="only these, separated by commas")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--repeats", type=int, default=5, help="runs of each in a round")
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--devices", type=int, default=1, help="measure the steps on so many devices instead")
    parser.add_argument("--timeout", type=int, default=300)
    parser.add_argument("--at-least", type=float, default=0, metavar="RATIO", help="fail if the mean is lower")
    parser.add_argument("--json", type=pathlib.Path, help="write all figures here")
    parser.add_argument("--markdown", type=pathlib.Path, help="write the page of the figures here")
    parser.add_argument("--from", dest="measured", nargs="+", type=pathlib.Path, help="measure nothing: take these --json files")
    options = parser.parse_args()
    if options.measured:
        write_page(options.markdown, [json.loads(path.read_text()) for path in options.measured])
        return 0
    load = os.getloadavg()[0]
    start(options.threads, options.devices)
    rows, failed = [], []
    print(f"{'module':42}{'XLA ms':>10}{'shoal ms':>10}{'ratio':>7}{'compile ms':>12}{'(XLA)':>8}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        for name, measured in cases(options):
            try:
                row = measured(pathlib.Path(folder))
            except (RuntimeError, subprocess.TimeoutExpired) as error:
                failed.append(name)
                print(f"{name:42} failed: {error}", flush=True)
                continue
            rows.append(row)
            keep(options, rows, load)
            print(f"{name:42}{row['xla'] * 1e3:10.3f}{row['shoal'] * 1e3:10.3f}{row['xla'] / row['shoal']:7.2f}"
                  f"{row['shoal_compile'] * 1e3:12.1f}{row['xla_compile'] * 1e3:8.1f}{'' if row['same'] else '  DIFFERS'}",
                  flush=True)
    mean = geometric_mean([row["xla"] / row["shoal"] for row in rows])
    compile_mean = geometric_mean([row["xla_compile"] / row["shoal_compile"] for row in rows if row["shoal_compile"] > 0])
    wrong = [row["name"] for row in rows if not row["same"]]
    print(f"{len(rows)} modules: geometric mean of speed {mean:.2f}, of compile speed {compile_mean:.2f} times XLA's; "
          f"lowest {min((row['xla'] / row['shoal'] for row in rows), default=float('nan')):.2f}; "
          f"differ: {', '.join(wrong) or 'none'}; failed: {', '.join(failed) or 'none'}")
    return 1 if wrong or failed or mean < options.at_least else 0


if __name__ == "__main__":
    sys.exit(main())
