// The simplifier's class. Private to formats/stablehlo.
#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "core/base/arena.h"
#include "formats/stablehlo/mlir.h"

namespace shoal::internal {

class Simplifier {
 public:
  explicit Simplifier(Arena& arena) : arena_(arena) {}
  void Function(MlirRegion& body);

 private:
  // ---- simplify.cc
  void Region(MlirRegion& region);
  bool MayRewrite(const MlirOp& op, bool has_new_operand) const;
  void RemoveUnused(MlirRegion& body);
  static MlirValue* Resolve(MlirValue* value) {
    while (value->replacement != nullptr) value = value->replacement;
    return value;
  }
  void Changed(MlirOp& op);
  void ResolveAll(std::span<MlirRegion> regions);
  MlirOp* NewOp(std::string_view name, std::vector<MlirValue*> operands, const MlirType* type,
                std::vector<MlirNamedAttr> attrs, const MlirOp& like);
  const MlirAttr* Ints(std::vector<int64_t> values);
  const MlirType* Tensor(ElementType element, std::vector<int64_t> dims);
  std::vector<MlirNamedAttr> Discardable(const MlirOp& op) const;
  bool ReplaceWith(const MlirOp& op, MlirValue* value);
  bool ReplaceWithConstant(const MlirOp& op, const MlirAttr* value);
  MlirValue* Constant(const MlirAttr* value, const MlirOp& like);
  MlirValue* KnownConstant(const MlirAttr& value);
  static bool SameType(const MlirType& a, const MlirType& b);

  // ---- simplify_rules.cc, simplify_index.cc, simplify_loops.cc: true if the op is replaced
  bool Rewrite(MlirOp& op);
  bool FoldConstants(MlirOp& op);
  bool RewriteBinary(MlirOp& op);
  bool RewriteCompare(MlirOp& op);
  bool RewriteSelect(MlirOp& op);
  bool RewriteBroadcast(MlirOp& op);
  bool RewriteReshape(MlirOp& op);
  bool RewriteTranspose(MlirOp& op);
  bool RewriteSlice(MlirOp& op);
  bool RewritePad(MlirOp& op);
  bool RewriteReverse(MlirOp& op);
  bool RewriteDynamicSlice(MlirOp& op);
  bool RewriteIota(MlirOp& op);
  bool RewriteGather(MlirOp& op);
  bool RewriteConcatenate(MlirOp& op);
  bool RewriteWhile(MlirOp& op);
  const MlirAttr* ConstantOf(const MlirValue* value) const;
  static bool IsStatic(const MlirType& type);
  static bool IsIotaList(std::span<const int64_t> ints);
  // The op that computes the value, if it is of this name; else null.
  static const MlirOp* Producer(const MlirValue* value, std::string_view name);
  std::span<const int64_t> IntsOf(const MlirOp& op, std::string_view name);

  Arena& arena_;
  bool changed_ = false;
  int round_ = 0;
  int depth_ = 0;
  std::vector<MlirOp*> out_;  // the ops of the blocks being rewritten, outermost first
  struct ConstantHash {
    size_t operator()(const MlirAttr* value) const;
  };
  struct ConstantEqual {
    bool operator()(const MlirAttr* a, const MlirAttr* b) const;
  };
  std::vector<absl::flat_hash_map<const MlirAttr*, MlirValue*, ConstantHash, ConstantEqual>> constants_;  // by region
};

}  // namespace shoal::internal
