// Communicator: transfers bytes between the processes of a job. A backend is a library that is loaded when a job needs
// it. Only one thread at a time may call a Communicator. No call waits for another process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace shoal::internal {

// Reductions that a backend can perform itself, in any order.
enum class ReduceOp : uint8_t { kSum, kProduct, kMin, kMax, kAnd, kOr };
enum class ReduceType : uint8_t { kF32, kF64, kS8, kS16, kS32, kS64, kU8, kU16, kU32, kU64 };

class Communicator {
 public:
  // A pending transfer; Advance detects its completion. The request must not be destroyed before it is done.
  class Request {
   public:
    virtual ~Request() = default;
    virtual bool Done() = 0;
  };

  // Leaves the job. Every process must call this.
  virtual ~Communicator() = default;

  virtual int rank() const = 0;
  virtual int size() const = 0;
  virtual std::string library() const = 0;  // such as "Open MPI 4.1.4"
  virtual int max_tag() const = 0;

  // Sends a small message, the concatenation of `parts`. Messages between two processes arrive whole and in order.
  virtual void Post(int to, std::initializer_list<std::string_view> parts) = 0;
  // Calls `take` with the next message; returns false if there is none. The bytes are valid only during the call.
  using Take = std::function<void(int from, std::string_view bytes)>;
  virtual bool Next(const Take& take) = 0;
  // True if all posted messages have left this process.
  virtual bool Posted() = 0;

  // Tests all pending requests for completion.
  virtual void Advance() = 0;

  // Large transfers. The caller keeps the bytes in place until the request is done. Calls with equal tags match in call
  // order, and each Receive must have the size of its Send.
  virtual std::unique_ptr<Request> Send(int to, int tag, std::span<const std::byte> bytes) = 0;
  virtual std::unique_ptr<Request> Receive(int from, int tag, std::span<std::byte> bytes) = 0;

  // Creates a group of processes for AllReduce and returns its zero-based number. All processes of the job must create
  // all groups in the same order.
  virtual int MakeGroup(std::span<const int> ranks) = 0;
  virtual std::unique_ptr<Request> AllReduce(int group, ReduceOp op, ReduceType type, std::byte* data,
                                             int64_t count) = 0;
};

// The rank and size that a launcher (Open MPI's mpirun, Hydra, srun) set for this process; nullopt without a launcher.
struct LaunchInfo {
  int rank = 0;
  int size = 0;  // 0: not set by the launcher
};
std::optional<LaunchInfo> LaunchedByMpi();

}  // namespace shoal::internal
