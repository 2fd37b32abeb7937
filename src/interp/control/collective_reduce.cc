// Collectives that fold: all-reduce, reduce-scatter, collective-reduce. The order is always that of the members, so
// that two runs give the same bits.
#include <algorithm>

#include "collectives/wire_bytes.h"
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
    if (op_ == Opcode::kAdd && type_ != own_) {
      AddWidened(next, reinterpret_cast<float*>(data));
      return {};
    }
    if (next.type() != type_) next = Converted(next, type_);
    if (!op_) {
      const LanesOut out[] = {{type_, data}};
      const LanesIn ins[] = {{type_, data}, {type_, next.data()}};
      return device_.RunLanes(hlo_, *hlo_[kToApply], out, ins, sum.count());
    }
    const std::byte* const in[] = {data, next.data()};
    BinaryKernel(*op_, type_).Run(data, in, sum.count());
    return {};
  }

  Array Finish(const Array& sum) const { return sum.type() == own_ ? sum : Converted(sum, own_); }

 private:
  static void AddWidened(const Array& next, float* sum) {
    constexpr int64_t kBlock = 1024;
    float block[kBlock];
    for (int64_t i = 0; i < next.count(); i += kBlock) {
      const int64_t n = std::min(kBlock, next.count() - i);
      DecodeFloats(next.type(), next.data() + i * next.element_bytes(), block, n);
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
