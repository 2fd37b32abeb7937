// The output of `shoal check`.
#pragma once

#include <memory>
#include <string>

#include "core/base/diags.h"
#include "core/ir/module.h"
#include "nlohmann/json_fwd.hpp"

namespace shoal::internal {

class CheckReport {
 public:
  CheckReport();
  ~CheckReport();

  // `module` is null if the file could not be parsed; `text` is null if it could not be read.
  void Add(const std::string& file, const Module* module, const Source* text, const Diags& diags);

  std::string LastLine() const { return last_line_; }  // "FILE: ok, 2 computations, 31 instructions"
  std::string Summary() const;                         // "3 files: 2 ok, 1 with errors"
  std::string Json() const;

 private:
  std::string last_line_;
  size_t good_ = 0, bad_ = 0;
  std::unique_ptr<nlohmann::ordered_json> files_, first_error_;
};

}  // namespace shoal::internal
