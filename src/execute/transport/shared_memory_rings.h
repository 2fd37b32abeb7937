// SharedMemoryRings: rings between the processes of a job that are on one machine, in a window of shared memory that MPI makes
// (MPI_Win_allocate_shared). A small message takes a few hundred instructions there, a tenth of what two calls of MPI do.
#pragma once

#include <mpi.h>

#include <deque>
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "execute/transport/ring.h"

namespace shoal::internal {

class SharedMemoryRings {
 public:
  // All processes of `world` come here together.
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

  // All processes come here together.
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

  // What one process posts to another comes in order. Where there is no room it waits here for a later call.
  void Post(int to, int tag, std::initializer_list<std::string_view> parts) {
    Peer& peer = *peers_[static_cast<size_t>(to)];
    if (peer.waiting.empty() && peer.out.Write(tag, parts)) return;
    std::string& bytes = peer.waiting.emplace_back(tag, std::string()).second;
    for (std::string_view part : parts) bytes.append(part);
    ++waiting_;
  }
  // Whether nothing waits any more.
  bool Posted() {
    if (waiting_ == 0) return true;
    for (int rank : local_peers_) {
      Peer& peer = *peers_[static_cast<size_t>(rank)];
      for (; !peer.waiting.empty() && peer.out.Write(peer.waiting.front().first, {peer.waiting.front().second}); --waiting_)
        peer.waiting.pop_front();
    }
    return waiting_ == 0;
  }

  // Gives the next message to `take(from, tag, bytes)`, if there is one; every process has its turn.
  template <class Take>
  bool Next(const Take& take) {
    if (waiting_ > 0) Posted();
    for (size_t i = 0; i < local_peers_.size(); ++i) {
      turn_ = turn_ + 1 < local_peers_.size() ? turn_ + 1 : 0;
      const int from = local_peers_[turn_];
      if (peers_[static_cast<size_t>(from)]->in.Read([&](int tag, std::string_view bytes) { take(from, tag, bytes); }))
        return true;
    }
    return false;
  }

 private:
  // Each pair takes two rings, of which as much is real as was ever used.
  static constexpr int kMaxProcesses = 32;
  struct Peer {
    RingReader in;
    RingWriter out;
    std::deque<std::pair<int, std::string>> waiting;
  };

  // False if any of the processes cannot: then all do without.
  bool Allocate(int size) {
    MPI_Comm_set_errhandler(node_, MPI_ERRORS_RETURN);
    const auto bytes = static_cast<MPI_Aint>(sizeof(Ring)) * size + alignof(Ring);
    void* own = nullptr;
    const bool made = MPI_Win_allocate_shared(bytes, 1, MPI_INFO_NULL, node_, &own, &window_) == MPI_SUCCESS;
    if (made) {
      MPI_Win_lock_all(MPI_MODE_NOCHECK, window_);
      Ring* rings = Aligned(own);
      for (int i = 0; i < size; ++i)
        for (Ring::Slot& slot : rings[i].slots) new (&slot.is_full) std::atomic<uint32_t>(0);
      MPI_Win_sync(window_);
    }
    const int own_made = made ? 1 : 0;
    int all_made = 0;  // and when it is known all slots are empty
    MPI_Allreduce(&own_made, &all_made, 1, MPI_INT, MPI_MIN, node_);
    return all_made != 0;
  }

  int RankIn(MPI_Comm world, int node_rank) const {
    MPI_Group here = MPI_GROUP_NULL, all = MPI_GROUP_NULL;
    MPI_Comm_group(node_, &here);
    MPI_Comm_group(world, &all);
    int rank = 0;
    MPI_Group_translate_ranks(here, 1, &node_rank, all, &rank);
    MPI_Group_free(&here);
    MPI_Group_free(&all);
    return rank;
  }

  // In which a process of this machine receives, one from each.
  Ring* RingsOf(int node_rank) const {
    MPI_Aint bytes = 0;
    int unit = 0;
    void* begin = nullptr;
    MPI_Win_shared_query(window_, node_rank, &bytes, &unit, static_cast<void*>(&begin));
    return Aligned(begin);
  }
  // The same in every process: they see the window at addresses that differ by pages.
  static Ring* Aligned(void* begin) {
    const auto at = reinterpret_cast<uintptr_t>(begin);
    return reinterpret_cast<Ring*>((at + alignof(Ring) - 1) / alignof(Ring) * alignof(Ring));
  }

  void AddPeer(int rank, Ring& in, Ring& out) {
    peers_[static_cast<size_t>(rank)].emplace(Peer{RingReader(in), RingWriter(out), {}});
    local_peers_.push_back(rank);
  }

  MPI_Comm node_ = MPI_COMM_NULL;
  MPI_Win window_ = MPI_WIN_NULL;
  int world_size_ = 1;
  std::vector<std::optional<Peer>> peers_;  // by rank; nothing for those elsewhere
  std::vector<int> local_peers_;                   // the ranks of the others on this machine
  size_t turn_ = 0;
  int64_t waiting_ = 0;
};

}  // namespace shoal::internal
