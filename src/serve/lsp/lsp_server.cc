#include "serve/lsp/lsp_server.h"

#include <filesystem>

#include "core/base/strings.h"
#include "formats/files/dump_files.h"
#include "serve/documents/documents.h"
#include "serve/lsp/features.h"
#include "serve/lsp/report_page.h"
#include "serve/rpc/server.h"

namespace shoal::internal {
namespace {

constexpr char kInitialize[] = "initialize";

class LanguageServer {
 public:
  LanguageServer(int in, int out) : rpc_(in, out, Framing::kHeaders) {
    AddLifecycle();
    AddSynchronization();
    AddFeatures();
    AddWorkspaceFeatures();
  }

  int Run() {
    rpc_.Run();
    return exited_in_order_ ? 0 : 1;
  }

 private:
  using AtOffset = json (*)(const View&, uint32_t offset);

  View ViewOf(std::shared_ptr<const Snapshot> snapshot) const { return {std::move(snapshot), encoding_, settings_}; }

  // A request about a document. It sees the document as all earlier messages left it.
  void OnDocument(const std::string& method, std::function<RpcReply(const View&, const json& params)> answer) {
    rpc_.Request(method, [this, answer](const json& params) -> RpcServer::Job {
      const json& document = params.contains("item") ? params.at("item") : params.at("textDocument");
      std::shared_ptr<const Snapshot> snapshot = documents_.Find(document.at("uri").get<std::string>());
      if (snapshot == nullptr)
        return [](const RpcServer::Call&) { return RpcError{RpcError::kInvalidParams, "the document is not open"}; };
      return [view = ViewOf(std::move(snapshot)), answer, params](const RpcServer::Call&) { return answer(view, params); };
    });
  }
  void OnPosition(const std::string& method, AtOffset answer) {
    OnDocument(method, [answer](const View& view, const json& params) {
      return answer(view, view.OffsetOf(params.at("position")));
    });
  }
  void OnWhole(const std::string& method, json (*answer)(const View&)) {
    OnDocument(method, [answer](const View& view, const json&) { return answer(view); });
  }

  void AddLifecycle();
  json Initialize(const json& params);
  void ApplySettings(const json& settings);
  void AddSynchronization();
  void ScheduleDiagnostics(const std::shared_ptr<const Snapshot>& snapshot, bool opened = false);
  void AddFeatures();
  void AddSemanticTokens();
  RpcReply TokensDelta(const View& view, const json& params);
  void AddWorkspaceFeatures();
  json WorkspaceSymbols(const std::string& query, const RpcServer::Call& call);
  void OpenPage(const json& arguments);

  Documents documents_;
  PositionEncoding encoding_ = PositionEncoding::kUtf16;
  LspSettings settings_;
  std::vector<std::string> folders_;
  bool initialized_ = false, shut_down_ = false, exited_in_order_ = false;

  struct SentTokens {
    std::string id;
    std::vector<uint32_t> data;
  };
  std::mutex publish_mutex_;  // no diagnostics of an older version are published after those of a newer one
  std::mutex tokens_mutex_;
  std::map<std::string, SentTokens> tokens_;  // the last full result of each document
  int64_t next_tokens_id_ = 1;

  RpcServer rpc_;  // declared last: its workers use the members above and end first
};

void LanguageServer::AddLifecycle() {
  rpc_.SetAdmission([this](const std::string& method) -> std::variant<std::monostate, RpcError> {
    if (method == "exit") return std::monostate();
    if (shut_down_) return RpcError{RpcError::kInvalidRequest, "the server has shut down"};
    if (!initialized_ && method != kInitialize)
      return RpcError{RpcError::kNotInitialized, "the first request must be initialize"};
    if (initialized_ && method == kInitialize)
      return RpcError{RpcError::kInvalidRequest, "the server is already initialized"};
    return std::monostate();
  });
  rpc_.SetCancelMethod("$/cancelRequest", "id");
  rpc_.Request(kInitialize, [this](const json& params) -> RpcServer::Job {
    json result = Initialize(params);
    initialized_ = true;
    return [result = std::move(result)](const RpcServer::Call&) { return result; };
  });
  rpc_.Request("shutdown", [this](const json&) -> RpcServer::Job {
    shut_down_ = true;
    return [](const RpcServer::Call&) { return json(); };
  });
  rpc_.Notification("exit", [this](json&) {
    exited_in_order_ = shut_down_;
    rpc_.Stop();
  });
  rpc_.Notification("workspace/didChangeConfiguration", [this](json& params) {
    const json& settings = params.value("settings", json::object());
    ApplySettings(settings.is_object() && settings.contains("shoal") ? settings["shoal"] : settings);
  });
}

json LanguageServer::Initialize(const json& params) {
  const json general = params.value("capabilities", json::object()).value("general", json::object());
  for (const json& offered : general.value("positionEncodings", json::array({"utf-16"}))) {
    if (offered != "utf-8" && offered != "utf-16" && offered != "utf-32") continue;
    encoding_ = offered == "utf-8" ? PositionEncoding::kUtf8
                                   : offered == "utf-32" ? PositionEncoding::kUtf32 : PositionEncoding::kUtf16;
    break;
  }
  if (params.contains("workspaceFolders") && params["workspaceFolders"].is_array())
    for (const json& folder : params["workspaceFolders"]) folders_.push_back(PathOfUri(folder.value("uri", "")));
  else if (params.contains("rootUri") && params["rootUri"].is_string())
    folders_.push_back(PathOfUri(params["rootUri"].get<std::string>()));
  if (params.contains("initializationOptions")) ApplySettings(params["initializationOptions"]);
  constexpr const char* kEncodingNames[] = {"utf-8", "utf-16", "utf-32"};
  json capabilities = {
      {"positionEncoding", kEncodingNames[static_cast<size_t>(encoding_)]},
      {"textDocumentSync", {{"openClose", true}, {"change", 2}}},
      {"hoverProvider", true},
      {"definitionProvider", true},
      {"declarationProvider", true},
      {"implementationProvider", true},
      {"referencesProvider", true},
      {"documentHighlightProvider", true},
      {"callHierarchyProvider", true},
      {"documentLinkProvider", {{"resolveProvider", false}}},
      {"documentSymbolProvider", true},
      {"foldingRangeProvider", true},
      {"workspaceSymbolProvider", true},
      {"inlayHintProvider", true},
      {"codeLensProvider", {{"resolveProvider", false}}},
      {"semanticTokensProvider",
       {{"legend", SemanticTokensLegend()}, {"range", true}, {"full", {{"delta", true}}}}},
      {"completionProvider", {{"triggerCharacters", {"(", "%", "=", ",", " "}}}},
      {"signatureHelpProvider", {{"triggerCharacters", {"(", ","}}}},
      {"renameProvider", {{"prepareProvider", true}}},
      {"documentFormattingProvider", true},
      {"codeActionProvider", {{"codeActionKinds", {"quickfix", "refactor.extract", "refactor.inline", "source"}}}},
      {"executeCommandProvider", {{"commands", {"shoal.openPage"}}}}};
  return {{"capabilities", std::move(capabilities)}, {"serverInfo", {{"name", "shoal"}}}};
}

void LanguageServer::ApplySettings(const json& settings) {
  settings_ = ReadSettings(settings);
  std::shared_ptr<const Machine> machine;
  if (!settings_.machine.empty()) {
    Result<Machine> loaded = LoadMachine(settings_.machine);
    if (loaded.ok()) {
      machine = std::make_shared<const Machine>(std::move(*loaded));
    } else {
      rpc_.Notify("window/showMessage", {{"type", 2}, {"message", loaded.diag().message}});
    }
  }
  documents_.SetSettings({std::move(machine), settings_.own_packages});
  for (const std::shared_ptr<const Snapshot>& snapshot : documents_.All()) ScheduleDiagnostics(snapshot);
}

void LanguageServer::AddSynchronization() {
  rpc_.Notification("textDocument/didOpen", [this](json& params) {
    json& document = params.at("textDocument");
    std::string text = std::move(document.at("text").get_ref<std::string&>());
    ScheduleDiagnostics(documents_.Open(document.at("uri"), std::move(text), document.value("version", 0)), true);
  });
  rpc_.Notification("textDocument/didChange", [this](json& params) {
    std::vector<TextChange> changes;
    for (const json& change : params.at("contentChanges")) {
      TextChange read;
      read.text = change.at("text");
      if (change.contains("range") && !change["range"].is_null()) {
        const auto position = [&](const char* end) {
          const json& at = change["range"].at(end);
          const auto unit = [&](const char* name) {
            return static_cast<uint32_t>(std::clamp<int64_t>(at.at(name).get<int64_t>(), 0, UINT32_MAX));
          };
          return Position{unit("line"), unit("character")};
        };
        read.whole = false;
        read.start = position("start");
        read.end = position("end");
      }
      changes.push_back(std::move(read));
    }
    const json& document = params.at("textDocument");
    auto changed = documents_.Change(document.at("uri"), std::move(changes), document.value("version", 0), encoding_);
    if (changed.ok()) ScheduleDiagnostics(*changed);
    else rpc_.Notify("window/logMessage", {{"type", 2}, {"message", changed.diag().message}});
  });
  rpc_.Notification("textDocument/didClose", [this](json& params) {
    const std::string uri = params.at("textDocument").at("uri");
    documents_.Close(uri);
    {
      std::lock_guard lock(tokens_mutex_);
      tokens_.erase(uri);
    }
    std::lock_guard lock(publish_mutex_);
    rpc_.Notify("textDocument/publishDiagnostics", {{"uri", uri}, {"diagnostics", json::array()}});
  });
}

// Versions that are no longer current when their turn comes are skipped, so that fast typing parses only the last one.
void LanguageServer::ScheduleDiagnostics(const std::shared_ptr<const Snapshot>& snapshot, bool opened) {
  rpc_.Post([this, view = ViewOf(snapshot), opened] {
    if (!documents_.IsCurrent(*view.snapshot)) return;
    json diagnostics = DiagnosticsOf(view);
    {
      std::lock_guard lock(publish_mutex_);
      if (!documents_.IsCurrent(*view.snapshot)) return;
      rpc_.Notify("textDocument/publishDiagnostics", {{"uri", view.snapshot->uri()},
                                                      {"version", view.snapshot->version()},
                                                      {"diagnostics", std::move(diagnostics)}});
    }
    // The analyses are ready before the first hover, except where they would take much memory or slow down typing.
    constexpr size_t kLarge = size_t{16} << 20;
    if (opened && view.snapshot->text().size() < kLarge && view.snapshot->analysis() != nullptr)
      view.snapshot->analysis()->Warm();
  });
}

void LanguageServer::AddFeatures() {
  OnPosition("textDocument/hover", HoverAt);
  OnPosition("textDocument/definition", DefinitionAt);
  OnPosition("textDocument/declaration", SourceAt);
  OnPosition("textDocument/implementation", CounterpartsAt);
  OnPosition("textDocument/documentHighlight", HighlightsAt);
  OnPosition("textDocument/prepareCallHierarchy", CallHierarchyItemsAt);
  OnPosition("textDocument/completion", CompletionsAt);
  OnPosition("textDocument/signatureHelp", SignatureHelpAt);
  OnPosition("textDocument/prepareRename", PrepareRename);
  OnWhole("textDocument/documentLink", DocumentLinksOf);
  OnWhole("textDocument/documentSymbol", SymbolsOf);
  OnWhole("textDocument/foldingRange", FoldingRangesOf);
  OnWhole("textDocument/codeLens", CodeLensesOf);
  OnWhole("textDocument/formatting", FormattingOf);
  OnDocument("textDocument/references", [](const View& view, const json& params) {
    const bool declaration = params.value("context", json::object()).value("includeDeclaration", true);
    return ReferencesAt(view, view.OffsetOf(params.at("position")), declaration);
  });
  OnDocument("callHierarchy/incomingCalls",
             [](const View& view, const json& params) { return IncomingCalls(view, params.at("item")); });
  OnDocument("callHierarchy/outgoingCalls",
             [](const View& view, const json& params) { return OutgoingCalls(view, params.at("item")); });
  OnDocument("textDocument/inlayHint",
             [](const View& view, const json& params) { return InlayHintsOf(view, view.SpanOf(params.at("range"))); });
  OnDocument("textDocument/codeAction",
             [](const View& view, const json& params) { return CodeActionsFor(view, view.SpanOf(params.at("range"))); });
  OnDocument("textDocument/rename", [](const View& view, const json& params) -> RpcReply {
    std::string error;
    json edit = Rename(view, view.OffsetOf(params.at("position")), params.at("newName"), &error);
    if (!error.empty()) return RpcError{RpcError::kRequestFailed, error};
    return edit;
  });
  AddSemanticTokens();
}

void LanguageServer::AddSemanticTokens() {
  OnDocument("textDocument/semanticTokens/range", [](const View& view, const json& params) -> RpcReply {
    return json{{"data", SemanticTokensOf(view, view.SpanOf(params.at("range")))}};
  });
  OnDocument("textDocument/semanticTokens/full", [this](const View& view, const json&) -> RpcReply {
    std::vector<uint32_t> data = SemanticTokensOf(view, {0, static_cast<uint32_t>(view.snapshot->text().size())});
    json result = {{"data", data}};
    std::lock_guard lock(tokens_mutex_);
    result["resultId"] = StrCat(next_tokens_id_);
    tokens_[view.snapshot->uri()] = {StrCat(next_tokens_id_++), std::move(data)};
    return result;
  });
  OnDocument("textDocument/semanticTokens/full/delta",
             [this](const View& view, const json& params) { return TokensDelta(view, params); });
}

// One edit: everything between the common beginning and the common end.
RpcReply LanguageServer::TokensDelta(const View& view, const json& params) {
  std::vector<uint32_t> data = SemanticTokensOf(view, {0, static_cast<uint32_t>(view.snapshot->text().size())});
  std::lock_guard lock(tokens_mutex_);
  SentTokens& sent = tokens_[view.snapshot->uri()];
  const std::string id = StrCat(next_tokens_id_++);
  json result = {{"resultId", id}};
  if (sent.id != params.value("previousResultId", "")) {
    result["data"] = data;
  } else {
    const auto [old_start, new_start] = std::mismatch(sent.data.begin(), sent.data.end(), data.begin(), data.end());
    const auto start = old_start - sent.data.begin();
    std::ptrdiff_t end = 0;
    const std::ptrdiff_t most = std::min(std::ssize(sent.data), std::ssize(data)) - start;
    while (end < most && sent.data[sent.data.size() - 1 - end] == data[data.size() - 1 - end]) ++end;
    result["edits"] = json::array();
    if (std::ssize(sent.data) != start + end || std::ssize(data) != start + end)
      result["edits"].push_back({{"start", start},
                                 {"deleteCount", std::ssize(sent.data) - start - end},
                                 {"data", std::vector<uint32_t>(new_start, data.end() - end)}});
  }
  sent = {id, std::move(data)};
  return result;
}

void LanguageServer::AddWorkspaceFeatures() {
  rpc_.Request("workspace/symbol", [this](const json& params) -> RpcServer::Job {
    return [this, query = params.value("query", "")](const RpcServer::Call& call) { return WorkspaceSymbols(query, call); };
  });
  rpc_.Request("workspace/executeCommand", [this](const json& params) -> RpcServer::Job {
    const std::string command = params.at("command");
    if (command != "shoal.openPage")
      return [command](const RpcServer::Call&) {
        return RpcError{RpcError::kInvalidParams, StrCat("unknown command ", command)};
      };
    const std::string uri = params.at("arguments").at(0);
    const std::string name = params.at("arguments").size() > 1 ? params.at("arguments").at(1) : "";
    const std::shared_ptr<const Snapshot> snapshot = documents_.Find(uri);
    return [this, snapshot, name](const RpcServer::Call&) -> RpcReply {
      if (snapshot == nullptr) return RpcError{RpcError::kInvalidParams, "the document is not open"};
      Result<std::string> page = WriteReportPage(ViewOf(snapshot), name);
      if (!page.ok()) return RpcError{RpcError::kRequestFailed, page.diag().message};
      rpc_.Ask("window/showDocument", {{"uri", *page}, {"external", true}});
      return json(*page);
    };
  });
}

// Symbols of the open documents, then of the modules of dump folders in the workspace.
json LanguageServer::WorkspaceSymbols(const std::string& query, const RpcServer::Call& call) {
  constexpr size_t kMaxSymbols = 500;
  json symbols = json::array();
  std::vector<std::string> seen;
  const auto add = [&](const View& view) {
    for (json& symbol : WorkspaceSymbolsOf(view, query, kMaxSymbols - symbols.size())) symbols.push_back(std::move(symbol));
  };
  for (const std::shared_ptr<const Snapshot>& snapshot : documents_.All()) {
    add(ViewOf(snapshot));
    seen.push_back(snapshot->uri());
  }
  for (const std::string& path : folders_) {
    Result<DumpFolder> folder = ReadDumpFolder(path);
    if (!folder.ok()) continue;
    for (const DumpedModule& module : folder->modules)
      for (const DumpFile& file : module.files) {
        if (call.is_cancelled() || symbols.size() >= kMaxSymbols) return symbols;
        const std::string uri = UriOfPath(file.path);
        const bool is_text = file.path.ends_with(".txt") || file.path.ends_with(".hlo");
        if (!is_text || std::find(seen.begin(), seen.end(), uri) != seen.end()) continue;
        Result<std::unique_ptr<Source>> source = Source::Read(file.path);
        if (!source.ok()) continue;
        add(ViewOf(std::make_shared<const Snapshot>(uri, std::make_shared<const std::string>((*source)->text()), 0, AnalysisSettings{nullptr, settings_.own_packages})));
      }
  }
  return symbols;
}

}  // namespace

int ServeLanguage(int in, int out) { return LanguageServer(in, out).Run(); }

}  // namespace shoal::internal
