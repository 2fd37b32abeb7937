// All-reduce between processes. Each process folds its share of the elements in rank order and then sends the result to
// all others. The results are bit-identical to those of a single process.
#include <algorithm>

#include "execute/collectives/exchange.h"

namespace shoal::internal {
namespace {

class AllReduceExchange : public Exchange {
 public:
  using SizeMismatch = std::function<Diag(const ArrayType&, const ArrayType&)>;
  AllReduceExchange(FoldPtr fold, SizeMismatch size_mismatch)
      : fold_(std::move(fold)), size_mismatch_(std::move(size_mismatch)) {}

  void Begin(const GroupLayout& layout, std::vector<Arrays> contributions) override {
    layout_ = &layout;
    contributions_ = std::move(contributions);
    shares_.resize(layout.count);
  }

  int rounds() const override { return 2; }

  Result<std::vector<Block>> OutgoingBlocks(int round, size_t process) override {
    std::vector<Block> blocks;
    if (round == 1) {
      for (const Array& array : results_) blocks.push_back(ShareOf(array, layout_->self));
      return blocks;
    }
    for (size_t member : layout_->local())
      for (const Array& array : contributions_[member]) blocks.push_back(ShareOf(array, process));
    return blocks;
  }

  bool CanPrepost(const ArrayTypes&) override { return true; }

  Status OnTypesAgreed(const std::vector<ArrayTypes>& contributions) override {
    for (const ArrayTypes& types : contributions)
      for (size_t k = 0; k < types.size(); ++k)
        if (types[k].dims != contributions[0][k].dims) return size_mismatch_(contributions[0][k], types[k]);
    for (size_t member : layout_->local())
      for (const Array& array : contributions_[member]) shares_[member].push_back(View(ShareOf(array, layout_->self)));
    return {};
  }

  Result<std::vector<std::span<std::byte>>> IncomingBuffers(int round, size_t process, const ArrayTypes&) override {
    std::vector<std::span<std::byte>> buffers;
    if (round == 1) {
      for (size_t k = 0; k < results_.size(); ++k) {
        const Block share = ShareOf(results_[k], process);
        buffers.emplace_back(data_[k] + share.offset, static_cast<size_t>(share.bytes));
      }
      return buffers;
    }
    for (size_t member : layout_->members[process]) {
      for (const Array& array : contributions_[layout_->local()[0]]) {
        const Block share = ShareOf(array, layout_->self);
        Array& part = shares_[member].emplace_back(array.type(), Dims{share.bytes / array.element_bytes()});
        buffers.emplace_back(part.mutable_data(), static_cast<size_t>(share.bytes));
      }
    }
    return buffers;
  }

  Status OnRoundReceived(int round) override {
    if (round == 1) return {};
    Arrays sum;
    for (size_t i = 0; i + 1 < shares_.size(); ++i) SHOAL_TRY(fold_->Add(sum, std::move(shares_[i])));
    std::vector<std::byte*> outs;
    for (const Array& operand : contributions_[layout_->local()[0]]) {
      Array& result = results_.emplace_back(operand.type(), operand.dims());
      // Saved: if mutable_data() were called again while a share is being sent, it would copy the array.
      data_.push_back(result.mutable_data());
      outs.push_back(data_.back() + ShareOf(result, layout_->self).offset);
    }
    SHOAL_TRY(fold_->FinishWith(std::move(sum), std::move(shares_.back()), outs));
    shares_.clear();
    contributions_.clear();  // pending sends own their arrays
    return {};
  }

  Result<std::vector<Arrays>> Finish() override {
    std::vector<Arrays> results(layout_->count);
    for (Array& array : results_) array.Freeze();  // as in one process, where members share results
    for (size_t member : layout_->local()) results[member] = results_;
    return results;
  }

 private:
  // The block of elements that belongs to the process.
  Block ShareOf(const Array& array, size_t process) const {
    const auto n = static_cast<int64_t>(layout_->ranks.size());
    const auto i = static_cast<int64_t>(process);
    // All shares except the last consist of whole cache lines.
    constexpr int64_t kLine = 64;
    const int64_t lines = (array.count() + kLine - 1) / kLine;
    const int64_t first = std::min(lines * i / n * kLine, array.count());
    const int64_t end = std::min(lines * (i + 1) / n * kLine, array.count());
    return {array, first * array.element_bytes(), (end - first) * array.element_bytes()};
  }

  static Array View(const Block& block) {
    return Array(block.array.type(), Dims{block.bytes / block.array.element_bytes()},
                 Buffer::Borrow(block.array.data() + block.offset, static_cast<size_t>(block.bytes)));
  }

  const FoldPtr fold_;
  const SizeMismatch size_mismatch_;
  const GroupLayout* layout_ = nullptr;
  std::vector<Arrays> contributions_, shares_;  // indexed by member
  Arrays results_;
  std::vector<std::byte*> data_;  // data of results_
};

// The processes exchange only instructions and types; the transport reduces the data.
class FastReduceExchange : public Exchange {
 public:
  FastReduceExchange(FoldPtr fold, ReduceOp op) : fold_(std::move(fold)), op_(op) {}

  void Begin(const GroupLayout& layout, std::vector<Arrays> contributions) override {
    layout_ = &layout;
    contributions_ = std::move(contributions);
  }
  Result<std::vector<Block>> OutgoingBlocks(int, size_t) override { return std::vector<Block>(); }
  Status OnTypesAgreed(const std::vector<ArrayTypes>&) override { return {}; }
  Result<std::vector<std::span<std::byte>>> IncomingBuffers(int, size_t, const ArrayTypes&) override {
    return std::vector<std::span<std::byte>>();
  }
  Status OnRoundReceived(int) override {
    for (size_t member : layout_->local()) SHOAL_TRY(fold_->Add(sum_, std::move(contributions_[member])));
    sum_ = fold_->Widen(std::move(sum_));
    return {};
  }
  std::vector<Reduction> Reductions() override {
    std::vector<Reduction> all;
    for (Array& array : sum_)
      if (array.count() > 0) all.push_back({op_, *ReduceTypeOf(array.type()), array.mutable_data(), array.count()});
    return all;
  }
  Result<std::vector<Arrays>> Finish() override {
    sum_ = fold_->Finish(std::move(sum_));
    std::vector<Arrays> results(layout_->count);
    for (Array& array : sum_) array.Freeze();
    for (size_t member : layout_->local()) results[member] = sum_;
    return results;
  }

 private:
  const FoldPtr fold_;
  const ReduceOp op_;
  const GroupLayout* layout_ = nullptr;
  std::vector<Arrays> contributions_;
  Arrays sum_;
};

struct ReduceTypeRow {
  ElementType type;
  ReduceType reduce_type;
};
constexpr ReduceTypeRow kReduceTypes[] = {
    {ElementType::kPred, ReduceType::kU8}, {ElementType::kS8, ReduceType::kS8},   {ElementType::kS16, ReduceType::kS16},
    {ElementType::kS32, ReduceType::kS32}, {ElementType::kS64, ReduceType::kS64}, {ElementType::kU8, ReduceType::kU8},
    {ElementType::kU16, ReduceType::kU16}, {ElementType::kU32, ReduceType::kU32}, {ElementType::kU64, ReduceType::kU64},
    {ElementType::kF32, ReduceType::kF32}, {ElementType::kF64, ReduceType::kF64},
};

}  // namespace

std::optional<ReduceType> ReduceTypeOf(ElementType type) {
  for (const ReduceTypeRow& row : kReduceTypes)
    if (row.type == type) return row.reduce_type;
  return std::nullopt;
}

std::unique_ptr<Exchange> NewFastReduceExchange(FoldPtr fold, ReduceOp op) {
  return std::make_unique<FastReduceExchange>(std::move(fold), op);
}

std::unique_ptr<Exchange> NewAllReduceExchange(FoldPtr fold,
                                               std::function<Diag(const ArrayType&, const ArrayType&)> size_mismatch) {
  return std::make_unique<AllReduceExchange>(std::move(fold), std::move(size_mismatch));
}

}  // namespace shoal::internal
