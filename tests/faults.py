#!/usr/bin/env python3
"""What can go wrong around shoal, for every verb: a full disk, too little memory, Ctrl-C, paths that cannot be read or
written, a reader that closes its pipe, options that make no sense. The verbs are those that `shoal --help` lists: one
that is not described here fails.

Usage: tests/faults.py [--bin PATH]"""
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

# How each verb is called with a file: FILE stands for it.
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
    "opt": ["FILE"],
    "report": ["FILE", "-o", "PAGE"],
}


def mind_interrupts():
    """A shell has its background jobs ignore Ctrl-C, and with them whatever they start."""
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

    def expect(self, what, holds, found=""):
        self.passed, self.failed = self.passed + bool(holds), self.failed + (not holds)
        if not holds:
            print(f"{what}: {str(found)[:600]}")

    def call(self, verb, file=None, folder=None):
        names = {"FILE": file or self.small, "FOLDER": folder or self.dump, "PAGE": self.folder / "page.html"}
        return [self.binary, verb] + [str(names.get(word, word)) for word in CALLS[verb]]

    def run(self, command, **keywords):
        keywords.setdefault("stdout", subprocess.PIPE)
        command = [str(word) for word in command]
        try:
            return subprocess.run(command, stderr=subprocess.PIPE, timeout=60, cwd=self.folder, **keywords)
        except subprocess.TimeoutExpired:
            return subprocess.CompletedProcess(command, 124, b"", b"it takes longer than a minute")

    def says(self, what, result, status, *words):
        """The exit status, and a sentence on standard error with all the words."""
        text = result.stderr.decode(errors="replace")
        good = result.returncode == status and all(word in text for word in words)
        self.expect(what, good, f"status {result.returncode}, wanted {status} and {words}: {text}")

    def verbs(self):
        text = self.run([self.binary, "--help"]).stdout.decode()
        names = re.findall(r"^  (\w+) ", text[text.index("Commands:"):], re.M)
        for name in names:
            self.expect(f"{name} is described in tests/faults.py", name in CALLS)
        self.known = [name for name in names if name in CALLS]
        return self.known

    def full_disk(self, verb):
        if verb == "report":  # writes a file, not standard output
            return
        for more in [[], ["--json"]]:
            with open("/dev/full", "w") as full:
                self.says(f"{verb} {more} > /dev/full", self.run(self.call(verb) + more, stdout=full), 2,
                          "cannot write standard output: No space left on device")
        with open("/dev/full", "w") as full:
            self.says(f"{verb} --help > /dev/full", self.run([self.binary, verb, "--help"], stdout=full), 2, "No space")

    def closed_pipe(self, verb):
        reader, writer = os.pipe()
        os.close(reader)
        result = self.run(self.call(verb), stdout=writer)
        os.close(writer)
        quiet = "error" not in result.stderr.decode()
        self.expect(f"{verb} | true ends quietly", result.returncode == 0 and quiet, result)

    def unreadable(self, verb):
        if not CALLS[verb] or "FILE" not in CALLS[verb] and "FOLDER" not in CALLS[verb]:
            return
        missing = self.folder / "no-such-file"
        self.says(f"{verb} of a missing file", self.run(self.call(verb, missing, missing)), 2, "no-such-file")
        if "FILE" in CALLS[verb]:
            self.says(f"{verb} of a folder", self.run(self.call(verb, self.dump)), 2, "is a directory")
        answer = self.run(self.call(verb, missing, missing) + ["--json"])
        try:
            error = json.loads(answer.stdout)["error"]
            self.expect(f"{verb} --json of a missing file", answer.returncode == 2 and error["message"], answer)
        except (ValueError, KeyError, TypeError):
            self.expect(f"{verb} --json of a missing file is JSON with an error", False, answer)

    def bad_module(self, verb):
        """The place and the rule of an error in JSON."""
        if "FILE" not in CALLS[verb]:
            return
        broken = self.write("broken.hlo", SMALL.replace("negate(p)", "negate(q)"))
        answer = self.run(self.call(verb, broken) + ["--json"])
        try:
            error = json.loads(answer.stdout)["error"]
            good = answer.returncode == 1 and error["line"] == 4 and error["column"] == 28 and error["file"]
            self.expect(f"{verb} --json of a bad module", good, answer)
        except (ValueError, KeyError, TypeError):
            self.expect(f"{verb} --json of a bad module is JSON with an error", False, answer)

    def bad_option(self, verb):
        self.says(f"{verb} --no-such-option", self.run(self.call(verb) + ["--no-such-option"]), 2, "no-such-option")
        answer = self.run(self.call(verb) + ["--no-such-option", "--json"])
        self.expect(f"{verb} --no-such-option --json", b'"error"' in answer.stdout and answer.returncode == 2, answer)

    def no_memory(self, verb):
        """Whatever little there is: a sentence and 2, never a signal."""
        if b"__asan_init" in pathlib.Path(self.binary).read_bytes():
            return  # sanitizers need more than this for themselves
        wide = "\n".join(f"  n{i} = f32[2,3] negate(p)" for i in range(30000))
        large = self.write("large.hlo", SMALL.replace("  ROOT", wide + "\n  ROOT"))
        folder = self.folder / "large-dump"
        folder.mkdir(exist_ok=True)
        (folder / "module_0001.large.after_optimizations.txt").write_text(large.read_text())
        # Where a run gives up depends on how far it comes: inputs, compiler, threads.
        for mebibytes in range(60, 151, 5) if verb in ("run", "compare") else (60, 90, 120):
            limit = mebibytes << 20
            result = self.run(self.call(verb, large, folder),
                              preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)))
            started = result.returncode != 127 and b"error while loading" not in result.stderr
            good = result.returncode in (0, 2) and (result.returncode == 0 or b"memory" in result.stderr)
            self.expect(f"{verb} with {mebibytes} MiB", good or not started, result)

    def interrupted(self, verb):
        """While it waits for standard input, which every verb that reads a file can."""
        if "FILE" not in CALLS[verb]:
            return
        command = [str(word) for word in self.call(verb, "-")]
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   cwd=self.folder, preexec_fn=mind_interrupts)
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=20)
        good = process.returncode == -signal.SIGINT and b"interrupted while reading -" in err
        self.expect(f"{verb} and Ctrl-C", good, (process.returncode, err))

    def run_interrupted(self):
        loop = self.write("loop.hlo", LOOP)
        process = subprocess.Popen([self.binary, "run", str(loop), "--outputs=out"], stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, cwd=self.folder, preexec_fn=mind_interrupts)
        time.sleep(1.5)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=20)
        good = process.returncode == -signal.SIGINT and re.search(rb"interrupted while running .*iteration", err)
        self.expect("run and Ctrl-C says where it was", good, (process.returncode, err))
        self.expect("run and Ctrl-C leaves nothing", not list(self.folder.glob("**/*partial*")))

    def compile_interrupted(self):
        """Ctrl-C as soon as code was kept: what is kept is whole, and nothing else lies there."""
        many = "\n".join(f"  x{i + 1} = f32[{i + 8},3] iota(), iota_dimension=0\n  y{i + 1} = f32[{i + 8},3] exponential(x{i + 1})\n"
                         f"  z{i + 1} = f32[{i + 8},3] {('tanh', 'logistic', 'cosine')[i % 3]}(y{i + 1})" for i in range(300))
        results = ", ".join(f"z{i + 1}" for i in range(300))
        shapes = ", ".join(f"f32[{i + 8},3]" for i in range(300))
        module = self.write("many.hlo", f"HloModule m\nENTRY e {{\n{many}\n  ROOT t = ({shapes}) tuple({results})\n}}\n")
        cache = self.folder / "code"
        command = [self.binary, "run", str(module), f"--cache_dir={cache}", "--num_repeats=1000000000"]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=self.folder, preexec_fn=mind_interrupts)
        while process.poll() is None and not (cache.is_dir() and any(cache.glob("*.shoal-code"))):
            time.sleep(0.005)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
        # Whoever compiles faster than Python looks is running by then.
        good = process.returncode == -signal.SIGINT and re.search(rb"interrupted while (compiling|running) ", err)
        self.expect("Ctrl-C while compiling", good, (process.returncode, err))
        left = [path.name for path in cache.iterdir() if path.suffix != ".shoal-code"]
        self.expect("Ctrl-C while compiling leaves nothing half-written", not left, left)
        again = self.run([self.binary, "run", module, f"--cache_dir={cache}"])
        self.expect("what it kept can be used", again.returncode == 0 and b"damaged" not in again.stderr, again)

    def no_room(self):
        """A run that no machine can hold is refused before anything is made, with what it needs and what is largest."""
        module = self.write("room.hlo", "HloModule m, replica_count=2\nENTRY e {\n  weights = f32[1048576,4194304] parameter(0)\n"
                            "  ROOT twice = f32[1048576,4194304] add(weights, weights)\n}\n")
        for engine in ("jit", "interp"):
            self.says(f"no room, {engine}", self.run([self.binary, "run", module, f"--engine={engine}"]), 2,
                      "not enough memory", "per device", "here; largest buffers: weights f32[1048576,4194304] (16.0 TiB)")

    def written_through(self):
        """-o to what is no plain file: it is still there afterwards, and has got the text."""
        wanted = self.run([self.binary, "print", self.small]).stdout
        fifo, link, target = self.folder / "fifo", self.folder / "link", self.write("target", "before")
        os.mkfifo(fifo)
        link.symlink_to(target)
        with subprocess.Popen(["cat", fifo], stdout=subprocess.PIPE) as reader:
            self.run([self.binary, "print", self.small, "-o", fifo])
            self.expect("print -o FIFO", reader.communicate(timeout=20)[0] == wanted)
        self.expect("the FIFO is one still", stat.S_ISFIFO(fifo.lstat().st_mode))
        self.run([self.binary, "print", self.small, "-o", link])
        self.expect("print -o LINK", link.is_symlink() and target.read_bytes() == wanted)
        for name in ("/dev/stdout", "/proc/self/fd/1"):
            before = os.lstat(name) if name == "/dev/stdout" else None
            self.expect(f"print -o {name}", self.run([self.binary, "print", self.small, "-o", name]).stdout == wanted)
            if before:
                self.expect(f"{name} is untouched", os.lstat(name).st_ino == before.st_ino)
            with open(self.folder / "appended", "wb") as out:
                out.write(b"kept\n")
                out.flush()
                self.run([self.binary, "print", self.small, "-o", name], stdout=out)
            self.expect(f"print -o {name} > FILE", (self.folder / "appended").read_bytes() == b"kept\n" + wanted)
        plain = self.write("plain", "before")
        plain.chmod(0o640)
        self.run([self.binary, "print", self.small, "-o", plain])
        self.expect("print -o FILE", plain.read_bytes() == wanted and stat.S_IMODE(plain.stat().st_mode) == 0o640)

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
        self.expect("what cannot be written is said before the run", time.monotonic() - start < 20)

    def too_large(self):
        """Not enough memory is said before an input is made."""
        huge, start = self.write("huge.hlo", HUGE), time.monotonic()
        self.says("run of what no machine holds", self.run([self.binary, "run", huge]), 2, "not enough memory")
        self.says("compare of it", self.run([self.binary, "compare", huge, huge]), 2, "not enough memory")
        self.expect("it is said at once", time.monotonic() - start < 10)

    def options(self):
        loop = self.write("loop.hlo", LOOP)
        for option, word in (("--trips=w=-3", "w=-3"), ("--trips=w", "w"), ("--trips=w=1.5", "1.5"),
                             ("--trips=foo=3", "known: w"), ("--probability=x=2", "x=2"), ("--top=-1", "-1"),
                             ("--probability=x=nan", "nan"), ("--probability=x=0.5", "there are none")):
            self.says(f"comm {option}", self.run([self.binary, "comm", loop, option]), 2, word)
        self.says("cost of two files", self.run([self.binary, "cost", loop, loop]), 2, "loop.hlo")
        self.expect("--trips=w=7", self.run([self.binary, "cost", loop, "--trips=w=7"]).returncode == 0)

    def terminal(self):
        """What a terminal would obey is not written to it; two names of the same module."""
        text = SMALL.replace("f32[2,3] negate(p)", 'f32[2,3] negate(p), metadata={op_name="a\\033]0;evil\\007b"}')
        good = self.write("evil\x1b[2J.hlo", text)
        bad = self.write("bad\x1b[2J.hlo", text.replace("HloModule small", "HloModule s\x1b[31mmall"))
        for verb in [name for name in CALLS if name in self.known]:
            for file in (good, bad) if "FILE" in CALLS[verb] and verb not in ("print", "opt") else ():
                result = self.run(self.call(verb, file))
                self.expect(f"{verb} writes no escapes", b"\x1b" not in result.stdout + result.stderr, result)

    def all(self):
        for verb in self.verbs():
            for test in (self.full_disk, self.closed_pipe, self.unreadable, self.bad_module, self.bad_option,
                         self.no_memory, self.interrupted):
                test(verb)
        for test in (self.run_interrupted, self.compile_interrupted, self.no_room, self.written_through, self.unwritable, self.too_large, self.options,
                     self.terminal):
            test()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bin", default=str(ROOT / "build/shoal"))
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        faults = Faults(str(pathlib.Path(arguments.bin).resolve()), folder)
        faults.all()
    print(f"{faults.passed} passed, {faults.failed} failed")
    return faults.failed > 0


if __name__ == "__main__":
    sys.exit(main())
