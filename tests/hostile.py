#!/usr/bin/env python3
"""Tests inputs and environments that are made to do harm: pipes and links where files are expected, files that change while
they are read, numbers that are none, nested and compressed data that need much memory, caches of other users, names with
control characters. Each test creates its files.

Usage: tests/hostile.py [--bin PATH] [NAME…]"""
import argparse
import gzip
import json
import os
import pathlib
import pwd
import stat
import struct
import subprocess
import sys
import tempfile
import time
import zipfile
import zlib

from limits import as_nobody, limited

ROOT = pathlib.Path(__file__).resolve().parent.parent

ONE = "HloModule one\nENTRY e {\n  p = f32[4] parameter(0)\n  ROOT n = f32[4] negate(p)\n}\n"

MLP = """HloModule mlp
ENTRY main {
  tokens = f32[5,16,32] parameter(0)
  weights = f32[32,96] parameter(1)
  gate = f32[5,16,96] dot(tokens, weights), lhs_contracting_dims={2}, rhs_contracting_dims={0}
  squashed = f32[5,16,96] logistic(gate)
  ROOT swish = f32[5,16,96] multiply(gate, squashed)
}
"""

MACHINE = """name: m
device:
  kind: gpu
  peak: {f32: 60 Tflop/s, bf16: 900 Tflop/s}
  cores: 100
  lanes: 128
  clock: 2 GHz
  memory: 100 GB
  bandwidth: 4000 GB/s
  launch_overhead: 1 us
node: {devices: 8, bandwidth: 400 GB/s}
"""


def npy(dims, data):
    header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': {dims}, }}".encode()
    header += b" " * (117 - len(header)) + b"\n"
    return b"\x93NUMPY\1\0" + struct.pack("<H", len(header)) + header + data


VECTOR = npy("(4,)", struct.pack("<4f", 1, 2, 3, 4))


def varint(number):
    out = b""
    while number > 127:
        out, number = out + bytes([number & 127 | 128]), number >> 7
    return out + bytes([number])


def field(number, data):
    return varint(number << 3 | 2) + varint(len(data)) + data


def literal(values):
    shape = varint(2 << 3) + varint(11) + field(3, varint(len(values))) + field(5, field(1, varint(0)))
    return field(1, shape) + field(8, struct.pack(f"<{len(values)}f", *values))


class Hostile:
    def __init__(self, binary, folder):
        self.binary, self.folder = binary, pathlib.Path(folder)
        self.passed = self.failed = 0
        # Sanitizers need more memory, threads and time than these tests allow.
        self.is_sanitized = b"__asan_init" in pathlib.Path(binary).read_bytes()
        self.one, self.mlp = self.write("one.hlo", ONE), self.write("mlp.hlo", MLP)

    def write(self, name, data):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data if isinstance(data, bytes) else data.encode())
        return path

    def expect(self, case, holds, found=""):
        self.passed, self.failed = self.passed + bool(holds), self.failed + (not holds)
        if not holds:
            print(f"{case}: {str(found)[:800]}")

    def run(self, *arguments, **keywords):
        keywords.setdefault("stdout", subprocess.PIPE)
        keywords.setdefault("timeout", 60 if self.is_sanitized else 20)
        command = [self.binary] + [str(word) for word in arguments]
        try:
            return subprocess.run(command, stderr=subprocess.PIPE, cwd=self.folder, **keywords)
        except subprocess.TimeoutExpired:
            return subprocess.CompletedProcess(command, 124, b"", b"hangs")

    def says(self, result, status, *words):
        """Checks the exit status and that the messages, or the JSON document, have all the words."""
        text = (result.stderr + (result.stdout or b"")).decode(errors="replace")
        good = result.returncode == status and all(word in text for word in words)
        self.expect(" ".join(map(str, result.args[1:])), good, f"status {result.returncode}, expected {status} and {words}: {text}")

    # Pipes, devices and links, and files that change while they are read.

    def pipes(self):
        (self.folder / "in").mkdir()
        for name in ("in/0.npy", "machine.fifo", "module.fifo", "placement.fifo"):
            os.mkfifo(self.folder / name)
        self.says(self.run("run", self.one, "--inputs=in"), 2, "in/0.npy", "not a plain file")
        self.says(self.run("time", self.one, "--on=machine.fifo"), 2, "machine.fifo", "not a plain file")
        self.says(self.run("run", self.one, "--placement=placement.fifo"), 2, "placement.fifo", "not a plain file")
        self.says(self.run("show", "module.fifo"), 2, "module.fifo", "pipe")
        # A pipe with a writer is read to its end, also if the writer comes late.
        with subprocess.Popen(["sh", "-c", "sleep 0.5; cat one.hlo > module.fifo"], cwd=self.folder):
            self.says(self.run("check", "module.fifo"), 0, "ok")
        self.says(self.run("show", "/dev/zero"), 2, "device")
        self.says(self.run("run", self.one, "--inputs=/dev/zero"), 2, "not a plain file")
        os.symlink("loop", self.folder / "loop")
        self.says(self.run("show", "loop"), 2, "loop", "symbolic links")
        self.says(self.run("time", self.one, "--on=loop"), 2, "loop", "symbolic links")

    def truncated(self):
        """An input that is truncated while it is read."""
        module = self.write("large.hlo", "HloModule t\nENTRY e {\n  p = f32[16,1000000] parameter(0)\n  ROOT n = f32[16,1000000] negate(p)\n}\n")
        for attempt in range(6):
            path = self.write("large/0.npy", npy("(16, 1000000)", bytes(64_000_000)))
            process = subprocess.Popen([self.binary, "run", str(module), "--inputs=large", "--engine=interp"],
                                       stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, cwd=self.folder)
            time.sleep(0.004 * (attempt + 1))
            os.truncate(path, 200)
            said = process.communicate()[1]
            self.expect("a truncated input", process.returncode in (0, 1, 2), (process.returncode, said))
            if process.returncode:
                self.expect("its name", b"large/0.npy" in said, said)

    def own_input(self):
        """print writes to the file that it reads, whose warnings it then shows."""
        lines = "".join(f"  // {'x' * 100}\n" for _ in range(100))
        warnings = "HloModule m\nENTRY e {\n" + lines + "  p = f32[4] parameter(0), bogus_attr=3\n  ROOT n = f32[4] negate(p)\n}\n"
        target = self.write("warnings.hlo", warnings)
        os.symlink("warnings.hlo", self.folder / "link.hlo")
        self.says(self.run("print", "link.hlo", "-o", "link.hlo", "--warnings"), 0, "bogus_attr")
        self.expect("the link remains", (self.folder / "link.hlo").is_symlink() and "bogus" not in warnings[:10])
        self.expect("its target is written", target.read_bytes() != warnings.encode() and b"negate" in target.read_bytes())

    # Numbers.

    def numbers(self):
        other = self.write("other.hlo", MLP.replace("multiply(gate, squashed)", "add(gate, squashed)"))
        for value in ("nan", "-nan", "inf", "0x10", "1e999"):
            for option in ("--abs_error_bound", "--rel_error_bound", "--max_seconds"):
                self.says(self.run("compare", self.mlp, other, f"{option}={value}"), 2, option)
        for option in ("--top=010", "--top=9223372036854775808", "--top=0x10"):
            self.says(self.run("cost", self.mlp, option), 2, "--top")
        for bound in ("--5%", "+-5%", "nan%", "inf%", "--5", "nan", "inf"):
            self.says(self.run("diff", self.mlp, other, f"--threshold=flops<={bound}"), 2, "bound")
        self.says(self.run("diff", self.mlp, other, "--threshold=flops<=-5%"), 3)
        for assignment in ("device.lanes=0", "device.bandwidth=1e-300B/s", "bandwidth=nan", "device.cores=1.5", "nic=inf",
                           "device.matrix_efficiency=0", "device.launch_overhead=-1s", "in_switch_reduction=2"):
            result = self.run("time", self.mlp, "--on=h200", f"--set={assignment}", "--json")
            self.expect(assignment, result.returncode == 2 and json.loads(result.stdout)["ok"] is False, result)

    def machines(self):
        cases = {
            "infinite.yaml": (MACHINE.replace("4000 GB/s", "1e-300 B/s"), ":9:", "device.bandwidth"),
            "no_value.yaml": (MACHINE.replace("1 us", '{source: "no value"}'), ":10:", "device.launch_overhead"),
            "no_curves.yaml": (MACHINE + "collectives: nosuch\n", ":12:", "collectives"),
            "half_device.yaml": (MACHINE.replace("devices: 8", "devices: 0.5"), ":11:", "node.devices"),
            "two_documents.yaml": (MACHINE + "---\nname: other\n", ":12:", "document"),
            "escape_name.yaml": (MACHINE.replace("name: m", 'name: "a\\e[31mb"'), ":1:", "name"),
            "empty.yaml": ("", "empty.yaml", ""),
            "comma.yaml": ("," + MACHINE, ":1:", "map"),
            "deep.yaml": ("[" * 100_000, "deep.yaml", ""),
            "large.yaml": ("a" * 300_000, "large.yaml", "bytes"),
        }
        for name, (text, *words) in cases.items():
            self.write(name, text)
            for command in (("time", self.one), ("report", self.mlp, "-o", "page.html")):
                result = self.run(*command, f"--on={name}", preexec_fn=None if self.is_sanitized else limited(AS=1 << 30))
                self.says(result, 2, name, *words)
        self.expect("no page", not (self.folder / "page.html").exists())
        self.write("fine.yaml", MACHINE)
        self.says(self.run("time", self.one, "--on=fine.yaml"), 0)
        closed = self.write("closed.yaml", MACHINE)
        closed.chmod(0)
        if os.geteuid() == 0:
            self.folder.chmod(0o755)
            result = self.run("time", self.one, "--on=closed.yaml", preexec_fn=as_nobody)
            self.says(result, 2, "cannot read closed.yaml: Permission denied")
        self.says(self.run("run", self.one, "--placement=x"), 2, "--placement", "x")

    # Memory.

    def memory(self):
        bounded = None if self.is_sanitized else limited(AS=1 << 30)
        self.write("nest.json.gz", gzip.compress(b"[" * 10_000_000))
        self.says(self.run("time", self.one, "--on=h200", "--against=nest.json.gz", preexec_fn=bounded), 2, "nest.json.gz", "levels deep")
        self.write("zeros.hlo.gz", gzip.compress(b"/" * 300_000_000, 1))
        self.says(self.run("show", "zeros.hlo.gz", preexec_fn=bounded), 1, "zeros.hlo.gz", "decompress")
        with open(self.folder / "sparse.npz", "wb") as file:
            file.truncate(200 << 30)
        self.says(self.run("run", self.one, "--inputs=sparse.npz", preexec_fn=bounded), 1, "sparse.npz", "is not a zip archive")
        config = 'backend_config="' + "[" * 500_000 + '"'
        nested = self.write("nested.hlo", MLP.replace("logistic(gate)", "logistic(gate), " + config))
        other = self.write("nested2.hlo", MLP.replace("logistic(gate)", "logistic(gate), " + config[:-2] + '"'))
        self.says(self.run("diff", nested, other, preexec_fn=bounded), 0)
        self.says(self.run("time", nested, "--on=h200", preexec_fn=bounded), 0)

    def threads(self):
        if self.is_sanitized:
            return
        for kibibytes, count in ((500_000, 64), (8_000_000, 1024), (1_000_000, 200)):
            result = self.run("run", self.mlp, f"--threads={count}", preexec_fn=limited(AS=kibibytes << 10))
            self.says(result, 2, "not enough memory for another thread")
        if os.geteuid() == 0:
            def few_processes():
                limited(NPROC=4)()
                as_nobody()
            self.folder.chmod(0o755)
            for command in (("run", self.mlp), ("run", self.mlp, "--engine=interp"), ("stats", "."), ("compare", self.mlp, self.mlp)):
                result = self.run(*command, preexec_fn=few_processes)
                self.expect(f"{command[0]} without threads", result.returncode in (0, 1, 2), result)
            result = self.run("run", self.mlp, "--threads=64", preexec_fn=few_processes)
            self.says(result, 2, "not enough memory for another thread")

    # Profiles and archives.

    def profiles(self):
        self.write("negative.json", json.dumps([{"ph": "X", "name": "n", "ts": 1, "dur": -1000}]))
        self.says(self.run("time", self.one, "--on=h200", "--against=negative.json"), 2, "negative.json", "duration")

    def archives(self):
        path = self.folder / "unchecked.npz"
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("0.npy", VECTOR + b"\0" * 200_000)
        data = bytearray(path.read_bytes())
        self.says(self.run("run", self.one, "--inputs=unchecked.npz", "--print_literals"), 0, "{-1, -2, -3, -4}")
        data[data.find(b"\x93NUMPY") + 128 + 3] ^= 0x40
        path.write_bytes(bytes(data))
        self.says(self.run("run", self.one, "--inputs=unchecked.npz"), 1, "unchecked.npz is damaged: entry 0.npy")
        for name in ("plain", "link"):
            self.write(f"extra_{name}/0.npy", VECTOR)
        self.write("extra_plain/1.npy", VECTOR)
        self.write("elsewhere.npy", VECTOR)
        os.symlink("../elsewhere.npy", self.folder / "extra_link/1.npy")
        for name in ("plain", "link"):
            self.says(self.run("run", self.one, f"--inputs=extra_{name}"), 1, f"extra_{name}/1.npy", "1 array")

    # Folders.

    def folders(self):
        for i in range(40):
            self.write(f"deep/s{i}/m.hlo", MLP)
        subprocess.run(["mkdir", "-p", "deep/s20" + "/d" * 1100], cwd=self.folder, check=True)
        for files in (12, 64):
            result = self.run("stats", "deep", "--json", preexec_fn=None if self.is_sanitized else limited(NOFILE=files))
            found = json.loads(result.stdout)
            self.expect(f"{files} descriptors", len(found["modules"]) == 40 and not found["unreadable"], found["unreadable"])
        if os.geteuid() == 0:
            self.folder.chmod(0o755)
            self.write("closed/seen.hlo", MLP)
            self.write("closed/no/unseen.hlo", MLP)
            (self.folder / "closed/no").chmod(0)
            result = self.run("stats", "closed", preexec_fn=as_nobody)
            self.says(result, 0, "1 module", "unreadable: closed/no: Permission denied")

    # Output.

    def documents(self):
        """Every document is JSON, and there is one, which says whether the command succeeded."""
        module = self.run("print", "--format=pb", self.one).stdout
        snapshot = field(1, field(1, module)) + field(2, literal([1, 2, 3, 4]))
        self.write("no_result.pb", snapshot)
        self.write("wrong_result.pb", snapshot + field(3, literal([-1, -2, -3, 4])))
        self.write("right_result.pb", snapshot + field(3, literal([-1, -2, -3, -4])))
        for name, status, ok in (("no", 2, False), ("wrong", 1, False), ("right", 0, True)):
            result = self.run("run", f"{name}_result.pb", "--check_snapshot", "--json")
            document = json.loads(result.stdout)
            self.expect(f"a snapshot with {name} result", result.returncode == status and document["ok"] is ok, result)
        self.expect("the comparison", document["snapshot"] == {"ok": True, "outputs": document["snapshot"]["outputs"]})
        named = self.write("a\x7f\x1b[31mb\nc.hlo", MLP.replace("logistic(gate)", 'logistic(gate), metadata={op_name="x\\177y"}'))
        self.write("in/0.npy", VECTOR.replace(b"<f4", b"<\x7f4"))
        for command in (("time", named, "--on=x\x7f"), ("cost", named, "--by=op_name"), ("check", named), ("show", named), ("run", named),
                        ("print", named), ("report", named, "-o", "page.html"), ("run", self.one, "--inputs=in"), ("run", named, "--explain"),
                        ("time", self.one, "--on=h200", "--set=x\x7f=1"), ("stats", "."), ("run", named, "--print_literals")):
            result = self.run(*command, "--json")
            try:
                json.loads(result.stdout)
                self.expect("JSON", True)
            except ValueError as error:
                self.expect(f"{command} --json is JSON", False, (error, result.stdout))
        for command in (("check", named), ("show", named), ("time", named, "--on=h200"), ("stats", "."), ("diff", named, self.one), ("comm", named),
                        ("run", named), ("compare", named, named), ("show", str(named) + "x"), ("run", named, "--inputs=" + str(named))):
            result = self.run(*command)
            text = result.stdout + result.stderr
            self.expect(f"{command[0]} escapes names", b"\x1b" not in text and b"b\nc" not in text and b"\x7f" not in text, result)

    def dumps(self):
        module = self.write("collision.hlo", "HloModule c\nf {\n  p = f32[] parameter(0)\n  ROOT x = f32[] negate(p)\n}\nENTRY main {\n"
                            "  a = f32[] parameter(0)\n  x = f32[] add(a, a)\n  main.x = f32[] multiply(x, x)\n"
                            "  c = f32[] call(main.x), to_apply=f\n  ROOT r = f32[] add(c, main.x)\n}\n")
        self.says(self.run("run", module, "--dump=x", "--dump_dir=dumped"), 0, "dumped 3 values")
        self.expect("three files", len(list((self.folder / "dumped/d0").iterdir())) == 3)
        (self.folder / "dumped/d0/r.npy").mkdir()
        result = self.run("run", module, "--dump=^r$", "--dump_dir=dumped")
        self.says(result, 2, "dumped 0 values", "r.npy")

    def atomic(self):
        """A page behind a symbolic link is replaced whole or not at all."""
        page = self.write("pages/p.html", "before")
        os.symlink("pages/p.html", self.folder / "l.html")
        result = self.run("report", self.mlp, "-o", "l.html", preexec_fn=limited(FSIZE=20_000))
        self.says(result, 2, "l.html", "cannot write")
        self.expect("the old page remains", page.read_text() == "before" and len(list(page.parent.iterdir())) == 1)
        self.says(self.run("report", self.mlp, "-o", "l.html"), 0)
        self.expect("the page is replaced", page.stat().st_size > 50_000 and (self.folder / "l.html").is_symlink())

    def slow_reader(self):
        """Standard output is a pipe that does not block and whose reader is slow."""
        reader, writer = os.pipe()
        os.set_blocking(writer, False)
        process = subprocess.Popen([self.binary, "report", str(self.mlp), "-o", "-"], stdout=writer, stderr=subprocess.PIPE, cwd=self.folder)
        os.close(writer)
        time.sleep(0.5)
        with os.fdopen(reader, "rb") as file:
            size = len(file.read())
        self.expect("a pipe that does not block", process.wait(20) == 0 and size > 100_000, (process.returncode, size))

    def closed_output(self):
        """With standard output closed, the profile is still written, and no file takes its descriptor."""
        result = self.run("run", self.mlp, "--profile=trace.json", "--outputs=outputs", stdout=None, preexec_fn=lambda: os.close(1))
        self.says(result, 2, "cannot write standard output")
        self.expect("the profile", json.loads((self.folder / "trace.json").read_text())["traceEvents"])
        self.expect("the outputs", (self.folder / "outputs/d0/0.npy").read_bytes().startswith(b"\x93NUMPY"))

    def environment(self):
        for variable, words in (("SHOAL_ENGINE", "SHOAL_ENGINE"),):
            result = self.run("run", self.one, env={**os.environ, variable: "zz"})
            self.says(result, 2, words)
            self.expect("it is not called an option", b"--engine" not in result.stderr, result)
            self.says(self.run("run", self.one, "--engine=zz", env={**os.environ, variable: "zz"}), 2, "--engine")

    # The cache of compiled code.

    def cached(self, *more, **keywords):
        return self.run("run", self.mlp, "--cache_dir=cache", "--threads=1", *more, **keywords)

    def cache(self):
        self.says(self.cached(), 0)
        folder = self.folder / "cache"
        entry, = folder.iterdir()
        self.expect("the folder is private", stat.S_IMODE(folder.stat().st_mode) == 0o700)
        self.expect("the entry is private", stat.S_IMODE(entry.stat().st_mode) == 0o600)
        good = entry.read_bytes()
        changed = self.write("mine.txt", "mine")
        for name, harm in (("link", lambda: (entry.unlink(), entry.symlink_to("../mine.txt"))), ("group", lambda: entry.chmod(0o660)),
                           ("pipe", lambda: (entry.unlink(), os.mkfifo(entry))), ("short", lambda: entry.write_bytes(good[:40])),
                           ("large", lambda: os.truncate(entry, 3 << 30)), ("empty", lambda: entry.write_bytes(b""))):
            harm()
            self.says(self.cached(), 0, "compiled the code again")
            self.expect(f"{name}: the entry is replaced", entry.read_bytes() == good and stat.S_IMODE(entry.stat().st_mode) == 0o600)
            again = self.cached()
            self.expect(f"{name}: the next run uses it", again.returncode == 0 and b"warning" not in again.stderr, again)
        self.expect("the target of the link is untouched", changed.read_text() == "mine")
        orphan = folder / "x.shoal-code.partial-1-0"
        orphan.touch()
        os.utime(orphan, (1, 1))
        large = folder / "y.shoal-code.partial-1-0"
        large.touch()
        os.truncate(large, 3 << 30)
        self.cached()
        self.expect("orphans are removed", sorted(folder.iterdir()) == [entry], list(folder.iterdir()))
        for mode in (0o770, 0o707, 0o1777):
            folder.chmod(mode)
            self.says(self.cached(), 0, "is not used: other users may write to it")
        folder.chmod(0o700)
        if os.geteuid() != 0:
            return
        user = pwd.getpwnam("nobody")
        os.chown(entry, user.pw_uid, user.pw_gid)
        self.says(self.cached(), 0, "belongs to another user")
        os.chown(folder, user.pw_uid, user.pw_gid)
        self.says(self.cached(), 0, "is not used: it belongs to another user")
        # An entry that its owner may not read is replaced.
        for path in [folder, *folder.iterdir()]:
            os.chown(path, user.pw_uid, user.pw_gid)
        self.folder.chmod(0o755)
        entry.chmod(0)
        self.says(self.cached(preexec_fn=as_nobody), 0, "compiled the code again")
        again = self.cached(preexec_fn=as_nobody)
        self.expect("an unreadable entry heals", b"warning" not in again.stderr and stat.S_IMODE(entry.stat().st_mode) == 0o600, again)

    def poisoned_checksum(self):
        """A cache entry with foreign code but without its checksum is not used."""
        self.says(self.cached(), 0)
        entry, = (self.folder / "cache").iterdir()
        data = bytearray(entry.read_bytes())
        good = bytes(data)
        data[-100] ^= 1
        entry.write_bytes(bytes(data))
        self.says(self.cached(), 0, "corrupt")
        self.expect("the entry is replaced", entry.read_bytes() == good)
        key_bytes = struct.unpack("<Q", good[8:16])[0]
        self.expect("the checksum is that of key and code", zlib.crc32(good[32:]) == struct.unpack("<Q", good[24:32])[0] and key_bytes > 0)

    def library_path(self):
        """The code generator is loaded only from next to shoal."""
        alone = self.folder / "alone"
        alone.mkdir()
        program = alone / "shoal"
        program.write_bytes(pathlib.Path(self.binary).read_bytes())
        program.chmod(0o755)
        beside = str(pathlib.Path(self.binary).parent)
        result = subprocess.run([program, "run", self.one], capture_output=True, timeout=60, env={**os.environ, "LD_LIBRARY_PATH": beside})
        self.expect("without the library beside it", b"using the interpreter" in result.stderr and result.returncode == 0, result)


TESTS = [name for name, value in vars(Hostile).items() if callable(value) and not name.startswith("_") and
         name not in ("write", "expect", "run", "says", "cached")]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="only these tests: " + ", ".join(TESTS))
    parser.add_argument("--bin", default=str(ROOT / "build/shoal"))
    arguments = parser.parse_args()
    passed = failed = 0
    for name in arguments.names or TESTS:
        with tempfile.TemporaryDirectory() as folder:
            hostile = Hostile(str(pathlib.Path(arguments.bin).resolve()), folder)
            try:
                getattr(hostile, name)()
            except (OSError, ValueError, KeyError) as error:
                hostile.expect(name, False, repr(error))
            subprocess.run("chmod -R u+rwX . && rm -rf -- *", shell=True, cwd=folder, check=False, stderr=subprocess.DEVNULL)
            passed, failed = passed + hostile.passed, failed + hostile.failed
    print(f"{passed} passed, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
