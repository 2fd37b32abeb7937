#include <algorithm>
#include <cstring>
#include <utility>

#include "core/base/strings.h"
#include "execute/collectives/exchange.h"

namespace shoal::internal {
namespace {

void CopyInPieces(std::byte* to, std::span<const std::byte> from, const std::function<void()>& advance) {
  constexpr size_t kPiece = size_t{64} << 10;
  for (size_t at = 0; at < from.size(); at += kPiece) {
    if (at > 0) advance();
    std::memcpy(to + at, from.data() + at, std::min(kPiece, from.size() - at));
  }
}

class PartExchange : public Exchange {
 public:
  explicit PartExchange(PartRules rules) : rules_(std::move(rules)) {}

  void Begin(const GroupLayout& layout, std::vector<Arrays> contributions) override {
    layout_ = &layout;
    contributions_ = std::move(contributions);
    parts_.resize(layout.count);
  }

  Result<std::vector<Block>> OutgoingBlocks(int, size_t process) override {
    std::vector<Block> blocks;
    for (size_t source : layout_->local()) {
      SHOAL_ASSIGN(parts, rules_.cut(source, contributions_[source], layout_->members[process]));
      for (Array& part : parts) blocks.push_back(WholeBlock(std::move(part)));
    }
    return blocks;
  }

  bool CanPrepost(const ArrayTypes& each) override {
    if (!std::exchange(is_presumed_, true)) MakeWholes(std::vector<ArrayTypes>(layout_->count, each));
    return true;
  }

  Status OnTypesAgreed(const std::vector<ArrayTypes>& contributions) override {
    types_ = &contributions;
    if (!is_presumed_) MakeWholes(contributions);
    else if (is_whole_ && !rules_.side_by_side(contributions, layout_->local())) LeaveWholes();
    return {};
  }

  Status OverlapWork(const std::function<void()>& advance) override {
    for (size_t source : layout_->local()) {
      SHOAL_ASSIGN(parts, rules_.cut(source, contributions_[source], layout_->local()));
      if (!is_whole_) {
        parts_[source] = std::move(parts);
        continue;
      }
      for (size_t p = 0; p < parts.size(); ++p)
        CopyInPieces(PlaceOf(source, p).data(), {parts[p].data(), static_cast<size_t>(parts[p].bytes())}, advance);
    }
    return {};
  }

  Result<std::vector<std::span<std::byte>>> IncomingBuffers(int, size_t process, const ArrayTypes& blocks) override {
    const std::vector<size_t>& sources = layout_->members[process];
    const size_t each = blocks.size() / sources.size();
    std::vector<std::span<std::byte>> places;
    for (size_t i = 0; i < blocks.size(); ++i) {
      if (is_whole_) {
        places.push_back(PlaceOf(sources[i / each], i % each));
        placed_[sources[i / each]].push_back(blocks[i]);
        continue;
      }
      Array& part = parts_[sources[i / each]].emplace_back(blocks[i].type, AsInts(blocks[i].dims));
      places.emplace_back(part.mutable_data(), static_cast<size_t>(part.bytes()));
    }
    return places;
  }

  Status OnRoundReceived(int) override { return {}; }

  Result<std::vector<Arrays>> Finish() override {
    if (is_whole_) return Wholes();
    SHOAL_ASSIGN(joined, rules_.join(std::move(parts_), *types_, layout_->local()));
    std::vector<Arrays> results(layout_->count);
    for (size_t i = 0; i < joined.size(); ++i) results[layout_->local()[i]] = std::move(joined[i]);
    FixIfShared(results);
    return results;
  }

 private:
  // The results, where the parts are received right into them.
  void MakeWholes(const std::vector<ArrayTypes>& contributions) {
    if (!rules_.side_by_side) return;
    const std::optional<ArrayTypes> types = rules_.side_by_side(contributions, layout_->local());
    if (!types) return;
    is_whole_ = true;
    placed_.resize(layout_->count);
    for (const ArrayType& type : *types) {
      wholes_.emplace_back(type.type, AsInts(type.dims));
      data_.push_back(wholes_.back().mutable_data());  // once: later it may be held by others
    }
  }

  // Not all are alike after all: what was received there is joined with the rest, which copies it.
  void LeaveWholes() {
    is_whole_ = false;
    for (size_t source = 0; source < placed_.size(); ++source) {
      for (size_t part = 0; part < placed_[source].size(); ++part) {
        const std::span<std::byte> place = PlaceOf(source, part);
        const ArrayType& type = placed_[source][part];
        parts_[source].emplace_back(type.type, type.dims, Buffer::Borrow(place.data(), place.size()));
      }
    }
  }

  std::span<std::byte> PlaceOf(size_t source, size_t part) const {
    const auto bytes = static_cast<size_t>(wholes_[part].bytes()) / layout_->count;
    return {data_[part] + source * bytes, bytes};
  }

  std::vector<Arrays> Wholes() {
    std::vector<Arrays> results(layout_->count);
    for (size_t i = 0; i < layout_->local().size(); ++i)
      results[layout_->local()[i]] = rules_.one_each ? Arrays{wholes_[i]} : wholes_;
    wholes_.clear();
    FixIfShared(results);
    return results;
  }

  void FixIfShared(std::vector<Arrays>& results) const {
    if (!rules_.is_shared) return;
    for (Arrays& each : results)
      for (Array& array : each) array.Freeze();
  }

  const PartRules rules_;
  const GroupLayout* layout_ = nullptr;
  std::vector<Arrays> contributions_, parts_;  // by member
  const std::vector<ArrayTypes>* types_ = nullptr;
  bool is_presumed_ = false, is_whole_ = false;
  Arrays wholes_;
  std::vector<ArrayTypes> placed_;  // by member: the parts that were received there
  std::vector<std::byte*> data_;
};

}  // namespace

std::string ToString(const ArrayType& type) { return StrCat(Text(type.type), "[", StrJoin(type.dims, ","), "]"); }

Block WholeBlock(Array array) {
  const int64_t bytes = array.bytes();
  return {std::move(array), 0, bytes};
}

std::unique_ptr<Exchange> NewPartExchange(PartRules rules) { return std::make_unique<PartExchange>(std::move(rules)); }

bool AreContiguousParts(const std::vector<ArrayTypes>& contributions, size_t operand, int64_t dim) {
  const Dims& dims = contributions[0][operand].dims;
  if (ElementCount(AsInts(dims).first(static_cast<size_t>(dim))) != 1) return false;
  return std::all_of(contributions.begin(), contributions.end(),
                     [&](const ArrayTypes& each) { return each[operand].dims == dims; });
}


PartRules GatherRules(Combine combine) {
  PartRules rules;
  rules.is_shared = true;
  rules.cut = [](size_t, const Arrays& contribution, PartRules::Targets) -> Result<Arrays> { return contribution; };
  rules.join = [combine = std::move(combine)](std::vector<Arrays> parts, const std::vector<ArrayTypes>&,
                                              PartRules::Targets targets) -> Result<std::vector<Arrays>> {
    SHOAL_ASSIGN(all, combine(std::move(parts)));
    std::vector<Arrays> results;
    for (size_t target : targets) results.push_back(std::move(all[target]));
    return results;
  };
  return rules;
}

}  // namespace shoal::internal
