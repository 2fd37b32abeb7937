#include <algorithm>
#include <cstring>
#include <utility>

#include "core/base/strings.h"
#include "execute/collectives/exchange.h"

namespace shoal::internal {
namespace {

void CopyInChunks(std::byte* to, std::span<const std::byte> from, const std::function<void()>& advance) {
  constexpr size_t kChunk = size_t{64} << 10;
  for (size_t offset = 0; offset < from.size(); offset += kChunk) {
    if (offset > 0) advance();
    std::memcpy(to + offset, from.data() + offset, std::min(kChunk, from.size() - offset));
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
      SHOAL_ASSIGN(parts, rules_.split(source, contributions_[source], layout_->members[process]));
      for (Array& part : parts) blocks.push_back(WholeBlock(std::move(part)));
    }
    return blocks;
  }

  bool CanPrepost(const ArrayTypes& contribution) override {
    if (!std::exchange(has_preposted_, true)) AllocateResults(std::vector<ArrayTypes>(layout_->count, contribution));
    return true;
  }

  Status OnTypesAgreed(const std::vector<ArrayTypes>& contributions) override {
    types_ = &contributions;
    if (!has_preposted_) AllocateResults(contributions);
    else if (is_contiguous_ && !rules_.contiguous_types(contributions, layout_->local())) AbandonContiguous();
    return {};
  }

  Status OverlapWork(const std::function<void()>& advance) override {
    for (size_t source : layout_->local()) {
      SHOAL_ASSIGN(parts, rules_.split(source, contributions_[source], layout_->local()));
      if (!is_contiguous_) {
        parts_[source] = std::move(parts);
        continue;
      }
      for (size_t p = 0; p < parts.size(); ++p)
        CopyInChunks(BufferFor(source, p).data(), {parts[p].data(), static_cast<size_t>(parts[p].bytes())}, advance);
    }
    return {};
  }

  Result<std::vector<std::span<std::byte>>> IncomingBuffers(int, size_t process, const ArrayTypes& blocks) override {
    const std::vector<size_t>& sources = layout_->members[process];
    const size_t blocks_per_source = blocks.size() / sources.size();
    std::vector<std::span<std::byte>> buffers;
    for (size_t i = 0; i < blocks.size(); ++i) {
      if (is_contiguous_) {
        buffers.push_back(BufferFor(sources[i / blocks_per_source], i % blocks_per_source));
        received_types_[sources[i / blocks_per_source]].push_back(blocks[i]);
        continue;
      }
      Array& part = parts_[sources[i / blocks_per_source]].emplace_back(blocks[i].type, AsInts(blocks[i].dims));
      buffers.emplace_back(part.mutable_data(), static_cast<size_t>(part.bytes()));
    }
    return buffers;
  }

  Status OnRoundReceived(int) override { return {}; }

  Result<std::vector<Arrays>> Finish() override {
    if (is_contiguous_) return ContiguousResults();
    SHOAL_ASSIGN(joined, rules_.join(std::move(parts_), *types_, layout_->local()));
    std::vector<Arrays> results(layout_->count);
    for (size_t i = 0; i < joined.size(); ++i) results[layout_->local()[i]] = std::move(joined[i]);
    FreezeIfShared(results);
    return results;
  }

 private:
  // Allocates the result arrays if parts can be received directly into them.
  void AllocateResults(const std::vector<ArrayTypes>& contributions) {
    if (!rules_.contiguous_types) return;
    const std::optional<ArrayTypes> types = rules_.contiguous_types(contributions, layout_->local());
    if (!types) return;
    is_contiguous_ = true;
    received_types_.resize(layout_->count);
    for (const ArrayType& type : *types) {
      contiguous_.emplace_back(type.type, AsInts(type.dims));
      data_.push_back(contiguous_.back().mutable_data());  // must precede sharing the array, else it would be copied
    }
  }

  // Called if the contributions differ. The parts received so far become views, which `join` copies.
  void AbandonContiguous() {
    is_contiguous_ = false;
    for (size_t source = 0; source < received_types_.size(); ++source) {
      for (size_t part = 0; part < received_types_[source].size(); ++part) {
        const std::span<std::byte> bytes = BufferFor(source, part);
        const ArrayType& type = received_types_[source][part];
        parts_[source].emplace_back(type.type, type.dims, Buffer::Borrow(bytes.data(), bytes.size()));
      }
    }
  }

  std::span<std::byte> BufferFor(size_t source, size_t part) const {
    const auto bytes = static_cast<size_t>(contiguous_[part].bytes()) / layout_->count;
    return {data_[part] + source * bytes, bytes};
  }

  std::vector<Arrays> ContiguousResults() {
    std::vector<Arrays> results(layout_->count);
    for (size_t i = 0; i < layout_->local().size(); ++i)
      results[layout_->local()[i]] = rules_.one_each ? Arrays{contiguous_[i]} : contiguous_;
    contiguous_.clear();
    FreezeIfShared(results);
    return results;
  }

  void FreezeIfShared(std::vector<Arrays>& results) const {
    if (!rules_.is_shared) return;
    for (Arrays& arrays : results)
      for (Array& array : arrays) array.Freeze();
  }

  const PartRules rules_;
  const GroupLayout* layout_ = nullptr;
  std::vector<Arrays> contributions_, parts_;  // indexed by member
  const std::vector<ArrayTypes>* types_ = nullptr;
  bool has_preposted_ = false, is_contiguous_ = false;
  Arrays contiguous_;
  std::vector<ArrayTypes> received_types_;  // for each member, the types of the parts in contiguous_
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
  rules.split = [](size_t, const Arrays& contribution, PartRules::Targets) -> Result<Arrays> { return contribution; };
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
