// The importer's class. The section headings name the .cc files. Private to formats/stablehlo.
#pragma once

#include <string>
#include <tuple>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "core/base/strings.h"
#include "core/ops/attrs.h"
#include "core/ir/sizes.h"
#include "core/ops/module_builder.h"
#include "core/ops/rules.h"
#include "formats/stablehlo/import.h"
#include "formats/stablehlo/locations.h"
#include "formats/stablehlo/op_table.h"

namespace shoal::internal {

inline bool IsMlirConstant(const MlirOp& op) { return op.info != nullptr && op.info->opcode == Opcode::kConstant; }

// Lists that rarely need memory of their own.
using NamedAttrs = absl::InlinedVector<NamedAttr, 6>;
using OperandList = absl::InlinedVector<Instruction*, 4>;

class Importer {
 public:
  Importer(const MlirModule& tree, Module& module, const ImportOptions& options, Diags& diags)
      : tree_(tree), module_(module), options_(options), diags_(diags), builder_(module), locations_(module) {}

  Status Run();

  // ---- import_module.cc
  Status ImportFunction(const MlirOp& function, Computation** computation);
  std::string ParameterName(const MlirValue& argument);
  const MlirOp* FindFunction(std::string_view name) const;

  // ---- import_ops.cc: what the functions of the table use
  Module& module() { return module_; }
  Arena& arena() { return module_.arena; }
  Computation& computation() { return *computation_; }
  bool strict() const { return options_.strict; }
  Status ImportOp(const MlirOp& op);
  Status ImportPlain(const MlirOp& op, std::span<Instruction* const> operands, const NamedAttrs& attrs = {});
  Diag Refused(const MlirOp& op, std::string message, Site site = Site::Here());
  // The instructions of the op's operands.
  Result<OperandList> Operands(const MlirOp& op);
  Result<Instruction*> Operand(const MlirOp& op, size_t i);
  Result<Instruction*> ConstantFor(const MlirValue& value, const MlirAttr& elements, TextSpan at);
  // Adds an instruction with the sharding and the frontend attributes of the current op.
  Result<Instruction*> Add(Opcode opcode, std::span<Instruction* const> operands, const NamedAttrs& attrs = {},
                           const Shape* shape = nullptr);
  Result<Instruction*> Add(Opcode opcode, std::initializer_list<Instruction*> operands,
                           const NamedAttrs& attrs = {}, const Shape* shape = nullptr) {
    return Add(opcode, std::span(operands.begin(), operands.size()), attrs, shape);
  }
  // Sets the value of the op's result, or of its results from a tuple.
  Status SetResult(const MlirOp& op, Instruction* value);
  Status SetResults(const MlirOp& op, Instruction* tuple);
  // Sets the results to the first elements of a tuple.
  Status SetElements(const MlirOp& op, Instruction* tuple);
  // Makes `op` the current op again, after the import of its regions or of a callee.
  void Reset(const MlirOp& op);
  Instruction* AddTuple(std::span<Instruction* const> elements);
  Instruction* AddElement(Instruction* tuple, int64_t index, bool with_attrs = true);
  void Warn(const MlirOp& op, std::string_view rule, std::string message);

  // ---- import_index.cc
  Result<Instruction*> ConstantOf(const MlirAttr& value, TextSpan at);
  Result<Instruction*> SplatConstant(const Shape& shape, const std::byte* element);
  Result<Instruction*> Broadcast(Instruction* operand, const Shape& shape, std::span<const int64_t> dimensions);
  Result<Instruction*> BroadcastInDim(const MlirOp& op, Instruction* operand, const Shape& shape,
                                      std::span<const int64_t> dimensions);
  Result<std::span<const PaddingDim>> PaddingOf(const MlirOp& op, Ints low, Ints high, Ints interior);
  Status ImportSliceOf(const MlirOp& op, Ints starts, Ints limits, Ints strides);

  // ---- import_values.cc
  Result<const Shape*> ShapeOf(const MlirType& type, TextSpan at);
  Result<const Shape*> ResultShape(const MlirOp& op);  // one result, or a tuple of all
  Result<const Literal*> LiteralOf(const MlirAttr& dense, TextSpan at);
  Instruction* AddConstant(const Literal* literal);
  Result<Instruction*> AddSplat(const Shape& shape, double value);
  Result<Instruction*> ConstantLike(const Instruction& like, double value);  // import_chlo.cc

  // ---- import_attrs.cc
  Status ConvertAttrs(const MlirOp& op, NamedAttrs& attrs);
  Status ConvertAttr(const MlirOp& op, const AttrDef& def, const MlirAttr& from, AttrValue* value);
  Status ConvertSharedAttr(const MlirOp& op, const AttrDef& def, const MlirAttr& from, AttrValue* value);
  Result<Ints> IntsOf(const MlirOp& op, const MlirAttr* attr);  // empty if `attr` is null
  Result<int64_t> IntOf(const MlirOp& op, std::string_view name, int64_t fallback);
  Result<Ints> IntsAttr(const MlirOp& op, std::string_view name) { return IntsOf(op, op.Find(name)); }
  Result<IntLists> IntListsOf(const MlirOp& op, const MlirAttr& attr);  // a matrix
  std::string_view StringAttr(const MlirOp& op, std::string_view name);
  bool BoolAttr(const MlirOp& op, std::string_view name, bool fallback = false);
  // sharding= and frontend_attributes=, which every instruction of the op gets.
  Status ReadCommonAttrs(const MlirOp& op);
  void AddFrontendAttribute(std::string_view name, std::string value);
  std::span<const FrontendAttribute> FrontendAttributesOf(std::span<const MlirNamedAttr> fields);

  // ---- import_collective.cc, import_window.cc
  Result<const ReplicaGroups*> ReplicaGroupsOf(const MlirOp& op);
  Status AddChannel(const MlirOp& op, NamedAttrs& attrs);
  Result<NamedAttrs> CollectiveAttrs(const MlirOp& op);
  struct WindowNames {
    std::string_view strides, base_dilation, window_dilation;
  };
  Result<const Window*> WindowOf(const MlirOp& op, Ints sizes, const WindowNames& names, const MlirAttr* padding);

  // ---- import_regions.cc
  // The region as a computation with one parameter per argument.
  Result<Computation*> ImportRegion(const MlirRegion& region, TextSpan at) {
    return ImportBody(region, StrCat("region_", regions_++), at);
  }
  Result<Computation*> ImportBody(const MlirRegion& region, std::string_view name, TextSpan at);
  // The region as a computation with one parameter: its arguments and the captured values, as a tuple unless there is
  // one. `returned` values are appended to the result.
  Result<Computation*> ImportRegionWithCaptures(const MlirRegion& region, std::span<MlirValue* const> captured,
                                                std::span<MlirValue* const> returned, TextSpan at);
  // The values that the regions use and that are defined outside, in the order of use. Constants are imported again in
  // the region instead.
  std::vector<MlirValue*> CapturedValues(std::span<const MlirRegion> regions);
  Status ImportBlock(const MlirBlock& block, std::span<MlirValue* const> returned, bool is_entry = false);
  // add(x, y), of scalars.
  Result<Computation*> SumComputation(ElementType type);
  Result<Instruction*> PassedValue(std::span<Instruction* const> values);

  // ---- sdy.cc
  Status ReadMeshes();
  const Sharding* HloSharding(std::string_view sdy_text, int64_t rank);  // null if unknown
  struct SdyMesh {
    std::string_view name;
    std::string text;
    Mesh mesh;
  };
  const SdyMesh* FindMesh(std::string_view name) const;
  // The text of a sharding with the names of the meshes that are left after duplicates are dropped.
  std::string CanonicalSdyText(std::string_view text) const;
  // A custom call that marks the sharding of a function's result.
  Result<Instruction*> MarkResult(Instruction* value, const std::string& sdy_text, const Sharding** sharding);

 private:
  Status ShardResults(const MlirOp& function, Computation& body);
  Status ImportModuleAttrs();
  Status ImportEntry(const MlirOp& function, const Computation& entry);

  const MlirModule& tree_;
  Module& module_;
  const ImportOptions options_;
  Diags& diags_;
  ModuleBuilder builder_;
  LocationTable locations_;
  Computation* computation_ = nullptr;
  Instruction* returned_ = nullptr;  // root of the block being imported
  absl::flat_hash_map<std::string_view, const MlirOp*> functions_;
  absl::flat_hash_map<const MlirOp*, Computation*> imported_;
  using ConstantKey = std::tuple<const Computation*, const Shape*, std::string>;
  absl::flat_hash_map<ConstantKey, Instruction*> constants_;
  absl::flat_hash_map<std::pair<const Computation*, const MlirValue*>, Instruction*> constant_values_;
  absl::flat_hash_map<std::pair<const MlirAttr*, const AttrDef*>, AttrValue> converted_;  // ops of bytecode share attributes
  std::vector<SdyMesh> meshes_;
  absl::flat_hash_map<std::string_view, std::string_view> same_mesh_;  // a dropped mesh, and the one that equals it
  NamedAttrs common_;                        // attributes of the current op
  std::vector<FrontendAttribute> frontend_attributes_;   // of the current op
  int64_t regions_ = 0;
  int depth_ = 0;

 public:
  NamedAttrs& common_attrs() { return common_; }
};

// The value of an operand that must be a constant.
Result<const MlirAttr*> ConstantOperand(Importer& importer, const MlirOp& op, size_t i);  // import_index.cc

}  // namespace shoal::internal
