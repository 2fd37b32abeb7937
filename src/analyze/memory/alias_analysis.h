// What an op does with its operands' values: hand them on as they are, or write its result over them.
#pragma once

#include "analyze/memory/positions.h"

namespace shoal::internal {

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
struct AliasEdge {
  PositionId before = 0, after = 0;
  bool is_must_alias = true;  // else it takes a copy where `before` is still needed when `after` is made
};

class AliasAnalysis {
 public:
  AliasAnalysis(const Timeline& timeline, const PositionTable& places);

  // The place where the value at `place` is made.
  PositionId DefiningValue(PositionId place) { return same_.Find(place); }
  const std::vector<AliasEdge>& shared() const { return shared_; }

  // For the rules of the ops.
  const Timeline& timeline;
  const PositionTable& places;
  Part Of(const Instruction& hlo) const { return places.Of(hlo); }
  // `to` is `from`, handed on.
  void HandOn(Part to, Part from);
  void HandOn(PositionId to, PositionId from) { same_.Join(to, from); }
  void Share(Part before, Part after, bool is_must_alias);
  void Share(PositionId before, PositionId after, bool is_must_alias) { shared_.push_back({before, after, is_must_alias}); }

 private:
  UnionFind same_;
  std::vector<AliasEdge> shared_;
};

}  // namespace shoal::internal
