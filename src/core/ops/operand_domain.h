// The values of an operand for which an op is defined, or meaningful: for choosing inputs.
#pragma once

#include "core/ir/module.h"

namespace shoal::internal {

enum class OperandDomain : uint8_t {
  kAny,
  kPositive,  // a divisor, a base of a power, the argument of log, sqrt or rsqrt
  kExponent,  // an exponent of a power
  kIndex,     // an index below OperandUse::limit
};

struct OperandUse {
  OperandDomain domain = OperandDomain::kAny;
  int64_t limit = 0;    // for kIndex
  bool passes = false;  // the result has a domain whenever the operand has it: a copy, a product with a constant, a sum
};

// The use of operand number `i`. A domain of a broadcast or converted value is that of its operand (`passes`).
OperandUse OperandUseOf(const Instruction& hlo, size_t i);

// The use as text: "a divisor, or the argument of log, sqrt or power".
const char* ToString(OperandDomain domain);

}  // namespace shoal::internal
