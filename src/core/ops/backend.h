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
// "CPU", "GPU", "TPU", for sentences.
std::string_view DisplayName(Backend backend);

// The module attribute that states the backend for which shoal scheduled a module.
inline constexpr std::string_view kScheduledForAttribute = "shoal_scheduled_for";

struct BackendChoice {
  Backend backend = Backend::kGpu;
  std::string reason;            // "given", "fusion.3 has a GPU backend_config"
  bool has_evidence = false;  // a feature of the module identifies the backend; otherwise `backend` is a guess
};

// The stage of a dump that no backend has changed yet, and how to get it.
inline constexpr std::string_view kBackendIndependentStage =
    "the dump after SPMD partitioning (--xla_dump_hlo_pass_re=spmd-partitioning)";

// Infers the backend that compiled the module. Tiled layouts mean TPU. GPU backend_configs, library calls and the
// fingerprint in the header mean GPU. CPU backend_configs and library calls mean CPU, and so does a schedule in a module
// with a stack-frame table, because GPU modules of that age have a fingerprint. Without these features, a scheduled
// module is assumed to be for the CPU, an unscheduled one for the GPU.
BackendChoice InferBackend(const Module& module);
// The given backend, or the inferred one.
BackendChoice ChooseBackend(const Module& module, std::optional<Backend> given);

}  // namespace shoal::internal
