"""Every command under every fault: limits of memory, threads, descriptors and file size, full and read-only disks, a closed
output, signals, and inputs that are pipes, devices, folders, loops of links, shrink while they are read, or have control
characters in their names. Part of tests/faults.py.

A command must end within 20 s with exit status 0, 1 or 2, or by the signal that was sent; if it fails, it prints one
message; it leaves no temporary file behind and no output that is incomplete."""
import concurrent.futures
import os
import pathlib
import signal
import stat
import subprocess
import time

from limits import as_nobody, limited

MODULE = """HloModule step, num_partitions=2
add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] add(a, b) }
ENTRY e {
  x = f32[32,48] parameter(0)
  w = f32[48,64] parameter(1)
  d = f32[32,64] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  t = f32[32,64] tanh(d), metadata={op_name="a\\033[31mb" source_file="c.py" source_line=3}
  ROOT r = f32[32,64] all-reduce(t), replica_groups={{0,1}}, use_global_device_ids=true, channel_id=1, to_apply=add
}
"""

# The arguments of each command, reading only, and those that write files. FILE and FOLDER are placeholders.
READS = {
    "check": ["FILE"], "print": ["FILE"], "run": ["FILE"], "compare": ["FILE", "FILE"], "show": ["FILE"], "comm": ["FILE"],
    "cost": ["FILE"], "mem": ["FILE"], "diff": ["FILE", "FILE"], "stats": ["FOLDER"], "ops": [], "time": ["FILE", "--on=h100x8"],
    "machines": [], "opt": ["FILE"], "report": ["FILE", "-o", "-"],
}
WRITES = {
    "print": ["FILE", "-o", "out.hlo"], "run": ["FILE", "--outputs=out", "--profile=trace.json", "--cache_dir=cache"],
    "opt": ["FILE", "-o", "out.hlo"], "time": ["FILE", "--on=h100x8", "--trace=trace.json"], "report": ["FILE", "-o", "page.html"],
}


class Matrix:
    def __init__(self, binary, folder, expect, full):
        self.binary, self.folder, self.expect, self.full = binary, pathlib.Path(folder), expect, full
        self.is_sanitized = b"__asan_init" in pathlib.Path(binary).read_bytes()
        self.module = self.write("module.hlo", MODULE)
        self.dump = self.folder / "dump"
        self.write("dump/module_0001.step.after_optimizations.txt", MODULE)
        self.count = 0

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def calls(self):
        """The commands with their arguments: those that read, then those that write."""
        return list(READS.items()) + list(WRITES.items())

    def start(self, command, words, file, **keywords):
        """Starts a command in a new folder."""
        self.count += 1
        folder = keywords.pop("cwd", None)
        if folder is None:
            folder = self.folder / f"run{self.count}"
            folder.mkdir()
        folder.chmod(keywords.pop("mode", 0o777))
        names = {"FILE": file or self.module, "FOLDER": keywords.pop("dump", self.dump)}
        keywords = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **keywords}
        process = subprocess.Popen([self.binary, command] + [str(names.get(word, word)) for word in words], cwd=folder, **keywords)
        return process, folder

    def finish(self, case, process, folder, statuses=(0, 1, 2), no_message=False):
        start = time.monotonic()
        try:
            out, err = process.communicate(timeout=120 if self.is_sanitized else 20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            return self.expect(f"{case}: ends", False, f"still running after {time.monotonic() - start} s")
        text = err.decode(errors="replace")
        started = process.returncode != 127 and "error while loading" not in text  # the dynamic linker had not enough memory
        self.expect(f"{case}: status", process.returncode in statuses or not started, (process.returncode, text))
        if process.returncode in (1, 2) and not no_message and started:
            documents = out is not None and b'"ok": false' in out
            self.expect(f"{case}: one message", text.count("error:") == 1 or documents or "shrinking" in case and "error:" in text or "must be" in text or "--help" in text, text)
        self.expect(f"{case}: no escapes", "\x1b" not in text and b"\x1b" not in (out or b""), text)
        left = [path.name for path in folder.rglob("*") if ".partial-" in path.name or path.name.startswith(".shoal-")]
        self.expect(f"{case}: nothing left behind", not left, left)
        return out

    def run(self, case, command, words, file=None, statuses=(0, 1, 2), no_message=False, **keywords):
        process, folder = self.start(command, words, file, **keywords)
        return self.finish(f"{command} {case}", process, folder, statuses, no_message)

    # The faults.

    def memory(self, command, words):
        for mebibytes in range(40, 500, 6) if self.full else (56, 88, 160):
            self.run(f"with {mebibytes} MiB", command, words, preexec_fn=limited(AS=mebibytes << 20))

    def threads(self, command, words):
        if os.geteuid() != 0:
            return
        for count in (1, 2, 3, 4, 8) if self.full else (1, 3):
            def few(count=count):
                limited(NPROC=count)()
                as_nobody()
            self.run(f"with {count} processes", command, words, preexec_fn=few)

    def descriptors(self, command, words):
        for count in range(3, 24) if self.full else (3, 5, 8):
            self.run(f"with {count} descriptors", command, words, preexec_fn=limited(NOFILE=count))

    def file_size(self, command, words):
        for size in (0, 1, 512, 4096, 65536) if self.full else (0, 512):
            self.run(f"with files of {size} bytes", command, words, preexec_fn=limited(FSIZE=size))

    def full_disk(self, command, words):
        with open("/dev/full", "w", encoding="ascii") as full:
            self.run("on a full disk", command, words, stdout=full)

    def read_only(self, command, words):
        if os.geteuid() == 0:
            self.run("in a folder that may not be written", command, words, mode=0o555, preexec_fn=as_nobody)

    def closed_output(self, command, words):
        self.run("with a closed output", command, words, stdout=None, preexec_fn=lambda: os.close(1))
        self.run("with all descriptors closed", command, words, stdout=None, preexec_fn=lambda: os.closerange(0, 3), no_message=True)

    def signals(self, command, words):
        for number in (signal.SIGINT, signal.SIGTERM):
            for milliseconds in (0, 1, 2, 4, 6, 8, 12, 16, 24, 32, 64) if self.full else (1, 12):
                process, folder = self.start(command, words, None, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
                time.sleep(milliseconds / 1000)
                process.send_signal(number)
                self.finish(f"{command} and {number.name} after {milliseconds} ms", process, folder, (0, 1, 2, -number))

    def broken_pipe(self, command, words):
        reader, writer = os.pipe()
        process, folder = self.start(command, words, None, stdout=writer)
        os.close(writer)
        os.close(reader)
        self.finish(f"{command} | true", process, folder)

    def odd_inputs(self, command, words):
        """Devices, folders and loops of links in place of the input."""
        loop = self.folder / "loop"
        if not loop.is_symlink():
            loop.symlink_to("loop")
        for path in (pathlib.Path("/dev/zero"), pathlib.Path("/dev/full"), self.dump, loop):
            if "FILE" in words:
                self.run(f"of {path.name}", command, words, path, statuses=(1, 2))
            if "FOLDER" in words and path != self.dump:
                self.run(f"of {path.name}", command, words, dump=path, statuses=(1, 2))

    def names(self, command, words):
        """Control characters in the name and in the texts of the input."""
        file = self.folder / "a\n\x1b[1;31mb\x7f\t.hlo"
        if not file.exists():
            file.write_text(MODULE)
        for broken in (False, True):
            if broken:
                file = file.with_name("broken\n\x1b[1;31mb\x7f.hlo")
                file.write_text(MODULE.replace("tanh(d)", "tanh(e)"))
            dump = self.folder / "dump\n\x1b[31m"
            dump.mkdir(exist_ok=True)
            (dump / file.name).write_text(file.read_text())
            out = self.run("with control characters", command, words, file, dump=dump)
            self.expect(f"{command} escapes DEL", out is None or b"\x7f" not in out or command in ("print", "opt"), out)

    def shrinking(self, command, words):
        if "FILE" not in words:
            return
        text = MODULE.replace("  d =", "".join(f"  n{i} = f32[32,48] negate(x)\n" for i in range(6000)) + "  d =")
        for milliseconds in range(12) if self.full else (2, 5):
            file = self.write(f"shrinks{self.count}.hlo", text)
            process, folder = self.start(command, words, file)
            time.sleep(milliseconds / 1000)
            os.truncate(file, 3000)
            self.finish(f"{command} of a shrinking file", process, folder)
            file.unlink()

    def pipes(self):
        """Pipes without a writer, for which each command waits some seconds: all at the same time."""
        fifo = self.folder / "fifo"
        os.mkfifo(fifo)
        reads = [(command, words) for command, words in READS.items() if "FILE" in words]
        with concurrent.futures.ThreadPoolExecutor(len(reads)) as pool:
            for done in [pool.submit(self.run, "of a pipe", command, words, fifo, (1, 2)) for command, words in reads]:
                done.result()
        self.expect("the pipe remains", stat.S_ISFIFO(fifo.lstat().st_mode))

    def all(self):
        self.folder.chmod(0o755)
        faults = [self.full_disk, self.closed_output, self.broken_pipe, self.odd_inputs, self.names, self.shrinking, self.signals, self.read_only]
        if not self.is_sanitized:  # sanitizers need memory, descriptors and threads themselves
            faults += [self.memory, self.threads, self.descriptors, self.file_size]
        for command, words in self.calls():
            for fault in faults:
                fault(command, words)
        self.pipes()
