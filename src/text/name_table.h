// Instructions of one computation by name. Made for many computations in a row: clearing it costs nothing, and a small
// computation after a large one uses only the first slots, which are in cache.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/names.h"

namespace shoal {

class Instruction;

class NameTable {
 public:
  NameTable() : slots_(kSmallest) {}

  // Null if there is none.
  Instruction* Find(std::string_view name) const {
    const uint64_t hash = HashName(name);
    for (size_t i = hash & mask();; i = (i + 1) & mask()) {
      const Slot& slot = slots_[i];
      if (slot.generation != generation_) return nullptr;
      if (slot.hash == static_cast<uint32_t>(hash) && SameName(slot.name, name)) return slot.hlo;
    }
  }

  // The instruction that has the name already, or null after adding this one.
  Instruction* Add(std::string_view name, Instruction* hlo) {
    if ((size_ + 1) * 2 > capacity_) Grow();
    const uint64_t hash = HashName(name);
    size_t i = hash & mask();
    for (; slots_[i].generation == generation_; i = (i + 1) & mask())
      if (slots_[i].hash == static_cast<uint32_t>(hash) && SameName(slots_[i].name, name)) return slots_[i].hlo;
    slots_[i] = {name, hlo, static_cast<uint32_t>(hash), generation_};
    ++size_;
    return nullptr;
  }

  void Clear() {
    size_ = 0;
    capacity_ = kSmallest;
    if (++generation_ == 0) {  // after four billion computations
      slots_.assign(slots_.size(), {});
      generation_ = 1;
    }
  }

  template <class Visit>
  void ForEach(Visit visit) const {
    for (size_t i = 0; i < capacity_; ++i)
      if (slots_[i].generation == generation_) visit(slots_[i].name, slots_[i].hlo);
  }

 private:
  struct Slot {
    std::string_view name;
    Instruction* hlo = nullptr;
    uint32_t hash = 0;
    uint32_t generation = 0;
  };
  static constexpr size_t kSmallest = 64;

  size_t mask() const { return capacity_ - 1; }
  void Grow() {
    std::vector<Slot> live;
    live.reserve(size_);
    for (size_t i = 0; i < capacity_; ++i)
      if (slots_[i].generation == generation_) live.push_back(slots_[i]);
    const size_t capacity = capacity_ * 4;
    Clear();
    capacity_ = capacity;
    if (slots_.size() < capacity_) slots_.resize(capacity_);
    for (Slot& slot : live) {
      size_t i = slot.hash & mask();
      while (slots_[i].generation == generation_) i = (i + 1) & mask();
      slot.generation = generation_;
      slots_[i] = slot;
    }
    size_ = live.size();
  }

  std::vector<Slot> slots_;
  size_t capacity_ = kSmallest;  // of slots_, how many are in use
  size_t size_ = 0;
  uint32_t generation_ = 1;
};

}  // namespace shoal
