// Hash table of one computation's instructions by name, reused for many computations. A small computation after a large
// one uses and clears only the first slots, which are in cache.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

#include "core/base/name_hash.h"
#include "core/ir/instruction.h"

namespace shoal::internal {

// Hash for tables whose keys are views of the text.
struct TextHash {
  size_t operator()(std::string_view text) const { return HashName(text); }
};

class NameTable {
 public:
  NameTable() : slots_(kMinCapacity) {}

  // Returns null if there is no such instruction.
  Instruction* Find(std::string_view name) const {
    const uint64_t hash = HashName(name);
    for (size_t i = hash & mask(); slots_[i].hlo != nullptr; i = (i + 1) & mask())
      if (slots_[i].hash == hash && SameName(slots_[i].hlo->name, name)) return slots_[i].hlo;
    return nullptr;
  }

  // Adds `hlo` and returns null, or returns the instruction that already has its name.
  Instruction* Add(Instruction* hlo) {
    if ((size_ + 1) * 2 > capacity_) Grow();
    const uint64_t hash = HashName(hlo->name);
    size_t i = hash & mask();
    for (; slots_[i].hlo != nullptr; i = (i + 1) & mask())
      if (slots_[i].hash == hash && SameName(slots_[i].hlo->name, hlo->name)) return slots_[i].hlo;
    slots_[i] = {hlo, hash};
    ++size_;
    return nullptr;
  }

  void Clear() {
    std::fill_n(slots_.begin(), capacity_, Slot{});
    size_ = 0;
    capacity_ = kMinCapacity;
  }

  template <class Visit>
  void ForEach(Visit visit) const {
    for (size_t i = 0; i < capacity_; ++i)
      if (slots_[i].hlo != nullptr) visit(*slots_[i].hlo);
  }

 private:
  struct Slot {
    Instruction* hlo = nullptr;
    uint64_t hash = 0;
  };
  static constexpr size_t kMinCapacity = 64;

  size_t mask() const { return capacity_ - 1; }
  void Grow() {
    std::vector<Slot> live;
    live.reserve(size_);
    std::copy_if(slots_.begin(), slots_.begin() + static_cast<ptrdiff_t>(capacity_), std::back_inserter(live),
                 [](const Slot& slot) { return slot.hlo != nullptr; });
    const size_t capacity = capacity_ * 4;
    Clear();
    capacity_ = capacity;
    if (slots_.size() < capacity_) slots_.resize(capacity_);
    for (const Slot& slot : live) {
      size_t i = slot.hash & mask();
      while (slots_[i].hlo != nullptr) i = (i + 1) & mask();
      slots_[i] = slot;
    }
    size_ = live.size();
  }

  std::vector<Slot> slots_;         // slots beyond capacity_ are empty
  size_t capacity_ = kMinCapacity;  // number of slots in use
  size_t size_ = 0;
};

}  // namespace shoal::internal
