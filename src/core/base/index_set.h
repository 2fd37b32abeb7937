// IndexSet: a set of small indices, one bit each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace shoal::internal {

class IndexSet {
 public:
  bool Contains(size_t i) const { return i / 64 < words_.size() && (words_[i / 64] >> (i % 64) & 1) != 0; }

  void Add(size_t i) {
    if (i / 64 >= words_.size()) words_.resize(i / 64 + 1);
    words_[i / 64] |= uint64_t{1} << (i % 64);
  }

  // Adds all elements of `other`; returns true if one was new.
  bool Add(const IndexSet& other) {
    if (other.words_.size() > words_.size()) words_.resize(other.words_.size());
    uint64_t added = 0;
    for (size_t w = 0; w < other.words_.size(); ++w) {
      added |= other.words_[w] & ~words_[w];
      words_[w] |= other.words_[w];
    }
    return added != 0;
  }

 private:
  std::vector<uint64_t> words_;
};

}  // namespace shoal::internal
