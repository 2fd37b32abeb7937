// The Communicator over MPI: plain MPI-3, nonblocking calls only. Small messages and large ones have a communicator each,
// so that a probe for the one never meets the other.
#include <mpi.h>

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <vector>

#include "transport/communicator.h"

namespace shoal {
namespace {

MPI_Op OpOf(ReduceOp op) {
  constexpr auto kCount = 6;
  const MPI_Op ops[kCount] = {MPI_SUM, MPI_PROD, MPI_MIN, MPI_MAX, MPI_BAND, MPI_BOR};
  return ops[static_cast<size_t>(op)];
}

MPI_Datatype TypeOf(ReduceType type) {
  constexpr auto kCount = 10;
  const MPI_Datatype types[kCount] = {MPI_FLOAT,   MPI_DOUBLE,  MPI_INT8_T,   MPI_INT16_T,  MPI_INT32_T,
                                      MPI_INT64_T, MPI_UINT8_T, MPI_UINT16_T, MPI_UINT32_T, MPI_UINT64_T};
  return types[static_cast<size_t>(type)];
}

class MpiRequest : public Communicator::Request {
 public:
  bool Done() override {
    int done = 0;
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    return done != 0;
  }
  MPI_Request request = MPI_REQUEST_NULL;
};

class MpiCommunicator : public Communicator {
 public:
  MpiCommunicator() {
    MPI_Comm_dup(MPI_COMM_WORLD, &small_);
    MPI_Comm_dup(MPI_COMM_WORLD, &large_);
    MPI_Comm_rank(small_, &rank_);
    MPI_Comm_size(small_, &size_);
    int* most = nullptr;
    int known = 0;
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, static_cast<void*>(&most), &known);
    if (known != 0) most_tag_ = *most;
  }

  ~MpiCommunicator() override {
    for (MPI_Comm& group : groups_)
      if (group != MPI_COMM_NULL) MPI_Comm_free(&group);
    MPI_Finalize();
  }

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  int most_tag() const override { return most_tag_; }
  std::string library() const override {
    char text[MPI_MAX_LIBRARY_VERSION_STRING];
    int length = 0;
    MPI_Get_library_version(text, &length);
    const std::string all(text, static_cast<size_t>(length));
    return all.substr(0, all.find_first_of(",\n"));
  }

  void Post(int to, std::string bytes) override {
    posted_.push_back({std::move(bytes), MPI_REQUEST_NULL});
    Letter& letter = posted_.back();
    MPI_Isend(letter.bytes.data(), static_cast<int>(letter.bytes.size()), MPI_BYTE, to, 0, small_, &letter.request);
    Posted();
  }

  std::optional<Message> Next() override {
    int there = 0;
    MPI_Message handle = MPI_MESSAGE_NULL;
    MPI_Status status;
    MPI_Improbe(MPI_ANY_SOURCE, 0, small_, &there, &handle, &status);
    if (there == 0) return std::nullopt;
    int size = 0;
    MPI_Get_count(&status, MPI_BYTE, &size);
    Message message{status.MPI_SOURCE, std::string(static_cast<size_t>(size), '\0')};
    MPI_Mrecv(message.bytes.data(), size, MPI_BYTE, &handle, MPI_STATUS_IGNORE);
    return message;
  }

  bool Posted() override {
    // A deque: the letters stay where they are while MPI reads them.
    while (!posted_.empty()) {
      int done = 0;
      MPI_Test(&posted_.front().request, &done, MPI_STATUS_IGNORE);
      if (done == 0) return false;
      posted_.pop_front();
    }
    return true;
  }

  std::unique_ptr<Request> Send(int to, int tag, std::span<const std::byte> bytes) override {
    auto request = std::make_unique<MpiRequest>();
    MPI_Isend(bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, to, tag, large_, &request->request);
    return request;
  }

  std::unique_ptr<Request> Receive(int from, int tag, std::span<std::byte> bytes) override {
    auto request = std::make_unique<MpiRequest>();
    MPI_Irecv(bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, from, tag, large_, &request->request);
    return request;
  }

  int MakeGroup(std::span<const int> ranks) override {
    MPI_Group all = MPI_GROUP_NULL, some = MPI_GROUP_NULL;
    MPI_Comm_group(large_, &all);
    MPI_Group_incl(all, static_cast<int>(ranks.size()), ranks.data(), &some);
    MPI_Comm made = MPI_COMM_NULL;
    // Only the members come to this one, in the order in which all processes make their groups.
    if (std::find(ranks.begin(), ranks.end(), rank_) != ranks.end())
      MPI_Comm_create_group(large_, some, static_cast<int>(groups_.size()) % most_tag_, &made);
    MPI_Group_free(&some);
    MPI_Group_free(&all);
    groups_.push_back(made);
    return static_cast<int>(groups_.size()) - 1;
  }

  std::unique_ptr<Request> AllReduce(int group, ReduceOp op, ReduceType type, std::byte* data,
                                     int64_t count) override {
    auto request = std::make_unique<MpiRequest>();
    MPI_Iallreduce(MPI_IN_PLACE, data, static_cast<int>(count), TypeOf(type), OpOf(op),
                   groups_[static_cast<size_t>(group)], &request->request);
    return request;
  }

  void Abort(int status) override { MPI_Abort(MPI_COMM_WORLD, status); }

 private:
  struct Letter {
    std::string bytes;
    MPI_Request request;
  };

  MPI_Comm small_ = MPI_COMM_NULL, large_ = MPI_COMM_NULL;
  std::vector<MPI_Comm> groups_;  // null where this process is not in one
  int rank_ = 0, size_ = 1, most_tag_ = 32767;
  std::deque<Letter> posted_;
};

}  // namespace
}  // namespace shoal

// Null if this MPI does not allow what is needed: calls from several threads, one at a time.
extern "C" shoal::Communicator* shoal_new_mpi_communicator() {
  // We poll ourselves and know when to leave the core to others; on a busy machine a yield at each poll that finds
  // nothing, which is Open MPI's way where processes outnumber cores, takes a hundred times as long.
  setenv("OMPI_MCA_mpi_yield_when_idle", "0", /*overwrite=*/0);
  int provided = 0;
  MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &provided);
  if (provided >= MPI_THREAD_SERIALIZED) return new shoal::MpiCommunicator;
  MPI_Finalize();
  return nullptr;
}
