// NumPy's file format for one array, versions 1, 2 and 3:
// https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"

namespace shoal::internal {

// An array as the file has it. `kind` is NumPy's letter: b bool, i and u integers, f float, c complex, V bytes of no
// type; `item_bytes` are those of one element.
struct NpyArray {
  std::string descr;  // "<f4"
  char kind = 0;
  int64_t item_bytes = 0;
  std::vector<int64_t> dims;
  bool fortran_order = false;
  uint64_t data_at = 0, data_bytes = 0;  // where in the file the data begin, and how many the dimensions ask for
  std::string_view data;                 // those bytes; little-endian
};

// Looks at the header alone: `beginning` may end anywhere after it, and there are no data.
Result<NpyArray> ParseNpyHeader(std::string_view beginning);

// Takes a file apart; `data` points into `file`. What follows the data is ignored, as NumPy does. A failure is a
// sentence about the file: "its header has no 'shape'".
Result<NpyArray> ParseNpy(std::string_view file);

// What stands in a file before the data, in version 1 (2 if it is long), row-major. `descr` as in NpyArray.
std::string NpyHeader(std::string_view descr, const std::vector<int64_t>& dims);

}  // namespace shoal::internal
