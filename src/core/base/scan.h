// Finds bytes in text, sixteen at a time with SSE2.
#pragma once

#include <cstddef>
#include <string_view>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace shoal::internal {

// Offset of the first of `bytes` at or after `from`; text.size() if there is none.
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

// Offset of the first character at or after `from` that is not a letter, a digit, '_', '-' or '.'.
inline size_t EndOfName(std::string_view text, size_t from) {
  size_t at = from;
#ifdef __SSE2__
  auto within = [](__m128i bytes, char first, char last) {
    __m128i above = _mm_sub_epi8(bytes, _mm_set1_epi8(first));
    return _mm_cmpeq_epi8(_mm_min_epu8(above, _mm_set1_epi8(static_cast<char>(last - first))), above);
  };
  for (; at + 16 <= text.size(); at += 16) {
    __m128i chunk = _mm_loadu_si128(reinterpret_cast<const __m128i*>(text.data() + at));
    __m128i letters = within(_mm_or_si128(chunk, _mm_set1_epi8(0x20)), 'a', 'z');
    __m128i others = _mm_andnot_si128(_mm_cmpeq_epi8(chunk, _mm_set1_epi8('/')), within(chunk, '-', '9'));
    __m128i underscores = _mm_cmpeq_epi8(chunk, _mm_set1_epi8('_'));
    int inside = _mm_movemask_epi8(_mm_or_si128(_mm_or_si128(letters, others), underscores));
    if (inside != 0xFFFF) return at + static_cast<size_t>(__builtin_ctz(~static_cast<unsigned>(inside)));
  }
#endif
  auto inside = [](char c) {
    const char lower = static_cast<char>(c | 0x20);
    return (lower >= 'a' && lower <= 'z') || (c >= '-' && c <= '9' && c != '/') || c == '_';
  };
  while (at < text.size() && inside(text[at])) ++at;
  return at;
}

}  // namespace shoal::internal
