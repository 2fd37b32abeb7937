// NumPy's file format for one array, versions 1, 2 and 3:
// https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"

namespace shoal::internal {

// An array as stored in the file. `kind` is NumPy's type letter: b bool, i signed and u unsigned integer, f float,
// c complex, V untyped bytes. `item_bytes` is the size of one element.
struct NpyArray {
  std::string descr;  // "<f4"
  char kind = 0;
  int64_t item_bytes = 0;
  std::vector<int64_t> dims;
  bool fortran_order = false;
  uint64_t data_at = 0, data_bytes = 0;  // offset of the data in the file, and size according to `dims`
  std::string_view data;                 // the data; little-endian
};

// Parses only the header; `beginning` may end anywhere after the header. `data` stays empty.
Result<NpyArray> ParseNpyHeader(std::string_view beginning);

// Parses a whole file; `data` points into `file`. Bytes after the data are ignored, as in NumPy. An error message is a
// predicate to put after the file name: "has no 'shape' in its header".
Result<NpyArray> ParseNpy(std::string_view file);

// The error of a file with too few bytes of data, as a predicate.
std::string NpyTruncated(const NpyArray& header, uint64_t data_bytes);

// The bytes of a file before the row-major data, in version 1 (2 if the header is long). `descr` is as in NpyArray.
std::string NpyHeader(std::string_view descr, const std::vector<int64_t>& dims);

}  // namespace shoal::internal
