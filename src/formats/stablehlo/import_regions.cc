// Regions as computations.
#include <algorithm>

#include "absl/container/flat_hash_set.h"
#include "core/ops/structure.h"
#include "formats/stablehlo/importer.h"

namespace shoal::internal {
namespace {

constexpr int kMaxRegionDepth = 100;

// The values that the ops of a region define.
void CollectDefined(const MlirRegion& region, int depth, absl::flat_hash_set<const MlirValue*>& defined) {
  if (depth > kMaxRegionDepth * 2) return;
  for (const MlirBlock& block : region.blocks) {
    for (const MlirValue& argument : block.arguments) defined.insert(&argument);
    for (const MlirOp* op : block.ops) {
      for (const MlirValue& result : op->results) defined.insert(&result);
      for (const MlirRegion& nested : op->regions) CollectDefined(nested, depth + 1, defined);
    }
  }
}

// Nested ops come before the op that holds them, the order in which XLA collects them.
void CollectUsed(const MlirRegion& region, const absl::flat_hash_set<const MlirValue*>& defined,
                 absl::flat_hash_set<const MlirValue*>& seen, int depth, std::vector<MlirValue*>& used) {
  if (depth > kMaxRegionDepth * 2) return;
  for (const MlirBlock& block : region.blocks) {
    for (const MlirOp* op : block.ops) {
      for (const MlirRegion& nested : op->regions) CollectUsed(nested, defined, seen, depth + 1, used);
      for (MlirValue* operand : op->operands)
        if (!defined.contains(operand) && seen.insert(operand).second) used.push_back(operand);
    }
  }
}

}  // namespace

std::vector<MlirValue*> Importer::CapturedValues(std::span<const MlirRegion> regions) {
  absl::flat_hash_set<const MlirValue*> defined, seen;
  for (const MlirRegion& region : regions) CollectDefined(region, 0, defined);
  std::vector<MlirValue*> used;
  for (const MlirRegion& region : regions) CollectUsed(region, defined, seen, 0, used);
  std::erase_if(used, [](const MlirValue* value) { return value->owner != nullptr && IsMlirConstant(*value->owner); });
  return used;
}

namespace {

// Replaces the instructions of values while a region is imported.
class ScopedValues {
 public:
  void Set(const MlirValue& value, Instruction* hlo) {
    before_.emplace_back(&value, value.lowered);
    value.lowered = hlo;
  }
  ~ScopedValues() {
    for (size_t i = before_.size(); i-- > 0;) before_[i].first->lowered = before_[i].second;
  }

 private:
  absl::InlinedVector<std::pair<const MlirValue*, Instruction*>, 4> before_;
};

}  // namespace

// Imports the ops of a block. The last one must be its terminator, which sets `returned_`.
Status Importer::ImportBlock(const MlirBlock& block, std::span<MlirValue* const> returned, bool) {
  for (MlirOp* op : block.ops) {
    const bool is_last = op == block.ops.back();
    const bool ends = op->info != nullptr && op->results.empty() && op->name.ends_with("return");
    if (ends != is_last) return Refused(*op, is_last ? "a region must end with a return" : "a return must come last");
    if (!is_last) {
      SHOAL_TRY(ImportOp(*op));
      continue;
    }
    builder_.SetOrigin(op->at, nullptr);
    common_.clear();
    SHOAL_ASSIGN(values, Operands(*op));
    for (MlirValue* value : returned) values.push_back(value->lowered);
    returned_ = values.size() == 1 ? values[0] : AddTuple(values);
  }
  return {};
}

namespace {

struct SavedState {
  Computation*& computation;
  Instruction*& returned;
  NamedAttrs& common;
  int& depth;
  Computation* saved_computation;
  Instruction* saved_returned;
  NamedAttrs saved_common;
  SavedState(Computation*& computation, Instruction*& returned, NamedAttrs& common, int& depth)
      : computation(computation), returned(returned), common(common), depth(depth), saved_computation(computation),
        saved_returned(returned), saved_common(common) {
    ++depth;
    common.clear();
  }
  ~SavedState() {
    computation = saved_computation;
    returned = saved_returned;
    common = saved_common;
    --depth;
  }
};

}  // namespace

Result<Computation*> Importer::ImportBody(const MlirRegion& region, std::string_view name, TextSpan at) {
  if (depth_ > kMaxRegionDepth) return Fail(at, "stablehlo.region", "regions are nested too deeply");
  if (region.blocks.size() != 1 || region.blocks[0].ops.empty())
    return Fail(at, "stablehlo.region", "a region must have exactly one block, which is not empty");
  const MlirBlock& block = region.blocks[0];
  auto check_uses = [&]() -> Status {
    for (const MlirValue* outer : CapturedValues({&region, 1}))
      return Fail(at, "stablehlo.region",
                  StrCat("the region of this op must not use values from outside",
                         outer->owner == nullptr ? std::string() : StrCat(", but it uses a result of ", outer->owner->name)));
    return {};
  };
  // Without nested regions, the import of an op finds values from outside.
  const bool has_regions = std::any_of(block.ops.begin(), block.ops.end(), [](const MlirOp* op) { return !op->regions.empty(); });
  if (has_regions) SHOAL_TRY(check_uses());
  SavedState saved(computation_, returned_, common_, depth_);
  computation_ = &builder_.NewComputation(name);
  ScopedValues values;
  for (const MlirValue& argument : block.arguments) {
    SHOAL_ASSIGN(shape, ShapeOf(*argument.type, at));
    builder_.SetOrigin(at, locations_.NameMetadataOf(argument.location));
    values.Set(argument, builder_.Parameter(*computation_, shape, ParameterName(argument)));
  }
  builder_.SetOrigin(at, nullptr);
  if (Status imported = ImportBlock(block, {}); !imported.ok()) {
    SHOAL_TRY(check_uses());
    return std::move(imported.diag());
  }
  builder_.Finish(*computation_, returned_);
  return computation_;
}

Result<Computation*> Importer::ImportRegionWithCaptures(const MlirRegion& region, std::span<MlirValue* const> captured,
                                                        std::span<MlirValue* const> returned, TextSpan at) {
  if (depth_ > kMaxRegionDepth) return Fail(at, "stablehlo.region", "regions are nested too deeply");
  if (region.blocks.size() != 1 || region.blocks[0].ops.empty())
    return Fail(at, "stablehlo.region", "a region must have exactly one block, which is not empty");
  const MlirBlock& block = region.blocks[0];
  SavedState saved(computation_, returned_, common_, depth_);
  computation_ = &builder_.NewComputation(StrCat("region_", regions_++));
  ScopedValues scope;
  std::vector<const MlirValue*> values;
  for (const MlirValue& argument : block.arguments) values.push_back(&argument);
  values.insert(values.end(), captured.begin(), captured.end());
  std::vector<const Shape*> shapes;
  for (const MlirValue* value : values) {
    SHOAL_ASSIGN(shape, ShapeOf(*value->type, at));
    shapes.push_back(shape);
  }
  builder_.SetOrigin(at, nullptr);
  if (values.size() == 1) {
    builder_.SetOrigin(at, locations_.NameMetadataOf(values[0]->location));
    scope.Set(*values[0], builder_.Parameter(*computation_, shapes[0], ParameterName(*values[0])));
  } else {
    Instruction* tuple = builder_.Parameter(*computation_, module_.shapes.Tuple(shapes), "arg_tuple");
    for (size_t i = 0; i < values.size(); ++i)
      scope.Set(*values[i], builder_.GetTupleElement(*computation_, tuple, static_cast<int64_t>(i)));
  }
  builder_.SetOrigin(at, nullptr);
  SHOAL_TRY(ImportBlock(block, returned));
  builder_.Finish(*computation_, returned_);
  return computation_;
}

Result<Computation*> Importer::SumComputation(ElementType type) {
  SavedState saved(computation_, returned_, common_, depth_);
  computation_ = &builder_.NewComputation(StrCat("region_", regions_++));
  const Shape* scalar = module_.shapes.Scalar(type);
  Instruction* x = builder_.Parameter(*computation_, scalar, "x");
  Instruction* y = builder_.Parameter(*computation_, scalar, "y");
  SHOAL_ASSIGN(sum, Add(Opcode::kAdd, {x, y}));
  builder_.Finish(*computation_, sum);
  return computation_;
}

// The values as one: itself, or a tuple of none or several.
Result<Instruction*> Importer::PassedValue(std::span<Instruction* const> values) {
  return values.size() == 1 ? values[0] : AddTuple(values);
}

}  // namespace shoal::internal
