// Options shared by several commands.
#pragma once

#include "cli/options/options.h"
#include "cli/commands/input.h"
#include "cli/commands/job.h"
#include "cli/commands/loop_flags.h"
#include "cli/commands/run_flags.h"

namespace shoal::cli {

// kStrict: the command is always strict and has no --strict flag.
enum class Strictness : uint8_t { kFlagControlled, kStrict };

void AddTo(Options& command, CommonFlags& flags, Strictness strictness = Strictness::kFlagControlled);
void AddTo(Options& command, EngineFlags& flags);
void AddTo(Options& command, JobFlags& flags);
void AddTo(Options& command, LoopFlags& flags);
void AddTo(Options& command, RunLimits& flags);

// Returns an empty string for a number of bytes such as 80GB, 512MiB or 1000000, else an error message.
std::string ValidateBytes(const std::string& text);

}  // namespace shoal::cli
