// Rewrites a sort whose comparator compares functions of elements as a sort by keys: compare(f(a), f(b)) becomes a
// comparison of two elements of another operand, f(operand), which is computed once for each element and compiled.
#include <algorithm>
#include <array>
#include <map>

#include "core/ir/equivalence.h"
#include "core/ir/rewrite.h"
#include "core/ops/families.h"
#include "core/ops/new_ops.h"
#include "core/ops/traits.h"
#include "transform/loops/loop_ops.h"
#include "transform/loops/match_sort_keys.h"
#include "transform/passes/pass.h"

namespace shoal::internal {
namespace {

bool IsScalarOp(const Instruction& hlo) {
  if (!hlo.shape().IsScalar() || !hlo[kControlPredecessors].empty()) return false;
  if (IsConstant(hlo)) return !hlo[kConstantValue]->elided;
  return IsParameter(hlo) || IsElementwise(hlo) || IsScalarCast(hlo);
}

// Compares functions of elements: true if `right` is `left`, or with kOther, `left` with parameters 2k and 2k + 1
// exchanged.
enum class Element : uint8_t { kSame, kOther };

class FunctionMatcher {
 public:
  explicit FunctionMatcher(Element element) : element_(element) {}

  bool Match(const Instruction& left, const Instruction& right) {
    if (const auto known = known_.find({&left, &right}); known != known_.end()) return known->second;
    return known_[{&left, &right}] = Compare(left, right);
  }
  // 0 or 1 if all parameters on the left are first or second elements.
  std::optional<size_t> side() const { return both_ ? std::nullopt : side_; }

 private:
  bool Compare(const Instruction& left, const Instruction& right) {
    if (left.opcode != right.opcode || left.shape().element_type() != right.shape().element_type()) return false;
    if (!IsScalarOp(left) || !IsScalarOp(right)) return false;
    if (IsParameter(left)) {
      const int64_t number = left[kParameterNumber];
      const auto side = static_cast<size_t>(number % 2);
      both_ |= side_ && *side_ != side;
      side_ = side;
      return right[kParameterNumber] == (element_ == Element::kOther ? number ^ 1 : number);
    }
    if (left.operand_count() != right.operand_count() || !HaveEqualAttributes(left, right)) return false;
    for (size_t i = 0; i < left.operand_count(); ++i)
      if (!Match(*left.operands[i], *right.operands[i])) return false;
    return true;
  }

  Element element_;
  std::map<std::pair<const Instruction*, const Instruction*>, bool> known_;
  std::optional<size_t> side_;
  bool both_ = false;
};

class SortKeyExtractor {
 public:
  SortKeyExtractor(Instruction& sort, Module& module, Computation& computation)
      : sort_(sort), module_(module), computation_(computation), operands_(sort.operands.begin(), sort.operands.end()) {}

  // The result of a sort by keys, or null if the comparator does not compare functions of elements.
  Instruction* Run() {
    const Computation& old = *sort_[kToApply];
    comparator_ = module_.NewComputation(old.name);
    comparator_->at = old.at;
    CopyWithKeys(old);
    RemoveUnused(*comparator_, [](const Instruction&) { return false; });
    if (keys_.empty() || !MatchSortKeys(*comparator_)) return nullptr;
    module_.computations.push_back(comparator_);
    for (const Instruction* key : keys_) operands_.push_back(Computed(*key));
    return NewSort();
  }

 private:
  // Copies the comparator and replaces its comparisons of functions by comparisons of keys.
  void CopyWithKeys(const Computation& old) {
    absl::flat_hash_map<const Instruction*, Instruction*> copies;
    for (const Instruction* parameter : old.parameters)
      copies[parameter] = NewParameter(module_, *comparator_, parameter->shape_, *parameter);
    for (const Instruction* hlo : old.instructions) {
      if (IsParameter(*hlo)) continue;
      std::vector<Instruction*> operands;
      for (const Instruction* operand : hlo->operands) operands.push_back(copies.at(operand));
      if (const std::optional<Key> key = KeyOf(*hlo))
        for (size_t i : {0, 1}) operands[i] = key_parameters_[key->number][i ^ key->left];
      copies[hlo] = CopyInstruction(module_, *comparator_, *hlo, operands);
    }
    comparator_->root = copies.at(old.root);
    SortTopologically(*comparator_);
  }

  struct Key {
    size_t number;
    size_t left;  // the left side of the comparison: 0 for the first element, 1 for the second
  };

  // For a comparison of the same function of two elements: its key.
  std::optional<Key> KeyOf(const Instruction& hlo) {
    if (!IsCompare(hlo) || !hlo.shape().IsScalar() || IsParameter(*hlo.operands[0])) return std::nullopt;
    if (IsComplex(hlo.operand_shape(0).element_type())) return std::nullopt;
    FunctionMatcher matcher(Element::kOther);
    if (!matcher.Match(*hlo.operands[0], *hlo.operands[1]) || !matcher.side()) return std::nullopt;
    const size_t left = *matcher.side();
    const Instruction& function = *hlo.operands[left];  // of the first element
    for (size_t k = 0; k < keys_.size(); ++k)
      if (FunctionMatcher(Element::kSame).Match(*keys_[k], function)) return Key{k, left};
    AddKey(function);
    return Key{keys_.size() - 1, left};
  }

  void AddKey(const Instruction& function) {
    keys_.push_back(&function);
    std::array<Instruction*, 2> parameters{};
    for (Instruction*& parameter : parameters) parameter = NewParameter(module_, *comparator_, function.shape_, function);
    key_parameters_.push_back(parameters);
  }

  // The function of all elements of the sort's operands.
  Instruction* Computed(const Instruction& function) {
    if (const auto known = computed_.find(&function); known != computed_.end()) return known->second;
    if (IsParameter(function)) return sort_.operands[static_cast<size_t>(function[kParameterNumber] / 2)];
    std::vector<Instruction*> operands;
    for (const Instruction* operand : function.operands) operands.push_back(Computed(*operand));
    const Shape* shape = module_.shapes.Array(function.shape().element_type(), sort_.operand_shape(0).dims());
    Instruction* copy = CopyInstruction(module_, computation_, function, operands);
    if (IsConstant(function)) {
      copy = NewBroadcast(module_, computation_, shape, copy, {}, sort_);
    } else {
      copy->shape_ = shape;
      if (IsScalarCast(function)) copy->opcode = Opcode::kBitcastConvert;
    }
    return computed_[&function] = copy;
  }

  Instruction* NewSort() {
    std::vector<const Shape*> shapes;
    for (const Instruction* operand : operands_) shapes.push_back(operand->shape_);
    Instruction* sorted = CopyInstruction(module_, computation_, sort_, operands_);
    sorted->shape_ = module_.shapes.Tuple(shapes);
    SetAttr(*sorted, module_, kToApply, comparator_);
    std::vector<Instruction*> results;
    for (size_t i = 0; i < sort_.operand_count(); ++i)
      results.push_back(NewGetTupleElement(module_, computation_, sorted, static_cast<int64_t>(i), sort_));
    return sort_.shape().IsTuple() ? NewTuple(module_, computation_, results, sort_) : results[0];
  }

  Instruction& sort_;
  Module& module_;
  Computation& computation_;
  Computation* comparator_ = nullptr;
  std::vector<Instruction*> operands_;      // of the sort by keys
  std::vector<const Instruction*> keys_;    // in the old comparator: the function of the first element
  std::vector<std::array<Instruction*, 2>> key_parameters_;
  absl::flat_hash_map<const Instruction*, Instruction*> computed_;
};

bool HasStaticArrays(const Instruction& sort) {
  return std::all_of(sort.operands.begin(), sort.operands.end(), [](const Instruction* operand) {
    return operand->shape().IsArray() && !operand->shape().has_dynamic();
  });
}

}  // namespace

Result<bool> ExtractSortKeys(Module& module, const PassContext& context) {
  bool any = false;
  const std::vector<Computation*> before = module.computations;
  for (Computation* computation : before) {
    Replacements replacements;
    const std::vector<Instruction*> instructions = computation->instructions;
    for (Instruction* hlo : instructions) {
      if (!IsSort(*hlo) || !(*hlo)[kControlPredecessors].empty() || !HasStaticArrays(*hlo))
        continue;
      if (const Computation& comparator = *(*hlo)[kToApply]; HasEffects(comparator) || MatchSortKeys(comparator))
        continue;
      if (Instruction* result = SortKeyExtractor(*hlo, module, *computation).Run()) replacements[hlo] = result;
    }
    if (replacements.empty()) continue;
    any = true;
    ApplyReplacements(replacements, module, *computation);
  }
  return any ? RemoveDeadCode(module, context) : Result<bool>(false);
}

}  // namespace shoal::internal
