// Computations as regions, and the ops that run them.
#include <utility>

#include "core/ops/traits.h"
#include "formats/stablehlo/export_functions.h"
#include "formats/stablehlo/exporter.h"

namespace shoal::internal {
namespace {

constexpr int kMaxDepth = 100;

}  // namespace

Status Exporter::ExportInstructions(const Computation& computation) {
  for (const Instruction* hlo : computation.instructions) {
    if (IsParameter(*hlo)) continue;
    const MlirOpInfo* row = FormOf(hlo->opcode);
    if (row == nullptr) return Refused(*hlo, "the op has no StableHLO form");
    SHOAL_TRY(CheckIsComplete(*hlo));
    Status written = row->write(*this, *row, *hlo);
    if (written.ok()) continue;
    if (!written.diag().at.known()) written.diag().at = hlo->at;
    return written;
  }
  return {};
}

Status Exporter::AddReturn(std::string_view name, const Instruction& root, std::span<MlirValue* const> values) {
  MlirOp* op = Add(*FindMlirOp(name), root, values, {}, {});
  op->attrs = {};
  op->location = nullptr;
  return {};
}

MlirRegion Exporter::RegionWith(std::span<MlirValue> arguments) {
  MlirRegion region;
  const std::span<MlirBlock> blocks = arena().NewSpan<MlirBlock>(1);
  new (&blocks[0]) MlirBlock{arguments, arena().Copy(*ops_)};
  region.blocks = blocks;
  return region;
}

namespace {

// The ops of a region go to a list of their own.
class ScopedOps {
 public:
  explicit ScopedOps(std::vector<MlirOp*>*& current, int& depth) : current_(current), depth_(depth), outer_(current) {
    current_ = &ops_;
    ++depth_;
  }
  ~ScopedOps() {
    current_ = outer_;
    --depth_;
  }

 private:
  std::vector<MlirOp*>*& current_;
  int& depth_;
  std::vector<MlirOp*>* outer_;
  std::vector<MlirOp*> ops_;
};

}  // namespace

Status Exporter::CheckRegion(const Computation& computation) const {
  if (depth_ > kMaxDepth) return Fail(computation.at, "stablehlo.form", "computations are nested too deeply");
  if (!computation.defined || computation.root == nullptr)
    return Fail(computation.at, "stablehlo.form", "the computation is not defined");
  for (const Instruction* parameter : computation.parameters)
    if (parameter == nullptr) return Fail(computation.at, "stablehlo.form", "a parameter is missing");
  return {};
}

Result<MlirRegion> Exporter::RegionOf(Computation& computation) {
  ScopedOps scope(ops_, depth_);
  SHOAL_TRY(CheckRegion(computation));
  std::vector<MlirValue> arguments;
  std::vector<const Instruction*> owners;
  for (const Instruction* parameter : computation.parameters) {
    SHOAL_ASSIGN(types, LeafTypes(parameter->shape()));
    for (const MlirType* type : types) {
      MlirValue value;
      value.type = type;
      value.index = static_cast<uint32_t>(arguments.size());
      value.lowered = const_cast<Instruction*>(parameter);
      arguments.push_back(value);
      owners.push_back(parameter);
    }
  }
  const std::span<MlirValue> values = arena().Copy(arguments);
  size_t next = 0;
  for (const Instruction* parameter : computation.parameters) {
    const size_t first = next;
    values_[parameter] = Unflatten(parameter->shape(), values, &next);
    // Only arguments that are whole parameters have their metadata.
    if (next == first + 1) values[first].location = LocationOf((*parameter)[kMetadata]);
  }
  SHOAL_TRY(ExportInstructions(computation));
  std::vector<MlirValue*> results;
  SHOAL_TRY(Flatten(ValueOf(*computation.root), computation.root->shape(), *computation.root, results));
  SHOAL_TRY(AddReturn("stablehlo.return", *computation.root, results));
  return RegionWith(values);
}

Result<MlirRegion> Exporter::BranchOf(Computation& computation, Value argument) {
  ScopedOps scope(ops_, depth_);
  SHOAL_TRY(CheckRegion(computation));
  for (const Instruction* parameter : computation.parameters) values_[parameter] = argument;
  SHOAL_TRY(ExportInstructions(computation));
  std::vector<MlirValue*> results;
  SHOAL_TRY(Flatten(ValueOf(*computation.root), computation.root->shape(), *computation.root, results));
  SHOAL_TRY(AddReturn("stablehlo.return", *computation.root, results));
  return RegionWith({});
}

// The loop carries the leaves of its tuple.
Status ExportWhile(Exporter& exporter, const MlirOpInfo& row, const Instruction& hlo) {
  const uint32_t handled[] = {Op<Opcode::kWhile>::kCondition.id, Op<Opcode::kWhile>::kBody.id};
  SHOAL_TRY(exporter.CheckAttrs(row, hlo, handled));
  std::vector<MlirValue*> operands;
  SHOAL_TRY(exporter.Flatten(exporter.ValueOf(*hlo.operands[0]), hlo.shape(), hlo, operands));
  SHOAL_ASSIGN(condition, exporter.RegionOf(*ConditionOf(hlo)));
  SHOAL_ASSIGN(body, exporter.RegionOf(*BodyOf(hlo)));
  SHOAL_ASSIGN(types, exporter.LeafTypes(hlo.shape()));
  MlirOp* op = exporter.Add(row, hlo, operands, {}, types, {condition, body});
  for (MlirValue& result : op->results) result.lowered = const_cast<Instruction*>(&hlo);
  size_t next = 0;
  exporter.ValueOf(hlo) = Exporter::Unflatten(hlo.shape(), op->results, &next);
  return {};
}

// The branches use the operands directly.
Status ExportConditional(Exporter& exporter, const MlirOpInfo& row, const Instruction& hlo) {
  using Conditional = Op<Opcode::kConditional>;
  const uint32_t handled[] = {Conditional::kTrueComputation.id, Conditional::kFalseComputation.id,
                              Conditional::kBranchComputations.id};
  SHOAL_TRY(exporter.CheckAttrs(row, hlo, handled));
  const std::vector<Computation*> branches = CalledComputations(hlo);
  if (branches.size() + 1 != hlo.operand_count()) return exporter.Refused(hlo, "each branch needs an operand");
  SHOAL_ASSIGN(selector, exporter.Operand(hlo, 0));
  std::vector<MlirRegion> regions;
  for (size_t i = 0; i < branches.size(); ++i) {
    SHOAL_ASSIGN(region, exporter.BranchOf(*branches[i], exporter.ValueOf(*hlo.operands[i + 1])));
    regions.push_back(region);
  }
  SHOAL_ASSIGN(types, exporter.LeafTypes(hlo.shape()));
  const MlirOpInfo& form = HasPredicate(hlo) ? *FindMlirOp("stablehlo.if") : row;
  MlirOp* op = exporter.Add(form, hlo, {&selector, 1}, {}, types, std::move(regions));
  for (MlirValue& result : op->results) result.lowered = const_cast<Instruction*>(&hlo);
  size_t next = 0;
  exporter.ValueOf(hlo) = Exporter::Unflatten(hlo.shape(), op->results, &next);
  return {};
}

Status ExportBarrier(Exporter& exporter, const MlirOpInfo& row, const Instruction& hlo) {
  SHOAL_TRY(exporter.CheckAttrs(row, hlo, {}));
  std::vector<MlirValue*> operands;
  SHOAL_TRY(exporter.Flatten(exporter.ValueOf(*hlo.operands[0]), hlo.shape(), hlo, operands));
  SHOAL_ASSIGN(types, exporter.LeafTypes(hlo.shape()));
  MlirOp* op = exporter.Add(row, hlo, operands, {}, types);
  for (MlirValue& result : op->results) result.lowered = const_cast<Instruction*>(&hlo);
  size_t next = 0;
  exporter.ValueOf(hlo) = Exporter::Unflatten(hlo.shape(), op->results, &next);
  return {};
}

namespace {

constexpr std::string_view kCompositeAttributes = "composite.attributes", kCompositeName = "composite.name",
                           kCompositeVersion = "composite.version";

std::string_view FrontendAttributeOf(const Instruction& hlo, std::string_view name) {
  for (const FrontendAttribute& attribute : hlo[kFrontendAttributes])
    if (attribute.name == name) return attribute.value;
  return {};
}

}  // namespace

// A call of a composite has its name, its attributes and its version as frontend attributes.
Status ExportCall(Exporter& exporter, const MlirOpInfo& row, const Instruction& hlo) {
  using Call = Op<Opcode::kCall>;
  const uint32_t handled[] = {kToApply.id, Call::kIsComposite.id};
  SHOAL_TRY(exporter.CheckAttrs(row, hlo, handled));
  Computation* callee = hlo[kToApply];
  SHOAL_ASSIGN(name, exporter.FunctionOf(*callee));
  SHOAL_ASSIGN(operands, exporter.Operands(hlo));
  SHOAL_ASSIGN(types, exporter.ResultTypes(hlo.shape(), /*keep_single=*/true));
  const MlirAttr* symbol = exporter.TextAttr(MlirAttr::Kind::kSymbol, name);
  if (!hlo[Call::kIsComposite]) {
    exporter.SetResults(hlo, *exporter.Add(row, hlo, operands, {{"callee", symbol}}, types));
    return {};
  }
  Exporter::Attrs attrs{{"name", exporter.TextAttr(MlirAttr::Kind::kString, FrontendAttributeOf(hlo, kCompositeName))}};
  const std::string_view fields = FrontendAttributeOf(hlo, kCompositeAttributes);
  if (!fields.empty() && fields != "{}")
    attrs.push_back({"composite_attributes", exporter.TextAttr(MlirAttr::Kind::kOpaque, fields)});
  attrs.push_back({"decomposition", symbol});
  const std::string_view version = FrontendAttributeOf(hlo, kCompositeVersion);
  if (!version.empty() && version != "0")
    attrs.push_back({"version", exporter.TextAttr(MlirAttr::Kind::kOpaque, StrCat(version, " : i32"))});
  MlirOp* op = exporter.Add(*FindMlirOp("stablehlo.composite"), hlo, operands, {}, types);
  const std::string_view own[] = {kCompositeAttributes, kCompositeName, kCompositeVersion};
  exporter.AddCommonAttrs(hlo, attrs, own);
  op->attrs = exporter.arena().Copy(attrs);
  exporter.SetResults(hlo, *op);
  return {};
}

}  // namespace shoal::internal
