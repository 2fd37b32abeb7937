// The backend_config of a custom call, in either of its two syntaxes: JSON, {"beta":0.5}, or an MLIR dictionary,
// {uplo = 76 : ui8}. Lookups are lenient: a missing key or a malformed number yields the fallback.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "core/ir/instruction.h"

namespace shoal::internal {

class BackendConfig {
 public:
  explicit BackendConfig(std::string_view text);
  static BackendConfig Of(const Instruction& hlo);

  bool has(std::string_view key) const { return Find(key) != nullptr; }
  // The value as written, without quotes and without the type after it.
  std::string_view Text(std::string_view key, std::string_view fallback = {}) const;
  int64_t Int(std::string_view key, int64_t fallback = 0) const;
  double Number(std::string_view key, double fallback = 0) const;
  bool Bool(std::string_view key, bool fallback = false) const;
  // [1,2], ["1","2"] or array<i64: 1, 2>
  std::vector<int64_t> Ints(std::string_view key) const;
  BackendConfig Object(std::string_view key) const { return BackendConfig(Text(key)); }
  // The elements of a list, as written.
  std::vector<std::string_view> List(std::string_view key) const;

 private:
  const std::string_view* Find(std::string_view key) const;

  std::vector<std::pair<std::string_view, std::string_view>> entries_;
};

}  // namespace shoal::internal
