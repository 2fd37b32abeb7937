// Collectives that fold: all-reduce, reduce-scatter, collective-reduce. The order is always that of the members, so
// that two runs give the same bits.
#include <algorithm>

#include "base/thread_pool.h"
#include "collectives/wire_bytes.h"
#include "interp/compiled_step.h"
#include "interp/control/collective.h"
#include "kernels/floats.h"

namespace shoal {
namespace {

// Folds operand k of the members, one after the other, with any computation of two scalars.
class OperandFold {
 public:
  OperandFold(Call& call, size_t k)
      : device_(call.device), hlo_(call.hlo), own_(call.hlo.operand_shape(k).element_type()) {
    const Computation& computation = *hlo_[kToApply];
    const LaneFunction* lanes = device_.plans().Of(computation).lanes.get();
    if (lanes != nullptr) op_ = lanes->binary_op();
    // Sums of narrow floats are rounded once, at the end. A computation may be one of another float than the operands.
    if (op_ == Opcode::kAdd && IsNarrowFloat(own_))
      type_ = ElementType::kF32;
    else
      type_ = op_ ? own_ : computation.parameters[0]->shape().element_type();
  }

  Status Add(Array& sum, Array next) const {
    if (!std::ranges::equal(next.dims(), sum.dims()))
      return Stopped(hlo_, StrCat("devices come with arrays of different sizes: ", ToString(Finish(sum)), " and ",
                                  ToString(next)));
    if (sum.type() != type_) sum = Converted(sum, type_);
    std::byte* data = sum.mutable_data();
    const bool widens = op_ == Opcode::kAdd && type_ != own_;
    if (!widens && next.type() != type_) next = Converted(next, type_);
    if (!op_) {
      const LanesOut out[] = {{type_, data}};
      const LanesIn ins[] = {{type_, data}, {type_, next.data()}};
      return device_.RunLanes(hlo_, *hlo_[kToApply], out, ins, sum.count());
    }
    const int64_t width = sum.element_bytes();
    InBlocks(sum.count(), [&](int64_t begin, int64_t end) {
      std::byte* to = data + begin * width;
      const std::byte* from = next.data() + begin * next.element_bytes();
      if (widens) return AddWidened(next.type(), from, reinterpret_cast<float*>(to), end - begin);
      const std::byte* const in[] = {to, from};
      BinaryKernel(*op_, type_).Run(to, in, end - begin);
    });
    return {};
  }

  Array Finish(const Array& sum) const { return sum.type() == own_ ? sum : Converted(sum, own_); }

 private:
  // On all threads that the engine has.
  template <class Task>
  void InBlocks(int64_t count, const Task& task) const {
    constexpr int64_t kBlock = int64_t{1} << 17;
    auto* pool = reinterpret_cast<ThreadPool*>(hlo_[kEnginePool]);
    if (pool == nullptr || count <= kBlock) return task(0, count);
    ForBlocks(*pool, count, kBlock, task);
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
  ElementType own_, type_;  // of the operands, and of the sum as soon as there are two of them
  std::optional<Opcode> op_;
};

// Folds the first `count` operands; `finish` makes everybody's results of their sums.
Accumulate FoldOperands(Call& call, size_t count,
                        std::function<Result<std::vector<Arrays>>(const Arrays& sums)> finish) {
  std::vector<OperandFold> folds;
  for (size_t k = 0; k < count; ++k) folds.emplace_back(call, k);
  Accumulate accumulate;
  accumulate.add = [folds](Arrays& sum, Arrays next) -> Status {
    for (size_t k = 0; k < folds.size(); ++k) {
      if (sum.size() <= k)
        sum.push_back(std::move(next[k]));
      else
        SHOAL_TRY(folds[k].Add(sum[k], std::move(next[k])));
    }
    return {};
  };
  accumulate.finish = [folds, finish = std::move(finish)](Arrays sum) {
    for (size_t k = 0; k < folds.size(); ++k) sum[k] = folds[k].Finish(sum[k]);
    return finish(sum);
  };
  return accumulate;
}

}  // namespace

Result<Value> BeginAllReduce(Call& call) {
  SHOAL_ASSIGN(n, MembersOf(call));
  return BeginInGroup(call, TakeArrays(call),
                      FoldOperands(call, call.operands.size(), [n](const Arrays& sums) -> Result<std::vector<Arrays>> {
                        return std::vector<Arrays>(n, sums);
                      }));
}

Result<Value> BeginReduceScatter(Call& call) {
  SHOAL_ASSIGN(members, MembersOf(call));
  const int64_t dim = call.hlo[kDimensions][0];
  auto scatter = [&hlo = call.hlo, members, dim](const Arrays& sums) -> Result<std::vector<Arrays>> {
    std::vector<Arrays> results(members);
    const auto n = static_cast<int64_t>(members);
    for (const Array& whole : sums) {
      if (whole.dim(dim) % n != 0)
        return Stopped(hlo, StrCat(ToString(whole), " cannot be scattered over ", n, " devices"));
      const int64_t part = whole.dim(dim) / n;
      for (int64_t i = 0; i < n; ++i)
        results[static_cast<size_t>(i)].push_back(n == 1 ? whole : PartOf(whole, dim, i * part, part));
    }
    return results;
  };
  return BeginInGroup(call, TakeArrays(call), FoldOperands(call, call.operands.size(), scatter));
}

// Everybody but the root gets zeros.
Result<Value> BeginCollectiveReduce(Call& call) {
  SHOAL_ASSIGN(members, MembersOf(call));
  Arrays arrays = TakeArrays(call);
  const Roots roots(call.hlo, arrays);
  auto to_roots = [&roots, members](const Arrays& sums) -> Result<std::vector<Arrays>> {
    SHOAL_TRY(roots.Check(static_cast<int64_t>(members)));
    std::vector<Arrays> results(members);
    for (size_t k = 0; k < sums.size(); ++k) {
      const Array zeros = Array::Zeros(sums[k].type(), sums[k].dims());
      for (size_t i = 0; i < members; ++i) results[i].push_back(i == roots.Of(k) ? sums[k] : zeros);
    }
    return results;
  };
  return BeginInGroup(
      call, std::move(arrays), roots.operands(),
      [&](int64_t n, int64_t position, int64_t payload) {
        return DirectBytes(call.hlo.opcode, {n, payload, roots.BytesAt(position), position});
      },
      FoldOperands(call, roots.operands(), to_roots));
}

}  // namespace shoal
