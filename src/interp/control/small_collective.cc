#include "interp/control/small_collective.h"

#include <algorithm>
#include <cstring>

#include "collectives/small_meeting.h"
#include "collectives/unmetered.h"
#include "collectives/wire_bytes.h"
#include "interp/control/operand_fold.h"
#include "interp/declared_shape.h"

namespace shoal {
namespace {

struct Rule {
  Opcode kind;
  bool folds;   // else the parts lie side by side in the result
  bool cuts;    // each member gets a part of the operand, else all get all operands
  bool shares;  // in one process all members have the same result
};
constexpr Rule kRules[] = {
    {Opcode::kAllGather, false, false, true},
    {Opcode::kAllReduce, true, false, true},
    {Opcode::kAllToAll, false, true, false},
    {Opcode::kReduceScatter, true, true, false},
};

const Rule* RuleOf(const Instruction& hlo) {
  auto it = std::find_if(std::begin(kRules), std::end(kRules), [&](const Rule& rule) { return rule.kind == hlo.opcode; });
  return it == std::end(kRules) ? nullptr : it;
}

// Of arrays whose sizes do not change from one time to the next.
std::optional<ArrayTypes> StaticTypes(std::span<const Shape* const> shapes) {
  ArrayTypes types;
  for (const Shape* shape : shapes) {
    if (!shape->IsArray() || shape->has_dynamic()) return std::nullopt;
    types.push_back({shape->element_type(), ToDims(shape->dims())});
  }
  return types;
}

bool AreEqual(const ArrayTypes& a, const ArrayTypes& b) {
  return std::ranges::equal(a, b, [](const ArrayType& x, const ArrayType& y) { return x.type == y.type && x.dims == y.dims; });
}

std::string_view BytesOf(const Array& array) {
  return {reinterpret_cast<const char*>(array.data()), static_cast<size_t>(array.bytes())};
}

}  // namespace

class SmallCollective {
 public:
  // Null if the instruction is none, or does not declare what it gives: the general way says so.
  static std::shared_ptr<SmallCollective> New(const Call& call);

  bool Meet(const Call& call);
  // When all have come.
  Result<Value> Take(Call& call);

 private:
  bool Divide(const Instruction& hlo, int64_t n);
  std::string_view PartFor(const Call& call, size_t member) const;
  Result<Arrays> Fold(Call& call) const;
  Arrays SideBySide(const Call& call) const;
  size_t process_of(size_t member) const { return process_of_[member]; }

  const Rule* rule_ = nullptr;
  ArrayTypes operands_, parts_, results_;
  std::unique_ptr<SmallMeeting> meeting_;
  std::vector<size_t> process_of_;        // of each member
  std::vector<std::string_view> to_;      // by process: what it is sent
  std::string packed_;                    // of several operands
  FoldPtr fold_;
  Traffic traffic_;
};

// The types of parts and results; false if they cannot be sent and received as they lie in memory.
bool SmallCollective::Divide(const Instruction& hlo, int64_t n) {
  parts_ = results_ = operands_;
  if (rule_->shares && rule_->folds) return true;
  if (operands_.size() != 1 || !hlo.has(kDimensions)) return false;
  const auto dim = static_cast<size_t>(hlo[kDimensions][0]);
  const Dims& dims = operands_[0].dims;
  if (dim >= dims.size() || ElementCount(AsInts(dims).first(dim)) != 1) return false;
  if (rule_->cuts) {
    if (dims[dim] % n != 0) return false;
    parts_[0].dims[dim] /= n;
    if (rule_->folds) results_ = parts_;
  } else {
    results_[0].dims[dim] *= n;
  }
  return true;
}

std::shared_ptr<SmallCollective> SmallCollective::New(const Call& call) {
  const Instruction& hlo = call.hlo;
  auto small = std::make_shared<SmallCollective>();
  small->rule_ = RuleOf(hlo);
  if (small->rule_ == nullptr || PayloadOf(hlo) > kFewBytes || PayloadOf(hlo) == 0 || ChainOf(hlo)) return nullptr;
  const bool folds = small->rule_->folds;
  if (folds && (!FoldsTwo(hlo).ok() || FastOpOf(call, hlo.operand_count()))) return nullptr;

  const Result<const Groups*> groups = call.device.world().GroupsOf(hlo);
  if (!groups.ok()) return nullptr;
  const Groups::Member member = (*groups)->members[static_cast<size_t>(call.device.id())];
  if (member.group < 0) return nullptr;
  Rendezvous& rendezvous = *(*groups)->rendezvous[static_cast<size_t>(member.group)];
  const auto n = std::ssize((*groups)->all[static_cast<size_t>(member.group)]);

  std::vector<const Shape*> shapes;
  for (const Instruction* operand : hlo.operands) shapes.push_back(&operand->shape());
  const auto leaves = LeafShapes(ResultShape(hlo));
  const std::optional<ArrayTypes> operands = StaticTypes(shapes), declared = StaticTypes(leaves);
  if (!operands || !declared) return nullptr;
  small->operands_ = *operands;
  if (!small->Divide(hlo, n) || !AreEqual(small->results_, *declared)) return nullptr;
  small->meeting_ = call.device.world().NewSmallMeeting(hlo, rendezvous, member.rank, small->operands_, small->parts_);
  if (small->meeting_ == nullptr) return nullptr;

  const GroupLayout& layout = small->meeting_->layout();
  small->process_of_.resize(layout.count);
  for (size_t p = 0; p < layout.ranks.size(); ++p) small->process_of_[layout.members[p][0]] = p;
  small->to_.resize(layout.ranks.size());
  if (folds) small->fold_ = FoldHere(call, hlo.operand_count());
  const int64_t payload = PayloadOf(hlo);
  small->traffic_ = {1, payload, DirectBytes(hlo.opcode, {n, payload, 0, member.rank})};
  return small;
}

std::string_view SmallCollective::PartFor(const Call& call, size_t member) const {
  if (operands_.size() > 1) return packed_;
  const std::string_view all = BytesOf(call.array(0));
  if (!rule_->cuts) return all;
  const size_t part = all.size() / process_of_.size();
  return all.substr(member * part, part);
}

bool SmallCollective::Meet(const Call& call) {
  if (operands_.size() > 1) {
    packed_.clear();
    for (size_t k = 0; k < operands_.size(); ++k) packed_.append(BytesOf(call.array(k)));
  }
  for (size_t member = 0; member < process_of_.size(); ++member) to_[process_of(member)] = PartFor(call, member);
  return call.device.world().MeetSoon(*meeting_, to_);
}

Result<Value> SmallCollective::Take(Call& call) {
  call.device.world().Count(call.device.id(), call.hlo.opcode, traffic_);
  Arrays arrays;
  {
    const UnmeteredThread unmetered;
    if (rule_->folds) {
      SHOAL_ASSIGN(sums, Fold(call));
      arrays = std::move(sums);
    } else {
      arrays = SideBySide(call);
    }
  }
  // As in one process: the operands are gone, what others hold too is not written any more.
  for (Value& operand : call.operands) {
    if (!operand.IsArray()) continue;
    if (!operand.array().unique()) operand.array().Fix();
    operand = Value();
  }
  for (Array& array : arrays) {
    if (rule_->shares) array.Fix();
    array.CountFor(Buffer::MeterOfThisThread());
  }
  return FromArrays(ResultShape(call.hlo), std::move(arrays));
}

Arrays SmallCollective::SideBySide(const Call& call) const {
  Array whole(results_[0].type, results_[0].dims);
  std::byte* to = whole.mutable_data();
  for (size_t member = 0; member < process_of_.size(); ++member) {
    const std::string_view part =
        member == meeting_->rank() ? PartFor(call, member) : meeting_->part(process_of(member));
    const auto size = static_cast<size_t>(whole.bytes()) / process_of_.size();
    std::memcpy(to + member * size, part.data(), std::min(size, part.size()));
  }
  return {std::move(whole)};
}

// In the order of the members.
Result<Arrays> SmallCollective::Fold(Call& call) const {
  Arrays sum;
  for (size_t member = 0; member < process_of_.size(); ++member) {
    Arrays next;
    std::string_view bytes = member == meeting_->rank() ? PartFor(call, member) : meeting_->part(process_of(member));
    for (size_t k = 0; k < parts_.size(); ++k) {
      if (member == meeting_->rank() && !rule_->cuts) {
        next.push_back(call.array(k));
        continue;
      }
      Array& array = next.emplace_back(parts_[k].type, parts_[k].dims);
      const auto size = std::min(static_cast<size_t>(array.bytes()), bytes.size());
      if (size > 0) std::memcpy(array.mutable_data(), bytes.data(), size);
      bytes.remove_prefix(size);
    }
    SHOAL_TRY(fold_->Add(sum, std::move(next)));
  }
  return fold_->Finish(std::move(sum));
}

SmallCollective* MeetSoon(const Call& call) {
  if (call.device.polling_device == nullptr) return nullptr;  // there are no other processes
  const auto [found, is_new] = call.device.small_collectives.try_emplace(&call.hlo);
  if (is_new) found->second = SmallCollective::New(call);
  SmallCollective* small = found->second.get();
  return small != nullptr && small->Meet(call) ? small : nullptr;
}

Result<Value> TakeResult(SmallCollective& met, Call& call) { return met.Take(call); }

}  // namespace shoal
