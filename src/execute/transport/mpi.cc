// The MPI backend of Communicator: plain MPI-3, only nonblocking calls. Within a machine, small messages use shared
// memory (shared_memory_rings.h). Between machines, their receives are preposted, which is faster than probing. A small
// message announces each longer message, which follows on a second MPI communicator. Large transfers use a third.
#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <deque>
#include <list>
#include <thread>
#include <vector>

#include "execute/transport/communicator.h"
#include "execute/transport/mpi_types.h"
#include "execute/transport/shared_memory_rings.h"

namespace shoal::internal {
namespace {

// The usual cause is a lost process. While this thread sleeps here, the monitoring thread (peers.h) detects the loss,
// reports the lost rank and ends this process.
void OnMpiError(MPI_Comm*, int* code, ...) {
  std::this_thread::sleep_for(std::chrono::seconds(8));
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  MPI_Error_string(*code, text, &length);
  std::fprintf(stderr, "shoal: error: an MPI call failed: %.*s\n", length, text);
  MPI_Abort(MPI_COMM_WORLD, 2);
}

class MpiRequest : public Communicator::Request {
 public:
  bool Done() override { return is_done; }
  bool is_done = false;
};

class MpiCommunicator : public Communicator {
 public:
  MpiCommunicator() {
    MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
    MPI_Comm_create_errhandler(&OnMpiError, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);  // duplicates of the communicator inherit the handler
    MPI_Errhandler_free(&handler);
    MPI_Comm_dup(MPI_COMM_WORLD, &small_);
    MPI_Comm_dup(MPI_COMM_WORLD, &long_);
    MPI_Comm_dup(MPI_COMM_WORLD, &large_);
    MPI_Comm_rank(small_, &rank_);
    MPI_Comm_size(small_, &size_);
    int* tag_bound = nullptr;
    int has_tag_bound = 0;
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, static_cast<void*>(&tag_bound), &has_tag_bound);
    if (has_tag_bound != 0) max_tag_ = *tag_bound;
    queues_.resize(static_cast<size_t>(size_));
    local_rings_ = std::make_unique<SharedMemoryRings>(small_);
    if (!local_rings_->ReachAll())
      for (Slot& slot : slots_) PostReceive(slot);
  }

  ~MpiCommunicator() override {
    for (Slot& slot : slots_) {
      if (slot.request == MPI_REQUEST_NULL) continue;
      MPI_Cancel(&slot.request);
      MPI_Wait(&slot.request, MPI_STATUS_IGNORE);
    }
    local_rings_.reset();
    for (MPI_Comm& group : groups_)
      if (group != MPI_COMM_NULL) MPI_Comm_free(&group);
    MPI_Finalize();
  }

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  int max_tag() const override { return max_tag_; }
  std::string library() const override {
    char text[MPI_MAX_LIBRARY_VERSION_STRING];
    int length = 0;
    MPI_Get_library_version(text, &length);
    const std::string all(text, static_cast<size_t>(length));
    return all.substr(0, all.find_first_of(",\n"));
  }

  void Post(int to, std::initializer_list<std::string_view> parts) override {
    size_t bytes = 0;
    for (std::string_view part : parts) bytes += part.size();
    if (bytes <= kSlotBytes) return PostSmall(to, kWhole, parts);
    const auto size = static_cast<int64_t>(bytes);
    PostSmall(to, kAnnouncement, {{reinterpret_cast<const char*>(&size), sizeof(size)}});
    Send(to, 0, long_, parts);
  }

  bool Next(const Take& take) override {
    if (queued_ > 0 && TakeQueued(take)) return true;
    const auto on_message = [&](int from, int tag, std::string_view bytes) { OnArrival(from, tag, bytes, take); };
    if (local_rings_->Next(on_message)) return true;
    if (local_rings_->ReachAll()) {
      if (!posted_.empty()) ReleaseOldestSend();  // MPI sends long messages only during MPI calls
      return false;
    }
    Slot& slot = slots_[next_];
    int has_arrived = 0;
    MPI_Status status;
    MPI_Test(&slot.request, &has_arrived, &status);
    if (has_arrived == 0) {
      while (handled_ > 0) RepostOldestReceive();  // uses idle time
      return false;
    }
    next_ = (next_ + 1) % kSlots;  // messages match receives in posting order
    int size = 0;
    MPI_Get_count(&status, MPI_BYTE, &size);
    OnArrival(status.MPI_SOURCE, status.MPI_TAG, {slot.bytes.get(), static_cast<size_t>(size)}, take);
    if (++handled_ > kSlots / 2) RepostOldestReceive();
    return true;
  }

  bool Posted() override {
    while (!posted_.empty())
      if (!ReleaseOldestSend()) return false;
    return local_rings_->Posted();
  }

  // Uses a single Testsome, because every unsuccessful MPI call polls all of MPI's devices.
  void Advance() override {
    if (requests_.empty()) return;
    done_.resize(requests_.size());
    int count = 0;
    MPI_Testsome(static_cast<int>(requests_.size()), requests_.data(), &count, done_.data(), MPI_STATUSES_IGNORE);
    if (count == 0 || count == MPI_UNDEFINED) return;
    for (int i = 0; i < count; ++i) owners_[static_cast<size_t>(done_[static_cast<size_t>(i)])]->is_done = true;
    size_t kept_count = 0;
    for (size_t i = 0; i < requests_.size(); ++i) {
      if (owners_[i]->is_done) continue;
      requests_[kept_count] = requests_[i];
      owners_[kept_count++] = owners_[i];
    }
    requests_.resize(kept_count);
    owners_.resize(kept_count);
  }

  std::unique_ptr<Request> Send(int to, int tag, std::span<const std::byte> bytes) override {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Isend(bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, to, tag, large_, &request);
    return Track(request);
  }

  std::unique_ptr<Request> Receive(int from, int tag, std::span<std::byte> bytes) override {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Irecv(bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, from, tag, large_, &request);
    return Track(request);
  }

  int MakeGroup(std::span<const int> ranks) override {
    MPI_Group all = MPI_GROUP_NULL, members = MPI_GROUP_NULL;
    MPI_Comm_group(large_, &all);
    MPI_Group_incl(all, static_cast<int>(ranks.size()), ranks.data(), &members);
    MPI_Comm group = MPI_COMM_NULL;
    // Only the members call this, in the order of group creation that is common to all processes.
    if (std::find(ranks.begin(), ranks.end(), rank_) != ranks.end())
      MPI_Comm_create_group(large_, members, static_cast<int>(groups_.size()) % max_tag_, &group);
    MPI_Group_free(&members);
    MPI_Group_free(&all);
    groups_.push_back(group);
    return static_cast<int>(groups_.size()) - 1;
  }

  std::unique_ptr<Request> AllReduce(int group, ReduceOp op, ReduceType type, std::byte* data,
                                     int64_t count) override {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Iallreduce(MPI_IN_PLACE, data, static_cast<int>(count), TypeOf(type), OpOf(op),
                   groups_[static_cast<size_t>(group)], &request);
    return Track(request);
  }

 private:
  static constexpr size_t kSlotBytes = Ring::kSlotBytes, kSlots = 16;
  enum Tag { kWhole, kAnnouncement };  // tags of small messages
  struct OutgoingMessage {
    std::string bytes;
    MPI_Request request = MPI_REQUEST_NULL;
  };
  struct Slot {
    std::unique_ptr<char[]> bytes = std::make_unique<char[]>(kSlotBytes);
    MPI_Request request = MPI_REQUEST_NULL;
  };
  // A received message that must wait until the long message at the front of its sender's queue is complete.
  struct QueuedMessage {
    std::string bytes;
    MPI_Request request = MPI_REQUEST_NULL;
    bool is_long = false;
  };

  std::unique_ptr<Request> Track(MPI_Request request) {
    auto owner = std::make_unique<MpiRequest>();
    requests_.push_back(request);
    owners_.push_back(owner.get());
    return owner;
  }

  // Posts a receive again for the slot whose message was handled first.
  void RepostOldestReceive() {
    PostReceive(slots_[(next_ + kSlots - handled_) % kSlots]);
    --handled_;
  }

  // Releases the oldest posted message if it has left this process, and keeps its memory for a later message.
  bool ReleaseOldestSend() {
    int done = 0;
    MPI_Test(&posted_.front().request, &done, MPI_STATUS_IGNORE);
    if (done == 0) return false;
    const bool can_reuse = spare_.size() <= kSlots && posted_.front().bytes.capacity() <= 2 * kSlotBytes;
    if (can_reuse) spare_.splice(spare_.end(), posted_, posted_.begin());
    else posted_.pop_front();
    return true;
  }

  void PostReceive(Slot& slot) {
    MPI_Irecv(slot.bytes.get(), static_cast<int>(kSlotBytes), MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, small_,
              &slot.request);
  }

  void PostSmall(int to, Tag tag, std::initializer_list<std::string_view> parts) {
    local_rings_->Reach(to) ? local_rings_->Post(to, tag, parts) : Send(to, tag, small_, parts);
  }

  void Send(int to, int tag, MPI_Comm comm, std::initializer_list<std::string_view> parts) {
    if (spare_.empty()) spare_.emplace_back();
    posted_.splice(posted_.end(), spare_, spare_.begin());
    OutgoingMessage& message = posted_.back();
    message.bytes.clear();
    for (std::string_view part : parts) message.bytes.append(part);
    MPI_Isend(message.bytes.data(), static_cast<int>(message.bytes.size()), MPI_BYTE, to, tag, comm, &message.request);
    if (posted_.size() > kSlots) ReleaseOldestSend();  // the oldest message has usually left
  }

  void OnArrival(int from, int tag, std::string_view bytes, const Take& take) {
    std::deque<QueuedMessage>& queue = queues_[static_cast<size_t>(from)];
    if (tag == kWhole && queue.empty()) return take(from, bytes);
    ++queued_;
    if (tag == kWhole) return queue.push_back({std::string(bytes)});
    int64_t size = 0;
    std::memcpy(&size, bytes.data(), sizeof(size));
    queue.push_back({std::string(static_cast<size_t>(size), '\0'), MPI_REQUEST_NULL, /*is_long=*/true});
    MPI_Irecv(queue.back().bytes.data(), static_cast<int>(size), MPI_BYTE, from, 0, long_, &queue.back().request);
  }

  bool TakeQueued(const Take& take) {
    for (size_t from = 0; from < queues_.size(); ++from) {
      if (queues_[from].empty()) continue;
      QueuedMessage& first = queues_[from].front();
      int done = 1;
      if (first.is_long) MPI_Test(&first.request, &done, MPI_STATUS_IGNORE);
      if (done == 0) continue;
      const std::string bytes = std::move(first.bytes);
      queues_[from].pop_front();
      --queued_;
      take(static_cast<int>(from), bytes);
      return true;
    }
    return false;
  }

  std::unique_ptr<SharedMemoryRings> local_rings_;
  MPI_Comm small_ = MPI_COMM_NULL, long_ = MPI_COMM_NULL, large_ = MPI_COMM_NULL;
  std::vector<MPI_Comm> groups_;  // null if this process is not a member
  int rank_ = 0, size_ = 1, max_tag_ = 32767;
  std::list<OutgoingMessage> posted_, spare_;  // lists, so that addresses stay valid while MPI reads the bytes
  std::vector<MPI_Request> requests_;  // requests of pending transfers
  std::vector<MpiRequest*> owners_;
  std::vector<int> done_;
  Slot slots_[kSlots];
  size_t next_ = 0, handled_ = 0;  // slot of the next message; number of slots before it that need a new receive
  std::vector<std::deque<QueuedMessage>> queues_;  // indexed by sender
  int64_t queued_ = 0;                             // messages in all queues
};

}  // namespace
}  // namespace shoal::internal

// Returns null if this MPI does not support calls from several threads, one at a time.
extern "C" __attribute__((visibility("default"))) shoal::internal::Communicator* shoal_new_mpi_communicator() {
  int provided = 0;
  MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &provided);
  if (provided >= MPI_THREAD_SERIALIZED) return new shoal::internal::MpiCommunicator;
  MPI_Finalize();
  return nullptr;
}
