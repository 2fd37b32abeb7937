// Hashes and compares names inline: they are short, so a call to libc would take longer than the work itself.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

namespace shoal::internal {

inline uint64_t LoadWord(const char* at) {
  uint64_t word = 0;
  std::memcpy(&word, at, sizeof word);
  return word;
}

// Packs a text of fewer than eight bytes into one word, in an order that depends only on the length of the text.
inline uint64_t LoadShort(const char* at, size_t size) {
  if (size >= 4) {
    uint32_t first = 0, last = 0;
    std::memcpy(&first, at, sizeof first);
    std::memcpy(&last, at + size - sizeof last, sizeof last);
    return first | uint64_t{last} << 32;
  }
  if (size == 0) return 0;  // an empty name may have a null pointer
  auto byte = [at](size_t i) { return uint64_t{static_cast<uint8_t>(at[i])}; };
  return byte(0) | byte(size / 2) << 8 | byte(size - 1) << 16;
}

// Hashes eight bytes at a time; the last eight overlap those before. Names usually differ in their last characters, the
// high bits of the last word. Only a double-width multiplication moves them to the low bits, which hash tables use.
inline uint64_t HashName(std::string_view name) {
  uint64_t hash = name.size();
  auto mix = [&hash](uint64_t word) {
    const unsigned __int128 product = static_cast<unsigned __int128>(hash ^ word) * 0x9E3779B97F4A7C15u;
    hash = static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
  };
  if (name.size() < 8) {
    mix(LoadShort(name.data(), name.size()));
    return hash;
  }
  const char* last = name.data() + name.size() - 8;
  for (const char* at = name.data(); at < last; at += 8) mix(LoadWord(at));
  mix(LoadWord(last));
  return hash;
}

inline bool SameName(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  if (a.size() < 8) return LoadShort(a.data(), a.size()) == LoadShort(b.data(), b.size());
  const size_t last = a.size() - 8;
  for (size_t at = 0; at < last; at += 8)
    if (LoadWord(a.data() + at) != LoadWord(b.data() + at)) return false;
  return LoadWord(a.data() + last) == LoadWord(b.data() + last);
}

}  // namespace shoal::internal
