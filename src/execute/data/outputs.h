// The outputs of a run, as files, text and summaries.
#pragma once

#include <algorithm>
#include <complex>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "execute/transport/placement.h"
#include "kernels/arrays/floats.h"
#include "kernels/arrays/value.h"

namespace shoal::internal {

// Statistics of an array's elements. For complex elements, they use the magnitude.
struct ArraySummary {
  double min = 0, max = 0, mean = 0;  // over the finite elements
  int64_t finite = 0, nans = 0, infs = 0;
  uint32_t crc32 = 0;  // checksum of the data bytes, as in the .npy file
};

// One array of the result, and the devices whose arrays are bit-identical to it.
struct Output {
  int64_t number = 0;  // the K of K.npy
  std::vector<int64_t> devices;
  Array array;  // has no elements if all devices are in other processes
  ArraySummary summary;
};

// The distinct outputs, sorted by number, then by the first device. Tokens have numbers but are omitted.
std::vector<Output> GroupEqualOutputs(const std::vector<Value>& results);

// Writes FOLDER/dD/K.npy for every array of every device; with a placement, only of this process's devices.
Status WriteOutputs(const std::vector<Value>& results, const std::string& folder, const Placement* placement = nullptr);

// The array in the syntax of HLO text: "f32[2] {1, 2}".
std::string LiteralText(const Array& array);

ArraySummary Summarize(const Array& array);

// Calls visit(i, number) for each element in order. For a complex element, `number` is the magnitude.
template <class Visit>
void ForEachNumber(const Array& array, Visit visit) {
  constexpr int64_t kBlock = 256;
  float floats[kBlock];
  const ElementType type = array.type();
  for (int64_t first = 0; first < array.count(); first += kBlock) {
    const int64_t n = std::min(kBlock, array.count() - first);
    if (type == ElementType::kF32 || IsNarrowFloat(type)) {
      DecodeFloats(type, array.data() + first * array.element_bytes(), floats, n);
      for (int64_t i = 0; i < n; ++i) visit(first + i, static_cast<double>(floats[i]));
    } else if (type == ElementType::kC64) {
      for (int64_t i = first; i < first + n; ++i)
        visit(i, std::abs(std::complex<double>(array.As<std::complex<float>>()[static_cast<size_t>(i)])));
    } else if (type == ElementType::kC128) {
      for (int64_t i = first; i < first + n; ++i)
        visit(i, std::abs(array.As<std::complex<double>>()[static_cast<size_t>(i)]));
    } else {
      for (int64_t i = first; i < first + n; ++i) visit(i, NumberAt(array, i));
    }
  }
}

}  // namespace shoal::internal
