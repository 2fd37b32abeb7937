// FastRendezvous: a collective of few bytes at which every process has one member, who waits for it at once. Made once for
// an instruction of a device; each time, one message goes to each other process and one comes from it, and nothing is
// allocated. The messages are those of any collective (link_message.h), so that one that does not come to its end soon
// goes on as an Exchange.
#pragma once

#include "execute/collectives/exchange.h"

namespace shoal::internal {

struct Rendezvous;

class FastRendezvous {
 public:
  // `head` is what stands before the parts in the messages of all processes, the number of the operation at `number_at`.
  FastRendezvous(Rendezvous& rendezvous, const GroupLayout& layout, size_t rank, std::string head, size_t number_at)
      : rendezvous_(rendezvous), layout_(layout), rank_(rank), head_(std::move(head)), number_at_(number_at),
        came_(layout.ranks.size()) {}

  Rendezvous& rendezvous() const { return rendezvous_; }
  const GroupLayout& layout() const { return layout_; }
  size_t rank() const { return rank_; }  // the device's, among the members
  const std::string& head() const { return head_; }
  int64_t number() const { return number_; }

  void Begin(int64_t number);
  // Takes a message if it belongs here.
  bool Take(int from, std::string_view message);
  bool is_complete() const { return arrived_ + 1 == came_.size(); }
  // Of another process: its whole message, empty if that has not come; and the part in it.
  std::string_view message(size_t process) const { return came_[process]; }
  std::string_view part(size_t process) const { return message(process).substr(head_.size()); }

 private:
  Rendezvous& rendezvous_;
  const GroupLayout& layout_;
  const size_t rank_;
  std::string head_;
  const size_t number_at_;
  int64_t number_ = 0;  // of the operation
  std::vector<std::string> came_;  // by process; they keep their memory
  size_t arrived_ = 0;
};

}  // namespace shoal::internal
