#include "present/reports/json.h"

#include "analyze/facts/infer_devices.h"
#include "core/base/printable.h"

namespace shoal::internal {

std::string JsonText(const Json& json, int indent) {
  return EscapeJsonForTerminal(json.dump(indent, ' ', false, Json::error_handler_t::replace) + "\n");
}

Json DevicesJson(const InferredGrid& devices) {
  return {{"count", devices.grid.count()},
          {"replicas", devices.grid.replicas},
          {"partitions", devices.grid.partitions},
          {"from", devices.from}};
}

}  // namespace shoal::internal
