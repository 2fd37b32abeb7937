// What an op does with its operands' values: hand them on as they are, or write its result over them.
#pragma once

#include "analyze/memory/places.h"

namespace shoal {

// Sets that grow together.
class UnionFind {
 public:
  explicit UnionFind(size_t count) : parents_(count) {
    for (size_t i = 0; i < count; ++i) parents_[i] = static_cast<uint32_t>(i);
  }
  uint32_t Find(uint32_t i) {
    while (parents_[i] != i) i = parents_[i] = parents_[parents_[i]];
    return i;
  }
  // `root` stays what Find gives for both.
  void Join(uint32_t i, uint32_t root) { parents_[Find(i)] = Find(root); }

 private:
  std::vector<uint32_t> parents_;
};

// Two places whose values share a buffer: that of `before` is needed first.
struct Sharing {
  Place before = 0, after = 0;
  bool is_sure = true;  // else it takes a copy where `before` is still needed when `after` is made
};

class ValueLinks {
 public:
  ValueLinks(const Timeline& timeline, const Places& places);

  // The place where the value at `place` is made.
  Place MadeAt(Place place) { return same_.Find(place); }
  const std::vector<Sharing>& shared() const { return shared_; }

  // For the rules of the ops.
  const Timeline& timeline;
  const Places& places;
  Part Of(const Instruction& hlo) const { return places.Of(hlo); }
  // `to` is `from`, handed on.
  void HandOn(Part to, Part from);
  void HandOn(Place to, Place from) { same_.Join(to, from); }
  void Share(Part before, Part after, bool is_sure);
  void Share(Place before, Place after, bool is_sure) { shared_.push_back({before, after, is_sure}); }

 private:
  UnionFind same_;
  std::vector<Sharing> shared_;
};

}  // namespace shoal
