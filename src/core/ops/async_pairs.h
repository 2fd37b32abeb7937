// Ops that come in two parts: which begins what, which ends it, and what the shape of the beginning holds.
#pragma once

#include <optional>

#include "core/ir/module.h"

namespace shoal::internal {

struct AsyncPair {
  Opcode start, done;
  Opcode kind;  // the op that does the same in one part; of send and recv, which meet each other: send
  bool start_is_result = false;   // unless it is written as an async-start
  bool in_tuple = false;          // what is started may be kept in a tuple until it is done
  bool alone_in_wrapper = false;  // needs no second part as the root of an async computation
};
// Of either part; null for ops in one part.
const AsyncPair* PairOf(Opcode opcode);

bool IsAsyncStart(const Instruction& hlo);  // all-reduce-start, async-start, copy-start, send, …
bool IsAsyncDone(const Instruction& hlo);
// async-start, async-update or async-done: parts of a chain that wraps a computation.
bool IsAsyncChain(const Instruction& hlo);

// all-reduce for all-reduce-start, send for recv; other ops, dones among them, are their own kind.
Opcode KindOf(Opcode opcode);

// The elements of a start's tuple; none where it has no such element.
struct StartParts {
  std::optional<int64_t> operands;  // handed on; in a tuple of their own if operands_in_tuple
  std::optional<int64_t> result;    // what the done gives; none: the start is the result
  bool operands_in_tuple = false;
};
StartParts StartPartsOf(const Instruction& start);
// The element of operand 0 that a done gives; none: all of it. A send-done gives the token of its send, a recv-done the
// data and the token.
std::optional<int64_t> ResultPartOf(const Instruction& done);
// Whether the result is element 0 of what the done gives, beside a token: recv-done.
bool GivesToken(const Instruction& done);

}  // namespace shoal::internal
