// What a module does and costs: devices, loops, collectives, flops and bytes, memory, outline, totals.
#pragma once

#include <map>

#include "shoal/module.h"

namespace shoal::internal {
struct FactsState;
struct ViewState;
}  // namespace shoal::internal

namespace shoal::inline v0_1 {

// A result as the text and the JSON that the command line prints.
class SHOAL_API View {
 public:
  View() = default;
  explicit View(std::shared_ptr<const internal::ViewState> state) : state_(std::move(state)) {}
  std::string ToText(const TextStyle& style = {}) const;
  std::string ToJson() const;
  // Only a matrix of traffic has this form; else empty.
  std::string ToCsv() const;
  const std::shared_ptr<const internal::ViewState>& state() const { return state_; }

 private:
  std::shared_ptr<const internal::ViewState> state_;
};

inline constexpr std::string_view kBackends[] = {"cpu", "gpu", "tpu"};

struct FactOptions {
  std::map<std::string, int64_t> trip_counts = {};   // by loop; they override those of the module
  std::map<std::string, double> probabilities = {};  // of branches, by name of the branch computation
  std::optional<int64_t> num_replicas = {}, num_partitions = {};  // default: from the module
  std::string backend = {};  // of kBackends, whose buffer rules apply; default: from the module
};

struct Devices {
  int64_t count = 1, replicas = 1, partitions = 1;
  std::string from = {};  // "8 devices, from replica_groups of all-reduce.3"
};

struct Loop {
  Instruction loop;
  std::optional<int64_t> trip_count = {};  // unknown if it depends on data
  bool is_assumed = false;            // the trip count is a heuristic
  double executions = 0;              // of the loop, per step
};

struct Collective {
  Instruction instruction;
  Instruction start, done;  // equal unless it is asynchronous
  std::string kind = {};         // "all-reduce"
  std::string axis = {};         // mesh axis and pattern: "data=8", "model=4, ring"
  double executions = 0;    // per step
  int64_t payload_bytes = 0;  // operands of one device, per execution
  int64_t wire_bytes = 0;     // maximum received by any device per execution, if members exchange data directly
  int64_t ring_bytes = 0;     // the same in a ring
  int64_t group_count = 0, group_size = 0;
  double overlapped_flops = 0;  // that the schedule places between start and done
  bool is_async = false;
};

struct CollectiveOptions {
  int64_t devices_per_node = 8;
  int64_t top = 20;            // rows of each table; 0: all
  bool matrix = false;         // the traffic between all pairs of devices
  std::string sort = "order";  // order (of execution), payload, ring, direct, count, name
};
struct Collectives : View {
  std::vector<Collective> all = {};  // in the order of the option `sort`
};

struct CostOptions {
  std::string by = "op";      // op, opcode, computation, line, op_name, op_type, module
  int64_t top = 20;           // rows; 0: all
  std::string sort = "cost";  // cost, flops, transcendentals, read, written, count, name
};
struct CostTotals {
  double flops = 0, transcendentals = 0, bytes_read = 0, bytes_written = 0;
};
struct InstructionCost {
  Instruction instruction;
  double executions = 0;  // per step
  CostTotals once;        // of one execution
};
struct Cost : View {
  CostTotals total;                           // per step
  std::vector<InstructionCost> instructions = {};  // in execution order; a fusion is one entry
};

struct MemoryOptions {
  int64_t top = 10;                      // buffers; 0: all
  std::optional<int64_t> budget = {};    // bytes of a device
  bool run = false;                      // also the memory that an execution by shoal needs
};
struct LiveBuffer {
  Instruction instruction;
  std::vector<int64_t> index = {};  // path into its result tuple
  std::string kind = {};            // argument, output, constant, temporary
  int64_t bytes = 0;
};
struct Memory : View {
  bool fits = true;          // in the budget
  int64_t device_bytes = 0;  // that a device must provide
  int64_t peak_bytes = 0;    // maximum of the live bytes
  int64_t argument_bytes = 0, output_bytes = 0, constant_bytes = 0, temporary_bytes = 0;
  std::string backend = {}, backend_reason = {};
  std::vector<LiveBuffer> live_at_peak = {};  // largest first
};

struct OutlineOptions {
  enum class Ops : uint8_t { kImportant, kCommunication, kComputation, kAll };
  Ops ops = Ops::kImportant;
  bool inside_fusions = false;
  bool names = false;             // of instructions
  bool groups_as_written = false;  // device groups in place of mesh axes
  bool stack = false;              // the Python stack of each op
  int64_t depth = 0;              // levels; 0: all
};

struct Totals {
  int64_t computations = 0;
  double instructions = 0, flops = 0, transcendentals = 0, bytes = 0;
  double wire_bytes = 0;   // maximum received by any device
  double collectives = 0;  // executed
  double peak_memory = 0;
  std::map<std::string, double> collectives_by_kind = {};
};

// The facts of one module, per step. Each is computed at its first use, once; any number of threads may share them.
class SHOAL_API Facts {
 public:
  // Fails if an option names a loop, branch or backend that does not exist.
  static Result<Facts> Of(const Module& module, const FactOptions& options = {});
  // The facts of two modules to compare. Each loop and branch that the options name must exist in one of them.
  static Result<std::pair<Facts, Facts>> OfPair(const Module& a, const Module& b, const FactOptions& options = {});
  explicit Facts(std::shared_ptr<const internal::FactsState> state) : state_(std::move(state)) {}

  Module module() const;
  Devices devices() const;
  std::vector<Loop> loops() const;  // reachable from the entry
  Result<Collectives> collectives(const CollectiveOptions& options = {}) const;
  Result<Cost> cost(const CostOptions& options = {}) const;
  Result<Memory> memory(const MemoryOptions& options = {}) const;
  // The tree of loops, branches, calls and important ops.
  Result<View> outline(const OutlineOptions& options = {}) const;
  Totals totals() const;
  // What the facts assume where the module is not specific, one sentence each.
  std::vector<std::string> assumptions() const;

  const std::shared_ptr<const internal::FactsState>& state() const { return state_; }

 private:
  std::shared_ptr<const internal::FactsState> state_;
};

}  // namespace shoal::inline v0_1
