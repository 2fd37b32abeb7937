// Mutated modules: texts that a user's editor, another compiler or an attacker could produce.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "random.h"

namespace shoal::internal::fuzz {

// Makes one to four changes to an HLO text: to types, sizes, numbers, opcodes, operands, lines, attributes, layouts,
// groups or the header. Attributes and lines may be copied from the text `other`.
std::string Mutated(const std::string& text, const std::string& other, Random& random);

// Changes, drops or duplicates some of the bytes.
std::string MutatedBytes(std::string bytes, Random& random);

// Replaces declared shapes by those inferred from the operands, so that more of the text is valid; nullopt if it cannot
// be parsed.
std::optional<std::string> Repaired(const std::string& text, Random& random);

// A module of random ops with random attributes that their rules accept.
std::string Generated(Random& random);

}  // namespace shoal::internal::fuzz
