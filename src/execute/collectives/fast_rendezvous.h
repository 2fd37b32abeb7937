// FastRendezvous: a small-message collective with one member per process. Each member waits right after its arrival.
// Created once per instruction and device. Each execution sends one message to every other process, receives one
// message from each, and allocates nothing. The messages have the usual format (process_link_message.h). If the
// collective does not complete soon, it therefore continues as an Exchange.
#pragma once

#include "execute/collectives/exchange.h"

namespace shoal::internal {

struct Rendezvous;

class FastRendezvous {
 public:
  // `head`: the bytes that precede the part in every message. The operation's number is at `number_offset`.
  FastRendezvous(Rendezvous& rendezvous, const GroupLayout& layout, size_t rank, std::string head, size_t number_offset)
      : rendezvous_(rendezvous), layout_(layout), rank_(rank), head_(std::move(head)), number_offset_(number_offset),
        messages_(layout.ranks.size()) {}

  Rendezvous& rendezvous() const { return rendezvous_; }
  const GroupLayout& layout() const { return layout_; }
  size_t rank() const { return rank_; }  // the device's position among the members
  const std::string& head() const { return head_; }
  int64_t number() const { return number_; }

  void Begin(int64_t number);
  // If the message belongs to this operation, stores the message and returns true.
  bool Take(int from, std::string_view message);
  bool is_complete() const { return arrived_ + 1 == messages_.size(); }
  // message: the whole message of a process; empty if none has arrived. part: the part in that message.
  std::string_view message(size_t process) const { return messages_[process]; }
  std::string_view part(size_t process) const { return message(process).substr(head_.size()); }

 private:
  Rendezvous& rendezvous_;
  const GroupLayout& layout_;
  const size_t rank_;
  std::string head_;
  const size_t number_offset_;
  int64_t number_ = 0;  // number of the current operation
  std::vector<std::string> messages_;  // indexed by process; their memory is reused
  size_t arrived_ = 0;
};

}  // namespace shoal::internal
