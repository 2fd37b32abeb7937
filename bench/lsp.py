#!/usr/bin/env python3
"""Measures the latency of `shoal lsp`: bench/lsp.py MODULE [--bin PATH] [--repeats N] [--copies N].

Prints milliseconds: from opening the module to its diagnostics, from an edit to new diagnostics, and of single requests.
With --copies N, the module has its computations N times: a large valid module.
"""
import argparse
import json
import pathlib
import re
import statistics
import subprocess
import time


class Server:
    def __init__(self, binary):
        self.process = subprocess.Popen([binary, "lsp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.next_id = 0
        self.request("initialize", {"capabilities": {"general": {"positionEncodings": ["utf-8"]}}})
        self.notify("initialized", {})

    def send(self, message):
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self.process.stdin.flush()

    def receive(self):
        length = 0
        while (line := self.process.stdout.readline().strip()):
            if line.lower().startswith(b"content-length:"):
                length = int(line.split(b":")[1])
        return json.loads(self.process.stdout.read(length))

    def notify(self, method, params):
        self.send({"method": method, "params": params})

    def request(self, method, params):
        self.next_id += 1
        self.send({"id": self.next_id, "method": method, "params": params})
        while True:
            message = self.receive()
            if message.get("id") == self.next_id:
                return message

    def wait_for(self, method):
        while self.receive().get("method") != method:
            pass

    def peak_megabytes(self):
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return int(status.split("VmHWM:")[1].split()[0]) / 1024


def copied(text, count):
    """The module with its computations `count` times; only the first ENTRY is one."""
    start = re.search(r"^(?:ENTRY )?%?[\w.-]+ .*\{$", text, re.M).start()
    body = text[start:]
    names = set(re.findall(r"^(?:ENTRY )?(%[\w.-]+) .*\{$", body, re.M))
    inner = body.replace("\nENTRY %", "\n%")
    copies = (re.sub(r"%[\w.-]+", lambda found, i=i: found[0] + (f".copy{i}" if found[0] in names else ""), inner)
              for i in range(1, count))
    return text[:start] + "\n\n".join([*copies, body])


def timed(action, repeats):
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        action()
        times.append((time.perf_counter() - start) * 1000)
    return statistics.median(times)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("module", type=pathlib.Path)
    parser.add_argument("--bin", default="build/shoal")
    parser.add_argument("--repeats", type=int, default=20)
    parser.add_argument("--copies", type=int, default=1)
    options = parser.parse_args()
    text = copied(options.module.read_text(), options.copies)
    uri = options.module.resolve().as_uri()
    server = Server(options.bin)
    version = 1

    def open_document():
        server.notify("textDocument/didOpen", {"textDocument": {"uri": uri, "languageId": "hlo", "version": 1, "text": text}})
        server.wait_for("textDocument/publishDiagnostics")

    def edit():
        nonlocal version
        version += 1
        at = {"line": 2, "character": 0}
        server.notify("textDocument/didChange", {"textDocument": {"uri": uri, "version": version},
                                                 "contentChanges": [{"range": {"start": at, "end": at}, "text": " "}]})
        server.wait_for("textDocument/publishDiagnostics")

    print(f"{'size':24}{len(text) / 1e6:10.1f} MB")
    print(f"{'open to diagnostics':24}{timed(open_document, 1):10.1f} ms")
    print(f"{'peak memory of opening':24}{server.peak_megabytes():10.0f} MB, {server.peak_megabytes() / (len(text) / 1e6):.1f} times the size")
    print(f"{'edit to diagnostics':24}{timed(edit, options.repeats):10.1f} ms")
    lines = text.split("\n")
    line = next(i for i in range(len(lines) // 2, len(lines)) if "(%" in lines[i])
    where = {"textDocument": {"uri": uri}, "position": {"line": line, "character": lines[line].index("(%") + 3}}
    screen = {"textDocument": {"uri": uri}, "range": {"start": {"line": line, "character": 0}, "end": {"line": line + 60, "character": 0}}}
    server.request("textDocument/hover", where)  # computes the analyses
    for method in ("hover", "definition", "references", "documentHighlight", "completion"):
        milliseconds = timed(lambda m=method: server.request(f"textDocument/{m}", where), options.repeats)
        print(f"{method:24}{milliseconds:10.1f} ms")
    for method in ("semanticTokens/range", "inlayHint"):
        milliseconds = timed(lambda m=method: server.request(f"textDocument/{m}", screen), options.repeats)
        print(f"{method + ', 60 lines':24}{milliseconds:10.1f} ms")
    print(f"{'peak memory':24}{server.peak_megabytes():10.0f} MB, {server.peak_megabytes() / (len(text) / 1e6):.1f} times the size")
    server.request("shutdown", None)
    server.notify("exit", None)


if __name__ == "__main__":
    main()
