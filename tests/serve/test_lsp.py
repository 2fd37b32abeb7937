"""Drives `shoal lsp` with the client of pytest-lsp. SHOAL_BIN names the binary, SHOAL_SHARED the folder with the seeds."""
import asyncio
import bisect
import json
import os
import pathlib
import random
import re
import subprocess

import pytest
import pytest_lsp
from lsprotocol import types
from pytest_lsp import ClientServerConfig, LanguageClient

ROOT = pathlib.Path(__file__).resolve().parents[2]
SHARED = pathlib.Path(os.environ.get("SHOAL_SHARED", ROOT / "../shared"))
BINARY = os.environ.get("SHOAL_BIN", str(ROOT / "build/shoal"))
LOOPS = ROOT / "examples/nested_loops.hlo"
FSDP = ROOT / "examples/fsdp_mlp.hlo"
LARGE = SHARED / "corpus/xla/tools__benchmarks__hlo__hlo_mixtral_8x7b_bf16_2x8.hlo"
ENCODINGS = [types.PositionEncodingKind.Utf8, types.PositionEncodingKind.Utf16]


def parameters(encodings, options=None):
    general = types.GeneralClientCapabilities(position_encodings=encodings)
    return types.InitializeParams(capabilities=types.ClientCapabilities(general=general),
                                  initialization_options=options, root_uri=(ROOT / "examples").as_uri())


@pytest_lsp.fixture(config=ClientServerConfig(server_command=[BINARY, "lsp"]))
async def client(lsp_client: LanguageClient):
    await lsp_client.initialize_session(parameters([types.PositionEncodingKind.Utf16], {"machine": "h100x8", "docs": "file:///docs/"}))
    yield
    await lsp_client.shutdown_session()


def identifier(uri):
    return types.TextDocumentIdentifier(uri=uri)


async def open_text(client, text, uri="file:///tmp/test.hlo"):
    """Opens a document, waits for its diagnostics and returns them."""
    client.text_document_did_open(types.DidOpenTextDocumentParams(
        text_document=types.TextDocumentItem(uri=uri, language_id="hlo", version=1, text=text)))
    await client.wait_for_notification(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
    return client.diagnostics[uri]


def position(text, needle, inside=0, nth=0):
    """The position of the n-th occurrence of `needle`, in UTF-16 units."""
    at = -1
    for _ in range(nth + 1):
        at = text.index(needle, at + 1)
    before = text[:at + inside]
    line = before.rsplit("\n", 1)[-1]
    return types.Position(line=before.count("\n"), character=len(line.encode("utf-16-le")) // 2)


def at(uri, where):
    return {"text_document": identifier(uri), "position": where}


def slice_of(text, found):
    lines = text.split("\n")
    assert found.start.line == found.end.line
    encoded = lines[found.start.line].encode("utf-16-le")
    return encoded[2 * found.start.character:2 * found.end.character].decode("utf-16-le")


@pytest.mark.asyncio
@pytest.mark.parametrize("path", [*sorted((ROOT / "examples").glob("*.hlo")), *sorted((SHARED / "seeds").glob("*")), LARGE],
                         ids=lambda path: path.name[:40])
async def test_diagnostics_are_those_of_check(client, path):
    if not path.exists():
        pytest.skip("not there")
    found = await open_text(client, path.read_text(), path.as_uri())
    checked = subprocess.run([BINARY, "check", "--json", str(path)], capture_output=True, text=True, check=False)
    errors = [one for one in json.loads(checked.stdout)["files"][0]["diagnostics"] if one["severity"] == "error"]
    if any("rule" not in one for one in errors):
        return  # loose text, which `check` rejects before it checks rules
    assert [(one.code, one.message, one.range.start.line + 1) for one in found
            if one.severity == types.DiagnosticSeverity.Error] == [
                (one.get("rule"), one["message"], one["line"]) for one in errors]


@pytest.mark.asyncio
async def test_diagnostics_have_rule_range_and_related_locations(client):
    text = "HloModule m\nENTRY e {\n  p = f32[3,2] parameter(0)\n  q = f32[2,3] parameter(1)\n  ROOT r = f32[3,2] add(p, q)\n}\n"
    [found] = await open_text(client, text)
    assert found.code.startswith("add.") and found.severity == types.DiagnosticSeverity.Error
    assert slice_of(text, found.range) == "add"
    assert [one.message for one in found.related_information] == ["p is f32[3,2]", "q is f32[2,3]"]
    assert found.code_description.href.endswith("docs/check.md#add")


@pytest.mark.asyncio
async def test_stablehlo_text_has_diagnostics(client):
    text = ("module @m {\n  func.func public @main(%arg0: tensor<2xf32>) -> tensor<2xf32> {\n"
            "    %0 = stablehlo.add %arg0, %arg0 : tensor<2xf32>\n    return %0 : tensor<2xf32>\n  }\n}\n")
    assert await open_text(client, text, "file:///tmp/good.mlir") == ()
    bad = await open_text(client, text.replace("%arg0, %arg0", "%arg0, %arg9"), "file:///tmp/bad.mlir")
    assert len(bad) == 1 and bad[0].range.start.line == 2 and "arg9" in bad[0].message


@pytest.mark.asyncio
async def test_stablehlo_features(client):
    """Values have the scopes of their regions, and the HLO instructions of the ops give costs and trip counts."""
    path = ROOT / "tests/stablehlo/loop.mlir"
    text, uri = path.read_text().partition("// OUTPUT")[0], path.as_uri()
    assert await open_text(client, text, uri) == ()
    hover = await client.text_document_hover_async(types.HoverParams(**at(uri, position(text, "stablehlo.while", 2))))
    assert "trip count: 4" in hover.contents.value and "while.1 = (s32[]," in hover.contents.value
    argument = await client.text_document_hover_async(types.HoverParams(**at(uri, position(text, "%i, %step", 1))))
    assert "%i : tensor<i32>" in argument.contents.value
    use = position(text, "%n : tensor<i32>, tensor<f32>", 1)  # in the body of the loop
    found = await client.text_document_definition_async(types.DefinitionParams(**at(uri, use)))
    assert found.range.start == position(text, "%n = %end")
    uses = await client.text_document_references_async(types.ReferenceParams(
        **at(uri, use), context=types.ReferenceContext(include_declaration=True)))
    assert len(uses) == 3 and {slice_of(text, one.range) for one in uses} == {"%n"}
    [function] = await client.text_document_document_symbol_async(types.DocumentSymbolParams(text_document=identifier(uri)))
    assert function.name == "main" and function.detail == "ENTRY"
    assert "tensor<i32> stablehlo.while × 4" in [child.detail for child in function.children]
    edit = await client.text_document_rename_async(types.RenameParams(**at(uri, use), new_name="limit"))
    assert [one.new_text for one in edit.changes[uri]] == ["%limit"] * 3
    completion = await client.text_document_completion_async(types.CompletionParams(**at(uri, position(text, "%x, %sum", 1))))
    assert {"%j", "%x", "%sum"} <= {one.label for one in completion.items}
    ops = await client.text_document_completion_async(types.CompletionParams(**at(uri, position(text, "stablehlo.add %i", 4))))
    assert "stablehlo.dot_general" in [one.label for one in ops.items]
    assert await client.text_document_formatting_async(types.DocumentFormattingParams(
        text_document=identifier(uri), options=types.FormattingOptions(tab_size=2, insert_spaces=True))) is None


@pytest.mark.asyncio
async def test_stablehlo_functions_and_locations(client):
    text = ('#loc1 = loc("/build/model.py":7:3)\nmodule @m {\n  func.func public @main(%arg0: tensor<2xf32>) -> tensor<2xf32> {\n'
            "    %0 = call @f(%arg0) : (tensor<2xf32>) -> tensor<2xf32> loc(#loc1)\n    return %0 : tensor<2xf32>\n  }\n"
            "  func.func private @f(%arg0: tensor<2xf32>) -> tensor<2xf32> {\n"
            "    %0 = stablehlo.negate %arg0 : tensor<2xf32>\n    return %0 : tensor<2xf32>\n  }\n}\n")
    uri = "file:///tmp/functions.mlir"
    assert await open_text(client, text, uri) == ()
    found = await client.text_document_definition_async(types.DefinitionParams(**at(uri, position(text, "@f(", 1))))
    assert found.range.start == position(text, "@f(%arg0: tensor")
    inner = await client.text_document_definition_async(types.DefinitionParams(**at(uri, position(text, "negate %arg0", 8))))
    assert inner.range.start == position(text, "%arg0: tensor", nth=1)
    [item] = await client.text_document_prepare_call_hierarchy_async(
        types.CallHierarchyPrepareParams(**at(uri, position(text, "@f(%arg0: tensor", 1))))
    [caller] = await client.call_hierarchy_incoming_calls_async(types.CallHierarchyIncomingCallsParams(item=item))
    assert caller.from_.name == "main"
    [link] = await client.text_document_document_link_async(types.DocumentLinkParams(text_document=identifier(uri)))
    assert link.target.endswith("/build/model.py#L7") and slice_of(text, link.range) == "/build/model.py"


@pytest.mark.asyncio
@pytest.mark.parametrize("path", sorted((SHARED / "golden/jax").glob("*.stablehlo.mlir")), ids=lambda path: path.name)
async def test_every_stablehlo_value_has_a_definition(client, path):
    text, uri = path.read_text(), path.as_uri()
    await open_text(client, text, uri)
    uses = [found.start() for found in re.finditer(r"%[\w.-]+", text)]
    lines = [0, *(found.end() for found in re.finditer("\n", text))]
    for offset in random.Random(1).sample(uses, min(len(uses), 200)):
        line = bisect.bisect_right(lines, offset) - 1
        where = types.Position(line, offset - lines[line] + 1)
        found = await client.text_document_definition_async(types.DefinitionParams(**at(uri, where)))
        assert found is not None, text[offset:offset + 60]
        assert slice_of(text, found.range) == re.match(r"%[\w.-]+", text[offset:])[0]


@pytest.mark.asyncio
async def test_errors_while_typing_and_after_repair(client):
    text = LOOPS.read_text()
    uri = "file:///tmp/typing.hlo"
    assert await open_text(client, text, uri) == ()
    where = position(text, "ROOT")
    for version, (change, errors) in enumerate([("%%%", True), ("", False)], start=2):
        end = types.Position(where.line, where.character + (0 if errors else 3))
        client.text_document_did_change(types.DidChangeTextDocumentParams(
            text_document=types.VersionedTextDocumentIdentifier(version=version, uri=uri),
            content_changes=[types.TextDocumentContentChangePartial(range=types.Range(where, end), text=change)]))
        await client.wait_for_notification(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
        assert bool(client.diagnostics[uri]) == errors


def requests(uri, where, around):
    """A call of each feature: the client's function and its parameters."""
    document = identifier(uri)
    for name in ("hover", "definition", "declaration", "implementation", "document_highlight", "completion", "signature_help",
                 "prepare_rename", "prepare_call_hierarchy"):
        kind = "".join(part.capitalize() for part in name.removeprefix("prepare_call_").split("_"))
        params = types.CallHierarchyPrepareParams if "hierarchy" in name else getattr(types, f"{kind}Params")
        yield f"text_document_{name}_async", params(text_document=document, position=where)
    for name in ("document_link", "document_symbol", "folding_range", "code_lens"):
        kind = "".join(part.capitalize() for part in name.split("_"))
        yield f"text_document_{name}_async", getattr(types, f"{kind}Params")(text_document=document)
    yield "text_document_references_async", types.ReferenceParams(
        text_document=document, position=where, context=types.ReferenceContext(include_declaration=True))
    yield "text_document_inlay_hint_async", types.InlayHintParams(text_document=document, range=around)
    yield "text_document_code_action_async", types.CodeActionParams(
        text_document=document, range=around, context=types.CodeActionContext(diagnostics=[]))
    yield "text_document_semantic_tokens_full_async", types.SemanticTokensParams(text_document=document)
    yield "text_document_semantic_tokens_range_async", types.SemanticTokensRangeParams(text_document=document, range=around)
    yield "text_document_formatting_async", types.DocumentFormattingParams(
        text_document=document, options=types.FormattingOptions(tab_size=2, insert_spaces=True))
    yield "workspace_symbol_async", types.WorkspaceSymbolParams(query="fusion")


@pytest.mark.asyncio
@pytest.mark.parametrize("path", [*sorted((SHARED / "seeds").glob("*")), LARGE, ROOT / "tests/ops/bad-reverse-c2.hlo",
                                  ROOT / "tests/stablehlo/bad-shape.mlir"], ids=lambda path: path.name[:40])
async def test_every_feature_answers(client, path):
    """No request fails; those that need no module answer also where the text has errors."""
    if not path.exists():
        pytest.skip("not there")
    text, uri = path.read_text().partition("\n// ERROR")[0], path.as_uri()
    await open_text(client, text, uri)
    lines = text.split("\n")
    number = next(i for i in range(len(lines) // 2, len(lines)) if " = " in lines[i] and "(" in lines[i])
    where = types.Position(number, lines[number].index(" = ") - 1)
    around = types.Range(types.Position(number, 0), types.Position(number + 20, 0))
    answers = {}
    for name, params in requests(uri, where, around):
        answers[name] = await getattr(client, name)(params)
    assert answers["text_document_hover_async"] and answers["text_document_definition_async"]
    assert answers["text_document_document_symbol_async"] and answers["text_document_semantic_tokens_range_async"].data
    assert answers["text_document_references_async"] and answers["text_document_folding_range_async"]


@pytest.mark.asyncio
async def test_hover(client):
    text, uri = LOOPS.read_text(), LOOPS.as_uri()
    await open_text(client, text, uri)

    async def hover(needle, inside=1, nth=0):
        found = await client.text_document_hover_async(types.HoverParams(**at(uri, position(text, needle, inside, nth))))
        return found.contents.value

    collective = await hover("all-gather-start(")
    assert "starts an all-gather" in collective and "payload: 48 B" in collective and "overlap" in collective
    assert "predicted on h100x8" in collective and "source: `loops.py:" in collective
    loop = await hover("while(")
    assert "trip count: 4" in loop or "trip count: 3" in loop
    computation = await hover("body=", len("body=") + 1)
    assert "executions per step" in computation and "called by" in computation


@pytest.mark.asyncio
async def test_definition_references_highlight(client):
    text, uri = LOOPS.read_text(), LOOPS.as_uri()
    await open_text(client, text, uri)
    use = re.search(r"all-gather-done\((%?[\w.-]+)\)", text)
    where = position(text, use.group(0), len("all-gather-done(") + 1)
    found = await client.text_document_definition_async(types.DefinitionParams(**at(uri, where)))
    assert slice_of(text, found.range) == use.group(1)
    all_uses = await client.text_document_references_async(types.ReferenceParams(
        **at(uri, where), context=types.ReferenceContext(include_declaration=True)))
    assert {slice_of(text, one.range) for one in all_uses} == {use.group(1)} and len(all_uses) >= 2
    parts = await client.text_document_document_highlight_async(types.DocumentHighlightParams(**at(uri, found.range.start)))
    assert len(parts) > len(all_uses)  # the start and the done of the collective


@pytest.mark.asyncio
async def test_call_hierarchy(client):
    text, uri = LOOPS.read_text(), LOOPS.as_uri()
    await open_text(client, text, uri)
    where = position(text, "body=", len("body=") + 1)
    [item] = await client.text_document_prepare_call_hierarchy_async(types.CallHierarchyPrepareParams(**at(uri, where)))
    callers = await client.call_hierarchy_incoming_calls_async(types.CallHierarchyIncomingCallsParams(item=item))
    assert len(callers) == 1
    callees = await client.call_hierarchy_outgoing_calls_async(
        types.CallHierarchyOutgoingCallsParams(item=callers[0].from_))
    assert item.name in [one.to.name for one in callees]


@pytest.mark.asyncio
async def test_source_locations(client):
    text = ('HloModule m\nENTRY e {\n  p = f32[2] parameter(0)\n  ROOT r = f32[2] negate(p), '
            'metadata={op_name="jit(f)/neg" source_file="/build/model.py" source_line=7}\n}\n')
    client.workspace_did_change_configuration(types.DidChangeConfigurationParams(
        settings={"shoal": {"pathMap": {"/build/": "/home/me/"}}}))
    await open_text(client, text)
    [source] = await client.text_document_declaration_async(
        types.DeclarationParams(**at("file:///tmp/test.hlo", position(text, "negate", 1))))
    assert source.uri == "file:///home/me/model.py" and source.range.start.line == 6
    [link] = await client.text_document_document_link_async(
        types.DocumentLinkParams(text_document=identifier("file:///tmp/test.hlo")))
    assert link.target == "file:///home/me/model.py#L7" and slice_of(text, link.range) == "/build/model.py"


@pytest.mark.asyncio
async def test_own_packages(client):
    text = ('HloModule m\n\nFileNames\n1 "/me/train.py"\n2 "/lib/python3.12/site-packages/ours/mlp.py"\n'
            '3 "/lib/python3.12/site-packages/torch/nn.py"\n\nFunctionNames\n1 "f"\n\nFileLocations\n'
            '1 {file_name_id=1 function_name_id=1 line=5 end_line=0 column=0 end_column=0}\n2 {file_name_id=2 function_name_id=1 line=8 end_line=0 column=0 end_column=0}\n'
            '3 {file_name_id=3 function_name_id=1 line=9 end_line=0 column=0 end_column=0}\n\nStackFrames\n1 {file_location_id=1 parent_frame_id=1}\n'
            '2 {file_location_id=2 parent_frame_id=2}\n3 {file_location_id=3 parent_frame_id=3}\n\n'
            'ENTRY e {\n  p = f32[2] parameter(0)\n'
            '  y = f32[2] tanh(p), metadata={op_type="aten__gelu" op_name="aten__gelu" stack_frame_id=3}\n'
            '  ROOT r = f32[2] negate(y), metadata={op_type="aten__gelu_backward" op_name="aten__gelu_backward"}\n}\n')
    await open_text(client, text)

    async def hover_and_declaration():
        where = at("file:///tmp/test.hlo", position(text, "negate", 1))
        hover = await client.text_document_hover_async(types.HoverParams(**where))
        declared = await client.text_document_declaration_async(types.DeclarationParams(**where))
        return hover.contents.value, [one.uri.rsplit("/", 1)[1] for one in declared]

    hover, files = await hover_and_declaration()
    assert "- source: `/me/train.py:5 (via forward)`" in hover and files == ["train.py", "nn.py", "mlp.py"]
    client.workspace_did_change_configuration(types.DidChangeConfigurationParams(settings={"shoal": {"ownPackages": ["ours"]}}))
    hover, files = await hover_and_declaration()
    assert "- source: `ours/mlp.py:8 (via forward)`" in hover and files == ["mlp.py", "train.py", "nn.py"]


@pytest.mark.asyncio
async def test_symbols_and_folding(client):
    text, uri = LOOPS.read_text(), LOOPS.as_uri()
    await open_text(client, text, uri)
    symbols = await client.text_document_document_symbol_async(types.DocumentSymbolParams(text_document=identifier(uri)))
    assert any(one.detail == "ENTRY" for one in symbols)
    assert any("while × " in child.detail for one in symbols for child in one.children)
    ranges = await client.text_document_folding_range_async(types.FoldingRangeParams(text_document=identifier(uri)))
    assert len(ranges) == len(symbols)
    found = await client.workspace_symbol_async(types.WorkspaceSymbolParams(query=symbols[0].name))
    assert symbols[0].name in [one.name for one in found]


@pytest.mark.asyncio
async def test_hints_and_lenses(client):
    text, uri = LOOPS.read_text(), LOOPS.as_uri()
    await open_text(client, text, uri)
    whole = types.Range(types.Position(0, 0), types.Position(10**6, 0))
    hints = await client.text_document_inlay_hint_async(types.InlayHintParams(text_document=identifier(uri), range=whole))
    labels = [one.label for one in hints]
    assert any("× 4" in label for label in labels) and any("over all" in label for label in labels)
    assert any("memory peak" in label for label in labels)
    lenses = await client.text_document_code_lens_async(types.CodeLensParams(text_document=identifier(uri)))
    assert any("on h100x8" in one.command.title for one in lenses)


@pytest.mark.asyncio
async def test_semantic_tokens(client):
    text, uri = LOOPS.read_text(), LOOPS.as_uri()
    await open_text(client, text, uri)
    full = await client.text_document_semantic_tokens_full_async(types.SemanticTokensParams(text_document=identifier(uri)))
    lines, line, character, kinds = text.split("\n"), 0, 0, {}
    for i in range(0, len(full.data), 5):
        delta_line, delta, length, kind, _ = full.data[i:i + 5]
        line, character = line + delta_line, delta + (0 if delta_line else character)
        kinds.setdefault(kind, set()).add(lines[line][character:character + length])
    assert "while" in kinds[2] and "ROOT" in kinds[0] and "f32" in kinds[1]
    where = types.Range(types.Position(10, 0), types.Position(20, 0))
    part = await client.text_document_semantic_tokens_range_async(
        types.SemanticTokensRangeParams(text_document=identifier(uri), range=where))
    assert 0 < len(part.data) < len(full.data)
    delta = await client.text_document_semantic_tokens_full_delta_async(
        types.SemanticTokensDeltaParams(text_document=identifier(uri), previous_result_id=full.result_id))
    assert delta.edits == ()


@pytest.mark.asyncio
async def test_completion_and_signature(client):
    text = "HloModule m\nENTRY e {\n  p = f32[3,2] parameter(0)\n  r = f32[2,3] transpose(p), dimensions={1,0}\n}\n"
    await open_text(client, text)
    uri = "file:///tmp/test.hlo"

    async def labels(needle, inside):
        found = await client.text_document_completion_async(types.CompletionParams(**at(uri, position(text, needle, inside))))
        return [one.label for one in found.items]

    assert "transpose" in await labels("transpose", 5)
    assert await labels("transpose(p", len("transpose(")) == ["p"]
    assert "dimensions=" in await labels(", dim", 5)
    help_ = await client.text_document_signature_help_async(
        types.SignatureHelpParams(**at(uri, position(text, "transpose(p", len("transpose(")))))
    assert help_.signatures[0].label == "transpose(operand 0), dimensions=…"


@pytest.mark.asyncio
async def test_rename(client):
    text = "HloModule m\nENTRY e {\n  p = f32[2] parameter(0)\n  q = f32[2] negate(p)\n  ROOT r = f32[2] add(p, q)\n}\n"
    await open_text(client, text)
    uri = "file:///tmp/test.hlo"
    where = position(text, "add(p", 4)
    assert await client.text_document_prepare_rename_async(types.PrepareRenameParams(**at(uri, where)))
    edit = await client.text_document_rename_async(types.RenameParams(**at(uri, where), new_name="input"))
    assert len(edit.changes[uri]) == 3
    with pytest.raises(Exception, match="already defined"):
        await client.text_document_rename_async(types.RenameParams(**at(uri, where), new_name="q"))
    with pytest.raises(Exception, match="not a valid name"):
        await client.text_document_rename_async(types.RenameParams(**at(uri, where), new_name="a b"))


@pytest.mark.asyncio
async def test_formatting_and_code_actions(client):
    text = ("HloModule m\nENTRY e {\n  p = f32[3,2] parameter(0)\n  dead = f32[3,2] negate(p)\n"
            "  ROOT r = f32[2,2] transpose(p), dimensions={1,0}\n}\n")
    await open_text(client, text)
    uri = "file:///tmp/test.hlo"

    async def actions(needle):
        here = types.Range(position(text, needle), position(text, needle))
        found = await client.text_document_code_action_async(types.CodeActionParams(
            text_document=identifier(uri), range=here, context=types.CodeActionContext(diagnostics=[])))
        return {one.title: one for one in found}

    assert "Declare the inferred shape f32[2,3]" in await actions("transpose")
    dead = await actions("negate")
    assert "Remove the unused instruction dead" in dead
    extract = dead["Extract dead into a module of its own"].edit.document_changes
    assert "ROOT dead = f32[3,2] negate(p)" in extract[1].edits[0].new_text
    good = text.replace("f32[2,2]", "f32[2,3]")
    await open_text(client, good, "file:///tmp/good.hlo")
    [edit] = await client.text_document_formatting_async(types.DocumentFormattingParams(
        text_document=identifier("file:///tmp/good.hlo"), options=types.FormattingOptions(tab_size=2, insert_spaces=True)))
    assert edit.new_text.startswith("HloModule m, entry_computation_layout=")


@pytest.mark.asyncio
async def test_report_page(client):
    text, uri = LOOPS.read_text(), LOOPS.as_uri()
    await open_text(client, text, uri)
    page = await client.workspace_execute_command_async(types.ExecuteCommandParams(
        command="shoal.openPage", arguments=[uri, "part"]))
    path = pathlib.Path(page.removeprefix("file://").split("#")[0])
    assert "<html" in path.read_text()[:300].lower() and page.endswith("i=part")
    path.unlink()


@pytest.mark.asyncio
async def test_counterparts_in_another_stage(client, tmp_path):
    text = LOOPS.read_text()
    before = tmp_path / "module_0001.jit_step.before_optimizations.txt"
    after = tmp_path / "module_0001.jit_step.cpu_after_optimizations.txt"
    before.write_text(text)
    after.write_text(re.sub(r"(?<=[%\s(,])part\b", "renamed", text))
    await open_text(client, text, before.as_uri())
    found = await client.text_document_implementation_async(
        types.ImplementationParams(**at(before.as_uri(), position(text, "reduce-scatter(", 1))))
    assert [one.uri for one in found] == [after.as_uri()]
    after.unlink()  # a file that vanishes has no counterpart
    assert not await client.text_document_implementation_async(
        types.ImplementationParams(**at(before.as_uri(), position(text, "reduce-scatter(", 1))))


@pytest.mark.asyncio
async def test_positions_with_tabs_crlf_and_other_scripts(client):
    text = ('HloModule m\r\nENTRY e {\r\n\tp = f32[2] parameter(0), metadata={op_name="größe 😀 層"} q = f32[2] negate(p)\r\n'
            "\tROOT r = f32[2] add(p, q)\r\n}\r\n")
    assert await open_text(client, text) == ()
    found = await client.text_document_definition_async(
        types.DefinitionParams(**at("file:///tmp/test.hlo", position(text, "add(p, q", len("add(p, ")))))
    assert slice_of(text, found.range) == "q"


@pytest.mark.asyncio
async def test_random_edits_end_in_the_same_diagnostics(client):
    """Edits and their undoing lead back to the diagnostics of a fresh parse."""
    chooser = random.Random(3)
    text, uri = FSDP.read_text(), "file:///tmp/random.hlo"
    fresh = await open_text(client, text, uri)
    current, undo, version = text, [], 1
    for _ in range(300):
        start = chooser.randrange(len(current))
        end = min(len(current), start + chooser.choice((0, 0, 1, 5, 40)))
        new = chooser.choice(("", "x", "{", "}", "(", "\n", "%a", "\"", "é", "😀"))
        undo.append((start, start + len(new), current[start:end]))
        version += 1
        change(client, uri, version, current, start, end, new)
        current = current[:start] + new + current[end:]
    while undo:
        start, end, old = undo.pop()
        version += 1
        change(client, uri, version, current, start, end, old)
        current = current[:start] + old + current[end:]
    assert current == text
    deadline = asyncio.get_running_loop().time() + 20
    while client.diagnostics.get(uri) != fresh and asyncio.get_running_loop().time() < deadline:
        await asyncio.sleep(0.05)
    assert client.diagnostics[uri] == fresh


def change(client, uri, version, current, start, end, new):
    def where(offset):
        before = current[:offset]
        return types.Position(before.count("\n"), len(before.rsplit("\n", 1)[-1].encode("utf-16-le")) // 2)

    client.text_document_did_change(types.DidChangeTextDocumentParams(
        text_document=types.VersionedTextDocumentIdentifier(version=version, uri=uri),
        content_changes=[types.TextDocumentContentChangePartial(range=types.Range(where(start), where(end)), text=new)]))
