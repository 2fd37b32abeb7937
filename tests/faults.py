#!/usr/bin/env python3
"""Tests environment errors for every command: a full disk, too little memory, Ctrl-C, paths that cannot be read or
written, a reader that closes its pipe, invalid options. Then runs every command under every fault (fault_matrix.py).
The commands are those that `shoal --help` lists. A command without an entry in CALLS is a failure.

Usage: tests/faults.py [--bin PATH] [--full] [--matrix]"""
import argparse
import json
import os
import pathlib
import re
import resource
import signal
import stat
import subprocess
import sys
import tempfile
import time

import fault_matrix

ROOT = pathlib.Path(__file__).resolve().parent.parent

SMALL = """HloModule small
ENTRY e {
  p = f32[2,3] parameter(0)
  ROOT n = f32[2,3] negate(p)
}
"""

LOOP = """HloModule loop
body {
  s = (s32[], f32[64,64]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  x = f32[64,64] get-tuple-element(s), index=1
  one = s32[] constant(1)
  next = s32[] add(i, one)
  y = f32[64,64] dot(x, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT t = (s32[], f32[64,64]) tuple(next, y)
}
cond {
  s = (s32[], f32[64,64]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  most = s32[] constant(100000000)
  ROOT less = pred[] compare(i, most), direction=LT
}
ENTRY e {
  x = f32[64,64] parameter(0)
  zero = s32[] constant(0)
  state = (s32[], f32[64,64]) tuple(zero, x)
  w = (s32[], f32[64,64]) while(state), condition=cond, body=body
  ROOT r = f32[64,64] get-tuple-element(w), index=1
}
"""

HUGE = """HloModule huge
ENTRY e {
  p = f32[2000000,1000000] parameter(0)
  ROOT n = f32[2000000,1000000] negate(p)
}
"""

# The arguments of each command; FILE, FOLDER and PAGE are placeholders.
CALLS = {
    "check": ["FILE"],
    "print": ["FILE"],
    "run": ["FILE"],
    "compare": ["FILE", "FILE"],
    "show": ["FILE"],
    "comm": ["FILE"],
    "cost": ["FILE"],
    "mem": ["FILE"],
    "diff": ["FILE", "FILE"],
    "stats": ["FOLDER"],
    "ops": [],
    "time": ["FILE", "--on=h100x8"],
    "machines": [],
    "completion": ["bash"],
    "man": [],
    "opt": ["FILE"],
    "report": ["FILE", "-o", "PAGE"],
}


# Servers, which read requests from standard input: tests/serve/test_hostile.py has their faults.
SERVERS = ("lsp", "mcp")


def restore_interrupts():
    """Restores the default action of Ctrl-C, which a shell makes its background jobs and their children ignore."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


class Faults:
    def __init__(self, binary, folder):
        self.binary, self.folder = binary, pathlib.Path(folder)
        self.passed = self.failed = 0
        self.known = []
        self.small = self.write("small.hlo", SMALL)
        self.dump = self.folder / "dump"
        self.dump.mkdir()
        (self.dump / "module_0001.small.after_optimizations.txt").write_text(SMALL)

    def write(self, name, text):
        path = self.folder / name
        path.write_text(text)
        return path

    def expect(self, case, holds, found=""):
        self.passed, self.failed = self.passed + bool(holds), self.failed + (not holds)
        if not holds:
            print(f"{case}: {str(found)[:600]}")

    def call(self, command, file=None, folder=None):
        names = {"FILE": file or self.small, "FOLDER": folder or self.dump, "PAGE": self.folder / "page.html"}
        return [self.binary, command] + [str(names.get(word, word)) for word in CALLS[command]]

    def run(self, command, **keywords):
        keywords.setdefault("stdout", subprocess.PIPE)
        command = [str(word) for word in command]
        try:
            return subprocess.run(command, stderr=subprocess.PIPE, timeout=60, cwd=self.folder, **keywords)
        except subprocess.TimeoutExpired:
            return subprocess.CompletedProcess(command, 124, b"", b"takes longer than a minute")

    def says(self, case, result, status, *words):
        """Checks the exit status, and that standard error contains all the words."""
        text = result.stderr.decode(errors="replace")
        good = result.returncode == status and all(word in text for word in words)
        self.expect(case, good, f"status {result.returncode}, expected {status} and {words}: {text}")

    def commands(self):
        text = self.run([self.binary, "--help"]).stdout.decode()
        names = re.findall(r"^  (\w+) ", text[text.index("Commands:"):], re.M)
        for name in (name for name in names if name not in SERVERS):
            self.expect(f"{name} has an entry in tests/faults.py", name in CALLS)
        self.known = [name for name in names if name in CALLS]
        return self.known

    def full_disk(self, command):
        if command == "report":  # writes a file, not standard output
            return
        for more in [[], ["--json"]]:
            with open("/dev/full", "w") as full:
                self.says(f"{command} {more} > /dev/full", self.run(self.call(command) + more, stdout=full), 2,
                          "cannot write standard output: No space left on device")
        with open("/dev/full", "w") as full:
            self.says(f"{command} --help > /dev/full", self.run([self.binary, command, "--help"], stdout=full), 2,
                      "No space")

    def closed_pipe(self, command):
        reader, writer = os.pipe()
        os.close(reader)
        result = self.run(self.call(command), stdout=writer)
        os.close(writer)
        quiet = "error" not in result.stderr.decode()
        self.expect(f"{command} | true ends quietly", result.returncode == 0 and quiet, result)

    def unreadable(self, command):
        if not CALLS[command] or "FILE" not in CALLS[command] and "FOLDER" not in CALLS[command]:
            return
        missing = self.folder / "no-such-file"
        self.says(f"{command} of a missing file", self.run(self.call(command, missing, missing)), 2, "no-such-file")
        if "FILE" in CALLS[command]:
            self.says(f"{command} of a folder", self.run(self.call(command, self.dump)), 2, "is a directory")
        answer = self.run(self.call(command, missing, missing) + ["--json"])
        try:
            error = json.loads(answer.stdout)["error"]
            self.expect(f"{command} --json of a missing file", answer.returncode == 2 and error["message"], answer)
        except (ValueError, KeyError, TypeError):
            self.expect(f"{command} --json of a missing file is JSON with an error", False, answer)

    def bad_module(self, command):
        """The location and the rule of an error in JSON."""
        if "FILE" not in CALLS[command]:
            return
        broken = self.write("broken.hlo", SMALL.replace("negate(p)", "negate(q)"))
        answer = self.run(self.call(command, broken) + ["--json"])
        try:
            error = json.loads(answer.stdout)["error"]
            good = answer.returncode == 1 and error["line"] == 4 and error["column"] == 28 and error["file"]
            self.expect(f"{command} --json of a bad module", good, answer)
        except (ValueError, KeyError, TypeError):
            self.expect(f"{command} --json of a bad module is JSON with an error", False, answer)

    def bad_option(self, command):
        self.says(f"{command} --no-such-option", self.run(self.call(command) + ["--no-such-option"]), 2,
                  "no-such-option")
        answer = self.run(self.call(command) + ["--no-such-option", "--json"])
        good = b'"error"' in answer.stdout and answer.returncode == 2
        self.expect(f"{command} --no-such-option --json", good, answer)

    def no_memory(self, command):
        """Under any memory limit, a failing command prints an error and exits with status 2; no signal ends it."""
        if b"__asan_init" in pathlib.Path(self.binary).read_bytes():
            return  # sanitizers need more memory than this themselves
        wide = "\n".join(f"  n{i} = f32[2,3] negate(p)" for i in range(30000))
        large = self.write("large.hlo", SMALL.replace("  ROOT", wide + "\n  ROOT"))
        folder = self.folder / "large-dump"
        folder.mkdir(exist_ok=True)
        (folder / "module_0001.large.after_optimizations.txt").write_text(large.read_text())
        # A run may fail at several points: inputs, compiler, threads.
        for mebibytes in range(60, 151, 5) if command in ("run", "compare") else (60, 90, 120):
            limit = mebibytes << 20
            result = self.run(self.call(command, large, folder),
                              preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)))
            started = result.returncode != 127 and b"error while loading" not in result.stderr
            good = result.returncode in (0, 2) and (result.returncode == 0 or b"memory" in result.stderr)
            self.expect(f"{command} with {mebibytes} MiB", good or not started, result)

    def interrupted(self, command):
        """Ctrl-C while a command waits for standard input. Every command that reads a file can read standard input."""
        if "FILE" not in CALLS[command]:
            return
        call = [str(word) for word in self.call(command, "-")]
        process = subprocess.Popen(call, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   cwd=self.folder, preexec_fn=restore_interrupts)
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=20)
        good = process.returncode == -signal.SIGINT and b"interrupted while reading -" in err
        self.expect(f"{command} and Ctrl-C", good, (process.returncode, err))

    def run_interrupted(self):
        loop = self.write("loop.hlo", LOOP)
        process = subprocess.Popen([self.binary, "run", str(loop), "--outputs=out"], stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, cwd=self.folder, preexec_fn=restore_interrupts)
        time.sleep(1.5)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=20)
        good = process.returncode == -signal.SIGINT and re.search(rb"interrupted while running .*iteration", err)
        self.expect("run and Ctrl-C reports its progress", good, (process.returncode, err))
        self.expect("run and Ctrl-C leaves no files", not list(self.folder.glob("**/*partial*")))

    def compile_interrupted(self):
        """Ctrl-C as soon as the cache has an entry: all entries must be complete, and there must be no other files."""
        many = "\n".join(f"  x{i + 1} = f32[{i + 8},3] iota(), iota_dimension=0\n  y{i + 1} = f32[{i + 8},3] exponential(x{i + 1})\n"
                         f"  z{i + 1} = f32[{i + 8},3] {('tanh', 'logistic', 'cosine')[i % 3]}(y{i + 1})" for i in range(300))
        results = ", ".join(f"z{i + 1}" for i in range(300))
        shapes = ", ".join(f"f32[{i + 8},3]" for i in range(300))
        module = self.write("many.hlo", f"HloModule m\nENTRY e {{\n{many}\n  ROOT t = ({shapes}) tuple({results})\n}}\n")
        cache = self.folder / "code"
        command = [self.binary, "run", str(module), f"--cache_dir={cache}", "--num_repeats=1000000000"]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=self.folder,
                                   preexec_fn=restore_interrupts)
        while process.poll() is None and not (cache.is_dir() and any(cache.glob("*.shoal-code"))):
            time.sleep(0.005)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
        # The run may start before Python sees the entry.
        good = process.returncode == -signal.SIGINT and re.search(rb"interrupted while (compiling|running) ", err)
        self.expect("Ctrl-C while compiling", good, (process.returncode, err))
        left = [path.name for path in cache.iterdir() if path.suffix != ".shoal-code"]
        self.expect("Ctrl-C while compiling leaves no incomplete files", not left, left)
        again = self.run([self.binary, "run", module, f"--cache_dir={cache}"])
        self.expect("the cached code can be used", again.returncode == 0 and b"damaged" not in again.stderr, again)

    def no_memory_for_run(self):
        """A run too large for any machine fails before it allocates, and reports its size and the largest buffers."""
        module = self.write("room.hlo", "HloModule m, replica_count=2\nENTRY e {\n  weights = f32[1048576,4194304] parameter(0)\n"
                            "  ROOT twice = f32[1048576,4194304] add(weights, weights)\n}\n")
        for engine in ("jit", "interp"):
            self.says(f"no room, {engine}", self.run([self.binary, "run", module, f"--engine={engine}"]), 2,
                      "not enough memory", "per device",
                      "are free; largest buffers: weights f32[1048576,4194304] (16.0 TiB)")

    def special_targets(self):
        """-o to a target that is not a regular file: the target remains and receives the text."""
        expected = self.run([self.binary, "print", self.small]).stdout
        fifo, link, target = self.folder / "fifo", self.folder / "link", self.write("target", "before")
        os.mkfifo(fifo)
        link.symlink_to(target)
        with subprocess.Popen(["cat", fifo], stdout=subprocess.PIPE) as reader:
            self.run([self.binary, "print", self.small, "-o", fifo])
            self.expect("print -o FIFO", reader.communicate(timeout=20)[0] == expected)
        self.expect("the FIFO is still a FIFO", stat.S_ISFIFO(fifo.lstat().st_mode))
        self.run([self.binary, "print", self.small, "-o", link])
        self.expect("print -o LINK", link.is_symlink() and target.read_bytes() == expected)
        for name in ("/dev/stdout", "/proc/self/fd/1"):
            before = os.lstat(name) if name == "/dev/stdout" else None
            self.expect(f"print -o {name}", self.run([self.binary, "print", self.small, "-o", name]).stdout == expected)
            if before:
                self.expect(f"{name} is untouched", os.lstat(name).st_ino == before.st_ino)
            with open(self.folder / "appended", "wb") as out:
                out.write(b"kept\n")
                out.flush()
                self.run([self.binary, "print", self.small, "-o", name], stdout=out)
            self.expect(f"print -o {name} > FILE", (self.folder / "appended").read_bytes() == b"kept\n" + expected)
        plain = self.write("plain", "before")
        plain.chmod(0o640)
        self.run([self.binary, "print", self.small, "-o", plain])
        self.expect("print -o FILE", plain.read_bytes() == expected and stat.S_IMODE(plain.stat().st_mode) == 0o640)

    def unwritable(self):
        for path in ("/dev/full", "/proc/no-such", self.dump, self.folder / "no" / "such"):
            self.says(f"print -o {path}", self.run([self.binary, "print", self.small, "-o", path]), 2, "cannot write")
        plain = self.write("plain-file", "")
        start = time.monotonic()
        loop = self.write("loop.hlo", LOOP)
        for option in ("--outputs", "--dump=. --dump_dir"):
            for path in ("/proc/no-such", plain):
                result = self.run([self.binary, "run", loop] + f"{option}={path}".split())
                self.says(f"run {option}={path}", result, 2, "cannot")
        self.expect("an unwritable path is reported before the run", time.monotonic() - start < 20)

    def too_large(self):
        """A lack of memory is reported before any input is generated."""
        huge, start = self.write("huge.hlo", HUGE), time.monotonic()
        self.says("run of a module that is too large", self.run([self.binary, "run", huge]), 2, "not enough memory")
        self.says("compare of a module that is too large", self.run([self.binary, "compare", huge, huge]), 2,
                  "not enough memory")
        self.expect("it is reported immediately", time.monotonic() - start < 10)

    def options(self):
        loop = self.write("loop.hlo", LOOP)
        for option, word in (("--trips=w=-3", "w=-3"), ("--trips=w", "w"), ("--trips=w=1.5", "1.5"),
                             ("--trips=foo=3", "known: w"), ("--probability=x=2", "x=2"), ("--top=-1", "-1"),
                             ("--probability=x=nan", "nan"), ("--probability=x=0.5", "there are none")):
            self.says(f"comm {option}", self.run([self.binary, "comm", loop, option]), 2, word)
        self.says("cost of two files", self.run([self.binary, "cost", loop, loop]), 2, "loop.hlo")
        self.expect("--trips=w=7", self.run([self.binary, "cost", loop, "--trips=w=7"]).returncode == 0)

    def terminal(self):
        """Escape sequences in names and files are not written to the terminal."""
        text = SMALL.replace("f32[2,3] negate(p)", 'f32[2,3] negate(p), metadata={op_name="a\\033]0;evil\\007b"}')
        good = self.write("evil\x1b[2J.hlo", text)
        bad = self.write("bad\x1b[2J.hlo", text.replace("HloModule small", "HloModule s\x1b[31mmall"))
        for command in [name for name in CALLS if name in self.known]:
            for file in (good, bad) if "FILE" in CALLS[command] and command not in ("print", "opt") else ():
                result = self.run(self.call(command, file))
                self.expect(f"{command} writes no escapes", b"\x1b" not in result.stdout + result.stderr, result)

    def all(self):
        for command in self.commands():
            for test in (self.full_disk, self.closed_pipe, self.unreadable, self.bad_module, self.bad_option,
                         self.no_memory, self.interrupted):
                test(command)
        for test in (self.run_interrupted, self.compile_interrupted, self.no_memory_for_run, self.special_targets,
                     self.unwritable, self.too_large, self.options, self.terminal):
            test()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bin", default=str(ROOT / "build/shoal"))
    parser.add_argument("--full", action="store_true", help="the whole matrix of commands, faults and limits; takes ten minutes")
    parser.add_argument("--matrix", action="store_true", help="only the matrix")
    arguments = parser.parse_args()
    binary = str(pathlib.Path(arguments.bin).resolve())
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as other:
        faults = Faults(binary, folder)
        if not arguments.matrix:
            faults.all()
        fault_matrix.Matrix(binary, other, faults.expect, arguments.full).all()
    print(f"{faults.passed} passed, {faults.failed} failed")
    return faults.failed > 0


if __name__ == "__main__":
    sys.exit(main())
