// SharedMemoryRings: rings between those processes of a job that run on one machine, in an MPI shared-memory window
// (MPI_Win_allocate_shared). A small message takes a few hundred instructions, a tenth of the cost of two MPI calls.
#pragma once

#include <mpi.h>

#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "execute/transport/ring.h"

namespace shoal::internal {

class SharedMemoryRings {
 public:
  // Collective: all processes of `world` must call the constructor and the destructor.
  explicit SharedMemoryRings(MPI_Comm world) {
    MPI_Comm_size(world, &world_size_);
    peers_.resize(static_cast<size_t>(world_size_));
    MPI_Comm_split_type(world, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node_);
    int size = 1;
    MPI_Comm_size(node_, &size);
    if (size == 1 || size > kMaxProcesses) return;
    if (!Allocate(size)) return;
    int rank = 0;
    MPI_Comm_rank(node_, &rank);
    for (int i = 0; i < size; ++i)
      if (i != rank) AddPeer(RankIn(world, i), RingsOf(rank)[i], RingsOf(i)[rank]);
  }

  ~SharedMemoryRings() {
    if (window_ != MPI_WIN_NULL) {
      MPI_Win_unlock_all(window_);
      MPI_Win_free(&window_);
    }
    MPI_Comm_free(&node_);
  }
  SharedMemoryRings(const SharedMemoryRings&) = delete;
  SharedMemoryRings& operator=(const SharedMemoryRings&) = delete;

  bool Reach(int rank) const { return peers_[static_cast<size_t>(rank)].has_value(); }
  bool ReachAll() const { return static_cast<int>(local_peers_.size()) + 1 == world_size_; }

  // Messages from one process to another arrive in order. If no slot is free, a later call sends the message.
  void Post(int to, int tag, std::initializer_list<std::string_view> parts) {
    Peer& peer = *peers_[static_cast<size_t>(to)];
    if (peer.queued.empty() && peer.out.Write(tag, parts)) return;
    std::string& bytes = peer.queued.emplace_back(tag, std::string()).second;
    for (std::string_view part : parts) bytes.append(part);
    ++queued_;
  }
  // True if no message is still queued.
  bool Posted() {
    if (queued_ == 0) return true;
    for (int rank : local_peers_) {
      auto& [in, out, queue] = *peers_[static_cast<size_t>(rank)];
      for (; !queue.empty() && out.Write(queue.front().first, {queue.front().second}); --queued_)
        queue.pop_front();
    }
    return queued_ == 0;
  }

  // Calls `take(from, tag, bytes)` with the next message; false if there is none. Polls the peers round-robin.
  template <class Take>
  bool Next(const Take& take) {
    if (queued_ > 0) Posted();
    for (size_t i = 0; i < local_peers_.size(); ++i) {
      last_polled_ = last_polled_ + 1 < local_peers_.size() ? last_polled_ + 1 : 0;
      const int from = local_peers_[last_polled_];
      if (peers_[static_cast<size_t>(from)]->in.Read([&](int tag, std::string_view bytes) { take(from, tag, bytes); }))
        return true;
    }
    return false;
  }

 private:
  // Each pair of processes has two rings. Unused pages take no physical memory.
  static constexpr int kMaxProcesses = 32;
  struct Peer {
    RingReader in;
    RingWriter out;
    std::deque<std::pair<int, std::string>> queued;
  };

  // Returns false on all processes if the allocation fails on any of them.
  bool Allocate(int size) {
    MPI_Comm_set_errhandler(node_, MPI_ERRORS_RETURN);
    const auto bytes = static_cast<MPI_Aint>(sizeof(Ring)) * size + alignof(Ring);
    void* own = nullptr;
    const bool allocated = MPI_Win_allocate_shared(bytes, 1, MPI_INFO_NULL, node_, &own, &window_) == MPI_SUCCESS;
    if (allocated) {
      MPI_Win_lock_all(MPI_MODE_NOCHECK, window_);
      Ring* rings = Aligned(own);
      for (int i = 0; i < size; ++i)
        for (Ring::Slot& slot : rings[i].slots) new (&slot.is_full) std::atomic<uint32_t>(0);
      MPI_Win_sync(window_);
    }
    const int own_success = allocated ? 1 : 0;
    int all_success = 0;  // the reduction is also a barrier: all slots are empty after it
    MPI_Allreduce(&own_success, &all_success, 1, MPI_INT, MPI_MIN, node_);
    return all_success != 0;
  }

  int RankIn(MPI_Comm world, int node_rank) const {
    MPI_Group node_group = MPI_GROUP_NULL, world_group = MPI_GROUP_NULL;
    MPI_Comm_group(node_, &node_group);
    MPI_Comm_group(world, &world_group);
    int rank = 0;
    MPI_Group_translate_ranks(node_group, 1, &node_rank, world_group, &rank);
    MPI_Group_free(&node_group);
    MPI_Group_free(&world_group);
    return rank;
  }

  // The rings in which a process on this machine receives messages, one per sender.
  Ring* RingsOf(int node_rank) const {
    MPI_Aint bytes = 0;
    int unit = 0;
    void* begin = nullptr;
    MPI_Win_shared_query(window_, node_rank, &bytes, &unit, static_cast<void*>(&begin));
    return Aligned(begin);
  }
  // The aligned offset is the same in every process, since window addresses differ by whole pages.
  static Ring* Aligned(void* begin) {
    const auto address = reinterpret_cast<uintptr_t>(begin);
    return reinterpret_cast<Ring*>((address + alignof(Ring) - 1) / alignof(Ring) * alignof(Ring));
  }

  void AddPeer(int rank, Ring& in, Ring& out) {
    peers_[static_cast<size_t>(rank)].emplace(Peer{RingReader(in), RingWriter(out), {}});
    local_peers_.push_back(rank);
  }

  MPI_Comm node_ = MPI_COMM_NULL;
  MPI_Win window_ = MPI_WIN_NULL;
  int world_size_ = 1;
  std::vector<std::optional<Peer>> peers_;  // indexed by rank; empty for processes on other machines
  std::vector<int> local_peers_;            // ranks of the other processes on this machine
  size_t last_polled_ = 0;
  int64_t queued_ = 0;
};

}  // namespace shoal::internal
