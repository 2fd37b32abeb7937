// SizedValue: a value of a dry run, with sizes but no data. Its blocks have owners, as in kernels/arrays/buffer.h.
#pragma once

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "core/ir/instruction.h"

namespace shoal::internal {

// Memory of one device: current bytes, and the maximum at any call of UpdatePeak.
struct ByteMeter {
  int64_t current = 0, peak = 0;
  void UpdatePeak() { peak = std::max(peak, current); }
};

class SizedValue {
 public:
  // A token, or an empty value.
  SizedValue() = default;
  // Allocates all arrays of a shape. If `bytes` is null, the memory is not charged to any device.
  SizedValue(const Shape& shape, ByteMeter* bytes);
  static SizedValue Array(ElementType type, Ints dims, ByteMeter* bytes);
  static SizedValue Tuple(std::vector<SizedValue> elements);
  // The pending result of a collective. `operands_unshared`: the operands have no other owners.
  static SizedValue Pending(const Instruction& collective, bool operands_unshared);

  bool IsEmpty() const { return !IsArray() && !IsTuple() && !IsPending(); }
  bool IsArray() const { return block_ != nullptr; }
  bool IsTuple() const { return elements_ != nullptr; }
  bool IsPending() const { return collective_ != nullptr; }
  const Instruction& collective() const { return *collective_; }
  bool operands_unshared() const { return operands_unshared_; }

  // The elements of a tuple. Element(i) returns an empty value if there is no such element.
  const std::vector<SizedValue>& elements() const { return *elements_; }
  SizedValue Element(int64_t i) const { return Has(i) ? (*elements_)[static_cast<size_t>(i)] : SizedValue(); }
  // Moves element i out of a tuple without other owners; otherwise returns a reference to it.
  SizedValue TakeElement(int64_t i) {
    if (!Has(i) || elements_.use_count() != 1) return Element(i);
    return std::exchange((*elements_)[static_cast<size_t>(i)], SizedValue());
  }

  // True for an array without other owners, which may be written.
  bool IsUnique() const { return block_ != nullptr && block_.use_count() == 1 && !block_->is_frozen; }
  // Makes the value's arrays read-only.
  void Freeze();
  // Appends the size of each array, and whether the array has no other owners.
  void AppendSharing(std::vector<int64_t>& out) const;

 private:
  struct Block {
    Block(int64_t size, ByteMeter* meter) : bytes(size), counted(meter) {
      if (counted != nullptr) counted->current += bytes;
    }
    Block(const Block&) = delete;
    Block& operator=(const Block&) = delete;
    ~Block() {
      if (counted != nullptr) counted->current -= bytes;
    }
    int64_t bytes;
    ByteMeter* counted;
    bool is_frozen = false;
  };
  bool Has(int64_t i) const { return IsTuple() && i >= 0 && i < std::ssize(*elements_); }

  const Instruction* collective_ = nullptr;
  bool operands_unshared_ = false;
  std::shared_ptr<Block> block_;
  std::shared_ptr<std::vector<SizedValue>> elements_;  // shared by all references to the tuple
};

}  // namespace shoal::internal
