// Alias analysis (XLA: HloAliasAnalysis). Finds positions with forwarded values, and values that share a buffer.
#pragma once

#include "analyze/memory/positions.h"

namespace shoal::internal {

class UnionFind {
 public:
  explicit UnionFind(size_t count) : parents_(count) {
    for (size_t i = 0; i < count; ++i) parents_[i] = static_cast<uint32_t>(i);
  }
  uint32_t Find(uint32_t i) {
    while (parents_[i] != i) i = parents_[i] = parents_[parents_[i]];
    return i;
  }
  // Joins the two sets. The representative of `root` becomes the representative of both.
  void Join(uint32_t i, uint32_t root) { parents_[Find(i)] = Find(root); }

 private:
  std::vector<uint32_t> parents_;
};

// Two positions whose values share a buffer. The value of `before` is used first.
struct AliasEdge {
  PositionId before = 0, after = 0;
  bool is_must_alias = true;  // if false, XLA inserts a copy where `before` is still live when `after` is defined
};

class AliasAnalysis {
 public:
  AliasAnalysis(const Timeline& timeline, const PositionTable& positions);

  // The position that defines the value at `position`.
  PositionId DefiningValue(PositionId position) { return same_.Find(position); }
  const std::vector<AliasEdge>& edges() const { return edges_; }

  // The following members are for the rules of the ops in alias_analysis.cc.
  const Timeline& timeline;
  const PositionTable& positions;
  Part Of(const Instruction& hlo) const { return positions.Of(hlo); }
  // Records that the value of `from` is forwarded to `to`.
  void Forward(Part to, Part from);
  void Forward(PositionId to, PositionId from) { same_.Join(to, from); }
  void Share(Part before, Part after, bool is_must_alias);
  void Share(PositionId before, PositionId after, bool is_must_alias) {
    edges_.push_back({before, after, is_must_alias});
  }

 private:
  UnionFind same_;
  std::vector<AliasEdge> edges_;
};

}  // namespace shoal::internal
