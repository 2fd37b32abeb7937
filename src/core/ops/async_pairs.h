// Async pairs: start and done ops, and the elements of a start's tuple.
#pragma once

#include <optional>

#include "core/ir/module.h"

namespace shoal::internal {

struct AsyncPair {
  Opcode start, done;
  Opcode kind;  // the equivalent synchronous op; send for both send and recv, which match each other
  bool start_is_result = false;   // the start has the shape of the result, unless it is written as an async-start
  bool in_tuple = false;          // the start may be an element of a tuple before its done
  bool alone_in_wrapper = false;  // a start that is the root of an async computation needs no done
};
// The pair of a start or done op; null for other ops.
const AsyncPair* PairOf(Opcode opcode);

bool IsAsyncStart(const Instruction& hlo);  // all-reduce-start, async-start, copy-start, send, …
bool IsAsyncDone(const Instruction& hlo);
// async-start, async-update or async-done: parts of a chain that wraps a computation.
bool IsAsyncChain(const Instruction& hlo);

// all-reduce for all-reduce-start, send for recv. Other ops, including dones, are their own kind.
Opcode KindOf(Opcode opcode);

// Indices of the elements of a start's tuple; no value if the tuple has no such element.
struct StartParts {
  std::optional<int64_t> operands;  // the forwarded operands; in a nested tuple if operands_in_tuple
  std::optional<int64_t> result;    // the result of the done; no value: the start itself is the result
  bool operands_in_tuple = false;
};
StartParts StartPartsOf(const Instruction& start);
// The element of operand 0 that a done returns; no value: all of operand 0. A send-done returns the token of its send.
// A recv-done returns the data and the token.
std::optional<int64_t> ResultPartOf(const Instruction& done);
// True if the done returns a tuple of its result and a token: recv-done.
bool ReturnsToken(const Instruction& done);

}  // namespace shoal::internal
