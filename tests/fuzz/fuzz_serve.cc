// Fuzzes the servers: damaged JSON-RPC streams, and random edits followed by every request. No case may crash, hang, or
// reach a state that differs from that of a document opened with the same text. With --seed and --first, a case can be repeated.
#include <csignal>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>
#include <utility>

#include "CLI/CLI.hpp"
#include "core/base/strings.h"
#include "random.h"
#include "serve/documents/documents.h"
#include "serve/lsp/features.h"
#include "serve/lsp/lsp_server.h"

namespace shoal::internal::fuzz {
namespace {

namespace fs = std::filesystem;

std::string Slurp(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::string Frame(const json& message) {
  const std::string body = message.dump(-1, ' ', false, json::error_handler_t::replace);
  return StrCat("Content-Length: ", body.size(), "\r\n\r\n", body);
}

constexpr const char* kMethods[] = {
    "textDocument/hover", "textDocument/definition", "textDocument/declaration", "textDocument/references",
    "textDocument/documentHighlight", "textDocument/prepareCallHierarchy", "textDocument/completion",
    "textDocument/signatureHelp", "textDocument/prepareRename", "textDocument/documentSymbol",
    "textDocument/foldingRange", "textDocument/codeLens", "textDocument/formatting", "textDocument/inlayHint",
    "textDocument/codeAction", "textDocument/semanticTokens/full", "textDocument/semanticTokens/range", "unknown"};

// A session with a document, edits and requests, some with wrong parameters.
std::string Session(Random& random, const std::string& text) {
  std::string stream = Frame({{"jsonrpc", "2.0"}, {"id", 1}, {"method", "initialize"}, {"params", {{"capabilities", json::object()}}}});
  stream += Frame({{"jsonrpc", "2.0"}, {"method", "textDocument/didOpen"},
                   {"params", {{"textDocument", {{"uri", "file:///f"}, {"version", 1}, {"text", text}}}}}});
  const int64_t count = random.Below(12);
  for (int64_t i = 0; i < count; ++i) {
    const json at = {{"line", random.Below(60)}, {"character", random.Below(100)}};
    const json range = {{"start", at}, {"end", {{"line", random.Below(60)}, {"character", random.Below(100)}}}};
    if (random.Below(3) == 0) {
      stream += Frame({{"jsonrpc", "2.0"}, {"method", "textDocument/didChange"},
                       {"params", {{"textDocument", {{"uri", "file:///f"}, {"version", i}}},
                                   {"contentChanges", json::array({{{"range", range}, {"text", "%a\n}"}}})}}}});
    } else {
      stream += Frame({{"jsonrpc", "2.0"}, {"id", i + 2}, {"method", kMethods[random.Below(std::ssize(kMethods))]},
                       {"params", {{"textDocument", {{"uri", "file:///f"}}}, {"position", at}, {"range", range},
                                   {"context", json::object()}}}});
    }
  }
  if (random.Below(2) == 0) stream += Frame({{"jsonrpc", "2.0"}, {"id", 99}, {"method", "shutdown"}});
  if (random.Below(2) == 0) stream += Frame({{"jsonrpc", "2.0"}, {"method", "exit"}});
  return stream;
}

void Damage(Random& random, std::string& stream) {
  const int64_t count = random.Below(6);
  for (int64_t i = 0; i < count && !stream.empty(); ++i) {
    const auto at = static_cast<size_t>(random.Below(std::ssize(stream)));
    switch (random.Below(4)) {
      case 0: stream[at] = static_cast<char>(random.Below(256)); break;
      case 1: stream.erase(at, static_cast<size_t>(random.Below(20))); break;
      case 2: stream.insert(at, stream.substr(at / 2, static_cast<size_t>(random.Below(50)))); break;
      default: stream.insert(at, "Content-Length: 7\r\n\r\n"); break;
    }
  }
}

// Sends the stream to a server and reads everything that it answers.
void Serve(const std::string& stream) {
  int to[2], from[2];
  if (pipe(to) != 0 || pipe(from) != 0) return;
  std::thread writer([&] {
    for (std::string_view rest = stream; !rest.empty();) {
      const ssize_t written = write(to[1], rest.data(), rest.size());
      if (written <= 0) break;
      rest.remove_prefix(static_cast<size_t>(written));
    }
    close(to[1]);
  });
  std::thread reader([&] {
    char buffer[1 << 16];
    while (read(from[0], buffer, sizeof(buffer)) > 0) {
    }
  });
  ServeLanguage(to[0], from[1]);
  close(to[0]);  // the writer may still write
  close(from[1]);
  writer.join();
  reader.join();
  close(from[0]);
}

// Calls every feature at an offset.
void CallFeatures(const View& view, uint32_t offset, TextSpan range) {
  DiagnosticsOf(view);
  for (const auto& at : {HoverAt, DefinitionAt, SourceAt, HighlightsAt, CallHierarchyItemsAt, CompletionsAt, SignatureHelpAt,
                         PrepareRename})
    at(view, offset);
  ReferencesAt(view, offset, true);
  std::string error;
  Rename(view, offset, "renamed", &error);
  for (const auto& whole : {SymbolsOf, FoldingRangesOf, CodeLensesOf, DocumentLinksOf, FormattingOf}) whole(view);
  InlayHintsOf(view, range);
  CodeActionsFor(view, range);
  SemanticTokensOf(view, range);
}

struct Edit {
  size_t at = 0;
  std::string before, after;
};

// A document that receives edits in batches, as an editor sends them.
class EditedDocument {
 public:
  explicit EditedDocument(std::string text) : text_(std::move(text)) { documents_.Open(kUri, text_, 0); }

  const std::string& text() const { return text_; }
  View view() const { return {documents_.Find(kUri), PositionEncoding::kUtf16, {}}; }

  void Apply(const Edit& edit) {
    const Lines lines(text_);
    const auto start = static_cast<uint32_t>(edit.at), end = static_cast<uint32_t>(edit.at + edit.before.size());
    TextChange change{false, lines.PositionOf(start, encoding_), lines.PositionOf(end, encoding_), edit.after};
    // A position inside a character stands for its beginning or end.
    change.whole = lines.OffsetOf(change.start, encoding_) != start || lines.OffsetOf(change.end, encoding_) != end;
    text_.replace(edit.at, edit.before.size(), edit.after);
    if (change.whole) change.text = text_;
    batch_.push_back(std::move(change));
  }

  // Sends the batch. Returns false unless all that the server derives equals that of a document opened with this text.
  bool Send(Random& random) {
    const auto changed = documents_.Change(kUri, std::exchange(batch_, {}), 1, encoding_);
    encoding_ = static_cast<PositionEncoding>(random.Below(2));
    if (!changed.ok() || changed.value()->text() != text_) return false;
    const View fresh{std::make_shared<const Snapshot>(kUri, std::make_shared<const std::string>(text_), 0, AnalysisSettings()),
                     PositionEncoding::kUtf16, {}};
    const TextSpan all{0, static_cast<uint32_t>(text_.size())};
    return DiagnosticsOf(view()) == DiagnosticsOf(fresh) && SymbolsOf(view()) == SymbolsOf(fresh) &&
           SemanticTokensOf(view(), all) == SemanticTokensOf(fresh, all);
  }

 private:
  static constexpr char kUri[] = "file:///f";
  Documents documents_;
  std::string text_;
  std::vector<TextChange> batch_;
  PositionEncoding encoding_ = PositionEncoding::kUtf8;
};

constexpr int64_t kEditsPerCase = 40;

// Random edits and their undoing, in batches of one to four. Returns false if the state after a batch differs from that of
// a document opened with the same text.
bool EditAndUndo(Random& random, const std::string& original) {
  constexpr const char* kTexts[] = {"", "x", "{", "}", "(", ")", "\n", "\r", "%a", "\"", "=", "é", "😀", "ROOT ", "f32[2]",
                                    "/*", "<", "^bb0", "@f", "tensor<2xf32>"};
  EditedDocument document(original);
  const json expected = DiagnosticsOf(document.view());
  std::vector<Edit> edits;
  for (int64_t i = 0; i < kEditsPerCase; ++i) {
    const auto at = static_cast<size_t>(random.Below(std::ssize(document.text()) + 1));
    edits.push_back({at, document.text().substr(at, static_cast<size_t>(random.Below(9))), random.Of(kTexts)});
    document.Apply(edits.back());
    if (i % 4 != 3 && random.Below(2) == 0) continue;
    if (!document.Send(random)) return false;
    const auto offset = static_cast<uint32_t>(random.Below(std::ssize(document.text()) + 1));
    if (i % 8 == 7) CallFeatures(document.view(), offset, {offset, static_cast<uint32_t>(random.Below(2000))});
  }
  for (; !edits.empty(); edits.pop_back()) {
    document.Apply({edits.back().at, edits.back().after, edits.back().before});
    if (edits.size() % 4 == 1 && !document.Send(random)) return false;
  }
  return document.text() == original && DiagnosticsOf(document.view()) == expected;
}

}  // namespace
}  // namespace shoal::internal::fuzz

int main(int argc, char** argv) {
  using namespace shoal::internal::fuzz;
  CLI::App app("Fuzzes the language server");
  int64_t count = 500, first = 0, seconds = 0;
  uint64_t seed = 1;
  std::vector<std::string> origins;
  app.add_option("--count", count, "Number of cases");
  app.add_option("--first", first, "Number of the first case");
  app.add_option("--seconds", seconds, "Stop after this time (0: after --count cases)");
  app.add_option("--seed", seed);
  app.add_option("ORIGINS", origins, "Folders with modules")->required();
  CLI11_PARSE(app, argc, argv);
  signal(SIGPIPE, SIG_IGN);
  std::vector<std::string> texts;
  for (const std::string& root : origins)
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(root))
      if ((entry.path().extension() == ".hlo" || entry.path().extension() == ".mlir") && entry.file_size() < 6000) texts.push_back(Slurp(entry.path()));
  std::sort(texts.begin(), texts.end());
  int64_t passed = 0, failed = 0, edits = 0;
  const auto start = std::chrono::steady_clock::now();
  for (int64_t i = first; seconds > 0 || i < first + count; ++i) {
    if (seconds > 0 && std::chrono::steady_clock::now() - start > std::chrono::seconds(seconds)) break;
    Random random(seed, static_cast<uint64_t>(i));
    const std::string& text = texts[static_cast<size_t>(random.Below(std::ssize(texts)))];
    bool good = true;
    if (i % 2 == 0) {
      std::string stream = Session(random, text);
      Damage(random, stream);
      alarm(60);
      Serve(stream);
    } else {
      alarm(60);
      good = EditAndUndo(random, text);
      edits += 2 * kEditsPerCase;
    }
    (good ? passed : failed) += 1;
    if (!good) std::printf("case %ld of seed %lu: the state after edits differs from that of a fresh document\n", i, seed);
  }
  std::printf("%ld edits\n%ld passed, %ld failed\n", edits, passed, failed);
  return failed > 0 ? 1 : 0;
}
