#include <algorithm>

#include "interp/device.h"
#include "kernels/parallel_copy.h"
#include "ops/families.h"
#include "runtime/steps.h"

namespace shoal {
namespace {

// About what one thread does in 20 µs; more rows or lanes than this are shared out.
constexpr int64_t kTaskElements = int64_t{1} << 15;
// Of a row that several threads reduce.
constexpr int64_t kPiece = int64_t{1} << 16;

int64_t RoundUp(int64_t n, int64_t to) { return (n + to - 1) / to * to; }

bool IsCutInPieces(const FusedKernel& kernel) {
  return kernel.form == FusedKernel::Form::kRows && !kernel.reductions.empty() && kernel.RowCount() < 8 &&
         kernel.walked.size() == 1 && kernel.walked[0] >= 4 * kPiece;
}

// Which of the inputs is read only at the place that is written, so that the result may take its memory.
std::vector<size_t> FindInPlace(const FusedKernel& kernel) {
  if (!kernel.reductions.empty() || kernel.stores.size() != 1) return {};
  std::vector<bool> possible(kernel.inputs.size(), true), read(kernel.inputs.size(), false);
  for (const KernelNode& node : kernel.nodes) {
    if (node.kind != KernelNode::Kind::kLoad) continue;
    const auto input = static_cast<size_t>(node.input);
    read[input] = true;
    possible[input] = possible[input] && node.index == kernel.stores[0].index;
  }
  std::vector<size_t> found;
  for (size_t i = 0; i < kernel.inputs.size(); ++i)
    if (read[i] && possible[i] && StorageBytes(kernel.inputs[i]) == StorageBytes(kernel.outputs[0])) found.push_back(i);
  return found;
}

class KernelStep : public CompiledStep {
 public:
  KernelStep(const Instruction& hlo, const FusedKernel& kernel, KernelCode code, KernelCode combine, ThreadPool& pool)
      : code_(code), combine_(combine), pool_(pool), type_(hlo.shape().element_type()), dims_(ToDims(hlo.shape().dims())) {
    for (const Instruction* operand : hlo.operands) counts_.push_back(operand->shape().ElementCount().value_or(-1));
    updates_ = kernel.updates;
    if (updates_ < 0) in_place_ = FindInPlace(kernel);
    rows_ = kernel.RowCount();
    lanes_ = kernel.walked.back();
    const int64_t per_row = kernel.WalkedCount();
    const int64_t task = std::max(kTaskElements, rows_ * per_row / 64);
    lane_block_ = lanes_;
    const bool lanes_may_be_cut = kernel.reductions.empty() || kernel.form == FusedKernel::Form::kColumns;
    if (lanes_may_be_cut && per_row > task) {
      lane_block_ = std::max<int64_t>(64, RoundUp(task / (per_row / lanes_), 64));
      lane_block_ = std::min(lane_block_, lanes_);
    }
    row_block_ = std::clamp<int64_t>(task / per_row, 1, std::max<int64_t>(rows_, 1));
  }

  Result<Value> Run(Call& call) const override {
    // Dynamic sizes make arrays of other sizes than the shapes say; then the ops are evaluated one by one.
    for (size_t i = 0; i < counts_.size(); ++i)
      if (!call.operands[i].IsArray() || call.array(i).count() != counts_[i]) return EvaluatorOf(call.hlo.opcode)(call);
    absl::InlinedVector<void*, 16> buffers;
    for (size_t i = 0; i < counts_.size(); ++i) buffers.push_back(const_cast<std::byte*>(call.array(i).data()));
    Array out = Destination(call);
    buffers.push_back(out.mutable_data());
    if (combine_ != nullptr)
      RunPieces({buffers.data(), buffers.size()});
    else
      RunBlocks({buffers.data(), buffers.size()});
    return Value(std::move(out));
  }

 private:
  Array Destination(Call& call) const {
    if (updates_ >= 0) return Owned(std::move(call.operands[static_cast<size_t>(updates_)].array()), pool_);
    for (size_t i : in_place_) {
      Array& operand = call.operands[i].array();
      if (operand.unique()) return Array(std::move(operand)).WithType(type_).WithDims(dims_);
    }
    return Array(type_, dims_);
  }

  void RunBlocks(std::span<void* const> buffers) const {
    const int64_t row_blocks = (rows_ + row_block_ - 1) / row_block_;
    const int64_t lane_blocks = (lanes_ + lane_block_ - 1) / lane_block_;
    pool_.Run(row_blocks * lane_blocks, [&](int64_t i) {
      const int64_t row = i / lane_blocks * row_block_, lane = i % lane_blocks * lane_block_;
      code_(buffers.data(), row, std::min(row + row_block_, rows_), lane, std::min(lane + lane_block_, lanes_));
    });
  }

  // Each piece of the row gives a result for every row; then these are combined.
  void RunPieces(std::span<void* const> buffers) const {
    const int64_t pieces = (lanes_ + kPiece - 1) / kPiece;
    Array partial(type_, Dims{pieces, rows_});
    std::byte* data = partial.mutable_data();
    pool_.Run(pieces, [&](int64_t i) {
      absl::InlinedVector<void*, 16> mine(buffers.begin(), buffers.end());
      mine.back() = data + i * rows_ * partial.element_bytes();
      code_(mine.data(), 0, rows_, i * kPiece, std::min(lanes_, (i + 1) * kPiece));
    });
    void* const combined[] = {data, buffers.back()};
    combine_(combined, 0, rows_, 0, pieces);
  }

  KernelCode code_, combine_;
  ThreadPool& pool_;
  ElementType type_;
  Dims dims_;
  std::vector<int64_t> counts_;  // of the operands' elements
  std::vector<size_t> in_place_;
  int updates_ = -1;
  int64_t rows_ = 1, lanes_ = 1, row_block_ = 1, lane_block_ = 1;
};

class LibraryStep : public CompiledStep {
 public:
  LibraryStep(const Instruction& hlo, LibraryFunction function, ThreadPool& pool)
      : function_(function), pool_(pool), updates_(UpdatesOperand(hlo)) {}

  Result<Value> Run(Call& call) const override {
    // XLA:CPU's library sums narrow floats in an order of its own, which the evaluators follow.
    if (call.device.plans().uses_ynnpack()) return EvaluatorOf(call.hlo.opcode)(call);
    std::vector<Array> operands, results;
    for (size_t i = 0; i < call.operands.size(); ++i) {
      if (!call.operands[i].IsArray() || !std::ranges::equal(call.array(i).dims(), call.hlo.operand_shape(i).dims()))
        return EvaluatorOf(call.hlo.opcode)(call);
    }
    for (size_t i = 0; i < call.operands.size(); ++i) operands.push_back(std::move(call.operands[i].array()));
    const Shape& shape = call.hlo.shape();
    const bool is_tuple = shape.IsTuple();
    for (size_t i = 0; i < (is_tuple ? shape.elements().size() : 1); ++i) {
      if (i == 0 && updates_) {
        results.push_back(Owned(std::exchange(operands[0], Array()), pool_));
        continue;
      }
      const Shape& one = is_tuple ? shape.element(static_cast<int64_t>(i)) : shape;
      results.emplace_back(one.element_type(), one.dims());
    }
    SHOAL_TRY(function_(call.hlo, operands, results, pool_));
    if (!is_tuple) return Value(std::move(results[0]));
    std::vector<Value> elements(std::make_move_iterator(results.begin()), std::make_move_iterator(results.end()));
    return Value::Tuple(std::move(elements));
  }

 private:
  LibraryFunction function_;
  ThreadPool& pool_;
  bool updates_;
};

}  // namespace

std::unique_ptr<FusedKernel> CombiningKernel(const FusedKernel& kernel) {
  if (!IsCutInPieces(kernel)) return nullptr;
  const int64_t rows = kernel.RowCount(), pieces = (kernel.walked[0] + kPiece - 1) / kPiece;
  const ElementType type = kernel.outputs[0];
  auto combine = std::make_unique<FusedKernel>();
  combine->rows = {rows};
  combine->walked = {pieces};
  combine->inputs = combine->outputs = {type};
  KernelNode load, init = kernel.nodes[static_cast<size_t>(kernel.reductions[0].inits[0])], result;
  load.kind = KernelNode::Kind::kLoad;
  load.type = result.type = type;
  load.index = Index::Loop(0, rows) + Index::Loop(1, pieces) * rows;
  result.kind = KernelNode::Kind::kResult;
  combine->nodes = {load, init, result};
  KernelReduction reduction = kernel.reductions[0];
  reduction.elements = {0};
  reduction.inits = {1};
  combine->reductions = {reduction};
  combine->stores = {{2, 0, Index::Loop(0, rows), true}};
  return init.kind == KernelNode::Kind::kConstant ? std::move(combine) : nullptr;
}

std::unique_ptr<CompiledStep> NewKernelStep(const Instruction& hlo, const FusedKernel& kernel, KernelCode code,
                                            KernelCode combine, ThreadPool& pool) {
  return std::make_unique<KernelStep>(hlo, kernel, code, combine, pool);
}

std::unique_ptr<CompiledStep> NewLibraryStep(const Instruction& hlo, LibraryFunction function, ThreadPool& pool) {
  return std::make_unique<LibraryStep>(hlo, function, pool);
}

}  // namespace shoal
