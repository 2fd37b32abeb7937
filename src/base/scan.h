// Finding bytes in text, sixteen at a time where the machine can.
#pragma once

#include <cstddef>
#include <string_view>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace shoal {

// The first place at or after `from` with one of the bytes; text.size() if there is none.
template <char... bytes>
size_t FindAny(std::string_view text, size_t from) {
  size_t at = from;
#ifdef __SSE2__
  for (; at + 16 <= text.size(); at += 16) {
    __m128i chunk = _mm_loadu_si128(reinterpret_cast<const __m128i*>(text.data() + at));
    __m128i hit = _mm_setzero_si128();
    ((hit = _mm_or_si128(hit, _mm_cmpeq_epi8(chunk, _mm_set1_epi8(bytes)))), ...);
    if (int mask = _mm_movemask_epi8(hit)) return at + static_cast<size_t>(__builtin_ctz(static_cast<unsigned>(mask)));
  }
#endif
  while (at < text.size() && !((text[at] == bytes) || ...)) ++at;
  return at;
}

}  // namespace shoal
