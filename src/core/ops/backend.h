// Which of XLA's compilers a module comes from, or is meant for.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/ir/module.h"

namespace shoal::internal {

enum class Backend : uint8_t { kCpu, kGpu, kTpu };
inline constexpr std::string_view kBackends[] = {"cpu", "gpu", "tpu"};

inline std::string_view ToString(Backend backend) { return kBackends[static_cast<size_t>(backend)]; }
std::optional<Backend> ParseBackend(std::string_view name);

struct BackendChoice {
  Backend backend = Backend::kGpu;
  std::string why;         // "given", "fusion.3 has a backend_config as GPUs have"
  bool is_shown = false;   // by something that stands in the module; else it is as good a guess as any
};

// By what the module's text shows: tiled layouts are a TPU's; backend_configs and custom calls are of whoever writes
// them. A module that shows nothing counts as a GPU's unless it is scheduled.
BackendChoice InferBackend(const Module& module);

}  // namespace shoal::internal
