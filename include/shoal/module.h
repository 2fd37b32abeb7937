// Modules: read, inspect, verify and print them.
#pragma once

#include "shoal/types.h"

namespace shoal::internal {
struct ModuleState;
class Instruction;
class Computation;
}  // namespace shoal::internal

namespace shoal::inline v0_1 {

class Computation;
class Instruction;

struct ReadOptions {
  // Each deviation from XLA's grammar is an error, not a warning.
  bool strict = false;
  // If strict, accept exactly the text that XLA's parser accepts, which excludes some text that XLA itself prints.
  bool xla_compatible = false;
  // A broken rule is an error too. With `strict`, the error then has all deviations and all broken rules.
  bool verify = false;
  // Installed packages that count as the user's program in source lines: "mymodels" for …/site-packages/mymodels/.
  std::vector<std::string> own_packages = {};
};

// An HLO module. A default-constructed or moved-from module is empty: its functions return nothing, and functions that
// take a module return an error.
class SHOAL_API Module {
 public:
  Module() = default;
  explicit Module(std::shared_ptr<const internal::ModuleState> state) : state_(std::move(state)) {}

  bool empty() const { return state_ == nullptr; }
  std::string_view name() const;
  std::string_view path() const;  // the path or name that it was read from
  int64_t replica_count() const;
  int64_t num_partitions() const;
  bool is_scheduled() const;
  // In the order of the text.
  std::vector<Computation> computations() const;
  std::optional<Computation> entry() const;
  // The instruction of this name (without %), in any computation.
  std::optional<Instruction> Find(std::string_view name) const;
  // Shapes of the entry computation: of each parameter, and of the result.
  std::vector<Shape> parameter_shapes() const;
  Shape result_shape() const;
  // Deviations from XLA's grammar that the reader tolerated.
  std::vector<Diag> warnings() const;
  // At most a hundred warnings are kept, but all are counted.
  int64_t warning_count() const;
  std::string WarningText(const DiagStyle& style = {}) const;

  const std::shared_ptr<const internal::ModuleState>& state() const { return state_; }

 private:
  std::shared_ptr<const internal::ModuleState> state_;
};

// A computation of a module. Keeps the module alive.
class SHOAL_API Computation {
 public:
  Computation(std::shared_ptr<const internal::ModuleState> module, const internal::Computation* computation)
      : module_(std::move(module)), computation_(computation) {}

  std::string_view name() const;
  bool is_entry() const;
  // In execution order.
  std::vector<Instruction> instructions() const;
  std::vector<Instruction> parameters() const;
  std::optional<Instruction> root() const;
  Location location() const;
  bool operator==(const Computation& other) const { return computation_ == other.computation_; }

 private:
  std::shared_ptr<const internal::ModuleState> module_;
  const internal::Computation* computation_;
};

struct Metadata {
  std::string_view op_type = {}, op_name = {};
  // "model.py:12": the innermost line of the stack outside of installed packages. "model.py:12 (via forward)": that of the
  // forward op, for a backward op without a line. Empty: unknown.
  std::string source = {};
};

// A line of the user's program.
struct SourceFrame {
  std::string_view file = {}, function = {};
  int32_t line = 0, column = 0;
};

// An attribute as HLO text.
struct Attribute {
  std::string name = {}, value = {};
};

// An instruction of a module. Keeps the module alive.
class SHOAL_API Instruction {
 public:
  Instruction(std::shared_ptr<const internal::ModuleState> module, const internal::Instruction* instruction)
      : module_(std::move(module)), instruction_(instruction) {}

  std::string_view name() const;
  std::string_view opcode() const;  // "all-reduce"
  Shape shape() const;
  std::vector<Instruction> operands() const;
  // Instructions that have this one as an operand, each once, in the order of the text.
  std::vector<Instruction> users() const;
  std::vector<Computation> called_computations() const;
  Computation computation() const;
  // The attributes that affect the program, without those that name computations or instructions.
  std::vector<Attribute> attributes() const;
  // The value of one of them; empty if the instruction does not have it.
  std::string attribute(std::string_view name) const;
  Metadata metadata() const;
  // The stack of calls that created it, innermost first; empty if the module has no table of stack frames.
  std::vector<SourceFrame> source_stack() const;
  Location location() const;
  bool operator==(const Instruction& other) const { return instruction_ == other.instruction_; }

  std::pair<const internal::ModuleState*, const internal::Instruction*> state() const { return {module_.get(), instruction_}; }

 private:
  std::shared_ptr<const internal::ModuleState> module_;
  const internal::Instruction* instruction_;
};

// Reads a file: HLO text, a protobuf or StableHLO (text, bytecode, jax.export), optionally gzipped. The format is
// detected from the content; "-" is standard input.
SHOAL_API Result<Module> Read(const std::string& path, const ReadOptions& options = {});
// The same for bytes in memory, which are copied. Diagnostics call them `name`.
SHOAL_API Result<Module> Parse(std::string_view bytes, const ReadOptions& options = {}, const std::string& name = "<memory>");

// Checks the rules of every op and of the module; empty if all hold. At most the first hundred are returned.
SHOAL_API Result<std::vector<Diag>> Verify(const Module& module);

enum class Format : uint8_t {
  kHlo,        // as XLA prints it
  kShort,      // without %, signatures and metadata
  kProto,      // HloModuleProto
  kProtoJson,  // the same as JSON
  kStablehlo,  // StableHLO text; an error for a module without such a form
};
struct PrintOptions {
  Format format = Format::kHlo;
  bool elide_large_constants = false;  // {...} for more than 10 elements, as XLA does by default
  bool renumber = false;               // XLA's own order of computations and stack frames, even if the text has another
};
SHOAL_API Result<std::string> Print(const Module& module, const PrintOptions& options = {});
// The module as a HloModuleProto. Parse restores the same module.
SHOAL_API Result<std::string> Serialize(const Module& module);

}  // namespace shoal::inline v0_1
