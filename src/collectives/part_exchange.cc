#include "base/strings.h"
#include "collectives/exchange.h"

namespace shoal {
namespace {

class PartExchange : public Exchange {
 public:
  explicit PartExchange(PartRules rules) : rules_(std::move(rules)) {}

  void Begin(const GroupLayout& layout, std::vector<Arrays> contributions) override {
    layout_ = &layout;
    contributions_ = std::move(contributions);
    parts_.resize(layout.count);
  }

  Result<std::vector<Block>> For(int, size_t process) override {
    std::vector<Block> blocks;
    for (size_t source : layout_->local()) {
      SHOAL_ASSIGN(parts, rules_.cut(source, contributions_[source], layout_->members[process]));
      for (Array& part : parts) blocks.push_back(WholeBlock(std::move(part)));
    }
    return blocks;
  }

  Status Matched(const std::vector<ArrayTypes>& contributions) override {
    types_ = contributions;
    for (size_t source : layout_->local()) {
      SHOAL_ASSIGN(parts, rules_.cut(source, contributions_[source], layout_->local()));
      parts_[source] = std::move(parts);
    }
    return {};
  }

  Result<std::vector<std::span<std::byte>>> From(int, size_t process, const ArrayTypes& blocks) override {
    const std::vector<size_t>& sources = layout_->members[process];
    const size_t each = blocks.size() / sources.size();
    std::vector<std::span<std::byte>> places;
    for (size_t i = 0; i < blocks.size(); ++i) {
      Array& part = parts_[sources[i / each]].emplace_back(blocks[i].type, AsInts(blocks[i].dims));
      places.emplace_back(part.mutable_data(), static_cast<size_t>(part.bytes()));
    }
    return places;
  }

  Status Came(int) override { return {}; }

  Result<std::vector<Arrays>> Finish() override {
    SHOAL_ASSIGN(joined, rules_.join(std::move(parts_), types_, layout_->local()));
    std::vector<Arrays> results(layout_->count);
    for (size_t i = 0; i < joined.size(); ++i) results[layout_->local()[i]] = std::move(joined[i]);
    return results;
  }

 private:
  const PartRules rules_;
  const GroupLayout* layout_ = nullptr;
  std::vector<Arrays> contributions_, parts_;  // by member
  std::vector<ArrayTypes> types_;
};

}  // namespace

std::string ToString(const ArrayType& type) { return StrCat(Text(type.type), "[", StrJoin(type.dims, ","), "]"); }

Block WholeBlock(Array array) {
  const int64_t bytes = array.bytes();
  return {std::move(array), 0, bytes};
}

std::unique_ptr<Exchange> NewPartExchange(PartRules rules) { return std::make_unique<PartExchange>(std::move(rules)); }

std::unique_ptr<Exchange> NewGatherExchange(Combine combine) {
  PartRules rules;
  rules.cut = [](size_t, const Arrays& contribution, PartRules::Targets) -> Result<Arrays> { return contribution; };
  rules.join = [combine = std::move(combine)](std::vector<Arrays> parts, const std::vector<ArrayTypes>&,
                                              PartRules::Targets targets) -> Result<std::vector<Arrays>> {
    SHOAL_ASSIGN(all, combine(std::move(parts)));
    std::vector<Arrays> results;
    for (size_t target : targets) results.push_back(std::move(all[target]));
    return results;
  };
  return NewPartExchange(std::move(rules));
}

}  // namespace shoal
