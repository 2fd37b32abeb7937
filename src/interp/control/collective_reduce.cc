// Collectives that fold: all-reduce, reduce-scatter, collective-reduce. The order is always that of the members, so
// that two runs give the same bits.
#include <algorithm>

#include "collectives/wire_bytes.h"
#include "interp/control/collective.h"
#include "kernels/floats.h"

namespace shoal {
namespace {

// Sums of narrow floats are rounded once, at the end.
Array WideSum(std::vector<Array> parts) {
  constexpr int64_t kBlock = 1024;
  float sum[kBlock], next[kBlock];
  Array out = std::move(parts[0]);
  std::byte* data = out.mutable_data();
  for (int64_t i = 0; i < out.count(); i += kBlock) {
    const int64_t n = std::min(kBlock, out.count() - i), at = i * out.element_bytes();
    DecodeFloats(out.type(), data + at, sum, n);
    for (size_t p = 1; p < parts.size(); ++p) {
      DecodeFloats(out.type(), parts[p].data() + at, next, n);
      for (int64_t k = 0; k < n; ++k) sum[k] += next[k];
    }
    EncodeFloats(out.type(), sum, data + at, n);
  }
  return out;
}

Array FoldBinary(Opcode op, std::vector<Array> parts) {
  Array out = std::move(parts[0]);
  const Kernel kernel = BinaryKernel(op, out.type());
  std::byte* data = out.mutable_data();
  for (size_t p = 1; p < parts.size(); ++p) {
    const std::byte* in[] = {data, parts[p].data()};
    kernel.Run(data, in, out.count());
  }
  return out;
}

// With any computation of two scalars, whose type may be another float than the operands'.
Result<Array> FoldAny(Device& device, const Computation& computation, std::vector<Array> parts) {
  const ElementType own = parts[0].type();
  const ElementType type = computation.parameters[0]->shape().element_type();
  Array out = own == type ? std::move(parts[0]) : Converted(parts[0], type);
  std::byte* data = out.mutable_data();
  for (size_t p = 1; p < parts.size(); ++p) {
    const Array next = own == type ? std::move(parts[p]) : Converted(parts[p], type);
    std::byte* const outs[] = {data};
    const std::byte* const ins[] = {data, next.data()};
    SHOAL_TRY(device.RunLanes(computation, outs, ins, out.count()));
  }
  return own == type ? out : Converted(out, own);
}

Result<Array> Folded(Call& call, std::vector<Array> parts) {
  for (const Array& part : parts)
    if (!std::ranges::equal(part.dims(), parts[0].dims()))
      return Stopped(call.hlo, StrCat("devices come with arrays of different sizes: ", ToString(parts[0]), " and ",
                                      ToString(part)));
  if (parts.size() == 1) return std::move(parts[0]);
  const Computation& computation = *call.hlo[kToApply];
  const LaneFunction* lanes = call.device.plans().Of(computation).lanes.get();
  const std::optional<Opcode> op = lanes == nullptr ? std::nullopt : lanes->binary_op();
  if (op == Opcode::kAdd && IsNarrowFloat(parts[0].type())) return WideSum(std::move(parts));
  if (op) return FoldBinary(*op, std::move(parts));
  return FoldAny(call.device, computation, std::move(parts));
}

// Operand k of all members, folded.
Result<Array> FoldOperand(Call& call, std::vector<Arrays>& contributions, size_t k) {
  std::vector<Array> parts;
  for (Arrays& contribution : contributions) parts.push_back(std::move(contribution[k]));
  return Folded(call, std::move(parts));
}

}  // namespace

Result<Value> BeginAllReduce(Call& call) {
  return BeginInGroup(call, TakeArrays(call), [&](std::vector<Arrays> contributions) -> Result<std::vector<Arrays>> {
    Arrays folded;
    for (size_t k = 0; k < call.operands.size(); ++k) {
      SHOAL_ASSIGN(array, FoldOperand(call, contributions, k));
      folded.push_back(std::move(array));
    }
    return std::vector<Arrays>(contributions.size(), folded);
  });
}

Result<Value> BeginReduceScatter(Call& call) {
  const int64_t dim = call.hlo[kDimensions][0];
  return BeginInGroup(
      call, TakeArrays(call), [&, dim](std::vector<Arrays> contributions) -> Result<std::vector<Arrays>> {
        std::vector<Arrays> results(contributions.size());
        const auto n = std::ssize(results);
        for (size_t k = 0; k < call.operands.size(); ++k) {
          SHOAL_ASSIGN(whole, FoldOperand(call, contributions, k));
          if (whole.dim(dim) % n != 0)
            return Stopped(call.hlo, StrCat(ToString(whole), " cannot be scattered over ", n, " devices"));
          const int64_t part = whole.dim(dim) / n;
          for (int64_t i = 0; i < n; ++i)
            results[static_cast<size_t>(i)].push_back(n == 1 ? whole : PartOf(whole, dim, i * part, part));
        }
        return results;
      });
}

// Everybody but the root gets zeros.
Result<Value> BeginCollectiveReduce(Call& call) {
  Arrays arrays = TakeArrays(call);
  const Roots roots(call.hlo, arrays);
  return BeginInGroup(
      call, std::move(arrays), roots.operands(),
      [&](int64_t n, int64_t position, int64_t payload) {
        return DirectBytes(call.hlo.opcode, {n, payload, roots.BytesAt(position), position});
      },
      [&](std::vector<Arrays> contributions) -> Result<std::vector<Arrays>> {
        SHOAL_TRY(roots.Check(std::ssize(contributions)));
        std::vector<Arrays> results(contributions.size());
        for (size_t k = 0; k < roots.operands(); ++k) {
          SHOAL_ASSIGN(folded, FoldOperand(call, contributions, k));
          const Array zeros = Array::Zeros(folded.type(), folded.dims());
          for (size_t i = 0; i < results.size(); ++i) results[i].push_back(i == roots.Of(k) ? folded : zeros);
        }
        return results;
      });
}

}  // namespace shoal
