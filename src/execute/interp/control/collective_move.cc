// Collectives that only move elements: all-gather, all-to-all, collective-broadcast.
#include <algorithm>

#include "analyze/facts/wire_bytes.h"
#include "execute/interp/control/device_collective.h"
#include "kernels/arrays/strided.h"

namespace shoal::internal {

Array PartOf(const Array& array, int64_t dim, int64_t start, int64_t size) {
  Dims sizes = ToDims(array.dims());
  sizes[static_cast<size_t>(dim)] = size;
  Dims strides = RowMajorStrides(array.dims());
  const int64_t offset = start * strides[static_cast<size_t>(dim)];
  return Gathered(array, std::move(sizes), {offset, std::move(strides)});
}

Array PartOrView(const Array& array, int64_t dim, int64_t start, int64_t size) {
  const Ints dims = array.dims();
  const int64_t before = ElementCount(dims.first(static_cast<size_t>(dim)));
  if (before != 1 || array.count() == 0) return PartOf(array, dim, start, size);
  Dims sizes = ToDims(dims);
  sizes[static_cast<size_t>(dim)] = size;
  const int64_t row = array.bytes() / array.dim(dim);
  return Array(array.type(), std::move(sizes),
               Buffer::Borrow(array.data() + start * row, static_cast<size_t>(size * row)));
}

Diag DifferentSizes(const Instruction& hlo, const std::string& a, const std::string& b) {
  return ExecutionError(hlo, StrCat("devices contribute arrays of different sizes: ", a, " and ", b));
}

namespace {

// Copies `part` into `whole` at offset `start` along one dimension.
void PutPart(const Array& part, int64_t dim, int64_t start, Array& whole) {
  Dims strides = RowMajorStrides(whole.dims());
  const int64_t offset = start * strides[static_cast<size_t>(dim)];
  CopyStrided(part.dims(), part.element_bytes(), whole.mutable_data(), {offset, std::move(strides)}, part.data(),
              {0, RowMajorStrides(part.dims())});
}

// Concatenates operand k of all members along a dimension. The operands may differ in size only in that dimension.
Result<Array> Concatenate(const Instruction& hlo, const std::vector<Arrays>& contributions, size_t k, int64_t dim) {
  const Array& first = contributions[0][k];
  if (contributions.size() == 1) return first;
  Dims dims = ToDims(first.dims());
  dims[static_cast<size_t>(dim)] = 0;
  for (const Arrays& contribution : contributions) {
    const Array& part = contribution[k];
    for (int64_t d = 0; d < part.rank(); ++d)
      if (d != dim && part.dim(d) != first.dim(d))
        return ExecutionError(hlo, StrCat("contributed arrays cannot be concatenated along dimension ", dim, ": ",
                                          ToString(first), " and ", ToString(part)));
    dims[static_cast<size_t>(dim)] += part.dim(dim);
  }
  Array joined(first.type(), std::move(dims));
  int64_t start = 0;
  for (const Arrays& contribution : contributions) {
    PutPart(contribution[k], dim, start, joined);
    start += contribution[k].dim(dim);
  }
  return joined;
}

Diag CannotSplit(const Instruction& hlo, const Array& array, size_t n) {
  return ExecutionError(hlo, StrCat("dimension ", hlo[kDimensions][0], " of ", ToString(array), " cannot be split among ", n,
                             " devices"));
}

// Computes an all-to-all: member i receives part i of each member.
Result<std::vector<Arrays>> ExchangeAll(const Instruction& hlo, const std::vector<Arrays>& contributions, int64_t dim) {
  const auto n = std::ssize(contributions);
  const Array& first = contributions[0][0];
  if (first.dim(dim) % n != 0) return CannotSplit(hlo, first, static_cast<size_t>(n));
  for (const Arrays& contribution : contributions)
    if (!std::ranges::equal(contribution[0].dims(), first.dims()))
      return DifferentSizes(hlo, ToString(first), ToString(contribution[0]));
  const int64_t part = first.dim(dim) / n;
  Dims sizes = ToDims(first.dims());
  sizes[static_cast<size_t>(dim)] = part;
  const Dims strides = RowMajorStrides(first.dims());
  const int64_t step = part * strides[static_cast<size_t>(dim)];
  std::vector<Arrays> results;
  for (int64_t i = 0; i < n; ++i) {
    Array out(first.type(), first.dims());
    for (int64_t j = 0; j < n; ++j)
      CopyStrided(AsInts(sizes), out.element_bytes(), out.mutable_data(), {j * step, strides},
                  contributions[static_cast<size_t>(j)][0].data(), {i * step, strides});
    results.push_back({std::move(out)});
  }
  return results;
}

// On a single device, an all-gather has no other parts to gather. Like XLA, this zero-fills the rest; the run warns.
Array PadForSingleDevice(Array array, Call& call, size_t k) {
  const Shape& all = ResultShape(call.hlo);
  const Shape& shape = all.IsTuple() && k < all.elements().size() ? all.element(static_cast<int64_t>(k)) : all;
  if (call.device.grid().count() != 1 || !shape.IsArray() || shape.has_dynamic()) return array;
  if (shape.rank() != array.rank() || shape.ElementCount().value_or(0) <= array.count()) return array;
  if (!IsInBounds(*shape.ElementCount(), array.dims(), {0, RowMajorStrides(shape.dims())})) return array;
  call.device.padded_gathers.insert(&call.hlo);
  Array longer = Array::Zeros(array.type(), shape.dims());
  CopyStrided(array.dims(), array.element_bytes(), longer.mutable_data(), {0, RowMajorStrides(longer.dims())},
              array.data(), {0, RowMajorStrides(array.dims())});
  return longer;
}

}  // namespace

Result<Value> BeginAllGather(Call& call) {
  const int64_t dim = call.hlo[kDimensions][0];
  auto gather = [&hlo = call.hlo, dim](const std::vector<Arrays>& contributions) -> Result<Arrays> {
    Arrays joined;
    for (size_t k = 0; k < contributions[0].size(); ++k) {
      SHOAL_ASSIGN(array, Concatenate(hlo, contributions, k, dim));
      joined.push_back(std::move(array));
    }
    return joined;
  };
  Combine local = [&](const std::vector<Arrays>& contributions) -> Result<std::vector<Arrays>> {
    SHOAL_ASSIGN(joined, gather(contributions));
    for (size_t k = 0; k < joined.size(); ++k) joined[k] = PadForSingleDevice(std::move(joined[k]), call, k);
    return std::vector<Arrays>(contributions.size(), joined);
  };
  auto exchange = [gather, dim] {
    PartRules rules = GatherRules([gather](const std::vector<Arrays>& contributions) -> Result<std::vector<Arrays>> {
      SHOAL_ASSIGN(joined, gather(contributions));
      return std::vector<Arrays>(contributions.size(), joined);
    });
    rules.contiguous_types = [dim](const std::vector<ArrayTypes>& types,
                                   PartRules::Targets) -> std::optional<ArrayTypes> {
      ArrayTypes joined = types[0];
      for (size_t k = 0; k < joined.size(); ++k) {
        if (!AreContiguousParts(types, k, dim)) return std::nullopt;
        joined[k].dims[static_cast<size_t>(dim)] *= std::ssize(types);
      }
      return joined;
    };
    return NewPartExchange(std::move(rules));
  };
  return BeginInGroup(call, TakeArrays(call), {std::move(local), exchange});
}

namespace {

// Rearranges contributions in which each member has one operand for each receiving member.
Result<std::vector<Arrays>> TransposeContributions(const Instruction& hlo, std::vector<Arrays> contributions) {
  const size_t n = contributions.size();
  if (contributions[0].size() != n)
    return ExecutionError(hlo, StrCat("needs one operand for each of ", n, " devices, got ", contributions[0].size()));
  std::vector<Arrays> results(n);
  for (size_t i = 0; i < n; ++i)
    for (size_t j = 0; j < n; ++j) results[i].push_back(std::move(contributions[j][i]));
  return results;
}

// Rules by which each process receives one array for each of its members.
PartRules AllToAllRules(const Instruction& hlo, size_t n) {
  PartRules rules;
  rules.split = [&hlo, n](size_t, const Arrays& contribution, PartRules::Targets targets) -> Result<Arrays> {
    Arrays parts;
    for (size_t target : targets) {
      if (!hlo.has(kDimensions)) {
        if (contribution.size() != n) return TransposeContributions(hlo, std::vector<Arrays>(n, contribution)).diag();
        parts.push_back(contribution[target]);
        continue;
      }
      const int64_t dim = hlo[kDimensions][0], all = contribution[0].dim(dim);
      if (all % static_cast<int64_t>(n) != 0) return CannotSplit(hlo, contribution[0], n);
      const int64_t part = all / static_cast<int64_t>(n);
      parts.push_back(PartOrView(contribution[0], dim, static_cast<int64_t>(target) * part, part));
    }
    return parts;
  };
  rules.join = [&hlo](const std::vector<Arrays>& parts, const std::vector<ArrayTypes>& types,
                      PartRules::Targets targets) -> Result<std::vector<Arrays>> {
    std::vector<Arrays> results;
    for (size_t i = 0; i < targets.size(); ++i) {
      std::vector<Arrays> target_parts;
      for (size_t source = 0; source < parts.size(); ++source) {
        if (hlo.has(kDimensions) && types[source][0].dims != types[0][0].dims)
          return DifferentSizes(hlo, ToString(types[0][0]), ToString(types[source][0]));
        target_parts.push_back({parts[source][i]});
      }
      Arrays& result = results.emplace_back();
      if (hlo.has(kDimensions)) {
        SHOAL_ASSIGN(joined, Concatenate(hlo, target_parts, 0, hlo[kDimensions][0]));
        result.push_back(std::move(joined));
      } else {
        for (Arrays& part : target_parts) result.push_back(std::move(part[0]));
      }
    }
    return results;
  };
  rules.one_each = true;
  if (hlo.has(kDimensions))
    rules.contiguous_types = [dim = hlo[kDimensions][0]](const std::vector<ArrayTypes>& types,
                                                         PartRules::Targets targets) -> std::optional<ArrayTypes> {
      if (!AreContiguousParts(types, 0, dim)) return std::nullopt;
      return ArrayTypes(targets.size(), types[0][0]);
    };
  return rules;
}

}  // namespace

Result<Value> BeginAllToAll(Call& call) {
  SHOAL_ASSIGN(n, MembersOf(call));
  Combine local = [&hlo = call.hlo](std::vector<Arrays> contributions) -> Result<std::vector<Arrays>> {
    if (hlo.has(kDimensions)) return ExchangeAll(hlo, contributions, hlo[kDimensions][0]);
    return TransposeContributions(hlo, std::move(contributions));
  };
  auto exchange = [&hlo = call.hlo, n] { return NewPartExchange(AllToAllRules(hlo, n)); };
  return BeginInGroup(call, TakeArrays(call), {std::move(local), exchange});
}

namespace {

// Only the root of an operand sends that operand.
PartRules BroadcastRules(const Roots& roots) {
  PartRules rules;
  rules.is_shared = true;
  rules.split = [roots](size_t source, const Arrays& contribution, PartRules::Targets) -> Result<Arrays> {
    Arrays parts;
    for (size_t k = 0; k < roots.operands(); ++k)
      parts.push_back(roots.Of(k) == source ? contribution[k] : Array(contribution[k].type(), Dims{0}));
    return parts;
  };
  rules.join = [roots](const std::vector<Arrays>& parts, const std::vector<ArrayTypes>&,
                       PartRules::Targets targets) -> Result<std::vector<Arrays>> {
    SHOAL_TRY(roots.Check(std::ssize(parts)));
    Arrays sent;
    for (size_t k = 0; k < roots.operands(); ++k) sent.push_back(parts[roots.Of(k)][k]);
    return std::vector<Arrays>(targets.size(), sent);
  };
  return rules;
}

}  // namespace

Result<Value> BeginCollectiveBroadcast(Call& call) {
  Arrays arrays = TakeArrays(call);
  const Roots roots(call.hlo, arrays);
  Combine local = [&](std::vector<Arrays> contributions) -> Result<std::vector<Arrays>> {
    SHOAL_TRY(roots.Check(std::ssize(contributions)));
    Arrays sent;
    for (size_t k = 0; k < roots.operands(); ++k) sent.push_back(contributions[roots.Of(k)][k]);
    return std::vector<Arrays>(contributions.size(), sent);
  };
  return BeginInGroup(
      call, std::move(arrays), roots.operands(),
      [&](int64_t n, int64_t position, int64_t payload) {
        return DirectBytes(call.hlo.opcode, {n, payload, roots.BytesAt(position), position});
      },
      {std::move(local), [roots] { return NewPartExchange(BroadcastRules(roots)); }});
}

}  // namespace shoal::internal
