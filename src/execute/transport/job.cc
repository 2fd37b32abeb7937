#include "execute/transport/job.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <climits>
#include <set>

#include "core/base/strings.h"
#include "execute/transport/message_buffer.h"

namespace shoal::internal {
namespace {

// Kinds of messages, stored in a message's last byte.
constexpr char kGather = 'g', kBroadcast = 'b', kRun = 'r';
// Maximum chunk size: MPI counts bytes in an int, and one chunk can be used while others are still in flight.
constexpr size_t kChunkBytes = size_t{64} << 20;

std::string HostName() {
  char name[HOST_NAME_MAX + 1] = "";
  gethostname(name, sizeof(name) - 1);
  return name;
}

// The CPU affinity of this process: for each core, 'c' if the process may run on it, else '-'.
std::string CoresOfProcess() {
  cpu_set_t set;
  CPU_ZERO(&set);
  sched_getaffinity(0, sizeof(set), &set);
  std::string cores;
  for (int i = 0; i < CPU_SETSIZE; ++i)
    if (CPU_ISSET(i, &set)) cores.resize(static_cast<size_t>(i) + 1, '-'), cores.back() = 'c';
  return cores;
}

bool ShareCores(std::string_view a, std::string_view b) {
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i)
    if (a[i] == 'c' && b[i] == 'c') return true;
  return false;
}

}  // namespace

Job::Job(std::unique_ptr<Communicator> communicator)
    : communicator_(std::move(communicator)), gathered_(static_cast<size_t>(communicator_->size())) {
  Writer all;
  for (const std::string& info : Gather(Writer().String(HostName()).String(CoresOfProcess()).Take())) all.Bytes(info);
  const std::string broadcast = Broadcast(all.Take());
  Reader reader(broadcast);
  for (int i = 0; i < size(); ++i) {
    hosts_.emplace_back(reader.String());
    cores_.emplace_back(reader.String());
  }

  peers_ = std::make_unique<PeerMonitor>(rank(), size());
  const std::string addresses = Broadcast(is_root() ? peers_->Listen() : std::string());
  const bool reached = !is_root() && peers_->Connect(addresses);
  const std::vector<std::string> replies = Gather(reached ? "y" : "n");
  if (is_root()) peers_->Accept(static_cast<int>(std::count(replies.begin(), replies.end(), "y")));
}

Job::~Job() {
  (void)AgreeOnStatus({});  // any failure has already been reported
  PollUntil([&] { return communicator_->Posted() && transfers_.empty(); });
  peers_->Leave();
}

bool Job::spans_hosts() const { return std::set<std::string>(hosts_.begin(), hosts_.end()).size() > 1; }

int Job::sharing_cores() const {
  const auto self = static_cast<size_t>(rank());
  int count = 0;
  for (size_t i = 0; i < hosts_.size(); ++i)
    if (i == self || (hosts_[i] == hosts_[self] && ShareCores(cores_[i], cores_[self]))) ++count;
  return count;
}

int Job::cores() const {
  const std::string& own = cores_[static_cast<size_t>(rank())];
  return std::max(1, static_cast<int>(std::count(own.begin(), own.end(), 'c')) / sharing_cores());
}

std::string Job::Describe(int rank) const {
  return spans_hosts() ? StrCat("rank ", rank, " on ", host(rank)) : StrCat("rank ", rank);
}

std::vector<std::string> Job::Gather(std::string mine) {
  if (!is_root()) {
    std::lock_guard lock(mutex_);
    communicator_->Post(0, {mine, {&kGather, 1}});
    return {};
  }
  gathered_[0].push_back(std::move(mine));
  PollUntil([&] {
    return std::none_of(gathered_.begin(), gathered_.end(), [](const auto& each) { return each.empty(); });
  });
  std::vector<std::string> all;
  for (auto& each : gathered_) {
    all.push_back(std::move(each.front()));
    each.pop_front();
  }
  return all;
}

std::string Job::Broadcast(std::string bytes) {
  if (is_root()) {
    std::lock_guard lock(mutex_);
    for (int to = 1; to < size(); ++to) communicator_->Post(to, {bytes, {&kBroadcast, 1}});
    return bytes;
  }
  PollUntil([&] { return !broadcast_.empty(); });
  std::string received = std::move(broadcast_.front());
  broadcast_.pop_front();
  return received;
}

Status Job::AgreeOnStatus(const Status& mine) {
  Writer writer;
  Write(writer, mine);
  Status agreed;
  for (const std::string& status_bytes : Gather(writer.Take())) {
    Reader reader(status_bytes);
    Status status = ReadStatus(reader);
    if (agreed.ok() && !status.ok()) agreed = std::move(status);
  }
  Writer reply;
  Write(reply, agreed);
  const std::string broadcast = Broadcast(reply.Take());
  Reader reader(broadcast);
  return ReadStatus(reader);
}

void Job::OnProcessLost(std::function<void(int)> lost) { peers_->Watch(std::move(lost)); }

void Job::SetHandler(Handler handler) {
  std::lock_guard lock(mutex_);
  handler_ = std::move(handler);
  if (!handler_) return;
  kept_.remove_if([&](const auto& each) { return handler_(each.first, each.second); });
}

void Job::Post(int to, std::string_view head, std::string_view rest) {
  std::lock_guard lock(mutex_);
  communicator_->Post(to, {head, rest, {&kRun, 1}});
}

int Job::NextTag() {
  std::lock_guard lock(mutex_);
  next_tag_ = next_tag_ == communicator_->max_tag() ? 1 : next_tag_ + 1;
  return next_tag_;
}

void Job::Send(int to, int tag, std::span<const std::byte> bytes, Done done) {
  std::lock_guard lock(mutex_);
  Transfer transfer{{}, std::move(done)};
  for (size_t offset = 0; offset < bytes.size(); offset += kChunkBytes)
    transfer.chunks.push_back(
        communicator_->Send(to, tag, bytes.subspan(offset, std::min(kChunkBytes, bytes.size() - offset))));
  transfers_.push_back(std::move(transfer));
}

void Job::Receive(int from, int tag, std::span<std::byte> bytes, Done done) {
  std::lock_guard lock(mutex_);
  Transfer transfer{{}, std::move(done)};
  for (size_t offset = 0; offset < bytes.size(); offset += kChunkBytes)
    transfer.chunks.push_back(
        communicator_->Receive(from, tag, bytes.subspan(offset, std::min(kChunkBytes, bytes.size() - offset))));
  transfers_.push_back(std::move(transfer));
}

int Job::FindOrMakeGroup(uint64_t name, std::span<const int> ranks) {
  std::lock_guard lock(mutex_);
  const auto [group, is_new] = groups_.try_emplace(name, 0);
  if (is_new) group->second = communicator_->MakeGroup(ranks);
  return group->second;
}

void Job::AllReduce(int group, ReduceOp op, ReduceType type, std::byte* data, int64_t count, Done done) {
  std::lock_guard lock(mutex_);
  Transfer transfer{{}, std::move(done)};
  transfer.chunks.push_back(communicator_->AllReduce(group, op, type, data, count));
  transfers_.push_back(std::move(transfer));
}

void Job::Take(int from, std::string_view message) {
  const char kind = message.back();
  message.remove_suffix(1);
  if (kind == kGather) {
    gathered_[static_cast<size_t>(from)].emplace_back(message);
  } else if (kind == kBroadcast) {
    broadcast_.emplace_back(message);
  } else if (!handler_ || !handler_(from, message)) {
    kept_.emplace_back(from, message);
  }
}

bool Job::Poll() {
  std::lock_guard lock(mutex_);
  return PollLocked();
}

bool Job::TryPoll() {
  if (!mutex_.try_lock()) return false;
  const bool any = PollLocked();
  mutex_.unlock();
  return any;
}

void Job::Advance() {
  std::lock_guard lock(mutex_);
  communicator_->Advance();
}

bool Job::TakeOne() {
  if (communicator_->Next(take_)) return true;
  // Posted messages leave without further calls. Every few polls, Posted releases those that have left.
  constexpr int kReleaseInterval = 16;
  if (++idle_polls_ % kReleaseInterval == 0) communicator_->Posted();
  return AdvanceTransfers();
}

bool Job::PollLocked() {
  bool any = false;
  while (communicator_->Next(take_)) any = true;
  if (any) return AdvanceTransfers(), true;
  return TakeOne();
}

// True if any transfer has completed.
bool Job::AdvanceTransfers() {
  if (transfers_.empty()) return false;
  communicator_->Advance();
  // Callbacks may start further transfers, which are tested in the next call.
  std::list<Transfer> done;
  for (auto it = transfers_.begin(); it != transfers_.end();) {
    std::erase_if(it->chunks, [](const auto& chunk) { return chunk->Done(); });
    const auto next = std::next(it);
    if (it->chunks.empty()) done.splice(done.end(), transfers_, it);
    it = next;
  }
  for (const Transfer& transfer : done)
    if (transfer.done) transfer.done();
  return !done.empty();
}

void Job::PollUntil(const std::function<bool()>& reached) {
  using namespace std::chrono_literals;
  auto pause = 0us;
  while (true) {
    {
      std::lock_guard lock(mutex_);
      if (Poll()) pause = 0us;
      if (reached()) return;
    }
    if (pause > 20us) std::this_thread::sleep_for(pause);
    else std::this_thread::yield();
    pause = std::min<std::chrono::microseconds>(pause + 1us, 1000us);
  }
}

}  // namespace shoal::internal
