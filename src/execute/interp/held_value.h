// A value of a run that is counted but not there: blocks of bytes with owners, as kernels/arrays/buffer.h has them.
#pragma once

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "core/ir/instruction.h"

namespace shoal {

// What one device holds: now, and at most at the moments that were noted.
struct HeldBytes {
  int64_t current = 0, peak = 0;
  void Note() { peak = std::max(peak, current); }
};

class HeldValue {
 public:
  // A token, or nothing.
  HeldValue() = default;
  // New memory for all arrays of a shape; without a count it belongs to no device.
  HeldValue(const Shape& shape, HeldBytes* bytes);
  static HeldValue Array(ElementType type, Ints dims, HeldBytes* bytes);
  static HeldValue Tuple(std::vector<HeldValue> elements);
  // What a collective will give; `given_alone`: nobody else holds what was given to it.
  static HeldValue UnderWay(const Instruction& collective, bool given_alone);

  bool IsNothing() const { return !IsArray() && !IsTuple() && !IsUnderWay(); }
  bool IsArray() const { return block_ != nullptr; }
  bool IsTuple() const { return elements_ != nullptr; }
  bool IsUnderWay() const { return collective_ != nullptr; }
  const Instruction& collective() const { return *collective_; }
  bool given_alone() const { return given_alone_; }

  // Of a tuple. Nothing where there is no such element.
  const std::vector<HeldValue>& elements() const { return *elements_; }
  HeldValue Element(int64_t i) const { return Has(i) ? (*elements_)[static_cast<size_t>(i)] : HeldValue(); }
  // Out of a tuple that nobody else holds; else a reference to it.
  HeldValue TakeElement(int64_t i) {
    if (!Has(i) || elements_.use_count() != 1) return Element(i);
    return std::exchange((*elements_)[static_cast<size_t>(i)], HeldValue());
  }

  // An array that nobody else holds, and may be written.
  bool IsAlone() const { return block_ != nullptr && block_.use_count() == 1 && !block_->is_fixed; }
  // Nobody writes its arrays any more.
  void Fix();
  // Sizes of the arrays, and which of them are held alone.
  void AppendSharing(std::vector<int64_t>& out) const;

 private:
  struct Block {
    Block(int64_t size, HeldBytes* held) : bytes(size), counted(held) {
      if (counted != nullptr) counted->current += bytes;
    }
    Block(const Block&) = delete;
    Block& operator=(const Block&) = delete;
    ~Block() {
      if (counted != nullptr) counted->current -= bytes;
    }
    int64_t bytes;
    HeldBytes* counted;
    bool is_fixed = false;
  };
  bool Has(int64_t i) const { return IsTuple() && i >= 0 && i < std::ssize(*elements_); }

  const Instruction* collective_ = nullptr;
  bool given_alone_ = false;
  std::shared_ptr<Block> block_;
  std::shared_ptr<std::vector<HeldValue>> elements_;  // one tuple, whoever holds it
};

}  // namespace shoal
