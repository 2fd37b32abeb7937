// The fields of XLA's messages, and checks of the fields that a file sets. Private to formats/proto.
#pragma once

#include <span>
#include <string_view>

#include "core/base/diags.h"

namespace google::protobuf {
class Descriptor;
}

namespace shoal::internal {

// The use that the reader makes of a field.
enum class FieldUse : uint8_t {
  kRead,          // part of the Module
  kUpgraded,      // converted to the current form, as XLA does
  kIgnored,       // not part of the program
  kReported,      // not part of the program, but worth a warning
  kRefused,       // changes the meaning: an error
  kIgnoredUpTo0,  // ignored if all its values are 0, else refused
  kIgnoredUpTo1,  // ignored if all its values are 0 or 1, else refused
};

struct FieldRow {
  std::string_view message;
  int number = 0;
  std::string_view name;
  std::string_view first, last;  // months of the first and the last version with this field; no last: the current one
  FieldUse use = FieldUse::kRead;
  std::string_view reason;
};
std::span<const FieldRow> FieldRows();

// Checks the fields that `bytes`, a message of type `type`, set. Adds to `diags` a warning or an error for each field
// whose value is not part of the Module, and for each field that no row describes; if strict, they are errors. Reports
// a field once, with the first instruction that sets it.
void CheckFields(std::string_view bytes, const google::protobuf::Descriptor& type, bool strict, Diags& diags);

}  // namespace shoal::internal
