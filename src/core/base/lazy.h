// Lazy: a value that is computed at its first use, once, by whichever thread needs it first.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>

namespace shoal::internal {

template <class T>
class Lazy {
 public:
  // `compute` returns a T. Other threads wait until it has returned. If it throws, the next call computes the value.
  template <class Compute>
  const T& Get(Compute compute) const {
    if (const T* value = computed_.load(std::memory_order_acquire)) return *value;  // call_once is not free
    std::call_once(once_, [&] {
      value_.reset(new T(compute()));
      computed_.store(value_.get(), std::memory_order_release);
    });
    return *value_;
  }

 private:
  mutable std::once_flag once_;
  mutable std::unique_ptr<const T> value_;
  mutable std::atomic<const T*> computed_ = nullptr;
};

}  // namespace shoal::internal
