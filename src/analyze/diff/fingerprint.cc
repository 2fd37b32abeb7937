#include "analyze/diff/fingerprint.h"

#include "core/ir/call_graph.h"
#include "core/base/name_hash.h"
#include "core/base/strings.h"
#include "core/ops/families.h"
#include "core/ops/traits.h"

namespace shoal::internal {
namespace {

// Limit on the devices of a group or sharding. Larger groups and shardings are compared as text.
constexpr int64_t kMaxDevices = 1 << 20;

// Hashes replica groups. The order of the groups does not affect the hash, but the order of members in a group does.
std::optional<uint64_t> HashGroups(const ReplicaGroups& groups) {
  int64_t devices = 1;
  if (const auto* iota = std::get_if<IotaTiles>(&groups.rep))
    for (int64_t size : iota->dims) devices = std::min(devices * std::max<int64_t>(size, 1), kMaxDevices + 1);
  if (const auto* mesh = std::get_if<ReplicaGroups::MeshAxes>(&groups.rep)) devices = mesh->mesh.devices.DeviceCount();
  if (devices > kMaxDevices) return std::nullopt;
  uint64_t all = 0;
  for (const std::vector<int64_t>& group : groups.Expand()) {
    uint64_t hash = group.size();
    for (int64_t member : group) hash = Mix(hash, static_cast<uint64_t>(member));
    all += hash;
  }
  return all;
}

// Returns a copy of the sharding without metadata and with an explicit list of devices.
Sharding Plain(const Sharding& sharding) {
  Sharding plain = sharding;
  plain.metadata.clear();
  for (Sharding& element : plain.elements) element = Plain(element);
  if (plain.tiles.iota && plain.tiles.DeviceCount() <= kMaxDevices) {
    plain.tiles.devices = plain.tiles.iota->Devices();
    plain.tiles.iota.reset();
  }
  return plain;
}

uint64_t HashSharding(const Sharding& sharding) {
  const Sharding plain = Plain(sharding);
  std::string text;
  AppendSharding(text, plain);
  return Mix(HashName(text), static_cast<uint64_t>(plain.reduction));
}

uint64_t HashLiteral(const Literal& literal) {
  uint64_t hash = literal.elided ? 1 : 2;
  for (const Literal* element : literal.elements) hash = Mix(hash, HashLiteral(*element));
  std::string_view bytes(reinterpret_cast<const char*>(literal.data.data()), literal.data.size());
  while (bytes.ends_with('\0')) bytes.remove_suffix(1);  // a literal may omit trailing zero bytes
  return Mix(hash, HashName(bytes));
}

}  // namespace

std::string TypeText(const Shape& shape) {
  if (shape.IsTuple()) {
    auto one = [](std::string* out, const Shape* element) { *out += TypeText(*element); };
    return StrCat("(", StrJoin(shape.elements(), ", ", one), ")");
  }
  const bool has_default_layout =
      shape.IsArray() && shape.rank() < 2 && (shape.layout() == nullptr || shape.layout()->plain());
  std::string text = ToString(shape, /*with_layout=*/!has_default_layout);
  if (has_default_layout || !shape.IsArray() || shape.layout() != nullptr) return text;
  text += '{';
  for (int64_t dim = shape.rank(); dim-- > 0;) StrAppend(&text, dim, dim > 0 ? "," : "}");
  return text;
}

bool IsLargeConstant(const Instruction& hlo) {
  if (!IsConstant(hlo)) return false;
  constexpr int64_t kMaxPrinted = 10;  // XLA elides larger constants
  const std::optional<int64_t> count = hlo.shape().IsArray() ? hlo.shape().ElementCount() : std::nullopt;
  return !count || *count > kMaxPrinted;
}

bool IsElided(const Instruction& hlo) {
  const Literal* value = hlo[kConstantValue];
  return IsConstant(hlo) && (value == nullptr || value->elided);
}

Fingerprints::Fingerprints(const Module& module, const InstructionIds& ids, bool without_large_constants)
    : module_(module), ids_(ids), without_large_constants_(without_large_constants) {
  op_.resize(ids.size());
  without_layout_.resize(ids.size());
  subgraph_.resize(ids.size());
  for (const Computation* computation : CalleesFirst(module)) Visit(*computation);
}

uint64_t Fingerprints::Of(const Computation& computation) const {
  auto found = computations_.find(&computation);
  return found == computations_.end() ? 0 : found->second;
}

void Fingerprints::Visit(const Computation& computation) {
  uint64_t sum = 0;
  for (const Instruction* hlo : PostOrder(computation)) {
    const uint32_t id = ids_(*hlo);
    const uint64_t meaning = MeaningOf(*hlo);
    const TypeHashes& type = TypeOf(hlo->shape());
    op_[id] = Mix(meaning, type.with_layout);
    without_layout_[id] = Mix(meaning, type.without);
    uint64_t whole = op_[id];
    for (const Instruction* operand : hlo->operands) whole = Mix(whole, subgraph_[ids_(*operand)]);
    for (const Computation* callee : CalledComputations(*hlo)) whole = Mix(whole, Of(*callee));
    uint64_t before = 0;
    for (const Instruction* predecessor : (*hlo)[kControlPredecessors]) before += subgraph_[ids_(*predecessor)];
    subgraph_[id] = before == 0 ? whole : Mix(whole, before);
    sum += Mix(subgraph_[id], 1);
  }
  const uint64_t root = computation.root == nullptr ? 0 : subgraph_[ids_(*computation.root)];
  computations_[&computation] = Mix(Mix(sum, root), HashName(computation.execution_thread));
}

const Fingerprints::TypeHashes& Fingerprints::TypeOf(const Shape& shape) const {
  auto [type, is_new] = types_.try_emplace(&shape);
  if (is_new) type->second = {HashName(TypeText(shape)), HashName(ToString(shape))};
  return type->second;
}

uint64_t Fingerprints::MeaningOf(const Instruction& hlo) const {
  uint64_t hash = HashName(OpcodeTextOf(hlo));
  if (IsParameter(hlo)) hash = Mix(hash, static_cast<uint64_t>(hlo[kParameterNumber]));
  const Literal* value = hlo[kConstantValue];
  if (value != nullptr && !(without_large_constants_ && IsLargeConstant(hlo))) hash = Mix(hash, HashLiteral(*value));
  ForEachAttr(module_, hlo, [&](const AttrDef* def, std::string_view name, std::string_view text) {
    hash = Mix(hash, HashAttr(hlo, def, name, text));
  });
  if (CallsComputations(hlo) && CallKindOf(hlo) == CallKind::kElements)
    for (const Computation* callee : CalledComputations(hlo)) hash = Mix(hash, Of(*callee));
  return hash;
}

uint64_t Fingerprints::HashAttr(const Instruction& hlo, const AttrDef* def, std::string_view name,
                                std::string_view text) const {
  const uint64_t key = HashName(name);
  if (def == nullptr) return Mix(key, HashName(text));
  if (def->id == kChannelId.id) return key;
  if (def->kind != AttrKind::kReplicaGroups && def->kind != AttrKind::kSharding) return Mix(key, HashName(text));
  auto [known, is_new] = devices_.try_emplace(std::string(text));
  if (!is_new) return Mix(key, known->second);
  known->second = HashName(text);
  const AttrValue* attr = hlo.Find(def->id);
  if (attr == nullptr) return Mix(key, known->second);
  if (auto* groups = std::get_if<const ReplicaGroups*>(attr))
    known->second = HashGroups(**groups).value_or(known->second);
  if (auto* sharding = std::get_if<const Sharding*>(attr)) known->second = HashSharding(**sharding);
  return Mix(key, known->second);
}

uint64_t ModuleFingerprint(const Module& module) {
  if (module.entry == nullptr) return 0;
  const InstructionIds ids(module);
  uint64_t hash = Fingerprints(module, ids, /*without_large_constants=*/false).Of(*module.entry);
  const auto mix = [&](int64_t word) { hash = Mix(hash, static_cast<uint64_t>(word)); };
  const auto mix_index = [&](const ShapeIndex& index) {
    mix(std::ssize(index));
    for (int64_t step : index) mix(step);
  };
  mix(module.replica_count);
  mix(module.num_partitions);
  for (const InputOutputAlias& alias : module.input_output_alias) {
    mix_index(alias.output_index);
    mix(alias.parameter);
    mix_index(alias.parameter_index);
  }
  for (const BufferDonor& donor : module.buffer_donors) {
    mix(donor.parameter);
    mix_index(donor.parameter_index);
  }
  return hash;
}

std::vector<AttrMeaning> Fingerprints::AttrsOf(const Instruction& hlo) const {
  std::vector<AttrMeaning> all;
  ForEachAttr(module_, hlo, [&](const AttrDef* def, std::string_view name, std::string_view text) {
    all.push_back({std::string(name), std::string(text), HashAttr(hlo, def, name, text)});
  });
  return all;
}

}  // namespace shoal::internal
