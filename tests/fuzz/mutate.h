// Modules that are almost like others: the texts a user's editor, another compiler or an attacker could have made.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "random.h"

namespace shoal::internal::fuzz {

// One to four changes to an HLO text: types, sizes, numbers, opcodes, operands, lines, attributes, layouts, groups,
// header. `other` is a text to take attributes and lines from.
std::string Mutated(const std::string& text, const std::string& other, Random& random);

// Any bytes: some changed, left out, doubled.
std::string MutatedBytes(std::string bytes, Random& random);

// The text with declared shapes that follow from the operands, so that more of it is valid; nothing if it cannot be
// read at all.
std::optional<std::string> Repaired(const std::string& text, Random& random);

// A module of random ops with whatever attributes their rules accept.
std::string Generated(Random& random);

}  // namespace shoal::internal::fuzz
