"""Clients that break the protocol: `shoal lsp` must answer with errors, and must end when its input ends."""
import json
import os
import pathlib
import resource
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BINARY = os.environ.get("SHOAL_BIN", str(ROOT / "build/shoal"))
INITIALIZE = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"capabilities": {}}}


def frame(message):
    body = message if isinstance(message, bytes) else json.dumps(message).encode()
    return b"Content-Length: %d\r\n\r\n" % len(body) + body


def answers(stream):
    """The messages that the server sends for a stream of bytes, and its exit status."""
    done = subprocess.run([BINARY, "lsp"], input=stream, capture_output=True, timeout=20, check=False)
    messages, rest = [], done.stdout
    while rest:
        head, rest = rest.split(b"\r\n\r\n", 1)
        length = int(head.split(b":")[1])
        messages.append(json.loads(rest[:length]))
        rest = rest[length:]
    return messages, done.returncode


def request(number, method, params=None):
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params or {}}


@pytest.mark.parametrize("bad", [b"Content-Length: x\r\n\r\n", b"garbage\r\n\r\n", b"Content-Length: -5\r\n\r\n",
                                 b"Content-Length: 99999999999999999999\r\n\r\n", frame(b"{"), frame(b"[" * 100000),
                                 frame(b"\xff\xfe"), frame([]), frame(b"17"), frame({"jsonrpc": "2.0", "id": {}, "method": "x"})])
def test_a_bad_message_is_an_error_and_the_next_one_is_served(bad):
    messages, _ = answers(bad + frame(INITIALIZE))
    assert any("error" in one for one in messages)
    assert any(one.get("id") == 1 and "result" in one for one in messages)


def test_a_message_that_never_arrives():
    messages, status = answers(frame(INITIALIZE) + b"Content-Length: 1000000\r\n\r\n{")
    assert [one["id"] for one in messages] == [1] and status == 1


def test_lifecycle_errors():
    messages, status = answers(frame(request(7, "textDocument/hover")) + frame(INITIALIZE) + frame(request(2, "initialize")) +
                               frame(request(3, "shutdown")) + frame(request(4, "textDocument/hover")) +
                               frame({"jsonrpc": "2.0", "method": "exit"}))
    codes = {one["id"]: one.get("error", {}).get("code") for one in messages}
    assert codes == {7: -32002, 1: None, 2: -32600, 3: None, 4: -32600} and status == 0


def test_parameters_of_wrong_types():
    methods = ["textDocument/hover", "textDocument/rename", "workspace/executeCommand", "textDocument/semanticTokens/range"]
    stream = frame(INITIALIZE)
    values = [[], {"textDocument": 3}, {"textDocument": {"uri": []}}, {"textDocument": {"uri": "file:///x"}, "position": "y"}]
    number = 1
    for method in methods:
        for value in values:
            number += 1
            stream += frame({"jsonrpc": "2.0", "id": number, "method": method, "params": value})
    for value in values:
        stream += frame({"jsonrpc": "2.0", "method": "textDocument/didOpen", "params": value})
        stream += frame({"jsonrpc": "2.0", "method": "textDocument/didChange", "params": value})
    messages, _ = answers(stream + frame(request(99, "shutdown")))
    assert {one["id"] for one in messages if "error" in one} == set(range(2, number + 1))


def test_edits_out_of_range():
    where = {"start": {"line": 5, "character": 10**9}, "end": {"line": 2**31, "character": -4}}
    backwards = {"start": {"line": 1, "character": 1}, "end": {"line": 0, "character": 0}}
    stream = frame(INITIALIZE) + frame({"jsonrpc": "2.0", "method": "textDocument/didOpen", "params": {"textDocument": {
        "uri": "file:///x", "languageId": "hlo", "version": 1, "text": "HloModule m\nENTRY e { ROOT a = f32[] parameter(0) }\n"}}})
    for number, edit in enumerate((where, backwards)):
        stream += frame({"jsonrpc": "2.0", "method": "textDocument/didChange", "params": {
            "textDocument": {"uri": "file:///x", "version": number}, "contentChanges": [{"range": edit, "text": "x"}]}})
    messages, status = answers(stream + frame(request(2, "shutdown")) + frame({"jsonrpc": "2.0", "method": "exit"}))
    assert any(one.get("id") == 2 for one in messages) and status == 0


def test_a_client_that_never_reads():
    """The server neither grows without limit nor outlives its input."""
    text = (ROOT / "examples/nested_loops.hlo").read_text()
    opened = frame({"jsonrpc": "2.0", "method": "textDocument/didOpen", "params": {"textDocument": {
        "uri": "file:///x", "languageId": "hlo", "version": 1, "text": text}}})
    process = subprocess.Popen([BINARY, "lsp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    process.stdin.write(frame(INITIALIZE) + opened)
    params = {"textDocument": {"uri": "file:///x"}}
    for number in range(2, 5000):
        process.stdin.write(frame(request(number, "textDocument/semanticTokens/full", params)))
    process.stdin.close()
    process.wait(timeout=20)
    process.stdout.close()
    assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss < 2_000_000


def test_cancellation():
    stream = frame(INITIALIZE) + frame({"jsonrpc": "2.0", "method": "$/cancelRequest", "params": {"id": 55}})
    messages, _ = answers(stream + frame(request(2, "shutdown")))
    assert {one["id"] for one in messages} == {1, 2}
