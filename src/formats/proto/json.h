// Prints messages as JSON. Private to formats/proto.
#pragma once

#include <google/protobuf/message.h>

#include <string>

namespace shoal::internal {

// Prints the fields that are set, by their schema names, on several lines. A list of numbers or strings is on one line.
std::string ToJson(const google::protobuf::Message& message);

}  // namespace shoal::internal
