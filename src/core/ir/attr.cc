#include <algorithm>

#include "core/base/strings.h"
#include "core/ir/attr.h"

namespace shoal::internal {

bool OriginalArray::operator==(const OriginalArray& other) const {
  return instruction_name == other.instruction_name &&
         std::equal(shape_index.begin(), shape_index.end(), other.shape_index.begin(), other.shape_index.end());
}

bool OriginalArray::operator<(const OriginalArray& other) const {
  if (instruction_name != other.instruction_name) return instruction_name < other.instruction_name;
  return std::lexicographical_compare(shape_index.begin(), shape_index.end(), other.shape_index.begin(),
                                      other.shape_index.end());
}

void AppendOriginalArray(std::string& out, const OriginalArray& array) {
  StrAppend(&out, "\"", array.instruction_name, "\"");
  if (!array.shape_index.empty()) StrAppend(&out, " ", ToString(array.shape_index));
}

}  // namespace shoal::internal
