// Module and Computation: an HLO program exactly as written. Every instruction has its location in the text.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "core/base/arena.h"
#include "core/base/source.h"
#include "core/ir/instruction.h"

namespace shoal::internal {

class Computation {
 public:
  std::string_view name;
  // Instructions in execution order: the schedule, else XLA's post-order. Readers compute it, whatever the order in the
  // file, so operands and control predecessors always come before their users.
  std::vector<Instruction*> instructions;
  // The order of the text, or of a protobuf's ids, from which XLA derives names; empty if it equals `instructions`.
  std::vector<Instruction*> as_written;
  Instruction* root = nullptr;
  std::string_view execution_thread = "main";
  TextSpan at;          // location of the name in the text
  bool defined = true;  // false: called by an instruction, but missing from the text (loose text)

  // Parameters by number; null where a number is missing.
  std::vector<Instruction*> parameters;
  const Shape& result_shape() const { return root->shape(); }
};

enum class AliasKind : uint8_t { kMay, kMust };

struct InputOutputAlias {
  ShapeIndex output_index;
  int64_t parameter = 0;
  ShapeIndex parameter_index;
  AliasKind kind = AliasKind::kMay;
};

struct BufferDonor {
  int64_t parameter = 0;
  ShapeIndex parameter_index;
  bool operator<(const BufferDonor& other) const {
    return std::tie(parameter, parameter_index) < std::tie(other.parameter, other.parameter_index);
  }
};

// entry_computation_layout={(f32[2]{0})->f32[]}
struct EntryLayout {
  std::vector<const Shape*> parameters;
  const Shape* result = nullptr;
};

// debug_attributes={{"a"}:({log_mode=default,op_id=3})}
struct DebugAttributes {
  enum class LogMode : uint8_t { kNone, kDefault, kFusionDebugger };
  LogMode log_mode = LogMode::kNone;
  int64_t callback_id = 0, op_id = 0;
  bool partitioned = false;
};
struct DebugAttributesEntry {
  OriginalArray array;
  std::vector<DebugAttributes> attributes;
};

class Module;
// origin_recovery_table={{"a"}:{"b"},"HloModule…"}
struct OriginRecovery {
  OriginalArray replaced, replacing;
  std::unique_ptr<Module> module;  // null if absent
};

class Module {
 public:
  explicit Module(std::unique_ptr<Source> source) : source(std::move(source)), shapes(arena) {}

  std::unique_ptr<Source> source;  // the text that names and strings point into
  Arena arena;
  ShapePool shapes;

  // The header.
  std::string_view name;
  bool has_header = true;
  bool is_scheduled = false;
  int64_t replica_count = 1;
  int64_t num_partitions = 1;
  bool alias_passthrough_params = false;
  std::optional<EntryLayout> entry_layout;
  std::vector<InputOutputAlias> input_output_alias;  // sorted by output index
  std::vector<BufferDonor> buffer_donors;            // sorted
  std::vector<bool> allow_spmd_sharding_propagation_to_parameters{false};
  std::vector<bool> allow_spmd_sharding_propagation_to_output{false};
  std::span<const FrontendAttribute> frontend_attributes;
  std::vector<OriginRecovery> origin_recovery;
  std::vector<DebugAttributesEntry> debug_attributes;
  std::vector<std::string_view> unknown_attributes;  // "name=value", as written
  StackFrames stack_frames;

  // Computations in the order of the text. In loose text, callees need not come first.
  std::vector<Computation*> computations;
  Computation* entry = nullptr;

  // Set for a protobuf: names, stack frames and the order of computations are already XLA's and are printed unchanged.
  bool names_are_final = false;

  Computation* NewComputation(std::string_view computation_name);
  // Appends an empty instruction to `computation`; the caller fills in the rest.
  Instruction* NewInstruction(Computation& computation);
};

// Appends the instruction to the computation.
void Append(Instruction& hlo, Computation& computation);

// Reorders the instructions; OrderAsWritten still returns the original order.
void SetOrder(Computation& computation, std::vector<Instruction*> order);
std::span<Instruction* const> OrderAsWritten(const Computation& computation);
// True if every operand and control predecessor comes before its users.
bool IsInOrder(const Computation& computation);

// All computations that an instruction calls, in the order of its attributes.
std::vector<Computation*> CalledComputations(const Instruction& hlo);
bool CallsComputations(const Instruction& hlo);

// XLA's order without a schedule: operands and control predecessors before users. Derived from the order as written.
std::vector<Instruction*> PostOrder(const Computation& computation);
// Computes PostOrder for many computations; its lists are allocated only once.
class PostOrderWalk {
 public:
  // Valid until the next call.
  std::span<Instruction* const> Of(const Computation& computation);

 private:
  std::vector<uint8_t> states_;
  std::vector<Instruction*> order_, stack_;
};
// The computations, callees before callers, as XLA prints them.
std::vector<Computation*> PostOrder(const Module& module);

}  // namespace shoal::internal
