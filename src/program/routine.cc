// From a while to a Routine.
#include "program/routine.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <utility>

#include "base/strings.h"
#include "interp/plan.h"
#include "ops/contraction.h"
#include "ops/custom_calls.h"
#include "ops/families.h"
#include "ops/traits.h"
#include "passes/loop_ops.h"
#include "program/small_kernels.h"

namespace shoal {
namespace {

using StatementKind = RoutineStatement::Kind;
using Slots = std::vector<int>;

// Above these one thread would be the wrong place for it, or the stack.
constexpr int64_t kMostWork = int64_t{1} << 15, kMostOwnBytes = int64_t{1} << 17;
constexpr size_t kMostStatements = 200;
// A product of more than that is quicker in the library, with all that it takes to call it.
constexpr double kMostProducts = 1 << 14;

bool IsPlainArray(const Shape& shape) {
  return shape.IsArray() && !shape.has_dynamic() && IsLoopOrComplexType(shape.element_type()) && shape.ElementCount().value_or(0) > 0;
}

bool IsLargeProduct(const Instruction& hlo) {
  if (hlo.opcode != Opcode::kDot) return false;
  auto products = static_cast<double>(hlo.shape().ElementCount().value_or(0));
  for (int64_t dim : hlo[kLhsContractingDims]) products *= static_cast<double>(hlo.operand_shape(0).dim(dim));
  return products > kMostProducts;
}

class RoutineBuilder {
 public:
  std::unique_ptr<Routine> Build(const Instruction& loop) {
    routine_->loop = &loop;
    Slots state = NewSlots(loop.shape());
    if (failed_) return nullptr;
    routine_->state_slots = state.size();
    routine_->counters = 3;
    routine_->condition = NewBlock();
    routine_->body = NewBlock();
    routine_->predicate = AddLoopBlocks(loop, state, routine_->condition, routine_->body);
    if (failed_ || OwnBytes() > kMostOwnBytes || Work() > kMostWork) return nullptr;
    for (int slot : state) routine_->written.push_back(IsWritten(slot));
    return std::move(routine_);
  }

 private:
  bool IsWritten(int slot) const {
    return std::any_of(routine_->blocks.begin(), routine_->blocks.end(), [&](const auto& block) {
      return std::any_of(block.begin(), block.end(), [&](const RoutineStatement& statement) {
        return statement.blocks.empty() && IsWrittenIn(statement, slot);
      });
    });
  }

  int Fail() {
    failed_ = true;
    return 0;
  }

  size_t NewBlock() {
    routine_->blocks.emplace_back();
    return routine_->blocks.size() - 1;
  }

  int NewSlot(ElementType type, int64_t count) {
    routine_->slots.push_back({type, count, nullptr, nullptr});
    return static_cast<int>(routine_->slots.size()) - 1;
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
    return {NewSlot(shape.element_type(), *shape.ElementCount())};
  }

  int64_t OwnBytes() const {
    std::set<int> used;
    for (const auto& block : routine_->blocks)
      for (const RoutineStatement& statement : block) used.insert(statement.slots.begin(), statement.slots.end());
    int64_t bytes = 0;
    for (size_t i = routine_->state_slots; i < routine_->slots.size(); ++i)
      if (routine_->slots[i].constant == nullptr && used.contains(static_cast<int>(i))) bytes += routine_->slots[i].count * StorageBytes(routine_->slots[i].type);
    return bytes;
  }

  // Elements that all statements go through once.
  int64_t Work() const {
    int64_t work = 0;
    for (const auto& block : routine_->blocks) {
      for (const RoutineStatement& statement : block) {
        if (statement.kind == StatementKind::kCopy) work += routine_->slots[static_cast<size_t>(statement.slots[0])].count / 4;
        if (statement.kind == StatementKind::kEvaluate)
          for (int slot : statement.slots) work += routine_->slots[static_cast<size_t>(slot)].count;
        if (statement.kind != StatementKind::kKernel) continue;
        const FusedKernel& kernel = routine_->kernels[statement.kernel];
        work += kernel.RowCount() * kernel.WalkedCount();
      }
    }
    return work;
  }

  void Count() {
    if (++statements_ > kMostStatements) Fail();
  }

  void Copy(size_t block, int from, int to) {
    if (from == to) return;
    Count();
    RoutineStatement copy;
    copy.kind = StatementKind::kCopy;
    copy.slots = {from, to};
    routine_->blocks[block].push_back(std::move(copy));
  }

  void Run(size_t block, FusedKernel kernel, Slots slots) {
    Count();
    RoutineStatement statement;
    statement.kernel = routine_->kernels.size();
    statement.slots = std::move(slots);
    routine_->kernels.push_back(std::move(kernel));
    routine_->blocks[block].push_back(std::move(statement));
  }

  // The slots of the computation's root, with its statements in `block`.
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
    // The same bytes under another shape.
    const bool is_same = hlo.opcode == Opcode::kReshape || hlo.opcode == Opcode::kCopy || hlo.opcode == Opcode::kBitcast;
    if (is_same && IsLoopOp(hlo)) return operand(0);
    return Kernels(hlo, values, block);
  }

  Slots Constant(const Instruction& hlo) {
    const Literal* literal = hlo[kConstantValue];
    if (!IsPlainArray(hlo.shape()) || literal == nullptr) return Fail(), Slots();
    const int64_t bytes = *hlo.shape().ElementCount() * StorageBytes(hlo.shape().element_type());
    if (!literal->elided && static_cast<int64_t>(literal->data.size()) < bytes) return Fail(), Slots();
    const int slot = NewSlot(hlo.shape().element_type(), *hlo.shape().ElementCount());
    routine_->slots.back().constant = literal;
    if (literal->elided) routine_->slots.back().made_up = std::make_shared<const Array>(MadeUpConstant(hlo.shape()));
    routine_->constants.push_back(slot);
    return {slot};
  }

  // What one op or fusion does, as kernels.
  Slots Kernels(const Instruction& hlo, const std::map<const Instruction*, Slots>& values, size_t block) {
    const Slots results = NewSlots(hlo.shape());
    if (failed_) return {};
    std::optional<std::vector<SmallKernel>> kernels = IsLargeProduct(hlo) ? std::nullopt : SmallKernelsOf(hlo);
    if (!kernels) return Evaluate(hlo, values, results, block);
    for (SmallKernel& kernel : *kernels) {
      Slots slots;
      for (int i : kernel.operands) {
        const Slots& operand = i == SmallKernel::kResult ? results : values.at(hlo.operands[static_cast<size_t>(i)]);
        if (operand.size() != 1) return Fail(), Slots();
        slots.push_back(operand[0]);
      }
      if (!kernel.kernel) {
        Copy(block, slots[0], results[0]);
        continue;
      }
      slots.insert(slots.end(), results.begin(), results.end());
      Run(block, std::move(*kernel.kernel), std::move(slots));
    }
    return results;
  }

  // What no kernel computes, of arrays alone: whoever runs the routine does.
  Slots Evaluate(const Instruction& hlo, const std::map<const Instruction*, Slots>& values, const Slots& results, size_t block) {
    const bool is_opaque = Info(hlo.opcode).op_class == OpClass::kOpaque;
    if (is_opaque ? !IsKnownFunction(hlo) : !IsPure(hlo)) return Fail(), Slots();
    Count();
    RoutineStatement statement;
    statement.kind = StatementKind::kEvaluate;
    statement.kernel = routine_->evaluated.size();
    for (const Instruction* operand : hlo.operands) {
      if (!IsPlainArray(operand->shape())) return Fail(), Slots();
      statement.slots.push_back(values.at(operand)[0]);
    }
    statement.slots.insert(statement.slots.end(), results.begin(), results.end());
    routine_->evaluated.push_back(&hlo);
    routine_->blocks[block].push_back(std::move(statement));
    return results;
  }

  // The blocks of a loop that keeps its state in `state`; gives the slot of the predicate.
  int AddLoopBlocks(const Instruction& hlo, const Slots& state, size_t condition, size_t body) {
    using While = Op<Opcode::kWhile>;
    const Slots predicate = Lower(*hlo[While::kCondition], {state}, condition);
    if (failed_ || predicate.size() != 1) return Fail();
    const Slots next = Lower(*hlo[While::kBody], {state}, body);
    if (failed_ || next.size() != state.size()) return Fail();
    Assign(body, next, state);
    return predicate[0];
  }

  // A copy of what nobody asks for again is that very value.
  void DropCopies(size_t block, const Slots& wanted) {
    for (size_t i = 0; i < routine_->blocks[block].size(); ++i) {
      const RoutineStatement statement = routine_->blocks[block][i];
      if (statement.kind != StatementKind::kCopy) continue;
      const int from = statement.slots[0], to = statement.slots[1];
      if (from < first_own_ || static_cast<size_t>(from) < routine_->state_slots ||
          routine_->slots[static_cast<size_t>(from)].constant != nullptr ||
          std::find(wanted.begin(), wanted.end(), from) != wanted.end())
        continue;
      const auto& statements = routine_->blocks[block];
      bool is_used_later = false, is_written_before = false;
      for (size_t k = 0; k < statements.size(); ++k) {
        if (k > i) is_used_later |= IsReadIn(statements[k], from) || IsWrittenIn(statements[k], from);
        if (k < i) is_written_before |= IsReadIn(statements[k], to) || IsWrittenIn(statements[k], to);
      }
      if (is_used_later || is_written_before) continue;
      Rename(block, from, to);
      i = SIZE_MAX;  // from the start
    }
  }

  // state = next, all at once, at the end of the block.
  void Assign(size_t block, Slots next, const Slots& state) {
    DropCopies(block, next);
    for (size_t i = 0; i < state.size(); ++i)
      if (next[i] != state[i] && TakesPlaceOf(block, next, next[i], state, i)) {
        Rename(block, next[i], state[i]);
        const int renamed = next[i];
        for (int& slot : next)
          if (slot == renamed) slot = state[i];
      }
    // What is state itself, and is overwritten before it is copied, is put aside first.
    for (size_t i = 0; i < state.size(); ++i) {
      if (next[i] == state[i]) continue;
      const bool is_overwritten = std::find(state.begin(), state.end(), next[i]) != state.end();
      if (!is_overwritten) continue;
      const RoutineSlot like = routine_->slots[static_cast<size_t>(next[i])];
      const int aside = NewSlot(like.type, like.count);
      Copy(block, next[i], aside);
      next[i] = aside;
    }
    for (size_t i = 0; i < state.size(); ++i) Copy(block, next[i], state[i]);
  }

  // Of the slots of a statement without blocks: how many it reads. It writes the others.
  int64_t InputsOf(const RoutineStatement& statement) const {
    if (statement.kind == StatementKind::kCopy) return 1;
    if (statement.kind == StatementKind::kKernel) return std::ssize(routine_->kernels[statement.kernel].inputs);
    return static_cast<int64_t>(routine_->evaluated[statement.kernel]->operand_count());
  }

  bool IsReadIn(const RoutineStatement& statement, int slot) const {
    if (statement.blocks.empty()) {
      const auto end = statement.slots.begin() + InputsOf(statement);
      return std::find(statement.slots.begin(), end, slot) != end;
    }
    if (std::find(statement.slots.begin(), statement.slots.end(), slot) != statement.slots.end()) return true;
    return std::any_of(statement.blocks.begin(), statement.blocks.end(), [&](size_t block) { return IsUsedIn(block, slot); });
  }

  bool IsWrittenIn(const RoutineStatement& statement, int slot) const {
    if (statement.blocks.empty())
      return std::find(statement.slots.begin() + InputsOf(statement), statement.slots.end(), slot) != statement.slots.end();
    return std::any_of(statement.blocks.begin(), statement.blocks.end(), [&](size_t block) { return IsUsedIn(block, slot); });
  }

  bool IsUsedIn(size_t block, int slot) const {
    const auto& statements = routine_->blocks[block];
    return std::any_of(statements.begin(), statements.end(), [&](const RoutineStatement& statement) {
      return IsReadIn(statement, slot) || IsWrittenIn(statement, slot);
    });
  }

  // Value `slot`, which becomes state i, may be written there at once: from its first statement on nobody reads the old
  // state, but who copies it over, or reads it where it writes the new one.
  bool TakesPlaceOf(size_t block, const Slots& next, int slot, const Slots& state, size_t i) const {
    if (routine_->slots[static_cast<size_t>(slot)].constant != nullptr) return false;
    if (std::find(state.begin(), state.end(), slot) != state.end()) return false;
    if (std::find(next.begin(), next.end(), state[i]) != next.end()) return false;
    if (slot < first_own_) return false;  // of a loop around this one
    const auto& statements = routine_->blocks[block];
    bool is_written = false;
    for (const RoutineStatement& statement : statements) {
      const bool first = !is_written && IsWrittenIn(statement, slot);
      is_written |= first;
      if (!is_written || !IsReadIn(statement, state[i])) continue;
      if (statement.kind == StatementKind::kCopy && statement.slots[1] == slot && first) continue;
      if (statement.kind == StatementKind::kKernel && first && ReadsWhereItWrites(statement, state[i], slot)) continue;
      return false;
    }
    return is_written;
  }

  bool ReadsWhereItWrites(const RoutineStatement& statement, int read, int written) const {
    const FusedKernel& kernel = routine_->kernels[statement.kernel];
    if (!kernel.reductions.empty()) return false;
    for (const KernelStore& store : kernel.stores) {
      if (statement.slots[kernel.inputs.size() + static_cast<size_t>(store.output)] != written) continue;
      for (const KernelNode& node : kernel.nodes)
        if (node.kind == KernelNode::Kind::kLoad && statement.slots[static_cast<size_t>(node.input)] == read &&
            (!(node.index == store.index) || StorageBytes(node.type) != StorageBytes(kernel.outputs[static_cast<size_t>(store.output)])))
          return false;
    }
    // All that is read at a place is read before anything is written there.
    return std::all_of(kernel.stores.begin(), kernel.stores.end(),
                       [&](const KernelStore& store) { return store.index == kernel.stores[0].index; });
  }

  void Rename(size_t block, int from, int to) {
    auto& statements = routine_->blocks[block];
    for (RoutineStatement& statement : statements) {
      for (int& slot : statement.slots)
        if (slot == from) slot = to;
      for (size_t inner : statement.blocks) Rename(inner, from, to);
    }
    std::erase_if(statements, [](const RoutineStatement& statement) {
      return statement.kind == StatementKind::kCopy && statement.slots[0] == statement.slots[1];
    });
  }

  Slots Loop(const Instruction& hlo, const Slots& init, size_t block) {
    const Slots state = NewSlots(hlo.shape());
    if (failed_) return {};
    for (size_t i = 0; i < state.size(); ++i) Copy(block, init[i], state[i]);
    RoutineStatement loop;
    loop.kind = StatementKind::kWhile;
    loop.hlo = &hlo;
    loop.counter = routine_->counters;
    routine_->counters += 3;
    loop.blocks = {NewBlock(), NewBlock()};
    const int was = std::exchange(first_own_, static_cast<int>(routine_->slots.size()));
    loop.slots = {AddLoopBlocks(hlo, state, loop.blocks[0], loop.blocks[1])};
    loop.slots.insert(loop.slots.end(), state.begin(), state.end());
    first_own_ = was;
    routine_->blocks[block].push_back(std::move(loop));
    return state;
  }

  Slots Branch(const Instruction& hlo, const std::map<const Instruction*, Slots>& values, size_t block) {
    const Slots results = NewSlots(hlo.shape());
    if (failed_) return {};
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
      int first = static_cast<int>(routine_->slots.size());
      const int was = std::exchange(first_own_, first);
      const Slots given = Lower(*callees[i], {values.at(hlo.operands[i + 1])}, inner);
      first_own_ = was;
      if (failed_) return {};
      for (size_t k = 0; k < results.size(); ++k) Copy(inner, given[k], results[k]);
      std::swap(first, first_own_);
      DropCopies(inner, results);
      std::swap(first, first_own_);
    }
    routine_->blocks[block].push_back(std::move(branch));
    return results;
  }

  std::unique_ptr<Routine> routine_ = std::make_unique<Routine>();
  size_t statements_ = 0;
  int first_own_ = 0;  // slots before this one belong to blocks around
  bool failed_ = false;
};

}  // namespace

std::unique_ptr<Routine> RoutineOf(const Instruction& loop) {
  if (loop.opcode != Opcode::kWhile || !loop.shape().IsTuple()) return nullptr;
  return RoutineBuilder().Build(loop);
}

}  // namespace shoal
