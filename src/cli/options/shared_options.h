// The options that several verbs have.
#pragma once

#include "cli/options/options.h"
#include "cli/verbs/engine_flags.h"
#include "cli/verbs/input.h"
#include "cli/verbs/job.h"
#include "cli/verbs/loop_flags.h"
#include "cli/verbs/run_limits.h"

namespace shoal {

// kStrict: the verb has no choice, so there is no --strict.
enum class Reading : uint8_t { kAsAsked, kStrict };

void AddTo(Options& verb, CommonFlags& flags, Reading reading = Reading::kAsAsked);
void AddTo(Options& verb, EngineFlags& flags);
void AddTo(Options& verb, JobFlags& flags);
void AddTo(Options& verb, LoopFlags& flags);
void AddTo(Options& verb, RunLimits& flags);

// What is wrong with a number of bytes: 80GB, 512MiB, 1000000. Nothing if it is right.
std::string FaultOfBytes(const std::string& text);

}  // namespace shoal
