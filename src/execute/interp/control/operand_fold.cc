#include "execute/interp/control/operand_fold.h"

#include <algorithm>
#include <cstring>

#include "core/base/thread_pool.h"
#include "kernels/arrays/floats.h"

namespace shoal::internal {
namespace {

struct TransportOp {
  Opcode opcode;
  ReduceOp reduce_op;
  bool allows_floats;
};
constexpr TransportOp kTransportOps[] = {
    {Opcode::kAdd, ReduceOp::kSum, true},       {Opcode::kMultiply, ReduceOp::kProduct, true},
    {Opcode::kMinimum, ReduceOp::kMin, false},  {Opcode::kMaximum, ReduceOp::kMax, false},
    {Opcode::kAnd, ReduceOp::kAnd, false},      {Opcode::kOr, ReduceOp::kOr, false},
};

// Folds operand k of the members one after the other with any binary scalar computation.
class OperandFold {
 public:
  OperandFold(Device& device, const Instruction& hlo, size_t k)
      : device_(device), hlo_(hlo), operand_type_(hlo.operand_shape(k).element_type()) {
    const Computation& computation = *hlo_[kToApply];
    const LaneFunction* lanes = device_.plans().Of(computation).lanes.get();
    if (lanes != nullptr) op_ = lanes->binary_op();
    if (op_ && ElementLoopForBinary(*op_, operand_type_).loop == nullptr) op_.reset();  // no specialized loop for this type
    // Sums of narrow floats are rounded once, at the end. The computation may use a different float type.
    if (op_ == Opcode::kAdd && IsNarrowFloat(operand_type_))
      sum_type_ = ElementType::kF32;
    else
      sum_type_ = op_ ? operand_type_ : computation.parameters[0]->shape().element_type();
    if (op_) kernel_ = ElementLoopForBinary(*op_, sum_type_);
  }

  Status Add(Array& sum, Array next) const {
    if (!std::ranges::equal(next.dims(), sum.dims()))
      return DifferentSizes(hlo_, ToString(Finish(sum)), ToString(next));
    if (sum.type() != sum_type_) sum = Converted(sum, sum_type_);
    const bool widens = op_ == Opcode::kAdd && sum_type_ != operand_type_;
    if (!widens && next.type() != sum_type_) next = Converted(next, sum_type_);
    if (op_ && !widens) return Combine(sum, std::move(next));
    std::byte* data = sum.mutable_data();
    if (!op_) {
      const LanesOut out[] = {{sum_type_, data}};
      const LanesIn ins[] = {{sum_type_, data}, {sum_type_, next.data()}};
      return device_.RunLanes(hlo_, *hlo_[kToApply], out, ins, sum.count());
    }
    const int64_t width = sum.element_bytes();
    InBlocks(sum.count(), [&](int64_t begin, int64_t end) {
      const std::byte* from = next.data() + begin * next.element_bytes();
      AddWidened(next.type(), from, reinterpret_cast<float*>(data + begin * width), end - begin);
    });
    return {};
  }

  // Writes to a buffer without other owners. A run's arguments have others: they are read in place, without a copy.
  Status Combine(Array& sum, Array next) const {
    Array fresh = sum.unique() || next.unique() ? Array() : Array(sum_type_, sum.dims());
    Array& out = sum.unique() ? sum : next.unique() ? next : fresh;
    std::byte* to = out.mutable_data();
    Combine(to, std::as_const(sum).data(), std::as_const(next).data(), out.count());
    if (&out != &sum) sum = std::move(out);
    return {};
  }

  // Does the same as Combine and then Finish, and writes the result to `out`.
  Status FinishWith(Array sum, Array last, std::byte* out) const {
    const bool is_plain = sum.type() == operand_type_ && last.type() == operand_type_ &&
                          std::ranges::equal(sum.dims(), last.dims());
    if (is_plain && FoldSameType(out, sum.data(), last.data(), sum.count())) return {};
    SHOAL_TRY(Add(sum, std::move(last)));
    const Array whole = Finish(sum);
    if (whole.bytes() > 0) std::memcpy(out, whole.data(), static_cast<size_t>(whole.bytes()));
    return {};
  }

  Array Widened(const Array& sum) const { return sum.type() == sum_type_ ? sum : Converted(sum, sum_type_); }
  // The transport's equivalent, if any. For floats only sum and product: the transport's min and max ignore NaN.
  std::optional<ReduceOp> fast_op() const {
    if (!op_ || !ReduceTypeOf(sum_type_)) return std::nullopt;
    for (const TransportOp& row : kTransportOps)
      if (row.opcode == *op_ && (row.allows_floats || !IsFloat(sum_type_))) return row.reduce_op;
    return std::nullopt;
  }

  Array Finish(const Array& sum) const { return sum.type() == operand_type_ ? sum : Converted(sum, operand_type_); }

  bool FoldSameType(std::byte* out, const std::byte* first, const std::byte* second, int64_t count) const {
    return op_ && sum_type_ == operand_type_ && (Combine(out, first, second, count), true);
  }

 private:
  void Combine(std::byte* out, const std::byte* first, const std::byte* second, int64_t count) const {
    const int64_t width = StorageBytes(sum_type_);
    InBlocks(count, [&](int64_t begin, int64_t end) {
      const std::byte* const in[] = {first + begin * width, second + begin * width};
      kernel_.Run(out + begin * width, in, end - begin);
    });
  }

  // Runs the task on blocks of elements, on all threads of the pool.
  template <class Task>
  void InBlocks(int64_t count, const Task& task) const {
    constexpr int64_t kBlock = int64_t{1} << 17;
    ForBlocks(device_.pool(), count, kBlock, task);
  }

  static void AddWidened(ElementType type, const std::byte* next, float* sum, int64_t count) {
    constexpr int64_t kBlock = 1024;
    float block[kBlock];
    const int64_t width = StorageBytes(type);
    for (int64_t i = 0; i < count; i += kBlock) {
      const int64_t n = std::min(kBlock, count - i);
      DecodeFloats(type, next + i * width, block, n);
      for (int64_t j = 0; j < n; ++j) sum[i + j] += block[j];
    }
  }

  Device& device_;
  const Instruction& hlo_;
  ElementType operand_type_, sum_type_;  // type of the operands, and of the accumulated sum
  std::optional<Opcode> op_;
  ElementLoop kernel_;  // computes op_
};

// Folds the first `count` operands of a collective.
class OperandFolds : public OrderedFold {
 public:
  // `device` runs computations that are not a single binary op.
  OperandFolds(Device& device, const Instruction& hlo, size_t count) {
    for (size_t k = 0; k < count; ++k) folds_.emplace_back(device, hlo, k);
  }

  Status Add(Arrays& sum, Arrays next) const override {
    if (sum.empty()) {
      next.resize(folds_.size());  // the remaining operands are roots, not data
      sum = std::move(next);
      return {};
    }
    for (size_t k = 0; k < folds_.size(); ++k) SHOAL_TRY(folds_[k].Add(sum[k], std::move(next[k])));
    return {};
  }
  Arrays Finish(Arrays sum) const override {
    for (size_t k = 0; k < folds_.size(); ++k) sum[k] = folds_[k].Finish(sum[k]);
    return sum;
  }
  Status FinishWith(Arrays sum, Arrays last, std::span<std::byte* const> outs) const override {
    for (size_t k = 0; k < folds_.size(); ++k)
      SHOAL_TRY(folds_[k].FinishWith(std::move(sum[k]), std::move(last[k]), outs[k]));
    return {};
  }
  bool FoldSameType(size_t k, std::byte* out, const std::byte* first, const std::byte* second, int64_t count) const override {
    return folds_[k].FoldSameType(out, first, second, count);
  }
  Arrays Widen(Arrays sum) const override {
    for (size_t k = 0; k < folds_.size(); ++k) sum[k] = folds_[k].Widened(sum[k]);
    return sum;
  }

 private:
  std::vector<OperandFold> folds_;
};

}  // namespace

std::optional<ReduceOp> FastOpOf(const Call& call, size_t count) {
  const Job* job = call.device.settings().job;
  if (job == nullptr || !job->fast_reduction) return std::nullopt;
  std::optional<ReduceOp> op;
  for (size_t k = 0; k < count; ++k) {
    op = OperandFold(call.device, call.hlo, k).fast_op();
    if (!op) return std::nullopt;
  }
  return op;
}

Accumulate MakeAccumulate(const Call& call, size_t count,
                          std::function<Result<std::vector<Arrays>>(const Arrays& sums)> distribute) {
  if (SpansProcesses(call)) return {};
  auto fold = std::make_shared<OperandFolds>(call.device, call.hlo, count);
  return {[fold](Arrays& sum, Arrays next) { return fold->Add(sum, std::move(next)); },
          [fold, distribute = std::move(distribute)](Arrays sum) { return distribute(fold->Finish(std::move(sum))); }};
}

FoldPtr FoldLocally(const Call& call) {
  const size_t count = call.operands.size();
  if (!CheckBinaryReducer(call.hlo).ok() || FastOpOf(call, count)) return nullptr;
  return std::make_shared<OperandFolds>(call.device, call.hlo, count);
}

FoldPtr FoldAcrossProcesses(const Call& call, size_t count) {
  Device* device = call.device.polling_device;
  return std::make_shared<OperandFolds>(device == nullptr ? call.device : *device, call.hlo, count);
}

}  // namespace shoal::internal
