// The options that several verbs have.
#pragma once

#include "cli/options/options.h"
#include "cli/commands/engine_flags.h"
#include "cli/commands/input.h"
#include "cli/commands/job.h"
#include "cli/commands/loop_flags.h"
#include "cli/commands/run_limits.h"

namespace shoal::internal {

// kStrict: the verb has no choice, so there is no --strict.
enum class Strictness : uint8_t { kFlagControlled, kStrict };

void AddTo(Options& verb, CommonFlags& flags, Strictness reading = Strictness::kFlagControlled);
void AddTo(Options& verb, EngineFlags& flags);
void AddTo(Options& verb, JobFlags& flags);
void AddTo(Options& verb, LoopFlags& flags);
void AddTo(Options& verb, RunLimits& flags);

// What is wrong with a number of bytes: 80GB, 512MiB, 1000000. Nothing if it is right.
std::string ValidateBytes(const std::string& text);

}  // namespace shoal::internal
