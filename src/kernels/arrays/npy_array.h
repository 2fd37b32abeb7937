// Arrays as .npy files. Types that NumPy lacks are stored as void records of their width: bf16 '<V2', f8 and s4 '|V1'.
#pragma once

#include <functional>

#include "core/base/npy.h"
#include "kernels/arrays/array.h"

namespace shoal::internal {

// NumPy's name for the type: "<f4".
std::string NpyDescr(ElementType type);

// True if a file can be read as `type`: it contains `type` itself, or void or unsigned integers of equal width. A type
// narrower than a byte can also be read from integers of one byte.
bool NpyHolds(const NpyArray& npy, ElementType type);

// The elements, row-major. Requires NpyHolds(header, type). Types narrower than a byte use only the low bits. `read` puts
// the header.data_bytes bytes of the data into memory.
using ReadNpyData = std::function<Status(std::byte* out)>;
Result<Array> FromNpy(const NpyArray& header, ElementType type, const ReadNpyData& read);

// Writes a file; see WriteFile.
Status WriteNpy(const std::string& path, const Array& array);

}  // namespace shoal::internal
