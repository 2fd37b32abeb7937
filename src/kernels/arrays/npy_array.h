// Arrays as .npy files. Types that NumPy lacks are void records of their width: bf16 '<V2', f8 '|V1', s4 '|V1'.
#pragma once

#include "core/base/npy.h"
#include "kernels/arrays/array.h"

namespace shoal::internal {

// NumPy's name of the type: "<f4".
std::string NpyDescr(ElementType type);

// Whether a file of that type may stand for `type`: its own, or void or unsigned integers of the same width; for
// types narrower than a byte, integers of one byte.
bool NpyHolds(const NpyArray& npy, ElementType type);

// The elements, row-major. NpyHolds(npy, type). Of types narrower than a byte the low bits count.
Array FromNpy(const NpyArray& npy, ElementType type);

// Writes a file; see WriteFile.
Status WriteNpy(const std::string& path, const Array& array);

}  // namespace shoal::internal
