// The XLA backend that compiled a module, or that will compile it.
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
  std::string reason;            // "given", "fusion.3 has a GPU backend_config"
  bool has_evidence = false;  // a feature of the module identifies the backend; otherwise `backend` is a guess
};

// Infers the backend: tiled layouts mean TPU, GPU backend_configs and library calls mean GPU. Without these features, a
// scheduled module is assumed to be for the CPU, an unscheduled one for the GPU.
BackendChoice InferBackend(const Module& module);

}  // namespace shoal::internal
