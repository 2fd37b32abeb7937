// Calls of old versions of jaxlib, which run as the calls that replaced them: with the parameters in backend_config, and
// without workspaces among the results.
#pragma once

#include <string>
#include <vector>

#include "execute/interp/custom_calls/matrix_call.h"

namespace shoal::internal {

inline constexpr int kWorkspace = -1;  // a result that is a workspace

// A call in terms of its successor.
struct Translation {
  size_t scalars = 0;              // number of operands before the arrays
  std::string config;              // backend_config of the successor
  std::vector<size_t> arrays;      // the successor's operands, as operand numbers of the old call
  std::vector<int> results;        // for each result of the old call: the successor's result, or kWorkspace
  Evaluator successor = nullptr;
};

// The error for unexpected operands or results.
Diag BadOldCall(const Call& call);
// True if the call has `scalars` integers, then at least one array, and returns a tuple.
bool HasOldForm(const Call& call, size_t scalars);
// Runs the successor on an instruction with its shape and configuration, and adds the workspaces.
Result<Value> RunSuccessor(Call& call, const Translation& translation);

// Runs a call with one matrix operand. Results after `results.size()` are workspaces.
Result<Value> RunOnMatrix(Call& call, size_t scalars, const auto& config, std::vector<int> results, Evaluator successor) {
  if (!HasOldForm(call, scalars)) return BadOldCall(call);
  return RunSuccessor(call, {scalars, config(), {scalars}, std::move(results), successor});
}

inline std::string LowerConfig(bool lower) { return lower ? "{\"lower\":true}" : "{\"lower\":false}"; }

}  // namespace shoal::internal
