"""Drives `shoal mcp` with the official SDK, in its handshake and its stateless mode."""
import json
import os
import pathlib
import shutil
import subprocess

import pytest
from mcp import StdioServerParameters
from mcp.client.client import Client
from mcp.client.stdio import stdio_client

ROOT = pathlib.Path(__file__).resolve().parents[2]
BINARY = os.environ.get("SHOAL_BIN", str(ROOT / "build/shoal"))
SHARED = pathlib.Path(os.environ.get("SHOAL_SHARED", ROOT / "../shared"))
LARGE = SHARED / "corpus/xla/tools__benchmarks__hlo__hlo_mixtral_8x7b_bf16_2x8.hlo"
BUDGET_BYTES = 2000 * 4


def connect(roots, *options, mode="auto"):
    arguments = ["mcp", *options]
    for root in roots:
        arguments += ["--root", str(root)]
    return Client(stdio_client(StdioServerParameters(command=BINARY, args=arguments)), mode=mode)


async def call(client, tool, **arguments):
    found = await client.call_tool(tool, arguments)
    size = sum(len(part.text) for part in found.content) + len(json.dumps(found.structured_content or {}))
    assert size <= 1.2 * BUDGET_BYTES or "budget" in arguments, f"{tool}: {size} bytes"
    return found


@pytest.mark.asyncio
@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_every_tool_answers(mode, tmp_path):
    shutil.copy(ROOT / "examples/nested_loops.hlo", tmp_path / "a.hlo")
    text = (tmp_path / "a.hlo").read_text()
    (tmp_path / "b.hlo").write_text(text.replace('"n":"3"', '"n":"5"'))
    (tmp_path / "bad.hlo").write_text("HloModule m\nENTRY e {\n  p = f32[2] parameter(0)\n  ROOT r = f32[3] negate(p)\n}\n")
    async with connect([tmp_path], "--allow_write", mode=mode) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        arguments = {
            "open": {"path": "a.hlo"}, "overview": {"path": "a.hlo"}, "outline": {"path": "a.hlo"},
            "collectives": {"path": "a.hlo"}, "cost": {"path": "a.hlo", "by": "opcode"}, "memory": {"path": "a.hlo"},
            "predict": {"path": "a.hlo", "machine": "h100x8"}, "check": {"path": "bad.hlo"},
            "search": {"path": "a.hlo", "opcode": "all-gather"}, "explain": {"path": "a.hlo", "instruction": "part"},
            "run": {"path": "a.hlo"}, "compare": {"a": "a.hlo", "b": "a.hlo"}, "diff": {"a": "a.hlo", "b": "b.hlo"},
            "report": {"path": "a.hlo", "out": "page.html"}}
        assert set(arguments) == set(tools)
        for name, values in arguments.items():
            found = await call(client, name, **values)
            assert not found.is_error, f"{name}: {found.content}"
            assert set(tools[name].output_schema["properties"]) & set(found.structured_content), name
        overview = (await call(client, "overview", path="a.hlo")).structured_content
        assert overview["devices"] == 8 and {loop["trip_count"] for loop in overview["loops"]} == {3, 4}
        diagnostics = (await call(client, "check", path="bad.hlo")).structured_content
        assert diagnostics["ok"] is False and diagnostics["diagnostics"][0]["line"] == 4
        changes = (await call(client, "diff", a="a.hlo", b="b.hlo")).structured_content["changes"]
        assert changes[0]["kind"] == "trips"
        part = (await call(client, "explain", path="a.hlo", instruction="%part")).structured_content
        assert part["opcode"] == "reduce-scatter" and part["collective"]["payload_bytes"] == 384
        assert "<html" in (tmp_path / "page.html").read_text()[:200].lower()
        resources = (await client.list_resources()).resources
        assert "shoal://docs/comm.md" in [str(one.uri) for one in resources]
        page = await client.read_resource("shoal://docs/comm.md")
        assert page.contents[0].text.startswith("#")


@pytest.mark.asyncio
async def test_folder_lists_modules(tmp_path):
    for stage in ("before_optimizations", "cpu_after_optimizations"):
        shutil.copy(ROOT / "examples/mlp.hlo", tmp_path / f"module_0001.jit_f.{stage}.txt")
    async with connect([tmp_path]) as client:
        found = (await call(client, "open", path=".")).structured_content
        assert len(found["modules"]) == 1 and len(found["modules"][0]["files"]) == 2


@pytest.mark.asyncio
async def test_answers_about_a_large_module_fit_the_budget_and_can_be_paged():
    if not LARGE.exists():
        pytest.skip("needs ../shared")
    async with connect([LARGE.parent]) as client:
        first = (await call(client, "collectives", path=LARGE.name)).structured_content
        left = next(one for one in first["left_out"] if one["list"] == "collectives")
        assert left["shown"] == len(first["collectives"]) < left["total"]
        more = (await call(client, "collectives", path=LARGE.name, offset=left["next_offset"])).structured_content
        names = [row["name"] for row in first["collectives"]]
        assert more["collectives"] and not set(names) & {row["name"] for row in more["collectives"]}
        sizes = [row["ring_bytes_per_step"] for row in first["collectives"]]
        assert sizes == sorted(sizes, reverse=True)
        wide = await call(client, "collectives", path=LARGE.name, budget=20000)
        assert len(wide.structured_content["collectives"]) > len(names)


@pytest.mark.asyncio
async def test_files_outside_the_roots_are_refused(tmp_path):
    inside, outside = tmp_path / "inside", tmp_path / "outside"
    inside.mkdir()
    outside.mkdir()
    shutil.copy(ROOT / "examples/mlp.hlo", outside / "secret.hlo")
    (inside / "link.hlo").symlink_to(outside / "secret.hlo")
    (inside / "folder").symlink_to(outside)
    os.mkfifo(inside / "fifo.hlo")
    async with connect([inside], "--allow_write") as client:
        for path in ("../outside/secret.hlo", str(outside / "secret.hlo"), "link.hlo", "folder/secret.hlo", "/etc/passwd",
                     str(outside), "folder", "missing.hlo", "fifo.hlo", "a\0b", ""):
            for tool in ("open", "check"):
                found = await client.call_tool(tool, {"path": path})
                text = json.dumps(found.structured_content or {}) + found.content[0].text
                assert "computations" not in text, (tool, path)
                assert found.is_error or not found.structured_content.get("ok", False)
        shutil.copy(ROOT / "examples/mlp.hlo", inside / "m.hlo")
        for out in ("../page.html", "folder/page.html", "m.hlo", "/tmp/page.html", ""):
            assert (await client.call_tool("report", {"path": "m.hlo", "out": out})).is_error
    async with connect([inside]) as client:
        assert "report" not in [tool.name for tool in (await client.list_tools()).tools]


@pytest.mark.asyncio
async def test_errors_are_answers(tmp_path):
    (tmp_path / "broken.hlo").write_text("HloModule m\nENTRY e {\n  ROOT r = f32[2] what(\n")
    async with connect([tmp_path]) as client:
        for tool, arguments in (("overview", {"path": "broken.hlo"}), ("overview", {}), ("overview", {"path": 3}),
                                ("predict", {"path": "broken.hlo", "machine": "h1000"})):
            found = await client.call_tool(tool, arguments)
            assert found.is_error and found.content[0].text
        with pytest.raises(Exception, match="unknown tool"):
            await client.call_tool("nothing", {})


def test_root_that_does_not_exist():
    done = subprocess.run([BINARY, "mcp", "--root", "/nowhere"], capture_output=True, text=True, check=False, timeout=20)
    assert done.returncode == 2 and "/nowhere" in done.stderr
