#include "execute/collectives/fast_rendezvous.h"

#include <algorithm>
#include <cstring>
#include <thread>

#include "execute/collectives/process_link_message.h"
#include "execute/collectives/rendezvous.h"

namespace shoal::internal {
namespace {

// So often messages are looked for in vain before the device waits as for any collective: about 100 µs; and where each
// look leaves the core to others.
constexpr int kMaxLooks = 2000, kMaxYields = 100;

// Between two looks: the other thread of this core may be the one that is waited for.
void Pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

}  // namespace

void FastRendezvous::Begin(int64_t number) {
  number_ = number;
  std::memcpy(head_.data() + number_at_, &number, sizeof(number));
  for (std::string& each : came_) each.clear();
  arrived_ = 0;
}

// Whoever comes with the same instruction and arrays of the same types says the same before its part.
bool FastRendezvous::Take(int from, std::string_view message) {
  if (!message.starts_with(head_)) return false;
  const auto process = std::lower_bound(layout_.ranks.begin(), layout_.ranks.end(), from) - layout_.ranks.begin();
  came_[static_cast<size_t>(process)].assign(message);
  ++arrived_;
  return true;
}

std::unique_ptr<FastRendezvous> CollectiveRuntime::NewSmallMeeting(const Instruction& hlo, Rendezvous& rendezvous, int64_t rank,
                                                     const ArrayTypes& contribution, const ArrayTypes& parts) {
  const GroupLayout* layout = rendezvous.layout.get();
  // The device alone is in this process: nobody else wants the core while it polls.
  if (layout == nullptr || link_->placement().Local().size() != 1) return nullptr;
  for (const std::vector<size_t>& members : layout->members)
    if (members.size() != 1) return nullptr;
  return link_->NewSmallMeeting(hlo, rendezvous, static_cast<size_t>(rank), contribution, parts);
}

bool CollectiveRuntime::TryFastRendezvous(FastRendezvous& meeting, std::span<const std::string_view> parts) {
  Rendezvous& rendezvous = meeting.rendezvous();
  // Nobody else of this process comes here, so that only this thread changes the numbers; whoever explains a stall reads
  // them when it waits, and has had the mutex since.
  if (stopped() || !link_->TryFastRendezvous(meeting, rendezvous.arrivals[meeting.rank()], parts)) return false;
  ++rendezvous.arrivals[meeting.rank()];
  ++rendezvous.first_expected;
  return true;
}

std::unique_ptr<FastRendezvous> ProcessLink::NewSmallMeeting(const Instruction& hlo, Rendezvous& rendezvous, size_t rank,
                                                    const ArrayTypes& contribution, const ArrayTypes& parts) {
  Writer body;
  body.Int(0).Int(OrdinalOf(hlo));
  WriteTypes(body, contribution);
  std::vector<int64_t> sizes;
  for (const ArrayType& part : parts) sizes.push_back(ElementCount(AsInts(part.dims)) * StorageBytes(part.type));
  const Header header{run_, kPart, {rendezvous.hash, 0}, /*tag=*/0};
  return std::make_unique<FastRendezvous>(rendezvous, *rendezvous.layout, rank,
                                        HeadOf(header, sizes, parts, std::move(body)), Header::kNumberAt);
}

bool ProcessLink::TryFastRendezvous(FastRendezvous& meeting, int64_t number, std::span<const std::string_view> parts) {
  // Held to the end: nobody else has anything to look for.
  std::lock_guard lock(job_.mutex());
  if (is_stopped_) return false;
  const GroupLayout& layout = meeting.layout();
  meeting.Begin(number);
  soon_ = &meeting;
  polls_.store(polls_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);  // nobody else does
  for (size_t i = 1; i < layout.ranks.size(); ++i) {
    const size_t process = (layout.self + i) % layout.ranks.size();
    ++sent_;
    job_.Post(layout.ranks[process], meeting.head(), parts[process]);
  }
  if (!early_.empty()) TakeEarly(meeting);
  for (int looks = 0; !meeting.is_complete() && looks < (is_crowded_ ? kMaxYields : kMaxLooks);) {
    if (job_.TakeOne()) continue;
    ++looks;
    is_crowded_ ? std::this_thread::yield() : Pause();
  }
  if (!meeting.is_complete()) return false;
  soon_ = nullptr;
  return true;
}

// What came before this process did; the rest stays.
void ProcessLink::TakeEarly(FastRendezvous& meeting) {
  const auto found = early_.find({meeting.rendezvous().hash, meeting.number()});
  if (found == early_.end()) return;
  std::erase_if(found->second, [&](const auto& each) { return meeting.Take(each.first, each.second); });
  if (found->second.empty()) early_.erase(found);
}

}  // namespace shoal::internal
