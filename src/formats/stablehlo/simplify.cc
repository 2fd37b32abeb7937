#include "formats/stablehlo/simplify.h"

#include <algorithm>

#include "absl/hash/hash.h"
#include "formats/stablehlo/fold.h"
#include "formats/stablehlo/op_table.h"
#include "formats/stablehlo/simplifier.h"

namespace shoal::internal {
namespace {

constexpr int kMaxRounds = 12;
constexpr int kMaxDepth = 100;

}  // namespace

void SimplifyMlir(MlirModule& module) {
  if (module.op->regions.empty() || module.op->regions[0].blocks.empty()) return;
  for (MlirOp* op : module.op->regions[0].blocks[0].ops)
    if (op->name == "func.func" && !op->regions.empty()) Simplifier(module.arena).Function(op->regions[0]);
}

void Simplifier::Function(MlirRegion& body) {
  for (round_ = 1; round_ <= kMaxRounds; ++round_) {
    changed_ = false;
    constants_.clear();
    constants_.emplace_back();
    Region(body);
    if (!changed_) break;
  }
  RemoveUnused(body);
}

// After the first round, only ops that changed, or whose operands or their producers did, can match a rule. Constants
// are collected in each round.
bool Simplifier::MayRewrite(const MlirOp& op, bool has_new_operand) const {
  if (round_ == 1 || has_new_operand || op.round >= round_ - 1 || !op.regions.empty() || op.operands.empty()) return true;
  return std::any_of(op.operands.begin(), op.operands.end(), [&](const MlirValue* operand) {
    return operand->owner != nullptr && operand->owner->round >= round_ - 1;
  });
}

void Simplifier::Changed(MlirOp& op) {
  op.round = round_;
  changed_ = true;
}

void Simplifier::Region(MlirRegion& region) {
  if (++depth_ > kMaxDepth) {
    --depth_;
    return;
  }
  constants_.emplace_back();
  for (MlirBlock& block : region.blocks) {
    const size_t first = out_.size();
    for (MlirOp* op : block.ops) {
      bool has_new_operand = false;
      for (MlirValue*& operand : op->operands) {
        MlirValue* resolved = Resolve(operand);
        has_new_operand |= resolved != operand;
        operand = resolved;
      }
      for (MlirRegion& nested : op->regions) Region(nested);
      const bool stays = !MayRewrite(*op, has_new_operand) || !Rewrite(*op);
      if (stays) out_.push_back(op);
      if (has_new_operand) op->round = round_;
      changed_ |= !stays;
    }
    const std::span<MlirOp* const> ops = std::span(out_).subspan(first);
    if (!std::equal(ops.begin(), ops.end(), block.ops.begin(), block.ops.end())) block.ops = arena_.Copy(ops);
    out_.resize(first);
  }
  constants_.pop_back();
  --depth_;
}

// ---- dead ops: uses are counted from the ends of the blocks

namespace {

bool IsKept(const MlirOp& op) {
  if (op.info == nullptr || op.results.empty()) return true;
  static constexpr std::string_view kEffects[] = {
      "stablehlo.custom_call", "stablehlo.infeed",  "stablehlo.outfeed",          "stablehlo.send",
      "stablehlo.recv",        "func.call",         "stablehlo.rng",              "stablehlo.composite",
      "stablehlo.all_reduce",  "stablehlo.all_gather", "stablehlo.collective_permute", "stablehlo.reduce_scatter",
      "stablehlo.async_start", "stablehlo.async_done", "stablehlo.all_to_all",  "stablehlo.collective_broadcast", "stablehlo.collective_reduce"};
  if (std::find(std::begin(kEffects), std::end(kEffects), op.name) != std::end(kEffects)) {
    if (op.name != "stablehlo.custom_call") return true;
    const MlirAttr* effect = op.Find("has_side_effect");
    return effect != nullptr && effect->number != 0;
  }
  if (op.name.starts_with("sdy.")) return true;
  for (const MlirRegion& region : op.regions)
    for (const MlirBlock& block : region.blocks)
      for (const MlirOp* nested : block.ops)
        if (!nested->results.empty() && IsKept(*nested)) return true;
  return false;
}

void ClearUses(const MlirRegion& region) {
  for (const MlirBlock& block : region.blocks) {
    for (const MlirValue& argument : block.arguments) argument.uses = 0;
    for (const MlirOp* op : block.ops) {
      for (const MlirValue& result : op->results) result.uses = 0;
      for (const MlirRegion& nested : op->regions) ClearUses(nested);
    }
  }
}

void CountUses(const MlirRegion& region) {
  for (const MlirBlock& block : region.blocks)
    for (const MlirOp* op : block.ops) {
      for (const MlirValue* operand : op->operands) ++operand->uses;
      for (const MlirRegion& nested : op->regions) CountUses(nested);
    }
}

void DropUses(const MlirOp& op) {
  for (const MlirValue* operand : op.operands) --operand->uses;
  for (const MlirRegion& region : op.regions)
    for (const MlirBlock& block : region.blocks)
      for (const MlirOp* nested : block.ops) DropUses(*nested);
}

void RemoveUnusedOps(MlirRegion& region, Arena& arena) {
  for (MlirBlock& block : region.blocks) {
    std::vector<MlirOp*> kept;
    kept.reserve(block.ops.size());
    for (size_t i = block.ops.size(); i-- > 0;) {
      MlirOp* op = block.ops[i];
      const bool used = std::any_of(op->results.begin(), op->results.end(), [](const MlirValue& value) { return value.uses > 0; });
      if (!used && !IsKept(*op)) {
        DropUses(*op);
        continue;
      }
      for (MlirRegion& nested : op->regions) RemoveUnusedOps(nested, arena);
      kept.push_back(op);
    }
    if (kept.size() == block.ops.size()) continue;
    std::reverse(kept.begin(), kept.end());
    block.ops = arena.Copy(kept);
  }
}

}  // namespace

void Simplifier::RemoveUnused(MlirRegion& body) {
  ClearUses(body);
  CountUses(body);
  RemoveUnusedOps(body, arena_);
}

// ---- making ops

MlirOp* Simplifier::NewOp(std::string_view name, std::vector<MlirValue*> operands, const MlirType* type,
                          std::vector<MlirNamedAttr> attrs, const MlirOp& like) {
  MlirOp* op = arena_.New<MlirOp>();
  op->info = FindMlirOp(name);
  op->name = op->info->name;
  op->operands = arena_.Copy(operands);
  op->attrs = arena_.Copy(attrs);
  op->at = like.at;
  op->location = like.location;
  op->results = arena_.NewSpan<MlirValue>(1);
  MlirValue value;
  value.type = type;
  value.owner = op;
  new (&op->results[0]) MlirValue(value);
  out_.push_back(op);
  Changed(*op);
  return op;
}

const MlirAttr* Simplifier::Ints(std::vector<int64_t> values) {
  MlirAttr* attr = arena_.New<MlirAttr>();
  attr->kind = MlirAttr::Kind::kInts;
  attr->ints = arena_.Copy(values);
  return attr;
}

const MlirType* Simplifier::Tensor(ElementType element, std::vector<int64_t> dims) {
  MlirType* type = arena_.New<MlirType>();
  type->kind = MlirType::Kind::kTensor;
  type->element = element;
  type->dims = arena_.Copy(dims);
  return type;
}

// Attributes of other dialects move to the op that takes the place of another.
std::vector<MlirNamedAttr> Simplifier::Discardable(const MlirOp& op) const {
  std::vector<MlirNamedAttr> attrs;
  for (const MlirNamedAttr& attr : op.attrs)
    if (attr.name.find('.') != attr.name.npos) attrs.push_back(attr);
  return attrs;
}

bool Simplifier::ReplaceWith(const MlirOp& op, MlirValue* value) {
  op.results[0].replacement = value;
  return true;
}

bool Simplifier::ReplaceWithConstant(const MlirOp& op, const MlirAttr* value) {
  if (value == nullptr) return false;
  return ReplaceWith(op, Constant(value, op));
}

// Equal constants of a region and the regions around it are one.
MlirValue* Simplifier::Constant(const MlirAttr* value, const MlirOp& like) {
  if (MlirValue* known = KnownConstant(*value)) return known;
  MlirOp* op = NewOp("stablehlo.constant", {}, value->type, {{"value", value}}, like);
  constants_.back().emplace(value, &op->results[0]);
  return &op->results[0];
}

MlirValue* Simplifier::KnownConstant(const MlirAttr& value) {
  for (const auto& scope : constants_)
    if (const auto found = scope.empty() ? scope.end() : scope.find(&value); found != scope.end()) return found->second;
  return nullptr;
}

size_t Simplifier::ConstantHash::operator()(const MlirAttr* value) const {
  constexpr size_t kPrefix = 64;
  const std::string_view data(reinterpret_cast<const char*>(value->data.data()), value->data.size());
  return absl::HashOf(value->type->element, value->type->dims.size(), ElementCount(*value->type), value->splat, data.size(), data.substr(0, kPrefix));
}

bool Simplifier::ConstantEqual::operator()(const MlirAttr* a, const MlirAttr* b) const {
  return a->splat == b->splat && a->data.size() == b->data.size() && SameType(*a->type, *b->type) &&
         std::equal(a->data.begin(), a->data.end(), b->data.begin());
}

bool Simplifier::SameType(const MlirType& a, const MlirType& b) {
  if (&a == &b) return true;
  return a.kind == b.kind && a.element == b.element && std::equal(a.dims.begin(), a.dims.end(), b.dims.begin(), b.dims.end()) &&
         std::equal(a.bounds.begin(), a.bounds.end(), b.bounds.begin(), b.bounds.end()) && a.elements.empty() &&
         b.elements.empty();
}

}  // namespace shoal::internal
