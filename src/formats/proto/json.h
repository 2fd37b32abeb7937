// Messages as JSON. Private to proto/.
#pragma once

#include <google/protobuf/message.h>

#include <string>

namespace shoal::internal {

// Fields that are set, by their names in the schema, over several lines. Lists of numbers and texts stand on one.
std::string ToJson(const google::protobuf::Message& message);

}  // namespace shoal::internal
