// Collectives that only move elements: all-gather, all-to-all, ragged-all-to-all, collective-broadcast.
#include <algorithm>
#include <cstring>

#include "collectives/wire_bytes.h"
#include "interp/control/collective.h"
#include "kernels/strided.h"

namespace shoal {

Array PartOf(const Array& array, int64_t dim, int64_t start, int64_t size) {
  Dims sizes = ToDims(array.dims());
  sizes[static_cast<size_t>(dim)] = size;
  Dims strides = RowMajorStrides(array.dims());
  const int64_t offset = start * strides[static_cast<size_t>(dim)];
  return Gathered(array, std::move(sizes), {offset, std::move(strides)});
}

namespace {

// Puts `part` into `whole` from `start` on along one dimension.
void Place(const Array& part, int64_t dim, int64_t start, Array& whole) {
  Dims strides = RowMajorStrides(whole.dims());
  const int64_t offset = start * strides[static_cast<size_t>(dim)];
  CopyStrided(part.dims(), part.element_bytes(), whole.mutable_data(), {offset, std::move(strides)}, part.data(),
              {0, RowMajorStrides(part.dims())});
}

// Operand k of all members, one after the other along a dimension. Only in that one may they differ.
Result<Array> Joined(const Instruction& hlo, const std::vector<Arrays>& contributions, size_t k, int64_t dim) {
  const Array& first = contributions[0][k];
  if (contributions.size() == 1) return first;
  Dims dims = ToDims(first.dims());
  dims[static_cast<size_t>(dim)] = 0;
  for (const Arrays& contribution : contributions) {
    const Array& part = contribution[k];
    for (int64_t d = 0; d < part.rank(); ++d)
      if (d != dim && part.dim(d) != first.dim(d))
        return Stopped(hlo, StrCat("devices come with arrays that cannot be joined along dimension ", dim, ": ",
                                   ToString(first), " and ", ToString(part)));
    dims[static_cast<size_t>(dim)] += part.dim(dim);
  }
  Array joined(first.type(), std::move(dims));
  int64_t start = 0;
  for (const Arrays& contribution : contributions) {
    Place(contribution[k], dim, start, joined);
    start += contribution[k].dim(dim);
  }
  return joined;
}

// Part i of each member, for member i.
Result<std::vector<Arrays>> Exchanged(const Instruction& hlo, const std::vector<Arrays>& contributions, int64_t dim) {
  const auto n = std::ssize(contributions);
  const Array& first = contributions[0][0];
  if (first.dim(dim) % n != 0)
    return Stopped(hlo, StrCat("dimension ", dim, " of ", ToString(first), " cannot be split among ", n, " devices"));
  for (const Arrays& contribution : contributions)
    if (!std::ranges::equal(contribution[0].dims(), first.dims()))
      return Stopped(hlo, StrCat("devices come with arrays of different sizes: ", ToString(first), " and ",
                                 ToString(contribution[0])));
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

// Slice i that a source sends to a target: operands 2 to 4 of the source say where it lies, how many rows it has and
// where it goes; operand 5 of the target how many rows come.
class RaggedExchange {
 public:
  RaggedExchange(const Instruction& hlo, const DeviceGroup& group, std::vector<Arrays> contributions)
      : hlo_(hlo), group_(group), contributions_(std::move(contributions)), n_(std::ssize(group)) {}

  Result<std::vector<Arrays>> Run() {
    const int64_t all = contributions_[0][2].count();
    if (all % n_ != 0)
      return Stopped(hlo_, StrCat("there must be as many offsets for each of ", n_, " devices, got ", all));
    for (const Arrays& member : contributions_)
      for (size_t k = 2; k < member.size(); ++k)
        if (member[k].count() != all)
          return Stopped(hlo_, StrCat("there must be as many offsets as sizes, got ", all, " and ", member[k].count()));
    slices_ = all / n_;
    std::vector<Arrays> results;
    for (int64_t target = 0; target < n_; ++target) results.push_back({std::move(Member(target)[1])});
    for (int64_t source = 0; source < n_; ++source)
      for (int64_t target = 0; target < n_; ++target)
        for (int64_t i = 0; i < slices_; ++i)
          SHOAL_TRY(Move(source, target, i, results[static_cast<size_t>(target)][0]));
    return results;
  }

 private:
  Arrays& Member(int64_t i) { return contributions_[static_cast<size_t>(i)]; }

  Status Move(int64_t source, int64_t target, int64_t i, Array& out) {
    const Arrays& sender = Member(source);
    const int64_t there = target * slices_ + i, here = source * slices_ + i;
    const int64_t from = IntAt(sender[2], there), rows = IntAt(sender[3], there), to = IntAt(sender[4], there);
    const int64_t expected = IntAt(Member(target)[5], here);
    const Array& in = sender[0];
    auto fits = [&](const Array& array, int64_t start) {
      return start >= 0 && rows >= 0 && rows <= array.dim(0) && start <= array.dim(0) - rows;
    };
    if (rows != expected)
      return Stopped(hlo_, StrCat("device ", Device(source), " sends ", rows, " rows to device ", Device(target),
                                  ", which expects ", expected));
    if (rows == 0) return {};
    if (!fits(in, from) || !fits(out, to))
      return Stopped(hlo_, StrCat("device ", Device(source), " sends rows ", from, " to ", from + rows - 1, " of ",
                                  ToString(in), " to row ", to, " of ", ToString(out), " on device ", Device(target)));
    const int64_t row = in.dim(0) == 0 ? 0 : in.bytes() / in.dim(0);
    if (out.dim(0) == 0 || out.bytes() / out.dim(0) != row)
      return Stopped(hlo_, StrCat("rows of ", ToString(in), " do not fit into ", ToString(out)));
    std::memcpy(out.mutable_data() + to * row, in.data() + from * row, static_cast<size_t>(rows * row));
    return {};
  }

  int64_t Device(int64_t position) const { return group_[static_cast<size_t>(position)]; }

  const Instruction& hlo_;
  const DeviceGroup& group_;
  std::vector<Arrays> contributions_;
  int64_t n_, slices_ = 0;
};

// A device that is alone gathers from nobody: XLA leaves the rest of the declared shape zero, and so do we, but say so.
Array PaddedAlone(Array array, Call& call, size_t k) {
  const Shape& all = ResultShape(call.hlo);
  const Shape& shape = all.IsTuple() && k < all.elements().size() ? all.element(static_cast<int64_t>(k)) : all;
  if (call.device.grid().count() != 1 || !shape.IsArray() || shape.has_dynamic()) return array;
  if (shape.rank() != array.rank() || shape.ElementCount().value_or(0) <= array.count()) return array;
  if (!LiesWithin(*shape.ElementCount(), array.dims(), {0, RowMajorStrides(shape.dims())})) return array;
  call.device.padded_gathers.insert(&call.hlo);
  Array longer = Array::Zeros(array.type(), shape.dims());
  CopyStrided(array.dims(), array.element_bytes(), longer.mutable_data(), {0, RowMajorStrides(longer.dims())},
              array.data(), {0, RowMajorStrides(array.dims())});
  return longer;
}

}  // namespace

Result<Value> BeginAllGather(Call& call) {
  const int64_t dim = call.hlo[kDimensions][0];
  return BeginInGroup(call, TakeArrays(call),
                      [&, dim](std::vector<Arrays> contributions) -> Result<std::vector<Arrays>> {
                        Arrays joined;
                        for (size_t k = 0; k < contributions[0].size(); ++k) {
                          SHOAL_ASSIGN(array, Joined(call.hlo, contributions, k, dim));
                          joined.push_back(PaddedAlone(std::move(array), call, k));
                        }
                        return std::vector<Arrays>(contributions.size(), joined);
                      });
}

Result<Value> BeginAllToAll(Call& call) {
  return BeginInGroup(call, TakeArrays(call), [&](std::vector<Arrays> contributions) -> Result<std::vector<Arrays>> {
    if (call.hlo.has(kDimensions)) return Exchanged(call.hlo, contributions, call.hlo[kDimensions][0]);
    const size_t n = contributions.size();
    if (contributions[0].size() != n)
      return Stopped(call.hlo,
                     StrCat("there must be an operand for each of ", n, " devices, got ", contributions[0].size()));
    std::vector<Arrays> results(n);
    for (size_t i = 0; i < n; ++i)
      for (size_t j = 0; j < n; ++j) results[i].push_back(std::move(contributions[j][i]));
    return results;
  });
}

Result<Value> BeginRaggedAllToAll(Call& call) {
  SHOAL_ASSIGN(groups, call.device.world().GroupsOf(call.hlo));
  const Groups::Member member = groups->members[static_cast<size_t>(call.device.id())];
  const DeviceGroup& group = groups->all[static_cast<size_t>(member.group)];
  Arrays arrays = TakeArrays(call);
  const Array sizes = arrays[5];
  const int64_t row = arrays[0].bytes() / std::max<int64_t>(arrays[0].dim(0), 1);
  return BeginInGroup(
      call, std::move(arrays), 1,
      [&](int64_t n, int64_t position, int64_t) {
        int64_t rows = 0;
        for (int64_t i = 0; i < sizes.count(); ++i)
          if (i / std::max<int64_t>(sizes.count() / n, 1) != position) rows += IntAt(sizes, i);
        return rows * row;
      },
      [&](std::vector<Arrays> contributions) {
        return RaggedExchange(call.hlo, group, std::move(contributions)).Run();
      });
}

Roots::Roots(const Instruction& hlo, const Arrays& arrays) : hlo_(hlo) {
  const bool dynamic = hlo[kHasDynamicRoot];
  const size_t count = arrays.size() - (dynamic ? 1 : 0);
  for (size_t k = 0; k < count; ++k) {
    bytes_.push_back(arrays[k].bytes());
    roots_.push_back(dynamic ? IntAt(arrays.back(), static_cast<int64_t>(k)) : 0);
  }
}

int64_t Roots::BytesAt(int64_t position) const {
  int64_t bytes = 0;
  for (size_t k = 0; k < roots_.size(); ++k)
    if (roots_[k] == position) bytes += bytes_[k];
  return bytes;
}

Status Roots::Check(int64_t members) const {
  for (int64_t root : roots_)
    if (root < 0 || root >= members)
      return Stopped(hlo_, StrCat("the root must lie in [0, ", members, "), got ", root));
  return {};
}

Result<Value> BeginCollectiveBroadcast(Call& call) {
  Arrays arrays = TakeArrays(call);
  const Roots roots(call.hlo, arrays);
  return BeginInGroup(
      call, std::move(arrays), roots.operands(),
      [&](int64_t n, int64_t position, int64_t payload) {
        return DirectBytes(call.hlo.opcode, {n, payload, roots.BytesAt(position), position});
      },
      [&](std::vector<Arrays> contributions) -> Result<std::vector<Arrays>> {
        SHOAL_TRY(roots.Check(std::ssize(contributions)));
        Arrays sent;
        for (size_t k = 0; k < roots.operands(); ++k) sent.push_back(contributions[roots.Of(k)][k]);
        return std::vector<Arrays>(contributions.size(), sent);
      });
}

}  // namespace shoal
