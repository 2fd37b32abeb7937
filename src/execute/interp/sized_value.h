// A value of a run that is counted but not there: blocks of bytes with owners, as kernels/arrays/buffer.h has them.
#pragma once

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "core/ir/instruction.h"

namespace shoal::internal {

// What one device holds: now, and at most at the moments that were noted.
struct ByteMeter {
  int64_t current = 0, peak = 0;
  void UpdatePeak() { peak = std::max(peak, current); }
};

class SizedValue {
 public:
  // A token, or nothing.
  SizedValue() = default;
  // New memory for all arrays of a shape; without a count it belongs to no device.
  SizedValue(const Shape& shape, ByteMeter* bytes);
  static SizedValue Array(ElementType type, Ints dims, ByteMeter* bytes);
  static SizedValue Tuple(std::vector<SizedValue> elements);
  // What a collective will give; `given_alone`: nobody else holds what was given to it.
  static SizedValue Pending(const Instruction& collective, bool given_alone);

  bool IsNothing() const { return !IsArray() && !IsTuple() && !IsPending(); }
  bool IsArray() const { return block_ != nullptr; }
  bool IsTuple() const { return elements_ != nullptr; }
  bool IsPending() const { return collective_ != nullptr; }
  const Instruction& collective() const { return *collective_; }
  bool given_alone() const { return given_alone_; }

  // Of a tuple. Nothing where there is no such element.
  const std::vector<SizedValue>& elements() const { return *elements_; }
  SizedValue Element(int64_t i) const { return Has(i) ? (*elements_)[static_cast<size_t>(i)] : SizedValue(); }
  // Out of a tuple that nobody else holds; else a reference to it.
  SizedValue TakeElement(int64_t i) {
    if (!Has(i) || elements_.use_count() != 1) return Element(i);
    return std::exchange((*elements_)[static_cast<size_t>(i)], SizedValue());
  }

  // An array that nobody else holds, and may be written.
  bool IsAlone() const { return block_ != nullptr && block_.use_count() == 1 && !block_->is_fixed; }
  // Nobody writes its arrays any more.
  void Freeze();
  // Sizes of the arrays, and which of them are held alone.
  void AppendSharing(std::vector<int64_t>& out) const;

 private:
  struct Block {
    Block(int64_t size, ByteMeter* held) : bytes(size), counted(held) {
      if (counted != nullptr) counted->current += bytes;
    }
    Block(const Block&) = delete;
    Block& operator=(const Block&) = delete;
    ~Block() {
      if (counted != nullptr) counted->current -= bytes;
    }
    int64_t bytes;
    ByteMeter* counted;
    bool is_fixed = false;
  };
  bool Has(int64_t i) const { return IsTuple() && i >= 0 && i < std::ssize(*elements_); }

  const Instruction* collective_ = nullptr;
  bool given_alone_ = false;
  std::shared_ptr<Block> block_;
  std::shared_ptr<std::vector<SizedValue>> elements_;  // one tuple, whoever holds it
};

}  // namespace shoal::internal
