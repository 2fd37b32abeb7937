// What `shoal time` shows: text for people, JSON for programs, a trace for Perfetto.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "predict/timeline/predict.h"
#include "predict/timeline/profile_match.h"

namespace shoal::internal {

struct TimeReport {
  std::string file;
  const PredictionInput* input = nullptr;
  std::vector<Prediction> forecasts;  // one for each machine, or for each point of a sweep
  std::string sweep;                // the figure that changes; empty: none
  std::vector<std::string> points;  // its values
  std::vector<std::string> assumptions;
  std::optional<ProfileComparison> against;  // of the first forecast with a profile
  size_t top = 10;
  bool all_ops = false;  // in the JSON: every op, not only the ten that take longest
};

std::string TimeText(const TimeReport& report);
std::string TimeJson(const TimeReport& report);
// Predicted and measured, side by side.
std::string ProfileComparisonText(const TimeReport& report);
// How an op, or a collective, was priced. Empty if nothing of that name takes time.
std::string ExplainText(const TimeReport& report, const std::string& name);
std::string ExplainJson(const TimeReport& report, const std::string& name);

// That nothing of that name takes time, and what is called a little like it.
std::string NoSuchOpMessage(const TimeReport& report, const std::string& name);
// What the prediction assumes of loops, branches and devices; `devices_from`: where their number was found.
std::vector<std::string> TimeNotes(const PredictionInput& input, const std::string& devices_from);

// Perfetto's (Chrome's) trace events.
std::string TraceJson(const Trace& trace);

// 0.00123 as "1.23 ms"; a part as "12.3 %"; where in the source an instruction comes from.
std::string Seconds(double seconds);
std::string Percent(double part, double whole);
std::string PlaceOfOp(const Instruction& hlo, const Module& module);

}  // namespace shoal::internal
