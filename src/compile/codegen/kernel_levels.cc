// Analysis of a kernel before code is emitted: the level at which each node is evaluated, the passes over a row that
// need it, and the vector widths.
#include <algorithm>

#include "compile/codegen/kernel_emitter.h"
#include "transform/loops/loop_ops.h"

namespace shoal::internal {

using Kind = KernelNode::Kind;

LinearPart KernelEmitter::InLane(const IndexExpr& index) const {
  return LinearIn(index, kernel_.lane_loop(), [this](int node) { return levels_[static_cast<size_t>(node)] == kLane; });
}

KernelEmitter::Level KernelEmitter::LevelOf(const IndexExpr& index) const {
  Level level = kRow;
  for (const IndexExprTerm& term : index.terms) {
    Level term_level = kRow;
    if (term.kind == IndexExprTerm::Kind::kData) {
      term_level = levels_[static_cast<size_t>(term.number)];
    } else if (term.kind != IndexExprTerm::Kind::kLoop) {
      term_level = LevelOf(*term.inner);
    } else if (term.number >= static_cast<int>(kernel_.rows.size())) {
      term_level = term.number == kernel_.lane_loop() ? kLane : kIteration;
    }
    level = std::max(level, term_level);
  }
  return level;
}

namespace {

// Calls `f` for each node that `index` uses as data.
template <class F>
void ForEachDataNode(const IndexExpr& index, const F& f) {
  for (const IndexExprTerm& term : index.terms) {
    if (term.kind == IndexExprTerm::Kind::kData) f(term.number);
    if (term.inner != nullptr) ForEachDataNode(*term.inner, f);
  }
}

template <class F>
void ForEachOperand(const KernelNode& node, const F& f) {
  for (int operand : node.operands)
    if (operand >= 0) f(operand);
  if (node.kind == Kind::kLoad || node.kind == Kind::kIndex) ForEachDataNode(node.index, f);
}

// True for nodes emitted as one C library call per lane, for which wide vectors would only make the code longer.
bool IsLibraryCall(const KernelNode& node) {
  if (node.kind == Kind::kApply && IsComplex(node.type)) {
    // See ComplexBuilder.
    static constexpr Opcode kInlineOfComplex[] = {
        Opcode::kExp, Opcode::kExpm1, Opcode::kLog, Opcode::kLog1p, Opcode::kLogistic, Opcode::kPower, Opcode::kSqrt,
        Opcode::kSin, Opcode::kSinh,  Opcode::kCos, Opcode::kCosh,  Opcode::kTan,      Opcode::kTanh};
    if (!IsExpensive(node.opcode) || node.opcode == Opcode::kDivide) return false;
    return BitWidth(node.type) == 128 ||
           std::find(std::begin(kInlineOfComplex), std::end(kInlineOfComplex), node.opcode) == std::end(kInlineOfComplex);
  }
  if (node.kind != Kind::kApply || !IsFloat(node.type) || !IsExpensive(node.opcode)) return false;
  static constexpr Opcode kInline[] = {Opcode::kDivide, Opcode::kSqrt, Opcode::kRsqrt};
  static constexpr Opcode kInlineOfDouble[] = {Opcode::kExp, Opcode::kExpm1, Opcode::kLog, Opcode::kLog1p, Opcode::kLogistic, Opcode::kTanh};
  static constexpr Opcode kCalled[] = {Opcode::kAcosh, Opcode::kAsinh, Opcode::kAtanh};
  auto in = [&](auto& ops) { return std::find(std::begin(ops), std::end(ops), node.opcode) != std::end(ops); };
  return !in(kInline) && ((BitWidth(node.type) == 64 && !in(kInlineOfDouble)) || in(kCalled));
}

}  // namespace

void KernelEmitter::FindLevels() {
  const bool columns = kernel_.form == FusedKernel::Form::kColumns;
  for (const KernelNode& node : kernel_.nodes) {
    Level level = kRow;
    if (node.kind == Kind::kLoad || node.kind == Kind::kIndex) level = LevelOf(node.index);
    if (node.kind == Kind::kResult && columns) level = kLane;
    for (int operand : node.operands)
      if (operand >= 0) level = std::max(level, levels_[static_cast<size_t>(operand)]);
    levels_.push_back(level);
  }
}

void KernelEmitter::FindStages() {
  for (const KernelNode& node : kernel_.nodes) {
    int stage = 0;
    if (node.kind == Kind::kResult) stage = kernel_.reductions[static_cast<size_t>(node.reduction)].stage + 1;
    ForEachOperand(node, [&](int operand) { stage = std::max(stage, stages_[static_cast<size_t>(operand)]); });
    stages_.push_back(stage);
  }
  for (const KernelReduction& reduction : kernel_.reductions) last_pass_ = std::max(last_pass_, reduction.stage + 1);
}

void KernelEmitter::FindNeeded() {
  const auto last = static_cast<size_t>(last_pass_);
  needed_.assign(last + 1, std::vector<bool>(kernel_.nodes.size(), false));
  for (size_t pass = 0; pass < last; ++pass)
    for (const KernelReduction& reduction : kernel_.reductions)
      if (reduction.stage == static_cast<int>(pass)) {
        for (int element : reduction.elements) MarkNeeded(element, pass);
        if (reduction.is_element >= 0) MarkNeeded(reduction.is_element, pass);
      }
  for (const KernelStore& store : kernel_.stores) {
    if (store.per_row) continue;
    MarkNeeded(store.node, last);
    ForEachDataNode(store.index, [&](int node) { MarkNeeded(node, last); });
  }
}

// Marks a node and its operands as needed. An expensive node that an earlier pass computes is saved there and reloaded.
void KernelEmitter::MarkNeeded(int node, size_t pass) {
  const auto i = static_cast<size_t>(node);
  if (levels_[i] == kRow || needed_[pass][i]) return;
  needed_[pass][i] = true;
  if (kernel_.form == FusedKernel::Form::kRows && levels_[i] == kLane) {
    bool is_computed = false;
    for (size_t earlier = 0; earlier < pass; ++earlier) is_computed |= needed_[earlier][i];
    constexpr int64_t kMaxSaved = int64_t{1} << 17;  // elements, on the stack
    const KernelNode& at = kernel_.nodes[i];
    if (is_computed && at.kind == Kind::kApply && IsExpensive(at.opcode) && at.type != ElementType::kPred && !IsComplex(at.type) &&
        kernel_.InnerIterations() * static_cast<int64_t>(saved_.size() + 1) <= kMaxSaved) {
      if (!saved_.contains(node))
        saved_[node] = NewSlot(llvm::ArrayType::get(builder_.Computed(at.type, 1), static_cast<uint64_t>(kernel_.InnerIterations())), "saved");
      return;
    }
  }
  ForEachOperand(kernel_.nodes[i], [&](int operand) { MarkNeeded(operand, pass); });
}

// True if an earlier pass has saved the node.
bool KernelEmitter::IsSaved(int node) const {
  if (!saved_.contains(node)) return false;
  for (size_t earlier = 0; earlier < pass_; ++earlier)
    if (needed_[earlier][static_cast<size_t>(node)]) return true;
  return false;
}

void KernelEmitter::ChooseLanes() {
  int widest_bits = 8, work = 0;
  bool calls = false;
  for (size_t i = 0; i < kernel_.nodes.size(); ++i) {
    const KernelNode& node = kernel_.nodes[i];
    if (levels_[i] != kLane) continue;
    const int bits = BitWidth(PartType(node.type));
    widest_bits = std::max(widest_bits, IsFloat(node.type) ? std::max(32, bits) : bits);
    if (IsComplex(node.type)) work += 8;  // uses two registers
    work += node.kind == Kind::kApply ? (IsExpensive(node.opcode) ? 8 : 1) : 0;
    calls |= IsLibraryCall(node);
  }
  int widest = widest_bits == 64 ? 8 : widest_bits == 32 ? 16 : 32;
  if (!kernel_.reductions.empty() || work < 8) widest *= 2;
  // Each step of these reductions is several dependent instructions, so more lanes hide their latency.
  auto is_slow = [](const KernelReduction& reduction) {
    return reduction.op == Opcode::kMaximum || reduction.op == Opcode::kMinimum;
  };
  if (work < 8 && widest < 64 && std::any_of(kernel_.reductions.begin(), kernel_.reductions.end(), is_slow)) widest *= 2;
  // Keeps all sums of a dot in registers.
  if (kernel_.contracts && kernel_.form == FusedKernel::Form::kColumns && widest_bits == 32) widest = 128;
  if (calls || kernel_.schedule.prefers_short_code) widest = 4;
  const int64_t lanes = kernel_.inner_loops.back();
  while (widest > 1 && widest > lanes) widest /= 2;
  // Lane ranges end at a multiple of the widest vector or at the last lane, so the remainder is a constant.
  widths_ = {widest};
  for (int width = widest / 2; width > 0; width /= 2)
    if ((lanes % widest & width) != 0) widths_.push_back(width);
}

}  // namespace shoal::internal
