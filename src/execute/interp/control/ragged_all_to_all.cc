// ragged-all-to-all: each member sends slices with different numbers of rows to each member.
#include <algorithm>
#include <cstring>

#include "core/ir/sizes.h"
#include "execute/interp/control/device_collective.h"

namespace shoal::internal {
namespace {

// Slice i from a source to a target. In the source, operands 2 to 4 contain its input offset, row count and output
// offset. In the target, operand 5 contains the expected row count.
class RaggedExchange {
 public:
  RaggedExchange(const Instruction& hlo, const DeviceGroup& group, std::vector<Arrays> contributions)
      : hlo_(hlo), group_(group), contributions_(std::move(contributions)), n_(std::ssize(group)) {
    for (const Arrays& member : contributions_) {
      types_.emplace_back();
      for (const Array& array : member) types_.back().push_back({array.type(), ToDims(array.dims())});
    }
  }
  // Used across processes: operands 0 and 1 of remote members are absent, and `types` has their types.
  RaggedExchange(const Instruction& hlo, const DeviceGroup& group, std::vector<Arrays> contributions,
                 std::vector<ArrayTypes> types)
      : hlo_(hlo),
        group_(group),
        contributions_(std::move(contributions)),
        types_(std::move(types)),
        n_(std::ssize(group)) {}

  Result<std::vector<Arrays>> Run() {
    SHOAL_TRY(Check());
    std::vector<Arrays> results;
    for (int64_t target = 0; target < n_; ++target) results.push_back({std::move(Member(target)[1])});
    for (int64_t source = 0; source < n_; ++source)
      for (int64_t target = 0; target < n_; ++target)
        for (int64_t i = 0; i < slices_; ++i)
          Move(Member(source)[0], SliceOf(source, target, i), results[static_cast<size_t>(target)][0]);
    return results;
  }

  Status Check() {
    const int64_t all = Member(0)[2].count();
    if (all % n_ != 0)
      return ExecutionError(hlo_, StrCat("the offset count must be a multiple of the group size ", n_, ", got ", all));
    for (const Arrays& member : contributions_)
      for (size_t k = 2; k < member.size(); ++k)
        if (member[k].count() != all)
          return ExecutionError(hlo_, StrCat("offset and size counts differ: ", all, " and ", member[k].count()));
    slices_ = all / n_;
    for (int64_t source = 0; source < n_; ++source)
      for (int64_t target = 0; target < n_; ++target)
        for (int64_t i = 0; i < slices_; ++i) SHOAL_TRY(CheckSlice(source, target, i));
    return {};
  }

  struct Slice {
    int64_t from = 0, rows = 0, to = 0;
  };
  Slice SliceOf(int64_t source, int64_t target, int64_t i) {
    const Arrays& sender = Member(source);
    const int64_t index = target * slices_ + i;
    return {IntAt(sender[2], index), IntAt(sender[3], index), IntAt(sender[4], index)};
  }
  int64_t slices() const { return slices_; }

  static void Move(const Array& in, const Slice& slice, Array& out) {
    if (slice.rows == 0) return;
    const int64_t row = out.bytes() / out.dim(0);
    std::memcpy(out.mutable_data() + slice.to * row, in.data() + slice.from * row, static_cast<size_t>(slice.rows * row));
  }
  static bool RowsFit(int64_t size, int64_t start, int64_t rows) {
    return start >= 0 && rows >= 0 && rows <= size && start <= size - rows;
  }

 private:
  Arrays& Member(int64_t i) { return contributions_[static_cast<size_t>(i)]; }

  Status CheckSlice(int64_t source, int64_t target, int64_t i) {
    const Slice slice = SliceOf(source, target, i);
    const int64_t expected = IntAt(Member(target)[5], source * slices_ + i);
    const ArrayType &in = types_[static_cast<size_t>(source)][0], &out = types_[static_cast<size_t>(target)][1];
    if (slice.rows != expected)
      return ExecutionError(hlo_, StrCat("device ", DeviceAt(source), " sends ", slice.rows, " rows to device ",
                                         DeviceAt(target), ", which expects ", expected));
    if (slice.rows == 0) return {};
    if (!RowsFit(in.dims[0], slice.from, slice.rows) || !RowsFit(out.dims[0], slice.to, slice.rows))
      return ExecutionError(hlo_, StrCat("device ", DeviceAt(source), " sends rows ", slice.from, " to ",
                                  slice.from + slice.rows - 1, " of ", ToString(in), " to row ", slice.to, " of ",
                                  ToString(out), " on device ", DeviceAt(target), ": out of bounds"));
    if (RowBytes(in) != RowBytes(out))
      return ExecutionError(hlo_, StrCat("rows of ", ToString(in), " and ", ToString(out), " must have the same size"));
    return {};
  }

  static int64_t RowBytes(const ArrayType& type) {
    return ElementCount(AsInts(type.dims).subspan(1)) * StorageBytes(type.type);
  }

  int64_t DeviceAt(int64_t position) const { return group_[static_cast<size_t>(position)]; }

  const Instruction& hlo_;
  const DeviceGroup& group_;
  std::vector<Arrays> contributions_;
  std::vector<ArrayTypes> types_;
  int64_t n_, slices_ = 0;
};

// Rules by which each process receives all offsets and sizes, its members' outputs, and the rows sent to its members.
PartRules RaggedRules(const Instruction& hlo, const DeviceGroup& group) {
  PartRules rules;
  rules.split = [&group](size_t source, const Arrays& contribution, PartRules::Targets targets) -> Result<Arrays> {
    const bool is_own = std::find(targets.begin(), targets.end(), source) != targets.end();
    Arrays parts{Array(contribution[0].type(), Dims{0}),
                 is_own ? contribution[1] : Array(contribution[1].type(), Dims{0})};
    parts.insert(parts.end(), contribution.begin() + 2, contribution.end());
    const int64_t slices = contribution[2].count() / std::ssize(group);
    for (size_t target : targets) {
      for (int64_t i = 0; i < slices; ++i) {
        const int64_t index = static_cast<int64_t>(target) * slices + i;
        const int64_t from = IntAt(contribution[2], index);
        // RaggedExchange::Check reports invalid sizes.
        int64_t rows = index < contribution[3].count() ? IntAt(contribution[3], index) : 0;
        if (!RaggedExchange::RowsFit(contribution[0].dim(0), from, rows)) rows = 0;
        parts.push_back(PartOrView(contribution[0], 0, rows == 0 ? 0 : from, rows));
      }
    }
    return parts;
  };
  rules.join = [&hlo, &group](std::vector<Arrays> parts, const std::vector<ArrayTypes>& types,
                              PartRules::Targets targets) -> Result<std::vector<Arrays>> {
    constexpr size_t kOperands = 6;
    std::vector<Arrays> operands, results;
    for (const Arrays& each : parts) operands.emplace_back(each.begin(), each.begin() + kOperands);
    RaggedExchange exchange(hlo, group, std::move(operands), types);
    SHOAL_TRY(exchange.Check());
    for (size_t t = 0; t < targets.size(); ++t) {
      Array out = std::move(parts[targets[t]][1]);
      for (size_t source = 0; source < parts.size(); ++source) {
        for (int64_t i = 0; i < exchange.slices(); ++i) {
          auto slice = exchange.SliceOf(static_cast<int64_t>(source), static_cast<int64_t>(targets[t]), i);
          slice.from = 0;
          const size_t at = kOperands + t * static_cast<size_t>(exchange.slices()) + static_cast<size_t>(i);
          RaggedExchange::Move(parts[source][at], slice, out);
        }
      }
      results.push_back({std::move(out)});
    }
    return results;
  };
  return rules;
}

}  // namespace

Result<Value> BeginRaggedAllToAll(Call& call) {
  SHOAL_ASSIGN(groups, call.device.world().GroupsOf(call.hlo));
  const Groups::Member member = groups->members[static_cast<size_t>(call.device.id())];
  const DeviceGroup& group = groups->all[static_cast<size_t>(member.group)];
  Arrays arrays = TakeArrays(call);
  const Array sizes = arrays[5];
  if (arrays[0].rank() == 0 || arrays[1].rank() == 0) return ExecutionError(call.hlo, "operands 0, 1 must have rows");
  const int64_t row = arrays[0].bytes() / std::max<int64_t>(arrays[0].dim(0), 1);
  return BeginInGroup(
      call, std::move(arrays), 1,
      [&](int64_t n, int64_t position, int64_t) {
        int64_t rows = 0;
        for (int64_t i = 0; i < sizes.count(); ++i)
          if (i / std::max<int64_t>(sizes.count() / n, 1) != position) rows = SaturatingAdd(rows, IntAt(sizes, i));
        return SaturatingMul(rows, row);
      },
      {Combine([&](std::vector<Arrays> contributions) {
         return RaggedExchange(call.hlo, group, std::move(contributions)).Run();
       }),
       [&hlo = call.hlo, &group] { return NewPartExchange(RaggedRules(hlo, group)); }});
}

}  // namespace shoal::internal
