#include "core/ir/rewrite.h"

#include <algorithm>

#include "absl/container/flat_hash_set.h"
#include "core/ir/common_attrs.h"

namespace shoal::internal {
namespace {

// Copies a module. Creates all computations and instructions first, so that they can refer to each other.
class ModuleCloner {
 public:
  ModuleCloner(const Module& from, Module& to) : from_(from), to_(to) {}

  void Run() {
    CopyHeader();
    for (const Computation* computation : from_.computations) CreateComputation(*computation);
    for (const Computation* computation : from_.computations)
      for (const Instruction* hlo : computation->instructions) Link(*hlo);
    to_.entry = computations_.at(from_.entry);
  }

 private:
  void CopyHeader() {
    to_.name = from_.name;
    to_.has_header = from_.has_header;
    to_.is_scheduled = from_.is_scheduled;
    to_.replica_count = from_.replica_count;
    to_.num_partitions = from_.num_partitions;
    to_.alias_passthrough_params = from_.alias_passthrough_params;
    if (from_.entry_layout) {
      to_.entry_layout.emplace();
      for (const Shape* shape : from_.entry_layout->parameters) to_.entry_layout->parameters.push_back(Import(shape));
      to_.entry_layout->result = Import(from_.entry_layout->result);
    }
    to_.input_output_alias = from_.input_output_alias;
    to_.buffer_donors = from_.buffer_donors;
    to_.allow_spmd_sharding_propagation_to_parameters = from_.allow_spmd_sharding_propagation_to_parameters;
    to_.allow_spmd_sharding_propagation_to_output = from_.allow_spmd_sharding_propagation_to_output;
    to_.frontend_attributes = from_.frontend_attributes;
    to_.stack_frames = from_.stack_frames;
    to_.names_are_final = from_.names_are_final;
  }

  void CreateComputation(const Computation& computation) {
    Computation* copy = to_.NewComputation(computation.name);
    copy->execution_thread = computation.execution_thread;
    copy->at = computation.at;
    copy->defined = computation.defined;
    computations_[&computation] = copy;
    to_.computations.push_back(copy);
    for (const Instruction* hlo : computation.instructions) {
      Instruction* copied = to_.NewInstruction(*copy);
      copied->name = hlo->name;
      copied->opcode = hlo->opcode;
      copied->at = hlo->at;
      copied->name_at = hlo->name_at;
      copied->shape_ = Import(hlo->shape_);
      instructions_[hlo] = copied;
    }
    for (const Instruction* parameter : computation.parameters)
      copy->parameters.push_back(parameter == nullptr ? nullptr : instructions_.at(parameter));
    copy->root = computation.root == nullptr ? nullptr : instructions_.at(computation.root);
  }

  void Link(const Instruction& hlo) {
    Instruction& copy = *instructions_.at(&hlo);
    copy.operands = to_.arena.NewSpan<Instruction*>(hlo.operand_count());
    for (size_t i = 0; i < hlo.operand_count(); ++i) copy.operands[i] = instructions_.at(hlo.operands[i]);
    copy.attrs = to_.arena.NewSpan<NamedAttr>(hlo.attrs.size());
    for (size_t i = 0; i < hlo.attrs.size(); ++i)
      new (&copy.attrs[i]) NamedAttr{hlo.attrs[i].id, ImportAttr(hlo.attrs[i].value)};
  }

  // Copies a value; references to computations, instructions or shapes become references to their copies.
  AttrValue ImportAttr(const AttrValue& value) {
    if (auto* one = std::get_if<Computation*>(&value)) return *one == nullptr ? *one : computations_.at(*one);
    if (auto* some = std::get_if<Computations>(&value)) {
      std::span<Computation*> copies = to_.arena.NewSpan<Computation*>(some->size());
      for (size_t i = 0; i < some->size(); ++i) copies[i] = computations_.at((*some)[i]);
      return Computations(copies);
    }
    if (auto* some = std::get_if<Instructions>(&value)) {
      std::span<Instruction*> copies = to_.arena.NewSpan<Instruction*>(some->size());
      for (size_t i = 0; i < some->size(); ++i) copies[i] = instructions_.at((*some)[i]);
      return Instructions(copies);
    }
    if (auto* shape = std::get_if<const Shape*>(&value)) return Import(*shape);
    if (auto* shapes = std::get_if<std::span<const Shape* const>>(&value)) {
      std::span<const Shape*> copies = to_.arena.NewSpan<const Shape*>(shapes->size());
      for (size_t i = 0; i < shapes->size(); ++i) copies[i] = Import((*shapes)[i]);
      return std::span<const Shape* const>(copies);
    }
    return value;
  }

  const Shape* Import(const Shape* shape) {
    if (shape == nullptr) return nullptr;
    const Shape*& copy = shapes_[shape];
    if (copy == nullptr) copy = to_.shapes.Import(*shape);
    return copy;
  }

  const Module& from_;
  Module& to_;
  absl::flat_hash_map<const Computation*, Computation*> computations_;
  absl::flat_hash_map<const Instruction*, Instruction*> instructions_;
  absl::flat_hash_map<const Shape*, const Shape*> shapes_;
};

}  // namespace

std::unique_ptr<Module> CloneModule(const Module& module) {
  std::unique_ptr<Source> source;
  if (module.source != nullptr)
    source = Source::FromString(module.source->name(), std::string(module.source->text()));
  auto clone = std::make_unique<Module>(std::move(source));
  ModuleCloner(module, *clone).Run();
  return clone;
}

Instruction* NewInstruction(Module& module, Computation& computation, Opcode opcode, const Shape* shape,
                            std::span<Instruction* const> operands, const Instruction& instead_of) {
  Instruction* hlo = module.NewInstruction(computation);
  hlo->name = instead_of.name;
  hlo->opcode = opcode;
  hlo->shape_ = shape;
  hlo->operands = module.arena.Copy(operands);
  hlo->at = instead_of.at;
  hlo->name_at = instead_of.name_at;
  if (const AttrValue* metadata = instead_of.Find(kMetadata.id)) {
    hlo->attrs = module.arena.NewSpan<NamedAttr>(1);
    new (&hlo->attrs[0]) NamedAttr{kMetadata.id, *metadata};
  }
  return hlo;
}

Instruction* CopyInstruction(Module& module, Computation& computation, const Instruction& hlo,
                             std::span<Instruction* const> operands) {
  Instruction* copy = module.NewInstruction(computation);
  copy->name = hlo.name;
  copy->opcode = hlo.opcode;
  copy->shape_ = hlo.shape_;
  copy->operands = module.arena.Copy(operands);
  copy->at = hlo.at;
  copy->name_at = hlo.name_at;
  copy->attrs = module.arena.Copy(hlo.attrs);
  return copy;
}

Instruction* ResolveReplacement(const Replacements& replacements, Instruction* hlo) {
  for (auto found = replacements.find(hlo); found != replacements.end(); found = replacements.find(hlo))
    hlo = found->second;
  return hlo;
}

namespace {

// Applies `map` to the control predecessors of `hlo`.
template <class Map>
void MapPredecessors(Module& module, Instruction& hlo, const Map& map) {
  for (NamedAttr& attr : hlo.attrs) {
    if (attr.id != kControlPredecessors.id) continue;
    std::span<Instruction*> mapped = module.arena.Copy(std::get<Instructions>(attr.value));
    for (Instruction*& before : mapped) before = map(before);
    attr.value = Instructions(mapped);
  }
}

}  // namespace

void Apply(const Replacements& replacements, Module& module, Computation& computation) {
  if (replacements.empty()) return;
  auto map = [&](Instruction* hlo) { return ResolveReplacement(replacements, hlo); };
  for (Instruction* hlo : computation.instructions) {
    for (Instruction*& operand : hlo->operands) operand = map(operand);
    MapPredecessors(module, *hlo, map);
  }
  computation.root = map(computation.root);
}

void ApplyReplacements(const Replacements& replacements, Module& module, Computation& computation) {
  std::erase_if(computation.instructions, [&](const Instruction* hlo) { return replacements.contains(hlo); });
  Apply(replacements, module, computation);
  SortTopologically(computation);
}

Instruction* Inline(const Computation& callee, std::span<Instruction* const> arguments, Module& module,
                    Computation& computation) {
  absl::flat_hash_map<const Instruction*, Instruction*> copies;
  const size_t count = std::min(arguments.size(), callee.parameters.size());  // a call in loose text may pass more
  for (size_t i = 0; i < count; ++i) copies[callee.parameters[i]] = arguments[i];
  for (const Instruction* hlo : callee.instructions) {
    if (copies.contains(hlo)) continue;
    std::vector<Instruction*> operands;
    for (const Instruction* operand : hlo->operands) operands.push_back(copies.at(operand));
    Instruction* copy = CopyInstruction(module, computation, *hlo, operands);
    MapPredecessors(module, *copy, [&](Instruction* before) { return copies.at(before); });
    copies[hlo] = copy;
  }
  return copies.at(callee.root);
}

void SortTopologically(Computation& computation) {
  std::vector<Instruction*> order;
  order.reserve(computation.instructions.size());
  for (size_t i = 0; i < computation.instructions.size(); ++i)
    computation.instructions[i]->index = static_cast<uint32_t>(i);
  std::vector<bool> visited(computation.instructions.size(), false);
  std::vector<std::pair<Instruction*, size_t>> stack;
  auto push = [&](Instruction* hlo) {
    if (!visited[hlo->index]) stack.emplace_back(hlo, 0);
  };
  for (Instruction* start : computation.instructions) {
    push(start);
    while (!stack.empty()) {
      auto& [hlo, next] = stack.back();
      const Instructions before = (*hlo)[kControlPredecessors];
      if (next < hlo->operand_count() + before.size()) {
        const size_t i = next++;
        push(i < hlo->operand_count() ? hlo->operands[i] : before[i - hlo->operand_count()]);
        continue;
      }
      if (!visited[hlo->index]) order.push_back(hlo);
      visited[hlo->index] = true;
      stack.pop_back();
    }
  }
  computation.instructions = std::move(order);
  computation.as_written.clear();
  for (size_t i = 0; i < computation.instructions.size(); ++i)
    computation.instructions[i]->index = static_cast<uint32_t>(i);
}

bool RemoveUnused(Computation& computation, bool (*is_kept)(const Instruction&)) {
  std::vector<Instruction*>& all = computation.instructions;
  for (size_t i = 0; i < all.size(); ++i) all[i]->index = static_cast<uint32_t>(i);
  std::vector<bool> used(all.size(), false);
  std::vector<const Instruction*> worklist;
  auto use = [&](const Instruction* hlo) {
    if (used[hlo->index]) return;
    used[hlo->index] = true;
    worklist.push_back(hlo);
  };
  use(computation.root);
  for (const Instruction* parameter : computation.parameters) use(parameter);
  for (const Instruction* hlo : all)
    if (is_kept(*hlo)) use(hlo);
  while (!worklist.empty()) {
    const Instruction* hlo = worklist.back();
    worklist.pop_back();
    for (const Instruction* operand : hlo->operands) use(operand);
    for (const Instruction* before : (*hlo)[kControlPredecessors]) use(before);
  }
  computation.as_written.clear();
  const size_t removed = std::erase_if(all, [&](const Instruction* hlo) { return !used[hlo->index]; });
  for (size_t i = 0; i < all.size(); ++i) all[i]->index = static_cast<uint32_t>(i);
  return removed > 0;
}

bool RemoveUncalled(Module& module) {
  absl::flat_hash_set<const Computation*> reached{module.entry};
  std::vector<const Computation*> worklist{module.entry};
  while (!worklist.empty()) {
    const Computation* computation = worklist.back();
    worklist.pop_back();
    for (const Instruction* hlo : computation->instructions)
      for (const Computation* callee : CalledComputations(*hlo))
        if (reached.insert(callee).second) worklist.push_back(callee);
  }
  const size_t before = module.computations.size();
  std::erase_if(module.computations, [&](const Computation* computation) { return !reached.contains(computation); });
  return module.computations.size() != before;
}

void DropAttr(Instruction& hlo, Module& module, uint32_t id) {
  std::vector<NamedAttr> remaining;
  for (const NamedAttr& attr : hlo.attrs)
    if (attr.id != id) remaining.push_back(attr);
  hlo.attrs = module.arena.Copy(remaining);
}

}  // namespace shoal::internal
