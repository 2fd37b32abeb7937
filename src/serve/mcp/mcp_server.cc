#include "serve/mcp/mcp_server.h"

#include <algorithm>

#include "core/base/strings.h"
#include "serve/mcp/budget.h"
#include "serve/mcp/documents_resource.h"
#include "serve/mcp/tools.h"
#include "serve/rpc/server.h"

namespace shoal::internal {
namespace {

using nlohmann::json;

// Versions with an initialize handshake, newest first; then the version in which each request names its version.
constexpr const char* kHandshakeVersions[] = {"2025-11-25", "2025-06-18"};
constexpr char kStatelessVersion[] = "2026-07-28";
constexpr char kVersionKey[] = "io.modelcontextprotocol/protocolVersion";
constexpr char kServerKey[] = "io.modelcontextprotocol/serverInfo";
constexpr int kUnsupportedVersion = -32022;
constexpr char kScheme[] = "shoal://docs/";
constexpr char kInstructions[] =
    "shoal reads compiled XLA programs (HLO, StableHLO). Begin with open and overview. Answers are ranked and shortened; "
    "left_out says what is missing, and offset returns more.";

class AgentServer {
 public:
  AgentServer(int in, int out, AllowedFolders roots, const McpOptions& options)
      : roots_(std::move(roots)), modules_(roots_), options_(options), rpc_(in, out, Framing::kLines) {
    for (std::vector<Tool> group : {ModuleTools(), InstructionTools(), RunTools()})
      for (Tool& tool : group)
        if (!tool.writes || options_.allow_write) tools_.push_back(std::move(tool));
    AddLifecycle();
    AddTools();
    AddResources();
  }
  void Run() { rpc_.Run(); }

 private:
  void AddLifecycle();
  void AddTools();
  void AddResources();
  RpcReply CallTool(const json& params, const RpcServer::Call& call);
  // Adds a handler, with the additions to its result that the stateless version of the protocol requires.
  void OnRequest(const std::string& method, std::function<RpcReply(const json& params, const RpcServer::Call&)> answer);
  json ServerInfo() const { return {{"name", "shoal"}, {"title", "shoal"}, {"version", api::Version()}}; }
  static json Capabilities() { return {{"tools", json::object()}, {"resources", json::object()}}; }

  const AllowedFolders roots_;
  ModuleCache modules_;
  const McpOptions options_;
  std::vector<Tool> tools_;
  RpcServer rpc_;  // declared last: its workers use the members above and end first
};

bool IsStateless(const json& params) {
  return params.is_object() && params.contains("_meta") && params["_meta"].is_object() &&
         params["_meta"].contains(kVersionKey);
}

void AgentServer::OnRequest(const std::string& method,
                            std::function<RpcReply(const json& params, const RpcServer::Call&)> answer) {
  rpc_.Request(method, [this, answer](const json& params) -> RpcServer::Job {
    return [this, answer, params](const RpcServer::Call& call) -> RpcReply {
      if (IsStateless(params) && params["_meta"][kVersionKey] != kStatelessVersion)
        return RpcError{kUnsupportedVersion, StrCat("unsupported protocol version; supported: ", kStatelessVersion),
                        {{"supported", json::array({kStatelessVersion})}, {"requested", params["_meta"][kVersionKey]}}};
      RpcReply reply = answer(params, call);
      if (json* result = std::get_if<json>(&reply); result != nullptr && IsStateless(params)) {
        (*result)["resultType"] = "complete";
        (*result)["_meta"][kServerKey] = ServerInfo();
      }
      return reply;
    };
  });
}

void AgentServer::AddLifecycle() {
  rpc_.SetCancelMethod("notifications/cancelled", "requestId");
  OnRequest("initialize", [this](const json& params, const RpcServer::Call&) -> RpcReply {
    const std::string asked = params.value("protocolVersion", "");
    const bool known = std::find(std::begin(kHandshakeVersions), std::end(kHandshakeVersions), asked) !=
                       std::end(kHandshakeVersions);
    return json{{"protocolVersion", known ? asked : kHandshakeVersions[0]},
                {"capabilities", Capabilities()},
                {"serverInfo", ServerInfo()},
                {"instructions", kInstructions}};
  });
  OnRequest("server/discover", [](const json&, const RpcServer::Call&) -> RpcReply {
    json versions = json::array({kStatelessVersion});
    for (const char* version : kHandshakeVersions) versions.push_back(version);
    return json{{"supportedVersions", versions}, {"capabilities", Capabilities()}, {"instructions", kInstructions},
                {"ttlMs", 0}, {"cacheScope", "private"}};
  });
  OnRequest("ping", [](const json&, const RpcServer::Call&) -> RpcReply { return json::object(); });
}

// ---- tools

json DescriptionOf(const Tool& tool) {
  json properties = tool.arguments;
  if (!tool.list.empty())
    properties["offset"] = {{"type", "integer"}, {"minimum", 0},
                            {"description", StrCat("Number of elements of ", tool.list, " to skip")}};
  properties["budget"] = {{"type", "integer"}, {"minimum", 200},
                          {"description", StrCat("Size of the answer in tokens; default ", kDefaultBudget)}};
  json result = tool.result;
  result["left_out"] = {{"type", "array"}, {"items", {{"type", "object"}}},
                        {"description", "Lists that were shortened to fit the budget"}};
  return {{"name", tool.name},
          {"title", tool.title},
          {"description", tool.description},
          {"inputSchema", {{"type", "object"}, {"properties", properties}, {"required", tool.required}}},
          {"outputSchema", {{"type", "object"}, {"properties", result}}},
          {"annotations", {{"readOnlyHint", !tool.writes}, {"openWorldHint", false}}}};
}

void AgentServer::AddTools() {
  OnRequest("tools/list", [this](const json&, const RpcServer::Call&) -> RpcReply {
    json list = json::array();
    for (const Tool& tool : tools_) list.push_back(DescriptionOf(tool));
    return json{{"tools", std::move(list)}, {"ttlMs", 0}, {"cacheScope", "private"}};
  });
  OnRequest("tools/call", [this](const json& params, const RpcServer::Call& call) { return CallTool(params, call); });
}

RpcReply AgentServer::CallTool(const json& params, const RpcServer::Call& call) {
  const std::string name = params.at("name");
  const auto tool = std::find_if(tools_.begin(), tools_.end(), [&](const Tool& one) { return one.name == name; });
  if (tool == tools_.end()) return RpcError{RpcError::kInvalidParams, StrCat("unknown tool ", name)};
  const json arguments = params.value("arguments", json::object());
  const ToolContext context{roots_, modules_, options_.allow_write, call.stop,
                            [&](double progress, double total, const std::string& message) {
                              if (call.progress_token.is_null()) return;
                              json update = {{"progressToken", call.progress_token}, {"progress", progress},
                                             {"message", message}};
                              if (total > 0) update["total"] = total;
                              rpc_.Notify("notifications/progress", std::move(update));
                            }};
  ToolAnswer answer;
  try {
    for (const std::string& required : tool->required)
      if (!arguments.contains(required)) answer = FailedAnswer(StrCat("the argument ", required, " is missing"));
    if (!answer.failed) answer = tool->run(arguments, context);
  } catch (const json::exception& error) {
    answer = FailedAnswer(StrCat("invalid arguments: ", error.what()));
  }
  const int64_t tokens = std::clamp<int64_t>(
      arguments.value("budget", options_.budget > 0 ? options_.budget : kDefaultBudget), 200, 1'000'000);
  const size_t bytes = static_cast<size_t>(tokens) * kBytesPerToken;
  const json content = [&](const std::string& text) {
    return json::array({{{"type", "text"}, {"text", text}}});
  }(FirstLines(answer.text, answer.failed ? bytes : bytes * 2 / 5));
  if (answer.failed) return json{{"content", content}, {"isError", true}};
  FitToBudget(answer.structured, tool->list, arguments.value("offset", int64_t{0}), bytes * 3 / 5);
  return json{{"content", content}, {"structuredContent", std::move(answer.structured)}, {"isError", false}};
}

// ---- resources

void AgentServer::AddResources() {
  OnRequest("resources/list", [](const json&, const RpcServer::Call&) -> RpcReply {
    json list = json::array();
    for (const DocumentPage& page : DocumentPages())
      list.push_back({{"uri", StrCat(kScheme, page.name)}, {"name", page.name}, {"mimeType", "text/markdown"},
                      {"size", page.text.size()}});
    return json{{"resources", std::move(list)}, {"ttlMs", 0}, {"cacheScope", "private"}};
  });
  OnRequest("resources/templates/list", [](const json&, const RpcServer::Call&) -> RpcReply {
    return json{{"resourceTemplates", json::array()}, {"ttlMs", 0}, {"cacheScope", "private"}};
  });
  OnRequest("resources/read", [](const json& params, const RpcServer::Call&) -> RpcReply {
    constexpr int kResourceNotFound = -32002;
    const std::string uri = params.at("uri");
    for (const DocumentPage& page : DocumentPages())
      if (uri == StrCat(kScheme, page.name))
        return json{{"contents", json::array({{{"uri", uri}, {"mimeType", "text/markdown"}, {"text", page.text}}})},
                    {"ttlMs", 0}, {"cacheScope", "private"}};
    return RpcError{kResourceNotFound, StrCat("unknown resource ", uri)};
  });
}

}  // namespace

Result<int> ServeAgents(int in, int out, const McpOptions& options) {
  SHOAL_ASSIGN(roots, AllowedFolders::Of(options.roots));
  AgentServer(in, out, std::move(roots), options).Run();
  return 0;
}

}  // namespace shoal::internal
