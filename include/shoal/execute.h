// Compiles modules for this machine and runs them on virtual devices.
#pragma once

#include <functional>
#include <map>
#include <stop_token>

#include "shoal/job.h"

namespace shoal::internal {
struct BufferState;
struct ExecutableState;
struct PendingState;
struct RunState;
class ThreadPool;
}  // namespace shoal::internal

namespace shoal::inline v0_1 {

// Threads that several executables share.
class SHOAL_API ThreadPool {
 public:
  // `threads` includes the thread that executes; 0: one per core.
  static Result<ThreadPool> Create(int threads = 0);
  int threads() const;
  const std::shared_ptr<internal::ThreadPool>& state() const { return state_; }

 private:
  explicit ThreadPool(std::shared_ptr<internal::ThreadPool> state) : state_(std::move(state)) {}
  std::shared_ptr<internal::ThreadPool> state_;
};

// An array in memory: row-major, ElementBytes(type) per element. Copies of a buffer share the memory. A
// default-constructed buffer is empty; it stands for a token.
class SHOAL_API Buffer {
 public:
  Buffer() = default;
  explicit Buffer(std::shared_ptr<internal::BufferState> state) : state_(std::move(state)) {}

  // Memory of the caller. It must stay valid and unchanged until shoal calls `release`, from any thread. Without
  // `byte_strides` the array is row-major. shoal reads the memory in place if it is row-major and aligned to an element;
  // else it copies the elements and calls `release` before Borrow returns. If Borrow fails, it does not call `release`.
  static Result<Buffer> Borrow(const void* data, ElementType type, std::vector<int64_t> dims,
                               std::function<void()> release = {}, std::span<const int64_t> byte_strides = {});
  // A copy of `bytes` bytes, which must be the size of the array.
  static Result<Buffer> Copy(const void* data, size_t bytes, ElementType type, std::vector<int64_t> dims);
  // Uninitialised memory.
  static Result<Buffer> Allocate(ElementType type, std::vector<int64_t> dims);

  bool empty() const { return state_ == nullptr; }
  ElementType type() const;
  std::span<const int64_t> dims() const;
  int64_t elements() const;
  size_t bytes() const;
  const void* data() const;
  // The memory for writing. If another buffer or an execution shares it, or if it is borrowed, this buffer first gets a
  // copy of its own. Null if there is no memory for the copy.
  void* mutable_data();
  // In the syntax of HLO text: "f32[2] {1, 2}".
  std::string ToLiteral() const;

  std::shared_ptr<internal::BufferState>& state() { return state_; }
  const std::shared_ptr<internal::BufferState>& state() const { return state_; }

 private:
  std::shared_ptr<internal::BufferState> state_;
};

// Arrays by device and leaf. Tuples are flattened, depth first.
using Buffers = std::vector<std::vector<Buffer>>;

enum class Engine : uint8_t {
  kJit,          // compiled for this machine; the interpreter if the code generator is not installed
  kInterpreter,  // exact and slow
};

// The rounding of sums, which HLO does not specify. kInferred: as the compiler that the module's features point to.
enum class Numerics : uint8_t { kInferred, kXlaCpu, kXlaCpuYnnpack, kWide };

struct CompileOptions {
  Engine engine = Engine::kJit;
  int threads = 0;                 // 0: one per core
  std::optional<ThreadPool> pool = {};  // in place of own threads
  std::string cpu = {};                 // target CPU; empty: the CPU of this machine
  std::string cache_dir = {};           // folder that caches compiled code; empty: no cache
  std::optional<int64_t> num_replicas = {}, num_partitions = {};  // default: from the module
  Numerics numerics = Numerics::kInferred;
  bool observable = false;  // keep every instruction, for on_value and check_nans of a run; slower
  Job job = {};             // the devices are divided among its processes
  bool fill_elided = true;  // generate values for literals that are missing from the dump; false: an error
  // Called at the start of each stage, on the calling thread.
  std::function<void(std::string_view stage)> progress = {};
  std::stop_token stop = {};  // a requested stop ends the compilation before its next stage
};

enum class InputMode : uint8_t {
  kRandom,        // parameters with a sharding: shards of one random array; others: floats differ between devices
  kSharedRandom,  // identical arrays on all devices
  kZeros,
  kDeviceId,  // every element is the number of the device
};

struct InputOptions {
  std::string path = {};  // a folder of .npy files, or an .npz file; empty: those of a snapshot, else generated ones
  InputMode mode = InputMode::kRandom;
  uint64_t seed = 0;
  // Values of parameters, by name, in place of generated ones.
  std::map<std::string, double> fixed = {};
  // The module before SPMD partitioning: generates its inputs, and splits them by its shardings.
  Module shardings_from = {};
  int64_t max_bytes = 0;  // an error if the arguments of a device are larger; 0: no limit
  std::function<void(double bytes, double total)> progress = {};  // while arrays are generated
};
struct Inputs {
  Buffers arguments = {};
  std::string description = {};  // "inputs from the snapshot", "no inputs given: generated with …"
  // Parameters whose arrays, read from files, should be equal on several devices but are not.
  std::vector<std::string> differing_replicas = {};
};

struct RunProgress {
  double seconds = 0;
  double instructions = 0;           // executed so far, on all devices
  double expected_instructions = 0;  // 0: unknown
  std::string positions = {};        // "90 instructions; devices 0-3 at dot.5, device 4 at all-reduce.1"
};

// An array, or the arrays of a tuple, on a device.
struct ObservedValue {
  int64_t device = 0;
  const Instruction& instruction;
  const std::vector<Buffer>& arrays;
};

struct ExecuteOptions {
  uint64_t random_seed = 0;        // of rng, for which HLO does not define the numbers
  bool stub_custom_calls = false;  // generate the results of unknown custom calls instead of an error
  bool profile = false;            // record when each instruction ran
  bool donate = true;              // buffers that are moved in, and that have no other owner, may be overwritten
  bool gather = false;             // in a job: the first process gets the results of all devices
  bool check_snapshot = false;     // compare the results with those that the module's snapshot recorded
  // Limits that stop a run; 0: no limit.
  int64_t max_instructions = 0;  // of each device
  int64_t max_bytes = 0;         // of the arrays of each device
  double max_seconds = 0;
  // Stop at the first instruction that makes a NaN from operands without NaN, or an infinity from finite ones.
  bool check_nans = false;
  // Called after each instruction, on the thread of the device; false stops the run. Both need CompileOptions::observable
  // or the interpreter, and cannot be combined with `profile`.
  std::function<bool(const ObservedValue&)> on_value = {};
  // Writes the values of the instructions whose names match the regular expression to dD/NAME.npy in the folder. Needs
  // CompileOptions::observable or the interpreter.
  std::string dump = {}, dump_folder = "dump";
  // Receives the data of outfeeds, on the thread of the device.
  std::function<void(const ObservedValue&)> on_outfeed = {};
  // Called about ten times per second, from another thread.
  std::function<void(const RunProgress&)> progress = {};
  // Called after the run, also after one that failed: which values were dumped; that the interpreter took much of the time.
  std::function<void(const std::string& sentence)> note = {};
  std::stop_token stop = {};  // a requested stop ends the run within about a tenth of a second
};

// The traffic of one kind of collective on one device.
struct CollectiveTraffic {
  std::string kind = {};  // "all-reduce"
  int64_t calls = 0, payload_bytes = 0;
  int64_t wire_bytes = 0;  // received from other devices
};

// The result of an execution. Outputs outlive the executable and the run.
struct SHOAL_API RunResult {
  Buffers outputs = {};  // a token is an empty buffer
  double seconds = 0;
  int64_t instructions = 0;         // evaluated, on all devices
  int64_t iterations = 0;           // of loops, on all devices
  std::vector<int64_t> peak_bytes = {};  // of the arrays of each device
  std::vector<std::vector<CollectiveTraffic>> traffic = {};  // by device
  std::vector<Diag> warnings = {};
  std::optional<bool> equals_snapshot = {};  // with ExecuteOptions::check_snapshot
  // For ToText and ToJson: where the arguments are from; the seconds of each run if there were several.
  std::string inputs = {};
  std::vector<double> run_seconds = {};

  // What `shoal run` prints.
  std::string ToText(const TextStyle& style = {}) const;
  std::string ToJson() const;
  std::string WarningText(const DiagStyle& style = {}) const;
  std::string SnapshotText(const TextStyle& style = {}) const;
  // Writes FOLDER/dD/K.npy for each array of the devices of this process or, if they were gathered, of all devices.
  Status WriteOutputs(const std::string& folder) const;
  // Every output as a literal; devices with identical outputs share one.
  std::string ToLiterals() const;
  // With ExecuteOptions::profile: the longest instructions, and a trace for Perfetto. Else empty.
  // With `peak`, the text has fractions of this machine's peak, which is measured first.
  std::string ProfileText(const TextStyle& style = {}, bool peak = false) const;
  std::string ProfileTrace() const;

  std::shared_ptr<const internal::RunState> state = {};
};

// An execution on a thread of its own. The destructor waits for its end.
class SHOAL_API PendingRun {
 public:
  explicit PendingRun(std::shared_ptr<internal::PendingState> state) : state_(std::move(state)) {}
  PendingRun(PendingRun&&) = default;
  PendingRun& operator=(PendingRun&& other) noexcept;
  ~PendingRun();

  // True if the run has ended within `seconds`.
  bool WaitFor(double seconds) const;
  bool done() const { return WaitFor(0); }
  void Cancel() const;
  // Waits for the end and takes the result; call it once. Not available if the run has a completion callback.
  Result<RunResult> Take();

 private:
  std::shared_ptr<internal::PendingState> state_;
};

// A module compiled for this machine; immutable. Any number of threads may execute it at once. It keeps its module.
class SHOAL_API Executable {
 public:
  explicit Executable(std::shared_ptr<const internal::ExecutableState> state) : state_(std::move(state)) {}

  Module module() const;
  int64_t num_devices() const;
  int64_t num_local_devices() const;  // in this process; fewer in a job
  int64_t num_replicas() const;
  int64_t num_partitions() const;
  Engine engine() const;  // the one in use
  Numerics numerics() const;
  // The shapes of the leaves of arguments and results, on each device.
  std::vector<Shape> argument_shapes() const;
  std::vector<Shape> result_shapes() const;
  double compile_seconds() const;
  // Problems from which the compilation recovered.
  std::vector<std::string> warnings() const;
  // Warnings about the module: literals that are missing from the dump.
  std::string WarningText(const DiagStyle& style = {}) const;
  // The compiled program as text: its steps and kernels. Empty for the interpreter.
  std::string Explain() const;

  // The arguments of `shoal run`.
  Result<Inputs> MakeInputs(const InputOptions& options) const;
  // The arguments that `shoal run` generates.
  Result<Buffers> GenerateArguments(InputMode mode = InputMode::kRandom, uint64_t seed = 0) const;
  // Reads arguments from .npy files of a folder, or from an .npz file, as `shoal run --inputs` does.
  Result<Buffers> ReadArguments(const std::string& path) const;
  // The arguments that the module's snapshot recorded. An error if there are none.
  Result<Buffers> SnapshotArguments() const;

  // Runs the module with arguments[device][leaf]. A buffer that is moved in, and that has no other owner, is donated:
  // its memory may be overwritten. Others stay as they are.
  Result<RunResult> Execute(Buffers arguments, const ExecuteOptions& options = {}) const;
  // The same on a thread of its own. Calls `done`, if given, on that thread.
  Result<PendingRun> ExecuteAsync(Buffers arguments, const ExecuteOptions& options = {},
                                  std::function<void(Result<RunResult>)> done = {}) const;

  const std::shared_ptr<const internal::ExecutableState>& state() const { return state_; }

 private:
  std::shared_ptr<const internal::ExecutableState> state_;
};

// Loads the code generator on another thread. The result keeps that thread.
SHOAL_API std::shared_ptr<void> PrefetchCodeGenerator();
// The largest number of virtual devices of an execution.
inline constexpr int64_t kMaxDevices = 4096;
// The names of InputMode and of Numerics, as options and messages use them; those of Numerics begin with kXlaCpu.
SHOAL_API std::vector<std::string> InputModeNames();
SHOAL_API std::vector<std::string> NumericsNames();

// Verifies and compiles the module. A module that was read leniently must have no deviation that strict reading refuses.
SHOAL_API Result<Executable> Compile(const Module& module, const CompileOptions& options = {});

}  // namespace shoal::inline v0_1
