// Tools that execute modules, compare two of them, or write a file.

#include "core/base/files.h"
#include "core/base/strings.h"
#include "serve/mcp/tools.h"

namespace shoal::internal {
namespace {

using nlohmann::json;

api::ExecuteOptions ExecuteOptionsOf(const json& arguments, const ToolContext& context) {
  constexpr double kDefaultSeconds = 60;
  api::ExecuteOptions options;
  options.stop = context.stop;
  options.max_seconds = arguments.value("max_seconds", kDefaultSeconds);
  options.stub_custom_calls = arguments.value("stub_custom_calls", false);
  options.progress = [&context](const api::RunProgress& progress) {
    context.progress(progress.instructions, progress.expected_instructions, "running");
  };
  return options;
}

ToolAnswer Run(const json& arguments, const ToolContext& context) {
  const auto module = context.modules.ModuleOf(arguments.at("path"));
  if (const auto* error = std::get_if<std::string>(&module)) return FailedAnswer(*error);
  api::CompileOptions compile;
  compile.stop = context.stop;
  const auto executable = api::Compile(std::get<api::Module>(module), compile);
  if (!executable.ok()) return FailedAnswer(executable.error().ToText());
  auto inputs = executable->GenerateArguments(api::InputMode::kRandom, arguments.value("seed", uint64_t{0}));
  if (!inputs.ok()) return FailedAnswer(inputs.error().ToText());
  const auto run = executable->Execute(std::move(*inputs), ExecuteOptionsOf(arguments, context));
  if (!run.ok()) return FailedAnswer(run.error().ToText());
  ToolAnswer answer;
  answer.structured = json::parse(run->ToJson());
  answer.text = run->ToText();
  return answer;
}

ToolAnswer Compare(const json& arguments, const ToolContext& context) {
  const auto a = context.modules.ModuleOf(arguments.at("a")), b = context.modules.ModuleOf(arguments.at("b"));
  for (const auto* side : {&a, &b})
    if (const auto* error = std::get_if<std::string>(side)) return FailedAnswer(*error);
  api::CompareOptions options;
  options.inputs.seed = arguments.value("seed", uint64_t{0});
  options.execute = ExecuteOptionsOf(arguments, context);
  const auto compared = api::Compare(std::get<api::Module>(a), std::get<api::Module>(b), options);
  if (!compared.ok()) return FailedAnswer(compared.error().ToText());
  ToolAnswer answer;
  answer.structured = json::parse(compared->ToJson());
  answer.text = compared->ToText();
  return answer;
}

ToolAnswer Diff(const json& arguments, const ToolContext& context) {
  const auto a = context.modules.FactsOf(arguments.at("a")), b = context.modules.FactsOf(arguments.at("b"));
  for (const auto* side : {&a, &b})
    if (const auto* error = std::get_if<std::string>(side)) return FailedAnswer(*error);
  api::DiffOptions options;
  for (const json& threshold : arguments.value("thresholds", json::array()))
    options.thresholds.push_back(threshold.get<std::string>());
  const auto diff = api::Diff(std::get<api::Facts>(a), std::get<api::Facts>(b), options);
  if (!diff.ok()) return FailedAnswer(diff.error().ToText());
  ToolAnswer answer;
  answer.structured = json::parse(diff->ToJson());
  answer.text = diff->ToText();
  return answer;
}

ToolAnswer Report(const json& arguments, const ToolContext& context) {
  const auto facts = context.modules.FactsOf(arguments.at("path"));
  if (const auto* error = std::get_if<std::string>(&facts)) return FailedAnswer(*error);
  Result<std::string> target = context.roots.ResolveNew(arguments.at("out"));
  if (!target.ok()) return FailedAnswer(target.diag().message);
  api::PageOptions options;
  if (arguments.contains("machine")) {
    const auto machine = api::Machine::Load(arguments["machine"]);
    if (!machine.ok()) return FailedAnswer(machine.error().ToText());
    options.machines.push_back(*machine);
  }
  const auto page = api::Page(std::get<api::Facts>(facts), options);
  if (!page.ok()) return FailedAnswer(page.error().ToText());
  if (const Status written = WriteFile(*target, {page->html}); !written.ok())
    return FailedAnswer(StrCat("cannot write ", arguments.at("out").get<std::string>()));
  return {{{"out", *target}, {"bytes", page->html.size()}}, StrCat("wrote ", *target, "\n")};
}

}  // namespace

std::vector<Tool> RunTools() {
  const json module = PathArgument("A module");
  const json seconds = {{"type", "number"}, {"description", "Limit of the run; default 60"}};
  const json seed = {{"type", "integer"}, {"description", "Seed of the generated inputs"}};
  const json stub = {{"type", "boolean"}, {"description", "Generate the results of unknown custom calls"}};
  const json rows = {{"type", "array"}, {"items", {{"type", "object"}}}};
  return {
      {"run", "Run a module", "Runs a module with generated inputs on as many virtual devices as it was compiled for.",
       {{"path", module}, {"seed", seed}, {"max_seconds", seconds}, {"stub_custom_calls", stub}}, {"path"},
       {{"ok", {{"type", "boolean"}}}, {"outputs", rows}, {"diagnostics", rows}}, "outputs", false, Run},
      {"compare", "Compare two modules by running them",
       "Runs both modules on the same inputs. One may be the partitioned or optimized form of the other.",
       {{"a", module}, {"b", module}, {"seed", seed}, {"max_seconds", seconds}}, {"a", "b"},
       {{"ok", {{"type", "boolean"}}}, {"outputs", rows}}, "outputs", false, Compare},
      {"diff", "Semantic differences of two modules",
       "Changed, added and removed instructions, ignoring names and order, and the change of each metric.",
       {{"a", module}, {"b", module},
        {"thresholds", {{"type", "array"}, {"items", {{"type", "string"}}}, {"description", "For example wire_bytes<=+2%"}}}},
       {"a", "b"}, {{"same", {{"type", "boolean"}}}, {"changes", rows}, {"metrics", {{"type", "object"}}}}, "changes", false,
       Diff},
      {"report", "Write a report page", "Writes an HTML page about a module. The server must be allowed to write.",
       {{"path", module}, {"out", PathArgument("The new HTML file, inside the roots")},
        {"machine", {{"type", "string"}, {"description", "For predicted times"}}}}, {"path", "out"},
       {{"out", {{"type", "string"}}}, {"bytes", {{"type", "integer"}}}}, "", true, Report},
  };
}

}  // namespace shoal::internal
