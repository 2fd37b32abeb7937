#!/usr/bin/env python3
"""Installs the library into an empty prefix and uses it from there, without the sources and the build folder.

usage: tests/library_install.py [--build build]

- files: the prefix has the program, the library, its parts, headers, machine descriptions, CMake package, pkg-config file.
- program: the installed program finds its parts, also after the prefix was moved.
- cmake, pkg-config: examples/embed builds and runs, through the shared library and through libshoal.a.
- static: the same with -static, for as far as that goes (docs/api.md): a static program opens no parts, so it interprets.
- headers: each header compiles by itself; shoal.h as C99 and as C++.
- symbols: libshoal.so exports shoal's symbols only, and its thread-local storage allows dlopen.
- views: the JSON of the library is what the program prints.
- process_state: loading the library changes nothing in the process.
- python: a plain Python reads, runs and predicts a module through ctypes.
The last line is "N passed, N failed".
"""
import argparse
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
EMBED = ROOT / "examples/embed"
MODULE = ROOT / "examples/tensor_parallel_mlp.hlo"
MAX_FOREIGN_SYMBOLS = 20


class Failure(Exception):
    pass


def run(*command, env=None):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, env=env, check=False)
    if done.returncode != 0:
        raise Failure(f"{shlex.join(str(part) for part in command)[:300]}\n{done.stdout[-1500:]}{done.stderr[-3000:]}")
    return done.stdout


def warnings_of(*command):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Failure(done.stderr)
    return [line for line in done.stderr.splitlines() if "warning" in line]


def check_files(prefix, _):
    expected = ["bin/shoal", "lib/libshoal.so", "lib/libshoal.a", "lib/libshoal_codegen.so", "lib/libshoal_onednn.so",
                "lib/cmake/shoal/shoalConfig.cmake", "lib/pkgconfig/shoal.pc", "share/shoal/machines/h100.yaml",
                "share/doc/shoal/examples/mlp.hlo", "share/doc/shoal/examples/embed/embed.c", "share/man/man1/shoal-time.1.gz",
                "share/bash-completion/completions/shoal"]
    expected += [f"include/shoal/{header.name}" for header in (ROOT / "include/shoal").iterdir()]
    missing = [name for name in expected if not (prefix / name).exists()]
    if missing:
        raise Failure(f"not installed: {', '.join(missing)}")


def check_program(prefix, _):
    moved = prefix.with_name("moved")
    for place in (prefix, moved):
        if place == moved:
            prefix.rename(moved)
        try:
            if found := warnings_of(place / "bin/shoal", "run", MODULE, "--engine=jit"):
                raise Failure(f"in {place}: {found}")
        finally:
            if place == moved:
                moved.rename(prefix)


def check_output(program, prefix, is_compiled=True, env=None):
    """The example prints what the command line prints, but for times."""
    text = run(program, MODULE, env=env)
    cost = json.loads(run(prefix / "bin/shoal", "cost", "--json", MODULE))
    time = json.loads(run(prefix / "bin/shoal", "time", "--on=h100x8", "--json", MODULE))
    seconds = time["machines"][0]["step_seconds"] if "machines" in time else time["step_seconds"]
    engine = [f"--engine={'jit' if is_compiled else 'interp'}"]
    outputs = [line for line in run(prefix / "bin/shoal", "run", *engine, MODULE).splitlines() if "f32[" in line]
    for wanted in [f"{cost['total']['flops']:g} flops", f"h100x8: {seconds * 1e6:.2f} us per step", *outputs]:
        if re.sub(r"\s+", " ", wanted) not in re.sub(r"\s+", " ", text):
            raise Failure(f"{program} does not print '{wanted}' but\n{text}")
    if is_compiled != (" + compiled in" in text):
        raise Failure(f"{program}: compiled or not, unlike what is expected\n{text}")


def check_cmake(prefix, scratch):
    for static in ("OFF", "ON"):
        build = scratch / f"cmake-{static}"
        run("cmake", "-S", EMBED, "-B", build, f"-DCMAKE_PREFIX_PATH={prefix}", f"-DSHOAL_STATIC={static}",
            *([f"-DCMAKE_EXE_LINKER_FLAGS=-Wl,-rpath,{prefix}/lib"] if static == "ON" else []))
        run("cmake", "--build", build)
        for program in ("embed_c", "embed_cpp"):
            check_output(build / program, prefix)


def flags(prefix, *options):
    # Without the packages of the system: a machine that only runs shoal has no others.
    env = dict(os.environ, PKG_CONFIG_LIBDIR=str(prefix / "lib/pkgconfig"), PKG_CONFIG_PATH="")
    return shlex.split(run("pkg-config", *options, "shoal", env=env))


SOURCES = (("gcc", "embed.c"), ("g++", "embed.cc"))


def check_pkg_config(prefix, scratch):
    for compiler, source in SOURCES:
        out = scratch / f"pkg_{compiler}"
        standard = ["-std=c++20"] if compiler == "g++" else []
        run(compiler, *standard, EMBED / source, *flags(prefix, "--cflags", "--libs"), f"-Wl,-rpath,{prefix}/lib", "-o", out)
        check_output(out, prefix)
        # libshoal.a with shared system libraries.
        libraries = ["-l:libshoal.a" if flag == "-lshoal" else flag for flag in flags(prefix, "--static", "--libs")]
        run(compiler, *standard, EMBED / source, *flags(prefix, "--cflags"), *libraries, f"-Wl,-rpath,{prefix}/lib", "-o", out)
        if "libshoal.so" in run("ldd", out):
            raise Failure(f"{out} needs libshoal.so")
        check_output(out, prefix)


def check_static(prefix, scratch):
    for compiler, source in SOURCES:
        out = scratch / f"static_{compiler}"
        compiled = scratch / f"static_{compiler}.o"
        standard = ["-std=c++20"] if compiler == "g++" else []
        run(compiler, *standard, "-c", EMBED / source, *flags(prefix, "--cflags"), "-o", compiled)
        run("g++", "-static", compiled, *flags(prefix, "--static", "--libs"), "-o", out)
        if "no dynamic section" not in run("readelf", "-d", out):
            raise Failure(f"{out} is not static")
        check_output(out, prefix, is_compiled=False)


def check_headers(prefix, scratch):
    source = scratch / "header.c"
    strict = ["-Wall", "-Wextra", "-Werror", "-pedantic", "-fsyntax-only", f"-I{prefix}/include"]
    for header in sorted((prefix / "include/shoal").glob("*.h")):
        source.write_text(f"#include <shoal/{header.name}>\nint main(void) {{ return 0; }}\n")
        run("g++", "-std=c++20", *strict, "-x", "c++", source)
        if header.name == "shoal.h":
            run("gcc", "-std=c99", *strict, source)


def check_symbols(prefix, _):
    library = prefix / "lib/libshoal.so"
    symbols = [line.split(maxsplit=2)[2] for line in run("nm", "-D", "-C", "--defined-only", library).splitlines()]
    foreign = [name for name in symbols if not re.match(r"(?:(?:typeinfo|typeinfo name|vtable) for )?shoal(?:::v\d+_\d+::|_)", name)]
    if len(foreign) > MAX_FOREIGN_SYMBOLS:
        raise Failure(f"{len(foreign)} exported symbols are not shoal's: {', '.join(foreign[:30])}")
    declared = set(re.findall(r"\bshoal_[a-z_]+(?=\()", (ROOT / "include/shoal/shoal.h").read_text())) - {"shoal_init"}
    if missing := sorted(declared - set(symbols)):
        raise Failure(f"not exported: {', '.join(missing)}")
    if "STATIC_TLS" in run("readelf", "-d", library):
        raise Failure("libshoal.so needs static thread-local storage, which dlopen may not have")


PYTHON = """
import ctypes, sys
lib = ctypes.CDLL(sys.argv[1])
P, S = ctypes.c_void_p, ctypes.c_char_p
def bind(name, *types, result=P):
    function = getattr(lib, name)
    function.argtypes, function.restype = types, result
    return function
text = bind("shoal_error_text", P, result=S)
def check(error):
    if error: sys.exit(text(error).decode())
def made(name, *arguments):
    out = P()
    types = [S if isinstance(a, bytes) else ctypes.c_int if isinstance(a, int) else P for a in arguments]
    check(bind(name, *types, ctypes.POINTER(P))(*arguments, ctypes.byref(out)))
    return out
def string(name, *arguments):
    return bind("shoal_string_data", P, result=S)(made(name, *arguments)).decode()
module = made("shoal_module_read", sys.argv[2].encode(), None)
facts = made("shoal_facts_new", module, None)
executable = made("shoal_compile", module, None)
out = P()
check(bind("shoal_arguments_generate", P, ctypes.c_int, ctypes.c_uint64, ctypes.POINTER(P))(executable, 0, 0, ctypes.byref(out)))
results = made("shoal_execute_buffers", executable, out, None)
print(string("shoal_results_text", results))
print(string("shoal_prediction_text", made("shoal_predict", facts, made("shoal_machine_load", b"h100x8"))))
"""


VIEWS = """
path, machine = sys.argv[2].encode(), made("shoal_machine_load", b"h100x8")
facts = made("shoal_facts_new", made("shoal_module_read", path, None), None)
for view in range(4):
    print(string("shoal_facts_json", facts, view, None), end="\\0")
print(string("shoal_prediction_json", made("shoal_predict", facts, machine)), end="\\0")
print(string("shoal_diff_json", made("shoal_diff_new", facts, facts, None)), end="\\0")
"""


def check_views(prefix, scratch):
    """The JSON of the library is what the program prints."""
    script = scratch / "views.py"
    script.write_text(PYTHON.partition("module = made(")[0] + VIEWS)
    for module in sorted((ROOT / "examples").glob("*.hlo")):
        found = run(sys.executable, script, prefix / "lib/libshoal.so", module).split("\0")
        calls = (["show"], ["comm"], ["cost"], ["mem"], ["time", "--on=h100x8"], ["diff", module])
        for call, text in zip(calls, found, strict=False):
            # The library names settings; the program names its options for them.
            if re.sub("the\u00a0setting\u00a0", "--", text) != run(prefix / "bin/shoal", *call, "--json", module):
                raise Failure(f"{call[0]} {module.name}: the library's JSON differs from the program's")


LOADED = """
import ctypes, os, signal, sys
libc = ctypes.CDLL(None)
libc.getenv.restype = ctypes.c_char_p
names = set(os.environ) | {"OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "GOTO_NUM_THREADS", "MKL_NUM_THREADS"}
def state():
    threads = len(os.listdir("/proc/self/task"))
    status = open("/proc/self/status").read().split()
    signals = {name: status[status.index(name) + 1] for name in ("SigBlk:", "SigIgn:", "SigCgt:")}
    return {"threads": threads, **signals, **{name: libc.getenv(name.encode()) for name in names}}
before = state()
ctypes.CDLL(sys.argv[1])
after = state()
changed = {name: (before[name], after[name]) for name in before if before[name] != after[name]}
if changed: sys.exit(f"changed: {changed}")
"""


def check_process_state(prefix, scratch):
    """Loading the library starts no thread, installs no signal handler and changes no environment variable."""
    script = scratch / "loaded.py"
    script.write_text(LOADED)
    run(sys.executable, script, prefix / "lib/libshoal.so")


def check_python(prefix, scratch):
    script = scratch / "client.py"
    script.write_text(PYTHON)
    text = run(sys.executable, script, prefix / "lib/libshoal.so", MODULE)
    if " + compiled in" not in text or "step " not in text:
        raise Failure(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=ROOT / "build", type=pathlib.Path)
    parser.add_argument("checks", nargs="*", metavar="CHECK")
    options = parser.parse_args()
    checks = {name.removeprefix("check_"): check for name, check in globals().items()
              if name.startswith("check_") and name != "check_output"}
    passed = failed = 0
    with tempfile.TemporaryDirectory() as folder:
        scratch = pathlib.Path(folder)
        prefix = scratch / "prefix"
        try:
            run("cmake", "--install", options.build, "--prefix", prefix)
        except Failure as error:
            print(f"FAILED install: {error}\n0 passed, 1 failed")
            return 1
        for name in options.checks or checks:
            try:
                checks[name](prefix, scratch)
                passed += 1
            except Failure as error:
                failed += 1
                print(f"FAILED {name}: {error}")
    print(f"{passed} passed, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
