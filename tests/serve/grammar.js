// Tokenizes a line of each kind with VS Code's own engine. Run by tests/serve/run.py with the path of the grammar.
const fs = require("node:fs");
const { Registry, parseRawGrammar, INITIAL } = require("vscode-textmate");
const oniguruma = require("vscode-oniguruma");

const kLine = '  ROOT %add.1 = f32[2,3]{1,0} add(%p.0, all.99), metadata={op_name="jit(f)/add" source_line=7} // note';
const kExpected = {
  "ROOT": "keyword.control", "%add.1": "variable.other", "f32": "storage.type", "add": "entity.name.function",
  "%p.0": "variable.other", "metadata": "support.type.property-name", "7": "constant.numeric", "// note": "comment.line",
  "jit(f)/add": "string.quoted",
};

async function main() {
  const wasm = fs.readFileSync(require.resolve("vscode-oniguruma/release/onig.wasm"));
  await oniguruma.loadWASM(wasm.buffer.slice(wasm.byteOffset, wasm.byteOffset + wasm.byteLength));
  const registry = new Registry({
    onigLib: Promise.resolve({
      createOnigScanner: (patterns) => new oniguruma.OnigScanner(patterns),
      createOnigString: (text) => new oniguruma.OnigString(text),
    }),
    loadGrammar: async () => parseRawGrammar(fs.readFileSync(process.argv[2], "utf8"), process.argv[2]),
  });
  const grammar = await registry.loadGrammar("source.hlo");
  const found = {};
  for (const token of grammar.tokenizeLine(kLine, INITIAL).tokens)
    found[kLine.slice(token.startIndex, token.endIndex)] = token.scopes.join(" ");
  let failed = 0;
  if ("99" in found || "all.99" in found) {
    failed += 1;  // a name without % has no scope, and neither has a part of it
    console.log("a part of the name 'all.99' has a scope");
  }
  for (const [text, scope] of Object.entries(kExpected)) {
    if ((found[text] ?? "").includes(scope)) continue;
    failed += 1;
    console.log(`'${text}' has the scopes '${found[text]}', expected ${scope}`);
  }
  console.log(`${Object.keys(kExpected).length - failed} passed, ${failed} failed`);
}

main();
