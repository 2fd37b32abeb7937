#include "analyze/summary/fusion_work.h"

#include <algorithm>
#include <unordered_set>
#include <vector>

#include "core/base/strings.h"
#include "core/ops/families.h"
#include "core/ops/traits.h"
#include "core/ops/fusion_label_ops.h"

namespace shoal::internal {
namespace {

// The classes of ops that labels name first, the most expensive class first.
constexpr OpClass kHeavyClasses[] = {OpClass::kContraction,   OpClass::kOpaque,    OpClass::kLinearAlgebra,
                                     OpClass::kGatherScatter, OpClass::kReduction, OpClass::kRandom};
constexpr size_t kMaxLabelParts = 4;

// Returns the instruction found by tracing `hlo` back through type and layout changes.
const Instruction& TraceThroughTypeChanges(const Instruction& hlo) {
  const Instruction* source = &hlo;
  while (IsTypeOrLayoutChange(*source) && !source->operands.empty()) source = source->operands[0];
  return *source;
}

bool IsZero(const Instruction& hlo) {
  const Instruction& source = TraceThroughTypeChanges(hlo);
  const Literal* value = IsConstant(source) ? source[kConstantValue] : nullptr;
  return value != nullptr && !value->elided && value->shape->IsScalar() &&
         std::all_of(value->data.begin(), value->data.end(), [](std::byte b) { return b == std::byte{0}; });
}

// True for a parameter that is broadcast to more elements, such as a bias vector.
bool IsBroadcastParameter(const Instruction& hlo) {
  const Instruction& source = TraceThroughTypeChanges(hlo);
  return IsParameter(source) && source.shape().IsArray() && hlo.shape().IsArray() &&
         source.shape().ElementCount().value_or(0) > 1 &&
         source.shape().ElementCount().value_or(0) < hlo.shape().ElementCount().value_or(0);
}

bool AnyOperand(const Instruction& hlo, bool (*predicate)(const Instruction&)) {
  return std::any_of(hlo.operands.begin(), hlo.operands.end(), [&](const Instruction* o) { return predicate(*o); });
}

// Counts the ops of a fusion by kind, separately for expensive ops, data movement, trivial ops and elementwise ops.
class Tally {
 public:
  void Add(const Instruction& hlo) {
    const OpClass op_class = Info(hlo.opcode).op_class;
    if (op_class != OpClass::kStructure && !hlo.shape().IsScalar()) only_scalars_ = false;
    if (std::find(std::begin(kHeavyClasses), std::end(kHeavyClasses), op_class) != std::end(kHeavyClasses)) {
      Count(heavy_, NameOf(hlo));
      if (main_ == nullptr || Rank(hlo) < Rank(*main_)) main_ = &hlo;
    } else if (MovesElements(hlo)) {
      Count(moves_, std::string(Text(hlo.opcode)));
    } else if (IsTrivialOp(hlo)) {
      Count(trivial_, std::string(Text(hlo.opcode)));
    } else if (op_class == OpClass::kElementwise) {
      AddElementwise(hlo);
    }
  }

  FusionWork Result() const {
    FusionWork work;
    std::vector<LabelPart> label = heavy_;
    if (label.empty()) label = moves_;
    const bool only_elements = label.empty();
    work.is_trivial = only_elements && elementwise_ + functions_.size() + idioms_.size() == 0;
    if (work.is_trivial) label = trivial_;
    label.insert(label.end(), idioms_.begin(), idioms_.end());
    label.insert(label.end(), functions_.begin(), functions_.end());
    const bool is_short = only_elements && elementwise_ + functions_.size() <= 3;
    if (is_short) label.insert(label.end(), plain_.begin(), plain_.end());
    if (label.size() > kMaxLabelParts) label.resize(kMaxLabelParts);
    for (const LabelPart& part : label)
      StrAppend(&work.label, work.label.empty() ? "" : " + ", part.count > 1 ? StrCat(part.count, " ") : std::string(),
                part.text);
    if (!is_short && elementwise_ > 0) StrAppend(&work.label, work.label.empty() ? "" : " + ", elementwise_, " elementwise");
    if (work.label.empty()) work.label = "nothing";
    work.main = main_ != nullptr ? NameOf(*main_) : !moves_.empty() ? moves_[0].text : "elementwise";
    work.main_class = main_ != nullptr         ? Info(main_->opcode).op_class
                      : moves_.empty()         ? OpClass::kElementwise
                                               : OpClass::kIndexMap;
    work.is_trivial |= only_scalars_ && heavy_.empty();
    work.is_arithmetic = main_ != nullptr && IsArithmetic(Info(main_->opcode).op_class);
    work.is_minor = main_ == nullptr || Info(main_->opcode).op_class == OpClass::kRandom ||
                    IsMemoryBoundReduction(*main_);
    return work;
  }

 private:
  struct LabelPart {
    std::string text;
    int64_t count = 0;
  };

  static std::string NameOf(const Instruction& hlo) {
    const std::string_view target = TargetOf(hlo);
    return std::string(IsCustomCall(hlo) && !target.empty() ? target : Text(hlo.opcode));
  }
  static size_t Rank(const Instruction& hlo) {
    const OpClass op_class = Info(hlo.opcode).op_class;
    return static_cast<size_t>(std::find(std::begin(kHeavyClasses), std::end(kHeavyClasses), op_class) - kHeavyClasses);
  }
  static void Count(std::vector<LabelPart>& label, std::string text) {
    auto found = std::find_if(label.begin(), label.end(), [&](const LabelPart& part) { return part.text == text; });
    if (found == label.end()) found = label.insert(label.end(), {std::move(text), 0});
    ++found->count;
  }

  void AddElementwise(const Instruction& hlo) {
    const bool is_relu = IsMaximum(hlo) && AnyOperand(hlo, IsZero);
    const bool is_bias = IsSum(hlo) && main_ != nullptr && AnyOperand(hlo, IsBroadcastParameter);
    if (is_relu || is_bias) {
      Count(idioms_, is_relu ? "relu" : "bias");
    } else if (IsNamedFunction(hlo)) {
      Count(functions_, std::string(Text(hlo.opcode)));
    } else {
      Count(plain_, std::string(Text(hlo.opcode)));
      ++elementwise_;
    }
  }

  std::vector<LabelPart> heavy_, moves_, trivial_, idioms_, functions_, plain_;
  const Instruction* main_ = nullptr;
  size_t elementwise_ = 0;
  bool only_scalars_ = true;
};

FusionWork WorkOf(const Computation* fused) {
  Tally tally;
  std::vector<const Computation*> worklist;
  std::unordered_set<const Computation*> seen{nullptr};
  if (seen.insert(fused).second) worklist.push_back(fused);
  while (!worklist.empty()) {
    const Computation& next = *worklist.back();
    worklist.pop_back();
    for (const Instruction* hlo : next.instructions) {
      if (Info(hlo->opcode).op_class != OpClass::kControlFlow)
        tally.Add(*hlo);
      else
        for (const Computation* callee : CalledComputations(*hlo))
          if (seen.insert(callee).second) worklist.push_back(callee);
    }
  }
  return tally.Result();
}

}  // namespace

bool IsArithmetic(OpClass op_class) {
  return op_class == OpClass::kContraction || op_class == OpClass::kOpaque || op_class == OpClass::kLinearAlgebra;
}

FusionWorks::FusionWorks(const Module& module) {
  for (const Computation* computation : module.computations)
    for (const Instruction* hlo : computation->instructions)
      if (IsFusion(*hlo))
        if (auto [found, inserted] = works_.try_emplace((*hlo)[kCalls]); inserted) found->second = WorkOf(found->first);
}

const FusionWork& FusionWorks::Of(const Instruction& fusion) const { return works_.at(fusion[kCalls]); }

}  // namespace shoal::internal
