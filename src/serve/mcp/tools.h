// The tools of the MCP server. Each is a function from arguments to a structured answer with a short text.
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <variant>
#include <vector>

#include "serve/mcp/allowed_folders.h"
#include "serve/rpc/server.h"
#include "shoal/diff.h"
#include "shoal/report.h"

namespace shoal::internal {

namespace api = ::shoal;

// Modules that were read, by path; a file that has changed is read again.
class ModuleCache {
 public:
  explicit ModuleCache(const AllowedFolders& roots) : roots_(roots) {}
  // An error is text, as the command line prints it.
  std::variant<api::Facts, std::string> FactsOf(const std::string& path);
  std::variant<api::Module, std::string> ModuleOf(const std::string& path);

 private:
  static constexpr size_t kMaxModules = 32;
  struct Entry {
    std::string resolved, stamp;  // size and time of modification
    api::Module module;
    std::optional<api::Facts> facts;
  };
  std::variant<Entry*, std::string> Find(const std::string& path);

  const AllowedFolders& roots_;
  std::mutex mutex_;
  std::vector<Entry> entries_;  // the last used one is the last
};

struct ToolContext {
  const AllowedFolders& roots;
  ModuleCache& modules;
  bool allow_write = false;
  std::stop_token stop;
  std::function<void(double progress, double total, const std::string& message)> progress;
};

struct ToolAnswer {
  nlohmann::json structured = nlohmann::json::object();
  std::string text;
  bool failed = false;  // `text` says why
};

struct Tool {
  std::string name, title, description;
  nlohmann::json arguments;               // properties of the input schema
  std::vector<std::string> required;      // names among them
  nlohmann::json result;                  // properties of the output schema
  std::string list;                       // the member of the answer that `offset` pages through; may be empty
  bool writes = false;
  std::function<ToolAnswer(const nlohmann::json& arguments, const ToolContext& context)> run;
};

// ---- module_tools.cc: open, overview, outline, collectives, cost, memory, predict, check
std::vector<Tool> ModuleTools();
// ---- instruction_tools.cc: search, explain
std::vector<Tool> InstructionTools();
// ---- run_tools.cc: run, compare, diff, report
std::vector<Tool> RunTools();

ToolAnswer FailedAnswer(std::string text);
// The property "path" and others that several tools share.
nlohmann::json PathArgument(const char* description);

}  // namespace shoal::internal
