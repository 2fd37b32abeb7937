// Flags about loops and branches, shared by several commands.
#pragma once

#include "shoal/facts.h"

namespace shoal::cli {

struct LoopFlags {
  std::vector<std::string> trips, probabilities;  // NAME=N, NAME=P
  // Both return an error message, or an empty string if the text is valid.
  static std::string ValidateTripCount(const std::string& text);
  static std::string ValidateProbability(const std::string& text);
  // The flags, which must be valid.
  FactOptions ToFactOptions() const;
};

}  // namespace shoal::cli
