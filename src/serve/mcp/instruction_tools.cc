// Tools that find and explain instructions.
#include <algorithm>

#include "core/base/strings.h"
#include "core/base/units.h"
#include "core/ops/meanings.h"
#include "serve/mcp/tools.h"

namespace shoal::internal {
namespace {

using nlohmann::json;

// Executions and bytes of the instructions that have a cost.
struct Costs {
  explicit Costs(const api::Facts& facts) {
    const auto cost = facts.cost();
    if (!cost.ok()) return;
    for (const api::InstructionCost& one : cost->instructions)
      by_name.emplace(KeyOf(one.instruction), one);
  }
  static std::string KeyOf(const api::Instruction& hlo) { return StrCat(hlo.computation().name(), "/", hlo.name()); }
  const api::InstructionCost* Of(const api::Instruction& hlo) const {
    const auto found = by_name.find(KeyOf(hlo));
    return found == by_name.end() ? nullptr : &found->second;
  }
  std::map<std::string, api::InstructionCost> by_name;
};

bool Contains(std::string_view text, const json& arguments, const char* key) {
  return !arguments.contains(key) || text.find(arguments[key].get<std::string>()) != std::string_view::npos;
}

int64_t BytesOf(const api::Shape& shape) {
  int64_t bytes = 0;
  for (const api::Shape& element : shape.elements) bytes += BytesOf(element);
  if (!shape.IsArray()) return bytes;
  double elements = api::ElementBytes(shape.type);
  for (const int64_t dim : shape.dims) elements *= static_cast<double>(dim);
  return static_cast<int64_t>(std::min(elements, 9e18));
}

double WeightOf(const api::InstructionCost& cost) {
  return (cost.once.bytes_read + cost.once.bytes_written) * cost.executions;
}

ToolAnswer Search(const json& arguments, const ToolContext& context) {
  const auto found = context.modules.FactsOf(arguments.at("path"));
  if (const auto* error = std::get_if<std::string>(&found)) return FailedAnswer(*error);
  const api::Facts& facts = std::get<api::Facts>(found);
  const Costs costs(facts);
  const int64_t min_bytes = arguments.value("min_bytes", int64_t{0});
  std::vector<std::pair<double, json>> rows;
  for (const api::Computation& computation : facts.module().computations())
    for (const api::Instruction& hlo : computation.instructions()) {
      if (context.stop.stop_requested()) return FailedAnswer("cancelled");
      if (!Contains(hlo.opcode(), arguments, "opcode") || !Contains(hlo.name(), arguments, "name")) continue;
      const api::Metadata metadata = hlo.metadata();
      if (!Contains(metadata.source, arguments, "source") || !Contains(metadata.op_name, arguments, "op_name")) continue;
      const api::Shape shape = hlo.shape();
      if (!Contains(shape.text, arguments, "shape")) continue;
      const int64_t bytes = BytesOf(shape);
      if (bytes < min_bytes) continue;
      const api::InstructionCost* cost = costs.Of(hlo);
      rows.emplace_back(cost == nullptr ? -1 : WeightOf(*cost),
                        json{{"name", hlo.name()}, {"opcode", hlo.opcode()}, {"type", shape.text}, {"bytes", bytes},
                             {"computation", computation.name()}, {"line", hlo.location().line},
                             {"op_name", metadata.op_name}, {"source", metadata.source}});
    }
  std::stable_sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  ToolAnswer answer;
  answer.structured = {{"count", rows.size()}, {"instructions", json::array()}};
  for (auto& [weight, row] : rows) {
    StrAppend(&answer.text, row["name"].get<std::string>(), " = ", row["type"].get<std::string>(), " ",
              row["opcode"].get<std::string>(), "  ", row["source"].get<std::string>(), "\n");
    answer.structured["instructions"].push_back(std::move(row));
  }
  answer.text = StrCat(Pluralize(std::ssize(rows), "instruction"), "\n", answer.text);
  return answer;
}

json ReferenceTo(const api::Instruction& hlo) {
  return {{"name", hlo.name()}, {"opcode", hlo.opcode()}, {"type", hlo.shape().text}};
}

ToolAnswer Explain(const json& arguments, const ToolContext& context) {
  const auto found = context.modules.FactsOf(arguments.at("path"));
  if (const auto* error = std::get_if<std::string>(&found)) return FailedAnswer(*error);
  const api::Facts& facts = std::get<api::Facts>(found);
  std::string name = arguments.at("instruction");
  if (name.starts_with('%')) name.erase(0, 1);
  const std::optional<api::Instruction> hlo = facts.module().Find(name);
  if (!hlo) return FailedAnswer(StrCat("there is no instruction ", name, "; the tool search finds names"));
  ToolAnswer answer;
  json& out = answer.structured;
  out = ReferenceTo(*hlo);
  out["meaning"] = MeaningOf(ParseOpcode(hlo->opcode()).value_or(Opcode::kUnknown));
  out["computation"] = hlo->computation().name();
  out["line"] = hlo->location().line;
  out["bytes"] = BytesOf(hlo->shape());
  out["op_name"] = hlo->metadata().op_name;
  out["source"] = hlo->metadata().source;
  out["operands"] = out["users"] = out["calls"] = json::array();
  out["attributes"] = json::object();
  for (const api::Instruction& operand : hlo->operands()) out["operands"].push_back(ReferenceTo(operand));
  for (const api::Instruction& user : hlo->users()) out["users"].push_back(ReferenceTo(user));
  for (const api::Computation& callee : hlo->called_computations()) out["calls"].push_back(callee.name());
  for (const api::Attribute& attribute : hlo->attributes())
    if (attribute.name != "metadata") out["attributes"][attribute.name] = attribute.value;
  const Costs costs(facts);
  if (const api::InstructionCost* cost = costs.Of(*hlo))
    out["cost"] = {{"executions", cost->executions}, {"flops", cost->once.flops}, {"bytes_read", cost->once.bytes_read},
                   {"bytes_written", cost->once.bytes_written}};
  if (const auto collectives = facts.collectives(); collectives.ok())
    for (const api::Collective& collective : collectives->all)
      if (collective.instruction == *hlo || collective.start == *hlo || collective.done == *hlo)
        out["collective"] = {{"kind", collective.kind}, {"axis", collective.axis}, {"executions", collective.executions},
                             {"payload_bytes", collective.payload_bytes}, {"ring_bytes", collective.ring_bytes},
                             {"async", collective.is_async}, {"overlapped_flops", collective.overlapped_flops}};
  StrAppend(&answer.text, name, " = ", hlo->shape().text, " ", hlo->opcode(), ": ", out["meaning"].get<std::string>(), "\n");
  if (!hlo->metadata().source.empty()) StrAppend(&answer.text, "from ", hlo->metadata().source, " ", hlo->metadata().op_name, "\n");
  return answer;
}

}  // namespace

std::vector<Tool> InstructionTools() {
  const auto text = [](const char* description) { return json{{"type", "string"}, {"description", description}}; };
  const json path = PathArgument("The module");
  return {
      {"search", "Search instructions",
       "Instructions that fit all given conditions, the most expensive first. Texts match if they occur anywhere.",
       {{"path", path}, {"opcode", text("For example all-gather")}, {"name", text("Part of the name")},
        {"op_name", text("Part of the op_name, for example attention")}, {"source", text("For example model.py:12")},
        {"shape", text("For example bf16[4096,")},
        {"min_bytes", {{"type", "integer"}, {"description", "Smallest size of the result"}}}}, {"path"},
       {{"count", {{"type", "integer"}}}, {"instructions", {{"type", "array"}, {"items", {{"type", "object"}}}}}},
       "instructions", false, Search},
      {"explain", "Explain an instruction",
       "Definition, operands, users, attributes, cost, collective and source location of one instruction.",
       {{"path", path}, {"instruction", text("The name, with or without %")}}, {"path", "instruction"},
       {{"name", {{"type", "string"}}}, {"opcode", {{"type", "string"}}}, {"users", {{"type", "array"}}}}, "users", false,
       Explain},
  };
}

}  // namespace shoal::internal
