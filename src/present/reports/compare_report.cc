#include "present/reports/compare_report.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "core/base/printable.h"
#include "core/base/strings.h"
#include "present/reports/compare_json.h"
#include "present/reports/table.h"

namespace shoal::internal {
namespace {

// Two digits: these are estimates.
std::string ErrorText(double error) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.1e", error);
  return text;
}

// The absolute bound, relative to the largest element.
double BoundOf(const Difference& difference) {
  return difference.error > 0 ? difference.abs_bound * difference.error / difference.max_abs : 0;
}

std::vector<std::string> RowOf(const OutputComparison& output) {
  const Difference& difference = output.difference;
  std::vector<std::string> row{StrCat(output.number), ToString(output.a)};
  if (difference.at < 0) {
    row.insert(row.end(), {"0", "0", "0", "-", "-", "-", "-", "same"});
  } else {
    row.insert(row.end(),
               {StrCat(difference.max_abs), StrCat(difference.max_rel), ErrorText(difference.error), ErrorText(BoundOf(difference)), IndexText(difference.at, output.a.dims()),
                ElementText(output.a, difference.at), ElementText(output.b, difference.at)});
    row.push_back(difference.num_exceeding == 0 ? "ok"
                                         : StrCat(difference.num_exceeding, " of ", difference.elements, " out of bounds"));
  }
  return row;
}

}  // namespace

bool Agree(const std::vector<OutputComparison>& outputs) {
  return std::all_of(outputs.begin(), outputs.end(),
                     [](const OutputComparison& output) { return output.difference.num_exceeding == 0; });
}

std::string CompareText(const CompareReport& report, const TextStyle& style) {
  std::string text = StrCat("A: ", EscapeName(report.a), "\nB: ", EscapeName(report.b), "\n");
  if (!report.inputs.empty()) StrAppend(&text, EscapeName(report.inputs), "\n");
  for (const std::string& note : report.notes) StrAppend(&text, note, "\n");
  std::map<std::string, std::vector<int64_t>> notes;
  for (const OutputComparison& output : report.outputs)
    if (!output.note.empty()) notes[output.note].push_back(output.number);
  for (const auto& [note, numbers] : notes)
    StrAppend(&text, numbers.size() == 1 ? "output " : "outputs ", StrJoin(numbers, ", "), " reassembled: ", note,
              "\n");
  Table table({"output", {"shape", ElideMode::kRight, 1}, "max abs", "max rel", "error", "bound", "index", "A", "B", ""});
  for (const OutputComparison& output : report.outputs) table.Add(RowOf(output));
  text += table.ToText(style);
  int64_t beyond = 0;
  for (const OutputComparison& output : report.outputs) {
    const Difference& difference = output.difference;
    if (difference.num_exceeding == 0) continue;
    ++beyond;
    StrAppend(&text, "output ", output.number, ": ", difference.num_exceeding, " of ", difference.elements,
              " elements exceed both bounds, absolute ", difference.abs_bound, " and relative ",
              difference.rel_bound, "; the table shows the first\n");
  }
  const int64_t count = std::ssize(report.outputs);
  StrAppend(&text, StrCat(count - beyond, " of ", count, count == 1 ? " output agrees\n" : " outputs agree\n"));
  return WrapToWidth(text, style);
}

Json ComparisonsJson(const std::vector<OutputComparison>& comparisons) {
  // JSON has no infinity.
  const auto number = [](double value) { return std::isfinite(value) ? Json(value) : Json("inf"); };
  Json outputs = Json::array();
  for (const OutputComparison& output : comparisons) {
    const Difference& difference = output.difference;
    Json one = {{"output", output.number},
                {"shape", ToString(output.a)},
                {"max_abs", number(difference.max_abs)},
                {"max_rel", number(difference.max_rel)},
                {"elements", difference.elements},
                {"out_of_bounds", difference.num_exceeding},
                {"abs_bound", difference.abs_bound},
                {"rel_bound", difference.rel_bound},
                {"error", number(difference.error)},
                {"expected_error", difference.expected_error}};
    if (difference.at >= 0) {
      one["at"] = difference.at;
      one["index"] = IndexText(difference.at, output.a.dims());
      one["a"] = ElementText(output.a, difference.at);
      one["b"] = ElementText(output.b, difference.at);
    }
    if (!output.note.empty()) one["reassembled_by"] = output.note;
    outputs.push_back(std::move(one));
  }
  return outputs;
}

std::string CompareJson(const CompareReport& report) {
  const Json all = {{"version", kJsonVersion},
                    {"ok", Agree(report.outputs)},
                    {"a", report.a},
                    {"b", report.b},
                    {"inputs", report.inputs},
                    {"notes", report.notes},
                    {"outputs", ComparisonsJson(report.outputs)}};
  return JsonText(all);
}

}  // namespace shoal::internal
