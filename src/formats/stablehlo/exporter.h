// The exporter's class. The section headings name the .cc files. Private to formats/stablehlo.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "core/base/strings.h"
#include "core/ops/attrs.h"
#include "formats/stablehlo/export.h"
#include "formats/stablehlo/op_table.h"

namespace shoal::internal {

// A layout, {0,1}; empty for the default, row-major layout.
std::string LayoutText(const Shape& shape);

class Exporter {
 public:
  Exporter(const Module& module, MlirModule& tree) : module_(module), tree_(tree) {}

  using Attrs = std::vector<MlirNamedAttr>;
  using Types = std::vector<const MlirType*>;
  // The value of an HLO instruction: one MLIR value, or the parts of a tuple, which needs no op.
  struct Value {
    MlirValue* single = nullptr;
    std::vector<Value> parts;
  };

  // ---- export_module.cc
  Status Run();
  // The function of a computation; its name.
  Result<std::string_view> FunctionOf(Computation& computation);

  // ---- export_ops.cc
  const Module& module() const { return module_; }
  Arena& arena() { return tree_.arena; }
  Status ExportPlain(const MlirOpInfo& row, const Instruction& hlo, std::span<MlirValue* const> operands, Attrs attrs,
                     std::span<const uint32_t> handled = {});
  Status CheckIsComplete(const Instruction& hlo);
  // An error about the instruction.
  Diag Refused(const Instruction& hlo, std::string message, Site site = Site::Here());
  // Appends an op with the location and the common attributes of `hlo`.
  MlirOp* Add(const MlirOpInfo& row, const Instruction& hlo, std::span<MlirValue* const> operands, Attrs attrs,
              const Types& results, std::vector<MlirRegion> regions = {});
  MlirOp* last_op() const { return ops_->back(); }
  // An error if the instruction has an attribute that is neither in `handled` nor in the row's rules nor without
  // influence on the result.
  Status CheckAttrs(const MlirOpInfo& row, const Instruction& hlo, std::span<const uint32_t> handled);

  // ---- export_values.cc
  Result<const MlirType*> TypeOf(const Shape& shape);
  // The types of an op's results: the elements of a tuple, else the shape. A tuple of one element stays a tuple where
  // `keep_single` is set.
  Result<Types> ResultTypes(const Shape& shape, bool keep_single = false);
  Result<Types> LeafTypes(const Shape& shape);
  Value& ValueOf(const Instruction& hlo) { return values_[&hlo]; }
  // One MLIR value of the instruction's operand. Another op makes a tuple of its parts.
  Result<MlirValue*> Operand(const Instruction& hlo, size_t i);
  Result<std::vector<MlirValue*>> Operands(const Instruction& hlo);
  Result<MlirValue*> Single(Value& value, const Instruction& user);
  // Part `index` of a tuple.
  Result<Value> Part(Value& value, size_t index, const Instruction& user);
  // The arrays and tokens of a value, tuples flattened.
  Status Flatten(Value& value, const Shape& shape, const Instruction& user, std::vector<MlirValue*>& leaves);
  static Value Unflatten(const Shape& shape, std::span<MlirValue> leaves, size_t* next);
  // Sets the instruction's value to the results of `op`.
  void SetResults(const Instruction& hlo, MlirOp& op);
  const MlirLocation* LocationOf(const Metadata* metadata);

  // ---- export_attrs.cc
  MlirAttr* NewAttr(MlirAttr::Kind kind) {
    MlirAttr* attr = arena().New<MlirAttr>();
    attr->kind = kind;
    return attr;
  }
  const MlirAttr* TextAttr(MlirAttr::Kind kind, std::string_view text);
  const MlirAttr* IntAttr(int64_t value, ElementType type);
  const MlirAttr* IntsAttr(Ints ints, ElementType type = ElementType::kS64);
  const MlirAttr* ListAttr(Ints ints);  // [0, 1], inside attributes with named fields
  const MlirAttr* BoolAttr(bool value);
  const MlirAttr* BoolsAttr(const std::vector<bool>& values);
  const MlirAttr* DictionaryAttr(std::string_view name, const Attrs& fields);
  const MlirAttr* MatrixAttr(const std::vector<std::vector<int64_t>>& rows);
  Result<const MlirAttr*> DenseAttr(const Literal& literal, const Instruction& hlo);
  const MlirType* ScalarType(ElementType type);
  Status AddRuleAttrs(const MlirOpInfo& row, const Instruction& hlo, Attrs& attrs);
  void AddCommonAttrs(const Instruction& hlo, Attrs& attrs, std::span<const std::string_view> without = {});
  void AddSharding(const Sharding* sharding, Attrs& attrs);

  // ---- export_regions.cc
  // A region with one argument per leaf of the parameters, which returns the leaves of the root.
  Result<MlirRegion> RegionOf(Computation& computation);
  // A region without arguments; the value of its parameter is `argument`.
  Result<MlirRegion> BranchOf(Computation& computation, Value argument);

 private:
  Status CheckRegion(const Computation& computation) const;
  MlirRegion RegionWith(std::span<MlirValue> arguments);
  Status ExportInstructions(const Computation& computation);
  Status AddReturn(std::string_view name, const Instruction& root, std::span<MlirValue* const> values);
  Status ExportFunction(Computation& computation, std::string_view name);
  Result<Attrs> ArgumentAttrs(const Instruction& parameter, size_t number, bool is_entry);
  Result<Attrs> ReturnedAttrs(const Instruction& root, size_t number, size_t count, bool is_entry);
  Status CheckAliases(size_t results);
  Result<std::vector<MlirValue*>> Returned(const Instruction& root);

  const Module& module_;
  MlirModule& tree_;
  std::vector<MlirOp*>* ops_ = nullptr;  // of the block being written
  std::vector<MlirOp*> functions_;
  absl::flat_hash_map<const Instruction*, Value> values_;
  absl::flat_hash_map<const Computation*, std::string_view> names_;
  std::vector<std::string_view> used_names_;
  absl::flat_hash_map<const Shape*, const MlirType*> types_;
  absl::flat_hash_map<std::string, const MlirType*> types_by_text_;
  absl::flat_hash_map<ElementType, const MlirType*> scalar_types_;
  absl::flat_hash_map<const Metadata*, const MlirLocation*> locations_;
  absl::flat_hash_map<int32_t, const MlirLocation*> frames_;
  int depth_ = 0;
};

}  // namespace shoal::internal
