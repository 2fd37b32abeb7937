#include "analyze/cost/recomputation.h"

#include "core/ir/common_attrs.h"

namespace shoal::internal {

bool IsRecomputation(const Instruction& hlo) {
  const size_t suffix = hlo.name.find(".remat");
  if (suffix != std::string_view::npos) {
    const std::string_view rest = hlo.name.substr(suffix + 6);  // ".remat", ".remat2", ".remat.1"
    if (rest.find_first_not_of("0123456789.") == std::string_view::npos) return true;
  }
  const Metadata* metadata = hlo[kMetadata];
  return metadata != nullptr && metadata->op_name.find("rematted_computation") != std::string_view::npos;
}

}  // namespace shoal::internal
