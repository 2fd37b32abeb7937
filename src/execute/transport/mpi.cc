// The Communicator over MPI: plain MPI-3, nonblocking calls only. Small messages go through memory that the processes of a
// machine share (node_rings.h); between machines, receives for them are posted before anybody sends one, which is quicker
// than to probe. One that is longer is announced there, and follows on a communicator of its own; so do transfers.
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

// As a rule a process is gone, which the thread that watches the others (peers.h) notices too: it says who, and ends
// this process while it waits here.
void Failed(MPI_Comm*, int* code, ...) {
  std::this_thread::sleep_for(std::chrono::seconds(8));
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  MPI_Error_string(*code, text, &length);
  std::fprintf(stderr, "shoal: error: MPI failed: %.*s\n", length, text);
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
    MPI_Errhandler failed = MPI_ERRHANDLER_NULL;
    MPI_Comm_create_errhandler(&Failed, &failed);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, failed);  // duplicates have it too
    MPI_Errhandler_free(&failed);
    MPI_Comm_dup(MPI_COMM_WORLD, &small_);
    MPI_Comm_dup(MPI_COMM_WORLD, &long_);
    MPI_Comm_dup(MPI_COMM_WORLD, &large_);
    MPI_Comm_rank(small_, &rank_);
    MPI_Comm_size(small_, &size_);
    int* most = nullptr;
    int known = 0;
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, static_cast<void*>(&most), &known);
    if (known != 0) max_tag_ = *most;
    behind_.resize(static_cast<size_t>(size_));
    node_ = std::make_unique<SharedMemoryRings>(small_);
    if (!node_->ReachAll())
      for (Slot& slot : slots_) Await(slot);
  }

  ~MpiCommunicator() override {
    for (Slot& slot : slots_) {
      if (slot.request == MPI_REQUEST_NULL) continue;
      MPI_Cancel(&slot.request);
      MPI_Wait(&slot.request, MPI_STATUS_IGNORE);
    }
    node_.reset();
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
    if (pending_ > 0 && TakeLong(take)) return true;
    if (node_->Next([&](int from, int tag, std::string_view bytes) { Arrived(from, tag, bytes, take); })) return true;
    if (node_->ReachAll()) {
      if (!posted_.empty()) ForgetOldest();  // long ones, which MPI sends while it is called
      return false;
    }
    Slot& slot = slots_[next_];
    int there = 0;
    MPI_Status status;
    MPI_Test(&slot.request, &there, &status);
    if (there == 0) {
      while (taken_ > 0) AwaitAgain();  // now that there is nothing else to do
      return false;
    }
    next_ = (next_ + 1) % kSlots;  // receives are met in the order in which they were posted
    int size = 0;
    MPI_Get_count(&status, MPI_BYTE, &size);
    Arrived(status.MPI_SOURCE, status.MPI_TAG, {slot.bytes.get(), static_cast<size_t>(size)}, take);
    if (++taken_ > kSlots / 2) AwaitAgain();
    return true;
  }

  bool Posted() override {
    while (!posted_.empty())
      if (!ForgetOldest()) return false;
    return node_->Posted();
  }

  // One call for all: each call that finds nothing goes through everything that MPI looks after.
  void Advance() override {
    if (requests_.empty()) return;
    done_.resize(requests_.size());
    int count = 0;
    MPI_Testsome(static_cast<int>(requests_.size()), requests_.data(), &count, done_.data(), MPI_STATUSES_IGNORE);
    if (count == 0 || count == MPI_UNDEFINED) return;
    for (int i = 0; i < count; ++i) owners_[static_cast<size_t>(done_[static_cast<size_t>(i)])]->is_done = true;
    size_t kept = 0;
    for (size_t i = 0; i < requests_.size(); ++i) {
      if (owners_[i]->is_done) continue;
      requests_[kept] = requests_[i];
      owners_[kept++] = owners_[i];
    }
    requests_.resize(kept);
    owners_.resize(kept);
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
    MPI_Group all = MPI_GROUP_NULL, some = MPI_GROUP_NULL;
    MPI_Comm_group(large_, &all);
    MPI_Group_incl(all, static_cast<int>(ranks.size()), ranks.data(), &some);
    MPI_Comm made = MPI_COMM_NULL;
    // Only the members come to this one, in the order in which all processes make their groups.
    if (std::find(ranks.begin(), ranks.end(), rank_) != ranks.end())
      MPI_Comm_create_group(large_, some, static_cast<int>(groups_.size()) % max_tag_, &made);
    MPI_Group_free(&some);
    MPI_Group_free(&all);
    groups_.push_back(made);
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
  enum Tag { kWhole, kAnnouncement };  // of small messages
  struct Letter {
    std::string bytes;
    MPI_Request request = MPI_REQUEST_NULL;
  };
  struct Slot {
    std::unique_ptr<char[]> bytes = std::make_unique<char[]>(kSlotBytes);
    MPI_Request request = MPI_REQUEST_NULL;
  };
  // What waits behind a long message of the same process, in order; that one is the first.
  struct Behind {
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

  // The slot whose message was taken first is there for another.
  void AwaitAgain() {
    Await(slots_[(next_ + kSlots - taken_) % kSlots]);
    --taken_;
  }

  // What was posted first, if it has left; its memory is for the next.
  bool ForgetOldest() {
    int done = 0;
    MPI_Test(&posted_.front().request, &done, MPI_STATUS_IGNORE);
    if (done == 0) return false;
    const bool keep = spare_.size() <= kSlots && posted_.front().bytes.capacity() <= 2 * kSlotBytes;
    if (keep) spare_.splice(spare_.end(), posted_, posted_.begin());
    else posted_.pop_front();
    return true;
  }

  void Await(Slot& slot) {
    MPI_Irecv(slot.bytes.get(), static_cast<int>(kSlotBytes), MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, small_,
              &slot.request);
  }

  void PostSmall(int to, Tag tag, std::initializer_list<std::string_view> parts) {
    node_->Reach(to) ? node_->Post(to, tag, parts) : Send(to, tag, small_, parts);
  }

  void Send(int to, int tag, MPI_Comm comm, std::initializer_list<std::string_view> parts) {
    if (spare_.empty()) spare_.emplace_back();
    posted_.splice(posted_.end(), spare_, spare_.begin());
    Letter& letter = posted_.back();
    letter.bytes.clear();
    for (std::string_view part : parts) letter.bytes.append(part);
    MPI_Isend(letter.bytes.data(), static_cast<int>(letter.bytes.size()), MPI_BYTE, to, tag, comm, &letter.request);
    if (posted_.size() > kSlots) ForgetOldest();  // which has left, as a rule
  }

  void Arrived(int from, int tag, std::string_view bytes, const Take& take) {
    std::deque<Behind>& behind = behind_[static_cast<size_t>(from)];
    if (tag == kWhole && behind.empty()) return take(from, bytes);
    ++pending_;
    if (tag == kWhole) return behind.push_back({std::string(bytes)});
    int64_t size = 0;
    std::memcpy(&size, bytes.data(), sizeof(size));
    behind.push_back({std::string(static_cast<size_t>(size), '\0'), MPI_REQUEST_NULL, /*is_long=*/true});
    MPI_Irecv(behind.back().bytes.data(), static_cast<int>(size), MPI_BYTE, from, 0, long_, &behind.back().request);
  }

  bool TakeLong(const Take& take) {
    for (size_t from = 0; from < behind_.size(); ++from) {
      if (behind_[from].empty()) continue;
      Behind& first = behind_[from].front();
      int done = 1;
      if (first.is_long) MPI_Test(&first.request, &done, MPI_STATUS_IGNORE);
      if (done == 0) continue;
      const std::string bytes = std::move(first.bytes);
      behind_[from].pop_front();
      --pending_;
      take(static_cast<int>(from), bytes);
      return true;
    }
    return false;
  }

  std::unique_ptr<SharedMemoryRings> node_;
  MPI_Comm small_ = MPI_COMM_NULL, long_ = MPI_COMM_NULL, large_ = MPI_COMM_NULL;
  std::vector<MPI_Comm> groups_;  // null where this process is not in one
  int rank_ = 0, size_ = 1, max_tag_ = 32767;
  std::list<Letter> posted_, spare_;  // lists: letters stay where they are while MPI reads them
  std::vector<MPI_Request> requests_;  // of transfers under way
  std::vector<MpiRequest*> owners_;
  std::vector<int> done_;
  Slot slots_[kSlots];
  size_t next_ = 0, taken_ = 0;  // which slot's message comes next; how many before it wait to be posted again
  std::vector<std::deque<Behind>> behind_;  // by process
  int64_t pending_ = 0;                     // in all of them
};

}  // namespace
}  // namespace shoal::internal

// Null if this MPI does not allow what is needed: calls from several threads, one at a time.
extern "C" shoal::internal::Communicator* shoal_new_mpi_communicator() {
  int provided = 0;
  MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &provided);
  if (provided >= MPI_THREAD_SERIALIZED) return new shoal::internal::MpiCommunicator;
  MPI_Finalize();
  return nullptr;
}
