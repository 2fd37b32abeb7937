// Communicator: how the processes of a job reach each other, as bytes. A backend is a library that is opened when a job
// needs it. All calls come from one thread at a time, and none of them waits for another process.
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

// A reduction that a backend can do by itself, in an order of its own.
enum class ReduceOp : uint8_t { kSum, kProduct, kMin, kMax, kAnd, kOr };
enum class ReduceType : uint8_t { kF32, kF64, kS8, kS16, kS32, kS64, kU8, kU16, kU32, kU64 };

class Communicator {
 public:
  // Something under way, of which Advance sees whether it is done. Dropping one that is not is a mistake.
  class Request {
   public:
    virtual ~Request() = default;
    virtual bool Done() = 0;
  };

  // Leaves the job; every process comes to this.
  virtual ~Communicator() = default;

  virtual int rank() const = 0;
  virtual int size() const = 0;
  virtual std::string library() const = 0;  // "Open MPI 4.1.4"
  virtual int max_tag() const = 0;

  // Small things, put together of parts. What one process posts to another comes whole and in order.
  virtual void Post(int to, std::initializer_list<std::string_view> parts) = 0;
  // Gives the next that has come to `take`, if there is one. The bytes are there as long as that runs.
  using Take = std::function<void(int from, std::string_view bytes)>;
  virtual bool Next(const Take& take) = 0;
  // Whether everything that was posted has left.
  virtual bool Posted() = 0;

  // Looks at all requests together.
  virtual void Advance() = 0;

  // Large ones: the bytes stay where they are until the request is done. With one tag they come in the order of the
  // calls, and each Receive has the size of its Send.
  virtual std::unique_ptr<Request> Send(int to, int tag, std::span<const std::byte> bytes) = 0;
  virtual std::unique_ptr<Request> Receive(int from, int tag, std::span<std::byte> bytes) = 0;

  // Makes a group of these processes, in which the backend reduces; all of them make it, and all groups in the same
  // order. Its number counts from 0.
  virtual int MakeGroup(std::span<const int> ranks) = 0;
  virtual std::unique_ptr<Request> AllReduce(int group, ReduceOp op, ReduceType type, std::byte* data,
                                             int64_t count) = 0;
};

// Whether a launcher started this process as one of several (Open MPI's mpirun, Hydra, srun); its number there.
struct Launched {
  int rank = 0;
  int size = 0;  // 0: the launcher does not say
};
std::optional<Launched> LaunchedByMpi();

}  // namespace shoal::internal
