#include "execute/collectives/small_message_collective.h"

#include <algorithm>
#include <cstring>

#include "analyze/facts/chain.h"
#include "analyze/facts/wire_bytes.h"
#include "core/ops/attrs.h"
#include "execute/collectives/unmetered.h"

namespace shoal::internal {
namespace {

// Appends the type of the shape. Returns false unless the shape is an array of static size.
bool AddStatic(const Shape& shape, ArrayTypes& types) {
  if (!shape.IsArray() || shape.has_dynamic()) return false;
  types.push_back({shape.element_type(), ToDims(shape.dims())});
  return true;
}

std::string_view BytesOf(const Array& array) {
  return {reinterpret_cast<const char*>(array.data()), static_cast<size_t>(array.bytes())};
}

}  // namespace

// Computes the types of parts and results. Returns false if the parts are not contiguous in memory.
bool SmallMessageCollective::SetTypes(int64_t members) {
  parts_ = results_ = operands_;
  if (traits_.folds && !traits_.splits) return true;
  if (operands_.size() != 1 || !hlo_.has(kDimensions)) return false;
  const auto dim = static_cast<size_t>(hlo_[kDimensions][0]);
  const Dims& dims = operands_[0].dims;
  if (dim >= dims.size() || ElementCount(AsInts(dims).first(dim)) != 1) return false;
  if (traits_.splits) {
    if (dims[dim] % members != 0) return false;
    parts_[0].dims[dim] /= members;
    if (traits_.folds) results_ = parts_;
  } else {
    results_[0].dims[dim] *= members;
  }
  return true;
}

std::shared_ptr<SmallMessageCollective> SmallMessageCollective::New(CollectiveRuntime& runtime, const Instruction& hlo,
                                                                    int64_t device, const SmallCollectiveTraits& traits,
                                                                    FoldPtr fold) {
  const int64_t payload = PayloadOf(hlo);
  if (payload > kSmallMessageBytes || payload == 0 || ChainOf(hlo) || (traits.folds && fold == nullptr)) return nullptr;
  const Result<const Groups*> groups = runtime.GroupsOf(hlo);
  if (!groups.ok()) return nullptr;
  const Groups::Member member = (*groups)->members[static_cast<size_t>(device)];
  if (member.group < 0) return nullptr;
  Rendezvous& rendezvous = *(*groups)->rendezvous[static_cast<size_t>(member.group)];
  const auto members = std::ssize((*groups)->all[static_cast<size_t>(member.group)]);

  std::shared_ptr<SmallMessageCollective> small(
      new SmallMessageCollective(runtime, hlo, device, traits, std::move(fold)));
  for (const Instruction* operand : hlo.operands)
    if (!AddStatic(operand->shape(), small->operands_)) return nullptr;
  ArrayTypes declared;
  const Shape& result = hlo.shape();
  for (const Shape* each : result.IsTuple() ? result.elements() : std::span<const Shape* const>())
    if (!AddStatic(*each, declared)) return nullptr;
  if (!result.IsTuple() && !AddStatic(result, declared)) return nullptr;
  if (!small->SetTypes(members) || small->results_ != declared) return nullptr;
  small->fast_ = runtime.NewFastRendezvous(hlo, rendezvous, member.rank, small->operands_, small->parts_);
  if (small->fast_ == nullptr) return nullptr;

  const GroupLayout& layout = small->fast_->layout();
  small->process_of_.resize(layout.count);
  for (size_t p = 0; p < layout.ranks.size(); ++p) small->process_of_[layout.members[p][0]] = p;
  small->outgoing_.resize(layout.ranks.size());
  small->traffic_ = {1, payload, DirectBytes(KindOf(hlo.opcode), {members, payload, 0, member.rank})};
  return small;
}

// The part of this device's operands that a member receives.
std::string_view SmallMessageCollective::PartTo(std::span<const Value> operands, size_t member) const {
  if (operands_.size() > 1) return packed_;
  const std::string_view all = BytesOf(operands[0].array());
  if (!traits_.splits) return all;
  const size_t part = all.size() / process_of_.size();
  return all.substr(member * part, part);
}

// The part of a member's operands that this device receives.
std::string_view SmallMessageCollective::PartFrom(std::span<const Value> operands, size_t member) const {
  return member == fast_->rank() ? PartTo(operands, member) : fast_->part(process_of_[member]);
}

bool SmallMessageCollective::TryStart(std::span<const Value> operands) {
  if (operands_.size() > 1) {
    packed_.clear();
    for (const Value& operand : operands) packed_.append(BytesOf(operand.array()));
  }
  for (size_t i = 0; i < process_of_.size(); ++i) outgoing_[process_of_[i]] = PartTo(operands, i);
  return runtime_.TryFastRendezvous(*fast_, outgoing_);
}

Result<Value> SmallMessageCollective::Take(std::span<Value> operands) {
  runtime_.Count(device_, hlo_.opcode, traffic_);
  ResultArrays results;
  {
    const ScopedUnmeteredThread unmetered;
    if (!traits_.folds) results.push_back(Concatenate(operands));
    else if (!FoldSameType(operands, results)) SHOAL_TRY(Fold(operands, results));
  }
  // As within one process, releases the operands and makes arrays with other owners read-only.
  for (Value& operand : operands) {
    if (!operand.array().unique()) operand.array().Freeze();
    operand = Value();
  }
  for (Array& array : results) {
    array.ChargeTo(Buffer::MeterOfThisThread());
    if (traits_.shares) array.Freeze();
  }
  if (!hlo_.shape().IsTuple()) return Value(std::move(results[0]));
  return Value::Tuple({std::make_move_iterator(results.begin()), std::make_move_iterator(results.end())});
}

Array SmallMessageCollective::Concatenate(std::span<const Value> operands) const {
  Array whole(results_[0].type, results_[0].dims);
  std::byte* to = whole.mutable_data();
  const auto size = static_cast<size_t>(whole.bytes()) / process_of_.size();
  for (size_t member = 0; member < process_of_.size(); ++member) {
    const std::string_view part = PartFrom(operands, member);
    std::memcpy(to + member * size, part.data(), std::min(size, part.size()));
  }
  return whole;
}

// Folds the received bytes without converting them to arrays. Returns false if OrderedFold::FoldSameType does.
bool SmallMessageCollective::FoldSameType(std::span<const Value> operands, ResultArrays& sums) const {
  size_t offset = 0;  // offset of the operand's bytes in each member's part
  for (size_t k = 0; k < parts_.size(); ++k) {
    Array& sum = sums.emplace_back(parts_[k].type, parts_[k].dims);
    std::byte* out = sum.mutable_data();
    const auto bytes_of = [&](size_t member) {
      return reinterpret_cast<const std::byte*>(PartFrom(operands, member).data()) + offset;
    };
    for (size_t member = 1; member < process_of_.size(); ++member)
      if (!fold_->FoldSameType(k, out, member == 1 ? bytes_of(0) : out, bytes_of(member), sum.count())) return false;
    offset += static_cast<size_t>(sum.bytes());
  }
  return true;
}

// Converts the parts to arrays and folds them in rank order.
Status SmallMessageCollective::Fold(std::span<const Value> operands, ResultArrays& sums) const {
  Arrays sum;
  for (size_t member = 0; member < process_of_.size(); ++member) {
    Arrays next;
    std::string_view bytes = PartFrom(operands, member);
    for (size_t k = 0; k < parts_.size(); ++k) {
      if (member == fast_->rank() && !traits_.splits) {
        next.push_back(operands[k].array());
        continue;
      }
      Array& array = next.emplace_back(parts_[k].type, parts_[k].dims);
      const auto size = std::min(static_cast<size_t>(array.bytes()), bytes.size());
      if (size > 0) std::memcpy(array.mutable_data(), bytes.data(), size);
      bytes.remove_prefix(size);
    }
    SHOAL_TRY(fold_->Add(sum, std::move(next)));
  }
  Arrays finished = fold_->Finish(std::move(sum));
  sums.assign(std::make_move_iterator(finished.begin()), std::make_move_iterator(finished.end()));
  return {};
}

}  // namespace shoal::internal
