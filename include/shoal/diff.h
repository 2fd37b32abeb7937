// Differences between two modules: in their instructions, and in what they compute.
#pragma once

#include "shoal/execute.h"
#include "shoal/predict.h"

namespace shoal::inline v0_1 {

struct Change {
  std::string kind = {};  // "added", "type", "trips", …
  std::optional<Instruction> a = {}, b = {};  // absent if only the other module has it, or if no instruction changed
  std::string what = {};                 // attribute or header field
  std::string before = {}, after = {};
  int64_t count = 1;  // instructions with this change
};

// Sixteen hexadecimal digits. Equal for modules that differ at most in names, text order, channel numbers and metadata.
// A later version of shoal may compute another fingerprint.
SHOAL_API Result<std::string> Fingerprint(const Module& module);

struct DiffOptions {
  std::vector<std::string> thresholds = {};  // "wire_bytes<=+2%"
  int64_t top = 20;                          // rows of each kind in the text; 0: all
  std::optional<Machine> machine = {};       // adds the predicted step time on this machine: "step_seconds<=+2%"
};
struct ModuleDiff : View {
  std::vector<Change> changes = {};  // empty if the modules differ at most in names, text order and metadata
  Totals a = {}, b = {};
  std::vector<std::string> exceeded = {};  // thresholds that do not hold
};
// The facts must have equal options.
SHOAL_API Result<ModuleDiff> Diff(const Facts& a, const Facts& b, const DiffOptions& options = {});

struct CompareOptions {
  InputOptions inputs = {};  // of the module that is not partitioned
  Module shardings_from = {};  // has the shardings of parameters and results that the two modules lack
  std::optional<double> atol = {}, rtol = {};  // default: by the element types
  CompileOptions compile = {};
  ExecuteOptions execute = {};
};
struct OutputDifference {
  int64_t number = 0;  // of the output's leaf
  double max_absolute = 0, max_relative = 0;
  int64_t elements = 0, exceeding = 0;  // exceeding: beyond both bounds
  std::string note = {};                     // how the output was reassembled from several devices
};
struct Comparison : View {
  bool agrees = true;
  std::vector<OutputDifference> outputs = {};
};
// Runs both modules on the same inputs. One of them may be the partitioned form of the other. Collective in a job, whose
// first process gets the comparison.
SHOAL_API Result<Comparison> Compare(const Module& a, const Module& b, const CompareOptions& options = {});

}  // namespace shoal::inline v0_1
