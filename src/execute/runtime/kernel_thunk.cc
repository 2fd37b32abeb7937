#include <algorithm>

#include "core/ir/sizes.h"
#include "core/ops/contraction.h"
#include "core/ops/families.h"
#include "execute/interp/device.h"
#include "execute/runtime/launch.h"
#include "execute/runtime/thunks.h"
#include "kernels/arrays/parallel_copy.h"

namespace shoal::internal {
namespace {

// Returns the inputs that the kernels read only at the index that they write. A result may reuse the memory of such an
// input, because a kernel reads all inputs at an index before it writes there.
std::vector<size_t> FindInPlace(std::span<const LoadedKernel> kernels) {
  const size_t inputs = kernels[0].kernel->inputs.size();
  std::vector<bool> possible(inputs, true), read(inputs, false);
  for (const LoadedKernel& launched : kernels) {
    const FusedKernel& kernel = *launched.kernel;
    if (!kernel.reductions.empty()) return {};
    for (const KernelStore& store : kernel.stores)
      if (!(store.index == kernel.stores[0].index)) return {};
    for (const KernelNode& node : kernel.nodes) {
      if (node.kind != KernelNode::Kind::kLoad) continue;
      const auto input = static_cast<size_t>(node.input);
      read[input] = true;
      possible[input] = possible[input] && node.index == kernel.stores[0].index;
    }
  }
  std::vector<size_t> found;
  for (size_t i = 0; i < inputs; ++i)
    if (read[i] && possible[i]) found.push_back(i);
  return found;
}

// Kernels that write different parts of one result. Consecutive small kernels form one task. Large kernels are split.
class Launches {
 public:
  explicit Launches(std::span<const LoadedKernel> kernels) {
    int64_t work = 0;
    for (const LoadedKernel& kernel : kernels) {
      const int64_t more = kernel.kernel->RowCount() * kernel.kernel->InnerIterations();
      const bool is_new = tasks_.empty() || launches_.back().Blocks() > 1 || work + more > kTaskElements;
      work = is_new ? more : work + more;
      launches_.emplace_back(kernel);
      if (!is_new && launches_.back().Blocks() == 1) {
        ++tasks_.back().count;
        continue;
      }
      for (int64_t block = 0; block < launches_.back().Blocks(); ++block)
        tasks_.push_back({launches_.size() - 1, 1, block});
    }
  }

  void Run(std::span<void* const> buffers, ThreadPool& pool) const {
    if (launches_.size() == 1) return launches_[0].Run(buffers.data(), pool);
    pool.Run(static_cast<int64_t>(tasks_.size()), [&](int64_t i) {
      const Task& task = tasks_[static_cast<size_t>(i)];
      for (size_t k = 0; k < task.count; ++k) launches_[task.first + k].RunBlock(buffers.data(), task.block);
    });
  }

 private:
  struct Task {
    size_t first, count;
    int64_t block;
  };
  std::vector<Launch> launches_;
  std::vector<Task> tasks_;
};

class KernelThunk : public Thunk {
 public:
  KernelThunk(const Instruction& hlo, std::span<const LoadedKernel> kernels, LoadedKernel combine)
      : first_(kernels) {
    const LoadedKernel kernel = kernels[0];
    for (const Instruction* operand : hlo.operands) counts_.push_back(operand->shape().ElementCount().value_or(-1));
    if (hlo.shape().IsTuple()) {
      is_tuple_ = true;
      for (const Shape* each : hlo.shape().elements()) results_.push_back({each->element_type(), ToDims(each->dims())});
    } else {
      results_.push_back({hlo.shape().element_type(), ToDims(hlo.shape().dims())});
    }
    if (combine.code == nullptr) {
      in_place_ = FindInPlace(kernels);
      return;
    }
    second_.emplace(combine);
    const int64_t lanes = kernel.kernel->form == FusedKernel::Form::kColumns ? kernel.kernel->inner_loops.back() : 1;
    for (ElementType type : kernel.kernel->outputs) partial_.push_back({type, Dims{kernel.kernel->RowCount() * lanes}});
  }

  Result<Value> Run(Call& call) const override {
    // Arrays with dynamic sizes may not match the compiled shapes. In that case, the ops are evaluated one by one.
    for (size_t i = 0; i < counts_.size(); ++i)
      if (!call.operands[i].IsArray() || call.array(i).count() != counts_[i]) return EvaluatorOf(call.hlo.opcode)(call);
    absl::InlinedVector<void*, 16> buffers;
    for (size_t i = 0; i < counts_.size(); ++i) buffers.push_back(const_cast<std::byte*>(call.array(i).data()));
    absl::InlinedVector<Array, 2> partial;
    if (second_) {
      absl::InlinedVector<void*, 16> first = buffers;
      for (const ArraySpec& spec : partial_) {
        partial.emplace_back(spec.type, spec.dims);
        first.push_back(partial.back().mutable_data());
        buffers.push_back(first.back());
      }
      first_.Run({first.data(), first.size()}, call.device.pool());
    }
    absl::InlinedVector<Array, 2> outs;
    for (const ArraySpec& spec : results_) outs.push_back(Destination(call, spec));
    for (Array& out : outs) buffers.push_back(out.mutable_data());
    if (second_)
      second_->Run(buffers.data(), call.device.pool());
    else
      first_.Run({buffers.data(), buffers.size()}, call.device.pool());
    if (!is_tuple_) return Value(std::move(outs[0]));
    return Value::Tuple({std::make_move_iterator(outs.begin()), std::make_move_iterator(outs.end())});
  }

 private:
  struct ArraySpec {
    ElementType type;
    Dims dims;
  };

  // The memory of an operand if it may be overwritten, or else a new array.
  Array Destination(Call& call, const ArraySpec& spec) const {
    for (size_t i : in_place_) {
      Array& operand = call.operands[i].array();
      if (operand.unique() && operand.element_bytes() == StorageBytes(spec.type) &&
          operand.count() == ElementCount(AsInts(spec.dims)))
        return Array(std::move(operand)).WithType(spec.type).WithDims(spec.dims);
    }
    return Array(spec.type, spec.dims);
  }

  Launches first_;
  std::optional<Launch> second_;  // combines the partial results of first_
  bool is_tuple_ = false;
  std::vector<ArraySpec> results_, partial_;
  std::vector<int64_t> counts_;  // number of elements of each operand
  std::vector<size_t> in_place_;
};

class LibraryThunk : public Thunk {
 public:
  LibraryThunk(const Instruction& hlo, LoadedLibrary library)
      : library_(library), updates_(UpdatesOperand(hlo)), sums_narrow_floats_(SumsNarrowFloats(hlo)) {}

  Result<Value> Run(Call& call) const override {
    // XLA:CPU's library sums narrow floats in an order that only the evaluators reproduce.
    if (sums_narrow_floats_ && call.device.settings().numerics == Numerics::kXlaCpuYnnpack)
      return EvaluatorOf(call.hlo.opcode)(call);
    std::vector<Array> operands, results;
    for (size_t i = 0; i < call.operands.size(); ++i) {
      if (!call.operands[i].IsArray() || !std::ranges::equal(call.array(i).dims(), call.hlo.operand_shape(i).dims()))
        return EvaluatorOf(call.hlo.opcode)(call);
    }
    for (size_t i = 0; i < call.operands.size(); ++i) operands.push_back(std::move(call.operands[i].array()));
    const Shape& shape = call.hlo.shape();
    const bool is_tuple = shape.IsTuple();
    for (size_t i = 0; i < (is_tuple ? shape.elements().size() : 1); ++i) {
      if (updates_) {
        results.push_back(MakeUnique(std::exchange(operands[i], Array()), call.device.pool()));
        continue;
      }
      const Shape& element = is_tuple ? shape.element(static_cast<int64_t>(i)) : shape;
      results.emplace_back(element.element_type(), element.dims());
    }
    SHOAL_TRY(library_.Run(call.hlo, operands, results, call.device.pool()));
    if (!is_tuple) return Value(std::move(results[0]));
    std::vector<Value> elements(std::make_move_iterator(results.begin()), std::make_move_iterator(results.end()));
    return Value::Tuple(std::move(elements));
  }

 private:
  LoadedLibrary library_;
  bool updates_, sums_narrow_floats_;
};

}  // namespace

bool SumsNarrowFloats(const Instruction& hlo) {
  return IsNarrowContraction(hlo) && IsFloat(hlo.shape().element_type());
}

std::unique_ptr<Thunk> NewKernelThunk(const Instruction& hlo, std::span<const LoadedKernel> kernels,
                                      LoadedKernel combine) {
  return std::make_unique<KernelThunk>(hlo, kernels, combine);
}

std::unique_ptr<Thunk> NewLibraryThunk(const Instruction& hlo, LoadedLibrary library) {
  return std::make_unique<LibraryThunk>(hlo, library);
}

}  // namespace shoal::internal
