// Builds a Routine from a while or a call.
#include "compile/program/routine.h"

#include <map>
#include <utility>

#include "compile/library/library.h"
#include "compile/program/routine_slots.h"
#include "transform/loops/small_kernels.h"
#include "core/ops/contraction.h"
#include "core/ops/custom_calls.h"
#include "core/ops/families.h"
#include "core/ops/traits.h"
#include "kernels/elementwise/generated_constant.h"
#include "transform/loops/loop_ops.h"

namespace shoal::internal {
namespace {

using StatementKind = RoutineStatement::Kind;
using Slots = RoutineSlots::Slots;

// Limits of functions, above which a single thread would be too slow, or the stack too small.
constexpr int64_t kMaxWork = int64_t{1} << 15, kMaxOwnBytes = int64_t{1} << 17;
constexpr size_t kMaxStatements = 200;
// Limits of sequences. Step-by-step evaluation avoids copies of whole arrays by reference counting. Starting a step there
// takes as long as copying about this many bytes.
constexpr size_t kMaxSequenceStatements = 50'000;
constexpr int64_t kCopyBytesPerStatement = int64_t{1} << 12;
constexpr int64_t kMaxEvaluatedBytes = int64_t{1} << 16;
// With more multiplications, a dot is faster in the library, even with the cost of the call.
constexpr double kMaxDotMultiplications = 1 << 14;

bool IsPlainArray(const Shape& shape) {
  return shape.IsArray() && !shape.has_dynamic() && IsLoopOrComplexType(shape.element_type()) && shape.ElementCount().value_or(0) > 0;
}

bool IsLargeDot(const Instruction& hlo) {
  if (hlo.opcode != Opcode::kDot) return false;
  auto multiplications = static_cast<double>(hlo.shape().ElementCount().value_or(0));
  for (int64_t dim : hlo[kLhsContractingDims]) multiplications *= static_cast<double>(hlo.operand_shape(0).dim(dim));
  return multiplications > kMaxDotMultiplications;
}

// True if each iteration of the loop forwards element i of its state unchanged.
bool IsForwarded(const Instruction& loop, size_t i) {
  const Computation& body = *loop[Op<Opcode::kWhile>::kBody];
  if (!IsTuple(*body.root) || body.root->operand_count() <= i) return false;
  const Instruction& next = *body.root->operands[i];
  return IsGetTupleElement(next) && next.operands[0] == body.parameters[0] && ElementIndexOf(next) == static_cast<int64_t>(i);
}

class RoutineBuilder {
 public:
  explicit RoutineBuilder(bool is_function) : max_statements_(is_function ? kMaxStatements : kMaxSequenceStatements) {
    routine_->is_function = is_function;
  }

  std::unique_ptr<Routine> Build(const Instruction& loop) {
    routine_->loop = &loop;
    Slots state = NewSlots(loop.shape());
    if (failed_) return nullptr;
    routine_->state_slots = state.size();
    routine_->counters = 3;
    routine_->condition = NewBlock();
    routine_->body = NewBlock();
    routine_->predicate = AddLoopBlocks(loop, state, routine_->condition, routine_->body);
    if (failed_) return nullptr;
    if (routine_->is_function ? OwnBytes(*routine_) > kMaxOwnBytes || WorkOf(*routine_) > kMaxWork : HasLargeCopies()) return nullptr;
    const std::vector<bool> written = WrittenSlots(*routine_);
    routine_->written.assign(written.begin(), written.begin() + static_cast<std::ptrdiff_t>(state.size()));
    return std::move(routine_);
  }

  std::unique_ptr<Routine> BuildSequence(const Instruction& call) {
    std::vector<Slots> arguments;
    for (const Instruction* operand : call.operands) arguments.push_back(NewSlots(operand->shape()));
    const size_t operands = routine_->slots.size();
    const Slots results = NewSlots(call.shape());
    if (failed_ || operands != call.operand_count()) return nullptr;
    routine_->state_slots = routine_->slots.size();
    routine_->body = NewBlock();
    const Slots result_slots = Lower(*call[kToApply], arguments, routine_->body);
    if (failed_ || routine_->blocks.size() > 1 || !routine_->evaluated.empty()) return nullptr;
    for (const FusedKernel& kernel : routine_->kernels)
      if (WorkOf(kernel) > kMaxWork) return nullptr;
    for (size_t i = 0; i < results.size(); ++i) slots_.Copy(routine_->body, result_slots[i], results[i]);
    slots_.DropCopies(routine_->body, results, static_cast<int>(routine_->state_slots));
    for (size_t i = 0; i < routine_->state_slots; ++i) routine_->written.push_back(i >= operands);
    return std::move(routine_);
  }

 private:
  int Fail() {
    failed_ = true;
    return 0;
  }

  size_t NewBlock() {
    routine_->blocks.emplace_back();
    return routine_->blocks.size() - 1;
  }

  Slots NewSlots(const Shape& shape) {
    Slots slots;
    if (shape.IsTuple()) {
      for (const Shape* element : shape.elements())
        for (int slot : NewSlots(*element)) slots.push_back(slot);
      return slots;
    }
    if (!IsPlainArray(shape)) {
      Fail();
      return {0};
    }
    return {slots_.New(shape.element_type(), *shape.ElementCount())};
  }

  bool HasLargeCopies() const {
    int64_t bytes = 0, statements = 0;
    for (const auto& block : routine_->blocks) {
      statements += std::ssize(block);
      for (const RoutineStatement& statement : block)
        if (statement.kind == StatementKind::kCopy) bytes += BytesOf(routine_->slots[static_cast<size_t>(statement.slots[0])]);
    }
    return bytes > statements * kCopyBytesPerStatement;
  }

  void CountStatement() {
    if (++statements_ + slots_.copies() > max_statements_) Fail();
  }

  void Run(size_t block, FusedKernel kernel, Slots slots) {
    if (auto split = routine_->is_function ? std::nullopt : SplitReduction(kernel)) {
      const size_t inputs = kernel.inputs.size();
      Slots partial(slots.begin(), slots.begin() + static_cast<std::ptrdiff_t>(inputs));
      const int64_t lanes = kernel.form == FusedKernel::Form::kColumns ? kernel.inner_loops.back() : 1;
      for (ElementType type : split->partial.outputs) partial.push_back(slots_.New(type, split->partial.RowCount() * lanes));
      slots.insert(slots.begin() + static_cast<std::ptrdiff_t>(inputs), partial.begin() + static_cast<std::ptrdiff_t>(inputs), partial.end());
      if (SplitReduction(split->combine)) return Fail(), void();
      Run(block, std::move(split->partial), std::move(partial));
      return Run(block, std::move(split->combine), std::move(slots));
    }
    CountStatement();
    RoutineStatement statement;
    statement.kernel = routine_->kernels.size();
    statement.slots = std::move(slots);
    routine_->kernels.push_back(std::move(kernel));
    routine_->blocks[block].push_back(std::move(statement));
  }

  // Adds the statements of a computation to `block` and returns the slots of its root.
  Slots Lower(const Computation& computation, const std::vector<Slots>& arguments, size_t block) {
    std::map<const Instruction*, Slots> values;
    for (const Instruction* hlo : computation.instructions) {
      if (failed_) return {};
      if (!(*hlo)[kControlPredecessors].empty()) return Fail(), Slots();
      values[hlo] = Lower(*hlo, values, arguments, block);
    }
    return failed_ ? Slots() : values.at(computation.root);
  }

  Slots Lower(const Instruction& hlo, const std::map<const Instruction*, Slots>& values,
              const std::vector<Slots>& arguments, size_t block) {
    auto operand = [&](size_t i) -> const Slots& { return values.at(hlo.operands[i]); };
    if (hlo.opcode == Opcode::kParameter) return arguments[static_cast<size_t>(hlo[kParameterNumber])];
    if (hlo.opcode == Opcode::kConstant) return Constant(hlo);
    if (hlo.opcode == Opcode::kOptimizationBarrier) return operand(0);
    if (hlo.opcode == Opcode::kWhile) return Loop(hlo, operand(0), block);
    if (hlo.opcode == Opcode::kConditional) return Branch(hlo, values, block);
    if (hlo.opcode == Opcode::kGetTupleElement) {
      const int64_t index = hlo[Op<Opcode::kGetTupleElement>::kIndex];
      int64_t first = 0;
      for (int64_t i = 0; i < index; ++i) first += hlo.operand_shape(0).element(i).LeafCount();
      const auto begin = operand(0).begin() + first;
      return Slots(begin, begin + hlo.shape().LeafCount());
    }
    if (hlo.opcode == Opcode::kTuple) {
      Slots all;
      for (size_t i = 0; i < hlo.operand_count(); ++i) all.insert(all.end(), operand(i).begin(), operand(i).end());
      return all;
    }
    if (hlo.opcode == Opcode::kCall) {
      std::vector<Slots> inside;
      for (size_t i = 0; i < hlo.operand_count(); ++i) inside.push_back(operand(i));
      return Lower(*hlo[kToApply], inside, block);
    }
    // True for ops that keep the bytes and change only the shape.
    const bool keeps_bytes = hlo.opcode == Opcode::kReshape || hlo.opcode == Opcode::kCopy || hlo.opcode == Opcode::kBitcast;
    if (keeps_bytes && IsLoopOp(hlo)) return operand(0);
    return Kernels(hlo, values, block);
  }

  Slots Constant(const Instruction& hlo) {
    const Literal* literal = hlo[kConstantValue];
    if (!IsPlainArray(hlo.shape()) || literal == nullptr) return Fail(), Slots();
    const int64_t bytes = *hlo.shape().ElementCount() * StorageBytes(hlo.shape().element_type());
    if (!literal->elided && static_cast<int64_t>(literal->data.size()) < bytes) return Fail(), Slots();
    const int slot = slots_.New(hlo.shape().element_type(), *hlo.shape().ElementCount());
    routine_->slots.back().constant = literal;
    if (literal->elided) routine_->slots.back().generated = std::make_shared<const Array>(GeneratedConstant(hlo.shape()));
    routine_->constants.push_back(slot);
    return {slot};
  }

  // Lowers one op or fusion to kernels.
  Slots Kernels(const Instruction& hlo, const std::map<const Instruction*, Slots>& values, size_t block) {
    const Slots results = NewSlots(hlo.shape());
    if (failed_) return {};
    std::optional<std::vector<SmallKernel>> kernels = IsLargeDot(hlo) ? std::nullopt : SmallKernelsOf(hlo);
    if (!kernels || NeedsLibrary(hlo, *kernels)) return Evaluate(hlo, values, results, block);
    for (SmallKernel& kernel : *kernels) {
      Slots slots;
      for (int i : kernel.operands) {
        const Slots& operand = i == SmallKernel::kResult ? results : values.at(hlo.operands[static_cast<size_t>(i)]);
        if (operand.size() != 1) return Fail(), Slots();
        slots.push_back(operand[0]);
      }
      if (!kernel.kernel) {
        slots_.Copy(block, slots[0], results[0]);
        continue;
      }
      slots.insert(slots.end(), results.begin(), results.end());
      Run(block, std::move(*kernel.kernel), std::move(slots));
    }
    return results;
  }

  // In a sequence, large kernels run in tasks, which kernels of other ops than fusions do not permit.
  bool NeedsLibrary(const Instruction& hlo, std::span<const SmallKernel> kernels) const {
    if (routine_->is_function || IsFusion(hlo)) return false;
    return std::ranges::any_of(kernels, [](const SmallKernel& small) { return small.kernel && WorkOf(*small.kernel) > kMaxWork; });
  }

  // Lowers an op that no kernel computes. The caller of the routine evaluates it. Supports only arrays.
  Slots Evaluate(const Instruction& hlo, const std::map<const Instruction*, Slots>& values, const Slots& results, size_t block) {
    const bool is_opaque = Info(hlo.opcode).op_class == OpClass::kOpaque;
    if (is_opaque ? !IsKnownPureCall(hlo) : !IsPure(hlo)) return Fail(), Slots();
    CountStatement();
    const bool is_library = LibraryFunctionOf(hlo) != nullptr || AppliedLibraryFunctionOf(hlo) != nullptr;
    RoutineStatement statement;
    statement.kind = StatementKind::kEvaluate;
    statement.kernel = routine_->evaluated.size();
    for (const Instruction* operand : hlo.operands) {
      if (!IsPlainArray(operand->shape())) return Fail(), Slots();
      statement.slots.push_back(values.at(operand)[0]);
    }
    for (size_t i = 0; is_library && UpdatesOperand(hlo) && i < results.size(); ++i) {
      slots_.Copy(block, statement.slots[i], results[i]);
      statement.slots[i] = results[i];
    }
    for (int slot : results)  // the result of the interpreter is copied
      if (!is_library && !routine_->is_function && BytesOf(routine_->slots[static_cast<size_t>(slot)]) > kMaxEvaluatedBytes) Fail();
    statement.slots.insert(statement.slots.end(), results.begin(), results.end());
    routine_->evaluated.push_back(&hlo);
    routine_->blocks[block].push_back(std::move(statement));
    return results;
  }

  // Adds the blocks of a loop whose state is in `state`. Returns the slot of the predicate.
  int AddLoopBlocks(const Instruction& hlo, const Slots& state, size_t condition, size_t body) {
    using While = Op<Opcode::kWhile>;
    const Slots predicate = Lower(*hlo[While::kCondition], {state}, condition);
    if (failed_ || predicate.size() != 1) return Fail();
    const Slots next = Lower(*hlo[While::kBody], {state}, body);
    if (failed_ || next.size() != state.size()) return Fail();
    slots_.Assign(body, next, state, first_own_);
    return predicate[0];
  }

  Slots Loop(const Instruction& hlo, const Slots& init, size_t block) {
    Slots state = NewSlots(hlo.shape());
    if (failed_) return {};
    size_t leaf = 0;
    for (size_t i = 0; i < hlo.shape().elements().size(); ++i) {
      const size_t end = leaf + static_cast<size_t>(hlo.shape().element(static_cast<int64_t>(i)).LeafCount());
      for (; leaf < end; ++leaf) {
        if (IsForwarded(hlo, i)) state[leaf] = init[leaf];
        slots_.Copy(block, init[leaf], state[leaf]);
      }
    }
    CountStatement();
    RoutineStatement loop;
    loop.hlo = &hlo;
    if (std::unique_ptr<Routine> function = routine_->is_function ? nullptr : RoutineBuilder(true).Build(hlo)) {
      loop.kind = StatementKind::kRoutine;
      loop.kernel = routine_->routines.size();
      loop.slots = state;
      routine_->routines.push_back(std::move(function));
      routine_->blocks[block].push_back(std::move(loop));
      return state;
    }
    loop.kind = StatementKind::kWhile;
    loop.counter = routine_->counters;
    routine_->counters += 3;
    loop.blocks = {NewBlock(), NewBlock()};
    const int outer_first_own = std::exchange(first_own_, static_cast<int>(routine_->slots.size()));
    loop.slots = {AddLoopBlocks(hlo, state, loop.blocks[0], loop.blocks[1])};
    loop.slots.insert(loop.slots.end(), state.begin(), state.end());
    first_own_ = outer_first_own;
    routine_->blocks[block].push_back(std::move(loop));
    return state;
  }

  Slots Branch(const Instruction& hlo, const std::map<const Instruction*, Slots>& values, size_t block) {
    const Slots results = NewSlots(hlo.shape());
    if (failed_) return {};
    CountStatement();
    RoutineStatement branch;
    branch.kind = StatementKind::kBranch;
    branch.hlo = &hlo;
    branch.slots = {values.at(hlo.operands[0])[0]};
    branch.counter = routine_->counters;
    const std::vector<Computation*> callees = CalledComputations(hlo);
    routine_->counters += callees.size();
    for (size_t i = 0; i < callees.size(); ++i) {
      const size_t inner = NewBlock();
      branch.blocks.push_back(inner);
      const int first = static_cast<int>(routine_->slots.size());
      const int outer_first_own = std::exchange(first_own_, first);
      const Slots result_slots = Lower(*callees[i], {values.at(hlo.operands[i + 1])}, inner);
      first_own_ = outer_first_own;
      if (failed_) return {};
      for (size_t k = 0; k < results.size(); ++k) slots_.Copy(inner, result_slots[k], results[k]);
      slots_.DropCopies(inner, results, first);
    }
    routine_->blocks[block].push_back(std::move(branch));
    return results;
  }

  std::unique_ptr<Routine> routine_ = std::make_unique<Routine>();
  RoutineSlots slots_{*routine_};
  const size_t max_statements_;
  size_t statements_ = 0;
  int first_own_ = 0;  // slots before this one belong to enclosing blocks
  bool failed_ = false;
};

}  // namespace

std::unique_ptr<Routine> RoutineOf(const Instruction& loop) {
  if (loop.opcode != Opcode::kWhile || !loop.shape().IsTuple()) return nullptr;
  std::unique_ptr<Routine> function = RoutineBuilder(true).Build(loop);
  return function != nullptr ? std::move(function) : RoutineBuilder(false).Build(loop);
}

std::unique_ptr<Routine> SequenceOf(const Instruction& call) {
  return IsCall(call) ? RoutineBuilder(false).BuildSequence(call) : nullptr;
}

}  // namespace shoal::internal
