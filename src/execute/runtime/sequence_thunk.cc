// Runs a sequence of small kernels as one thunk.
#include <algorithm>
#include <cstring>

#include "core/ir/sizes.h"
#include "core/ops/families.h"
#include "execute/interp/step_log.h"
#include "execute/runtime/thunks.h"

namespace shoal::internal {
namespace {

class SequenceThunk : public Thunk {
 public:
  SequenceThunk(const Routine& sequence, std::span<const KernelCode> codes)
      : sequence_(sequence), offsets_(sequence.slots.size(), -1) {
    for (const RoutineStatement& statement : sequence.blocks[sequence.body]) Add(statement, codes);
  }

  Result<Value> Run(Call& call) const override {
    // Evaluates step by step if values are observed.
    if (ValueObserverOf(call.device.settings()) != nullptr || !Matches(call.operands))
      return EvaluatorOf(call.hlo.opcode)(call);
    Array temporaries(ElementType::kU8, Dims{temporary_bytes_});
    std::vector<Value> results;
    const std::vector<void*> slots = Slots(call.operands, temporaries.mutable_data(), results, call.hlo.shape());
    std::vector<void*> buffers;
    buffers.reserve(slots_.size());
    for (int slot : slots_) buffers.push_back(slots[static_cast<size_t>(slot)]);
    for (const Statement& statement : statements_) {
      void* const* of = buffers.data() + statement.first;
      if (statement.code == nullptr)
        std::memcpy(of[1], of[0], static_cast<size_t>(statement.lanes));
      else
        statement.code(of, 0, statement.rows, 0, statement.lanes);
    }
    size_t next = 0;
    return FromLeaves(call.hlo.shape(), results, next);
  }

 private:
  struct Statement {
    KernelCode code;  // null: copies `lanes` bytes
    int64_t rows, lanes;
    size_t first;  // index into slots_
  };

  void Add(const RoutineStatement& statement, std::span<const KernelCode> codes) {
    const size_t first = slots_.size();
    slots_.insert(slots_.end(), statement.slots.begin(), statement.slots.end());
    for (int slot : statement.slots) Allocate(static_cast<size_t>(slot));
    if (statement.kind == RoutineStatement::Kind::kCopy) {
      statements_.push_back({nullptr, 1, BytesOf(static_cast<size_t>(statement.slots[0])), first});
      return;
    }
    const FusedKernel& kernel = sequence_.kernels[statement.kernel];
    statements_.push_back({codes[statement.kernel], kernel.RowCount(), kernel.inner_loops.back(), first});
  }

  int64_t BytesOf(size_t slot) const { return sequence_.slots[slot].count * StorageBytes(sequence_.slots[slot].type); }

  // If the slot is a temporary without memory, assigns memory to it.
  void Allocate(size_t slot) {
    if (slot < sequence_.state_slots || sequence_.slots[slot].constant != nullptr || offsets_[slot] >= 0) return;
    offsets_[slot] = temporary_bytes_;
    temporary_bytes_ += RoundUp(BytesOf(slot), 64);
  }

  // True if the arrays have the compiled sizes. Dynamic dimensions may have others.
  bool Matches(std::span<const Value> operands) const {
    for (size_t i = 0; i < operands.size(); ++i)
      if (!operands[i].IsArray() || operands[i].array().count() != sequence_.slots[i].count ||
          operands[i].array().type() != sequence_.slots[i].type)
        return false;
    return true;
  }

  std::vector<void*> Slots(std::span<const Value> operands, std::byte* temporaries, std::vector<Value>& results,
                           const Shape& shape) const {
    std::vector<void*> slots;
    slots.reserve(sequence_.slots.size());
    for (const Value& operand : operands) slots.push_back(const_cast<std::byte*>(operand.array().data()));
    for (const Shape* leaf : LeafShapes(shape)) {
      Array result(leaf->element_type(), ToDims(leaf->dims()));
      slots.push_back(result.mutable_data());
      results.emplace_back(std::move(result));
    }
    for (size_t i = slots.size(); i < sequence_.slots.size(); ++i) {
      const RoutineSlot& slot = sequence_.slots[i];
      if (slot.constant == nullptr)
        slots.push_back(temporaries + std::max<int64_t>(offsets_[i], 0));
      else
        slots.push_back(
            const_cast<std::byte*>(slot.generated != nullptr ? slot.generated->data() : slot.constant->data.data()));
    }
    return slots;
  }

  const Routine& sequence_;
  std::vector<Statement> statements_;
  std::vector<int> slots_;        // slots of all statements, in order
  std::vector<int64_t> offsets_;  // for each slot, the offset of a temporary; -1: not a temporary
  int64_t temporary_bytes_ = 0;
};

}  // namespace

std::unique_ptr<Thunk> NewSequenceThunk(const Routine& sequence, std::span<const KernelCode> codes) {
  return std::make_unique<SequenceThunk>(sequence, codes);
}

}  // namespace shoal::internal
