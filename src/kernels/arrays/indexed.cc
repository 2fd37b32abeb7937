#include "kernels/arrays/indexed.h"

namespace shoal::internal {
namespace {

struct WideElement {  // an element of sixteen bytes
  uint64_t half[2];
};

// Calls visit with a value of an unsigned type as wide as an element.
template <class Visit>
void WithElementOfWidth(int element_bytes, Visit visit) {
  switch (element_bytes) {
    case 1:
      return visit(uint8_t());
    case 2:
      return visit(uint16_t());
    case 4:
      return visit(uint32_t());
    case 8:
      return visit(uint64_t());
    default:
      return visit(WideElement());
  }
}

}  // namespace

void GatherElements(int element_bytes, std::byte* out, const std::byte* in, const int64_t* indices, int64_t n) {
  WithElementOfWidth(element_bytes, [&](auto element) {
    auto* to = reinterpret_cast<decltype(element)*>(out);
    const auto* from = reinterpret_cast<const decltype(element)*>(in);
    for (int64_t i = 0; i < n; ++i) to[i] = from[indices[i]];
  });
}

void ScatterElements(int element_bytes, std::byte* out, const std::byte* in, const int64_t* indices, int64_t n) {
  WithElementOfWidth(element_bytes, [&](auto element) {
    auto* to = reinterpret_cast<decltype(element)*>(out);
    const auto* from = reinterpret_cast<const decltype(element)*>(in);
    for (int64_t i = 0; i < n; ++i) to[indices[i]] = from[i];
  });
}

}  // namespace shoal::internal
