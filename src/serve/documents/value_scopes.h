// The values that are visible at a point of a program with nested regions.
#pragma once

#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "serve/documents/text_index.h"

namespace shoal::internal {

class ValueScopes {
 public:
  void Open() { starts_.push_back(undo_.size()); }

  // What the names meant before the scope, they mean again.
  void Close() {
    for (; undo_.size() > starts_.back(); undo_.pop_back()) {
      if (undo_.back().second == NameReference::kNone) values_.erase(undo_.back().first);
      else values_[undo_.back().first] = undo_.back().second;
    }
    starts_.pop_back();
  }

  void Define(std::string_view name, uint32_t value) {
    undo_.emplace_back(name, Find(name));
    values_[name] = value;
  }

  // NameReference::kNone if the name is not visible.
  uint32_t Find(std::string_view name) const {
    const auto found = values_.find(name);
    return found == values_.end() ? NameReference::kNone : found->second;
  }

 private:
  absl::flat_hash_map<std::string_view, uint32_t> values_;
  std::vector<std::pair<std::string_view, uint32_t>> undo_;
  std::vector<size_t> starts_;
};

}  // namespace shoal::internal
