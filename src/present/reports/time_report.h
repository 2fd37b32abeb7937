// The output of `shoal time`: text, JSON, and a trace for Perfetto.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "predict/timeline/predict.h"
#include "predict/timeline/profile_match.h"
#include "present/reports/text_style.h"

namespace shoal::internal {

struct TimeReport {
  std::string file;
  const PredictionInput* input = nullptr;
  std::vector<Prediction> forecasts;  // one per machine, or per point of a sweep
  std::string sweep;                // the swept parameter; empty: none
  std::vector<std::string> points;  // its values
  std::vector<std::string> assumptions;
  std::optional<ProfileComparison> against;  // comparison of the first forecast with a profile
  size_t top = 10;
  bool all_ops = false;  // JSON: list every op instead of the `top` longest
};

std::string TimeText(const TimeReport& report, const TextStyle& style);
std::string TimeJson(const TimeReport& report);
// The predictions of two modules on the same machines, side by side.
std::string TimePairText(const TimeReport& a, const TimeReport& b, const TextStyle& style);
std::string TimePairJson(const TimeReport& a, const TimeReport& b);
// Predicted and measured times, side by side.
std::string ProfileComparisonText(const TimeReport& report, const TextStyle& style);
// Explains the time of an op or collective. Empty if no op of that name takes time.
std::string ExplainText(const TimeReport& report, const std::string& name, const TextStyle& style);
std::string ExplainJson(const TimeReport& report, const std::string& name);

// The error message for an unknown op name; suggests similar names.
std::string NoSuchOpMessage(const TimeReport& report, const std::string& name);
// The assumptions about loops, branches and devices. `devices_from`: the origin of the number of devices.
std::vector<std::string> TimeNotes(const PredictionInput& input, const std::string& devices_from);

// Trace events in the format of Perfetto and Chrome.
std::string TraceJson(const Trace& trace);

std::string WithUnit(double number, std::string_view unit);  // "989 Tflop/s", "0 flop/s", "6.00 us", "8"
std::string Seconds(double seconds);             // "1.230 ms"
std::string Percent(double part, double whole);  // "12.3 %"

}  // namespace shoal::internal
