// Prints the lines of a file as lists of [text, colour], by VS Code's engine for grammars. Run by tools/editor_pictures.py
// with the paths of the grammar and the file.
const fs = require("node:fs");
const { Registry, parseRawGrammar, INITIAL } = require("vscode-textmate");
const oniguruma = require("vscode-oniguruma");

const kTheme = {
  settings: [
    ["", "#d4d4d4"], ["comment", "#6a9955"], ["keyword", "#c586c0"], ["storage.type", "#4ec9b0"], ["string", "#ce9178"],
    ["entity.name.function", "#dcdcaa"], ["variable", "#9cdcfe"], ["constant.numeric", "#b5cea8"],
    ["support.type.property-name", "#569cd6"],
  ].map(([scope, foreground]) => (scope ? { scope, settings: { foreground } } : { settings: { foreground, background: "#1e1e1e" } })),
};

async function main() {
  const [grammarPath, file] = process.argv.slice(2);
  const wasm = fs.readFileSync(require.resolve("vscode-oniguruma/release/onig.wasm"));
  await oniguruma.loadWASM(wasm.buffer.slice(wasm.byteOffset, wasm.byteOffset + wasm.byteLength));
  const registry = new Registry({
    theme: kTheme,
    onigLib: Promise.resolve({
      createOnigScanner: (patterns) => new oniguruma.OnigScanner(patterns),
      createOnigString: (text) => new oniguruma.OnigString(text),
    }),
    loadGrammar: async () => parseRawGrammar(fs.readFileSync(grammarPath, "utf8"), grammarPath),
  });
  const grammar = await registry.loadGrammar("source.hlo");
  const colors = registry.getColorMap();
  let state = INITIAL;
  const lines = fs.readFileSync(file, "utf8").split("\n").map((line) => {
    const { tokens, ruleStack } = grammar.tokenizeLine2(line, state);
    state = ruleStack;
    const parts = [];
    for (let i = 0; i < tokens.length; i += 2) {
      const end = i + 2 < tokens.length ? tokens[i + 2] : line.length;
      parts.push([line.slice(tokens[i], end), colors[(tokens[i + 1] >>> 15) & 0x1ff]]);
    }
    return parts;
  });
  console.log(JSON.stringify(lines));
}

main();
