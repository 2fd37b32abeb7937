// Starts threads. A system may refuse to start a thread: memory, the number of processes of a user and the number of
// tasks of a container are limited. This is the only way in which shoal starts threads, so each caller handles that.
#pragma once

#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include "core/base/environment_error.h"

namespace shoal::internal {

// Nothing if the system does not start another thread.
template <class Work>
std::optional<std::jthread> StartThread(Work&& work) {
  try {
    return std::jthread(std::forward<Work>(work));
  } catch (const std::system_error&) {
    return std::nullopt;
  }
}

inline Diag ThreadCreationError() { return EnvironmentError("not enough memory for another thread"); }

}  // namespace shoal::internal
