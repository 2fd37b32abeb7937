#include "formats/text/canonical.h"

#include "absl/container/flat_hash_set.h"
#include "core/ir/common_attrs.h"
#include "formats/text/module_parser.h"

namespace shoal::internal {
namespace {

bool AllDistinct(const Module& module) {
  absl::flat_hash_set<std::string_view> computations, instructions;
  for (const Computation* computation : module.computations) {
    if (!computations.insert(computation->name).second) return false;
    for (const Instruction* hlo : computation->instructions)
      if (!instructions.insert(hlo->name).second) return false;
  }
  return true;
}

}  // namespace

// Final names are unique among the printed computations, but may repeat in computations that are not printed.
CanonicalNames::CanonicalNames(const Module& module) : final_(module.names_are_final) {
  if (final_ && AllDistinct(module)) return;
  NameUniquer computation_names, instruction_names;
  // Most names are already unique; only a changed name is copied.
  auto keep = [this](std::string_view written, const std::string& unique) {
    return unique == written ? written : arena_.CopyString(unique);
  };
  for (const Computation* computation : module.computations) {
    Names& names = names_[computation];
    names.computation = keep(computation->name, computation_names.Unique(computation->name));
    names.instructions.resize(computation->instructions.size());
    for (const Instruction* hlo : OrderAsWritten(*computation))
      names.instructions[hlo->index] = keep(hlo->name, instruction_names.Unique(hlo->name));
  }
}

std::string_view CanonicalNames::operator()(const Computation& computation) const {
  auto found = names_.find(&computation);
  return found == names_.end() ? computation.name : found->second.computation;
}

std::string_view CanonicalNames::operator()(const Instruction& hlo) const {
  auto found = names_.find(hlo.parent);
  return found == names_.end() ? hlo.name : found->second.instructions[hlo.index];
}

CanonicalFrames::CanonicalFrames(const Module& module) {
  for (const Computation* computation : module.computations) {
    for (const Instruction* hlo : OrderAsWritten(*computation)) {
      const Metadata* metadata = (*hlo)[kMetadata];
      if (metadata != nullptr && metadata->stack_frame_id != 0) Renumber(metadata->stack_frame_id, module.stack_frames);
    }
  }
  tables = {file_names_, function_names_, locations_, frames_};
}

int32_t CanonicalFrames::NewId(int32_t old_id) const {
  auto found = new_ids_.find(old_id);
  return found == new_ids_.end() ? 0 : found->second;
}

// Numbers callers before callees. Returns 0 for a frame whose chain of callers is invalid or cyclic.
int32_t CanonicalFrames::Renumber(int32_t old_id, const StackFrames& old) {
  std::vector<int32_t> chain;
  absl::flat_hash_set<int32_t> seen;
  int32_t at = old_id;
  while (at != 0 && !new_ids_.contains(at)) {
    if (at < 0 || at > static_cast<int32_t>(old.frames.size()) || !seen.insert(at).second) return 0;
    chain.push_back(at);
    at = old.frames[static_cast<size_t>(at - 1)].parent_frame_id;
  }
  int32_t id = NewId(at);
  for (auto it = chain.rbegin(); it != chain.rend(); ++it) {
    int32_t location = old.frames[static_cast<size_t>(*it - 1)].file_location_id;
    if (location <= 0 || location > static_cast<int32_t>(old.locations.size())) return 0;
    id = Intern(old.locations[static_cast<size_t>(location - 1)], id, old);
    if (id == 0) return 0;
    new_ids_[*it] = id;
  }
  return id;
}

int32_t CanonicalFrames::Intern(const StackFrames::Location& location, int32_t parent, const StackFrames& old) {
  auto valid = [](int32_t id, auto table) { return id > 0 && id <= static_cast<int32_t>(table.size()); };
  if (!valid(location.file_name_id, old.file_names) || !valid(location.function_name_id, old.function_names)) return 0;
  auto intern_name = [](std::string_view name, auto& ids, auto& names) {
    auto [entry, fresh] = ids.try_emplace(name, static_cast<int32_t>(names.size()) + 1);
    if (fresh) names.push_back(name);
    return entry->second;
  };
  StackFrames::Location new_location = location;
  new_location.file_name_id =
      intern_name(old.file_names[static_cast<size_t>(location.file_name_id - 1)], file_ids_, file_names_);
  new_location.function_name_id = intern_name(old.function_names[static_cast<size_t>(location.function_name_id - 1)],
                                              function_ids_, function_names_);
  std::vector<int32_t> key{new_location.file_name_id, new_location.function_name_id, new_location.line,
                           new_location.column,       new_location.end_line,         new_location.end_column};
  auto [location_id, added] = location_ids_.try_emplace(std::move(key), static_cast<int32_t>(locations_.size()) + 1);
  if (added) locations_.push_back(new_location);
  auto [frame, fresh_frame] =
      frame_ids_.try_emplace(std::pair(location_id->second, parent), static_cast<int32_t>(frames_.size()) + 1);
  if (fresh_frame) frames_.push_back({location_id->second, parent});
  return frame->second;
}

}  // namespace shoal::internal
