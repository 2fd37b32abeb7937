// Bump allocation for objects that live as long as a Module: instructions, shapes, lists of integers. Objects are not
// freed one by one; the arena runs their destructors when it is destroyed.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace shoal::internal {

class Arena {
 public:
  Arena() = default;
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;
  ~Arena() {
    for (auto it = destructors_.rbegin(); it != destructors_.rend(); ++it) it->destroy(it->object);
  }

  void* Allocate(size_t bytes, size_t alignment) {
    const size_t padding = -reinterpret_cast<uintptr_t>(next_) & (alignment - 1);
    if (padding + bytes > static_cast<size_t>(end_ - next_)) return AllocateBlock(bytes, alignment);
    std::byte* start = next_ + padding;
    next_ = start + bytes;
    return start;
  }

  template <class T, class... Args>
  T* New(Args&&... args) {
    T* object = new (Allocate(sizeof(T), alignof(T))) T{std::forward<Args>(args)...};
    if constexpr (!std::is_trivially_destructible_v<T>)
      destructors_.push_back({object, [](void* p) { static_cast<T*>(p)->~T(); }});
    return object;
  }

  // Uninitialised memory for `count` trivial objects.
  template <class T>
  std::span<T> NewSpan(size_t count) {
    static_assert(std::is_trivially_destructible_v<T>);
    return {static_cast<T*>(Allocate(sizeof(T) * count, alignof(T))), count};
  }

  template <class Range>
  auto Copy(const Range& range) {
    using T = std::remove_cv_t<std::remove_reference_t<decltype(*std::data(range))>>;
    std::span<T> copy = NewSpan<T>(std::size(range));
    std::uninitialized_copy(std::data(range), std::data(range) + std::size(range), copy.data());
    return copy;
  }

  std::string_view CopyString(std::string_view text) {
    if (text.empty()) return {};
    char* copy = static_cast<char*>(Allocate(text.size(), 1));
    std::memcpy(copy, text.data(), text.size());
    return {copy, text.size()};
  }

  size_t bytes_reserved() const { return bytes_reserved_; }

 private:
  struct Destructor {
    void* object;
    void (*destroy)(void*);
  };

  struct Free {
    void operator()(void* block) const { std::free(block); }
  };

  // Blocks double in size up to one huge page. All later blocks consist of huge pages: with small pages, page faults
  // took a fifth of the time to read a module.
  void* AllocateBlock(size_t bytes, size_t alignment) {
    size_t size = bytes + alignment > block_size_ ? bytes + alignment : block_size_;
    if (size >= kHugePage) size = (size + kHugePage - 1) & ~(kHugePage - 1);
    void* block = size >= kHugePage ? std::aligned_alloc(kHugePage, size) : std::malloc(size);
    if (block == nullptr) throw std::bad_alloc();
    if (size >= kHugePage) madvise(block, size, MADV_HUGEPAGE);
    blocks_.emplace_back(block);
    bytes_reserved_ += size;
    if (block_size_ < kHugePage) block_size_ *= 2;
    next_ = static_cast<std::byte*>(block);
    end_ = next_ + size;
    return Allocate(bytes, alignment);
  }

  static constexpr size_t kHugePage = size_t{1} << 21;
  std::byte* next_ = nullptr;
  std::byte* end_ = nullptr;
  size_t block_size_ = size_t{1} << 14;
  size_t bytes_reserved_ = 0;
  std::vector<std::unique_ptr<void, Free>> blocks_;
  std::vector<Destructor> destructors_;
};

}  // namespace shoal::internal
