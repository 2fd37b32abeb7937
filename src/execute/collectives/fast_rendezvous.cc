#include "execute/collectives/fast_rendezvous.h"

#include <algorithm>
#include <cstring>
#include <thread>

#include "execute/collectives/process_link_message.h"
#include "execute/collectives/rendezvous.h"

namespace shoal::internal {
namespace {

// Number of unsuccessful polls, about 100 µs, before the device waits as it does for any other collective. If each poll
// yields the core, kMaxYields is the limit instead.
constexpr int kMaxPolls = 2000, kMaxYields = 100;

// Pauses between two polls, because the other process may run on this core's second hardware thread.
void Pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

}  // namespace

void FastRendezvous::Begin(int64_t number) {
  number_ = number;
  std::memcpy(head_.data() + number_offset_, &number, sizeof(number));
  for (std::string& message : messages_) message.clear();
  arrived_ = 0;
}

// If members arrive at the same instruction with the same types, their messages are identical up to the part.
bool FastRendezvous::Take(int from, std::string_view message) {
  if (!message.starts_with(head_)) return false;
  const auto process = std::lower_bound(layout_.ranks.begin(), layout_.ranks.end(), from) - layout_.ranks.begin();
  messages_[static_cast<size_t>(process)].assign(message);
  ++arrived_;
  return true;
}

std::unique_ptr<FastRendezvous> CollectiveRuntime::NewFastRendezvous(const Instruction& hlo, Rendezvous& rendezvous,
                                                                     int64_t rank, const ArrayTypes& contribution,
                                                                     const ArrayTypes& parts) {
  const GroupLayout* layout = rendezvous.layout.get();
  // Require that this process has only one device, so that no other device needs the core during polling.
  if (layout == nullptr || link_->placement().Local().size() != 1) return nullptr;
  for (const std::vector<size_t>& members : layout->members)
    if (members.size() != 1) return nullptr;
  return link_->NewFastRendezvous(hlo, rendezvous, static_cast<size_t>(rank), contribution, parts);
}

bool CollectiveRuntime::TryFastRendezvous(FastRendezvous& fast, std::span<const std::string_view> parts) {
  Rendezvous& rendezvous = fast.rendezvous();
  // This is the only device of the process, so only this thread writes the arrival counts. A deadlock report reads them
  // while the device waits, after this thread has released the mutex.
  if (stopped() || !link_->TryFastRendezvous(fast, rendezvous.arrivals[fast.rank()], parts)) return false;
  ++rendezvous.arrivals[fast.rank()];
  ++rendezvous.first_expected;
  return true;
}

std::unique_ptr<FastRendezvous> ProcessLink::NewFastRendezvous(const Instruction& hlo, Rendezvous& rendezvous,
                                                               size_t rank, const ArrayTypes& contribution,
                                                               const ArrayTypes& parts) {
  Writer body;
  body.Int(0).Int(OrdinalOf(hlo));
  WriteTypes(body, contribution);
  std::vector<int64_t> sizes;
  for (const ArrayType& part : parts) sizes.push_back(ElementCount(AsInts(part.dims)) * StorageBytes(part.type));
  const Header header{run_, kPart, {rendezvous.hash, 0}, /*tag=*/0};
  return std::make_unique<FastRendezvous>(rendezvous, *rendezvous.layout, rank,
                                          HeadOf(header, sizes, parts, std::move(body)), Header::kNumberOffset);
}

bool ProcessLink::TryFastRendezvous(FastRendezvous& fast, int64_t number, std::span<const std::string_view> parts) {
  // Hold the mutex throughout: no other thread needs to poll for messages.
  std::lock_guard lock(job_.mutex());
  if (is_stopped_) return false;
  const GroupLayout& layout = fast.layout();
  fast.Begin(number);
  fast_ = &fast;
  polls_.store(polls_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);  // only this thread writes it
  for (size_t i = 1; i < layout.ranks.size(); ++i) {
    const size_t process = (layout.self + i) % layout.ranks.size();
    ++sent_;
    job_.Post(layout.ranks[process], fast.head(), parts[process]);
  }
  if (!early_messages_.empty()) TakeEarly(fast);
  for (int polls = 0; !fast.is_complete() && polls < (is_crowded_ ? kMaxYields : kMaxPolls);) {
    if (job_.TakeOne()) continue;
    ++polls;
    is_crowded_ ? std::this_thread::yield() : Pause();
  }
  if (!fast.is_complete()) return false;
  fast_ = nullptr;
  return true;
}

// Takes messages that arrived before this device arrived. Keeps messages that do not match.
void ProcessLink::TakeEarly(FastRendezvous& fast) {
  const auto found = early_messages_.find({fast.rendezvous().hash, fast.number()});
  if (found == early_messages_.end()) return;
  std::erase_if(found->second, [&](const auto& message) { return fast.Take(message.first, message.second); });
  if (found->second.empty()) early_messages_.erase(found);
}

}  // namespace shoal::internal
