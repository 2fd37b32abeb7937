#include "analyze/summary/recompilations.h"

#include <zlib.h>

#include <algorithm>
#include <cstdio>
#include <map>

#include "absl/container/flat_hash_map.h"
#include "absl/hash/hash.h"
#include "analyze/facts/source_lines.h"
#include "core/base/strings.h"
#include "core/ops/traits.h"

namespace shoal::internal {
namespace {

constexpr int64_t kMinInstructions = 4;  // smaller modules have equal ops by chance

// The value of a scalar; for an array, a text that differs if the values differ.
std::string ValueText(const Literal& value) {
  if (value.elided || !value.shape->IsArray()) return "";
  if (value.shape->ElementCount().value_or(0) > 1) {
    char checksum[16];
    std::snprintf(checksum, sizeof checksum, "%08lx", crc32_z(0, reinterpret_cast<const Bytef*>(value.data.data()), value.data.size()));
    return StrCat(ToString(*value.shape), " with crc32 ", checksum);
  }
  std::string text;
  AppendLiteral(text, value, /*with_shape=*/false);
  return text;
}

// "constant.3 (train.py:12)"
std::string ConstantName(const Instruction& hlo, const SourceLines& sources) {
  const std::string location = sources.Of(hlo);
  return StrCat(hlo.name, location.empty() ? "" : StrCat(" (", location, ")"));
}

}  // namespace

ProgramKey ProgramKeyOf(const ModuleFacts& facts) {
  const Module& module = facts.module();
  ProgramKey key;
  absl::flat_hash_map<const Computation*, size_t> numbers;
  for (const Computation* computation : module.computations) {
    const size_t number = numbers.size();
    numbers[computation] = number;
    for (const Instruction* hlo : computation->instructions) {
      key.ops = absl::HashOf(key.ops, hlo->opcode, OpcodeTextOf(*hlo), TargetOf(*hlo), hlo->operands.size());
      for (const Instruction* operand : hlo->operands)
        if (operand != nullptr) key.ops = absl::HashOf(key.ops, operand->index);
      for (const Computation* callee : CalledComputations(*hlo))
        if (auto found = numbers.find(callee); found != numbers.end()) key.ops = absl::HashOf(key.ops, found->second);
      if (const Literal* value = (*hlo)[kConstantValue]) key.constants.emplace_back(ConstantName(*hlo, facts.sources()), ValueText(*value));
      ++key.count;
    }
  }
  if (module.entry == nullptr) return key;
  key.result = module.entry->root == nullptr ? "" : ToString(module.entry->result_shape());
  for (const Instruction* parameter : module.entry->parameters)
    key.parameters.push_back(parameter == nullptr ? "" : ToString(parameter->shape()));
  return key;
}

namespace {

// "parameter 0: f32[2,3], f32[3,3]"; empty if all modules have the same shape.
std::string Difference(const std::string& what, const std::vector<std::string>& all) {
  std::vector<std::string> shapes;
  for (const std::string& shape : all)
    if (std::find(shapes.begin(), shapes.end(), shape) == shapes.end()) shapes.push_back(shape);
  if (shapes.size() < 2) return "";
  constexpr size_t kMaxShown = 4;
  const size_t more = shapes.size() - std::min(shapes.size(), kMaxShown);
  shapes.resize(shapes.size() - more);
  return StrCat(what, ": ", StrJoin(shapes, ", "), more == 0 ? "" : StrCat(" and ", more, " more"));
}

// The constants that differ between modules with equal shapes: other shapes come with other constants.
void AddConstants(std::span<const ProgramKey> keys, Recompilation& group) {
  std::map<std::pair<std::vector<std::string>, std::string>, std::vector<size_t>> same_shapes;
  for (size_t i : group.modules) same_shapes[{keys[i].parameters, keys[i].result}].push_back(i);
  std::vector<std::string> found;
  for (const auto& [shapes, modules] : same_shapes) {
    const auto& first = keys[modules[0]].constants;
    for (size_t c = 0; c < first.size(); ++c) {
      std::vector<std::string> values;
      for (size_t i : modules) values.push_back(c < keys[i].constants.size() ? keys[i].constants[c].second : "");
      std::string difference = Difference(first[c].first, values);
      if (!difference.empty() && std::find(found.begin(), found.end(), difference) == found.end())
        found.push_back(std::move(difference));
    }
  }
  group.differences.insert(group.differences.end(), found.begin(), found.end());
}

}  // namespace

std::vector<Recompilation> FindRecompilations(std::span<const ProgramKey> keys) {
  std::map<uint64_t, std::vector<size_t>> same;
  for (size_t i = 0; i < keys.size(); ++i)
    if (keys[i].count >= kMinInstructions) same[keys[i].ops].push_back(i);
  std::vector<Recompilation> found;
  for (auto& [ops, modules] : same) {
    Recompilation group{std::move(modules), {}};
    const size_t parameters = keys[group.modules[0]].parameters.size();
    auto add = [&](std::string difference) {
      if (!difference.empty()) group.differences.push_back(std::move(difference));
    };
    for (size_t p = 0; p < parameters; ++p) {
      std::vector<std::string> shapes;
      for (size_t i : group.modules) shapes.push_back(p < keys[i].parameters.size() ? keys[i].parameters[p] : "");
      add(Difference(StrCat("parameter ", p), shapes));
    }
    if (group.differences.empty()) {
      std::vector<std::string> results;
      for (size_t i : group.modules) results.push_back(keys[i].result);
      add(Difference("result", results));
    }
    AddConstants(keys, group);
    if (!group.differences.empty()) found.push_back(std::move(group));
  }
  std::sort(found.begin(), found.end(),
            [](const Recompilation& a, const Recompilation& b) { return a.modules[0] < b.modules[0]; });
  return found;
}

}  // namespace shoal::internal
