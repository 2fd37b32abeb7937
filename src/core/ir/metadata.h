// The origin of an instruction in the user's program.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace shoal::internal {

// Fields that hardly any instruction has.
struct RareMetadata {
  std::span<const int64_t> profile_type;
  std::string_view deduplicated_name, scheduling_name, payload;
  bool has_payload = false;

  bool empty() const {
    return profile_type.empty() && deduplicated_name.empty() && scheduling_name.empty() && !has_payload;
  }
};

struct Metadata {
  std::string_view op_type, op_name, source_file;
  int32_t source_line = 0, source_end_line = 0, source_column = 0, source_end_column = 0;
  int32_t stack_frame_id = 0;  // one-based index into Module::stack_frames; 0: none
  const RareMetadata* rare_fields = nullptr;  // null: all empty

  const RareMetadata& rare() const {
    static constexpr RareMetadata kNone;
    return rare_fields == nullptr ? kNone : *rare_fields;
  }
  // True if no printed field is set.
  bool empty() const {
    return op_type.empty() && op_name.empty() && source_file.empty() && rare().scheduling_name.empty() &&
           stack_frame_id == 0 && !rare().has_payload;
  }
  bool operator==(const Metadata& other) const;
};

// op_type="…" op_name="…" source_file="…" source_line=3, without braces.
void AppendMetadata(std::string& out, const Metadata& metadata);

// The tables FileNames, FunctionNames, FileLocations, StackFrames that newer dumps have before the computations. Ids
// are one-based.
struct StackFrames {
  struct Location {
    int32_t file_name_id = 0, function_name_id = 0, line = 0, end_line = 0, column = 0, end_column = 0;
  };
  struct Frame {
    int32_t file_location_id = 0;
    int32_t parent_frame_id = 0;  // 0: outermost
  };
  std::span<const std::string_view> file_names, function_names;
  std::span<const Location> locations;
  std::span<const Frame> frames;

  bool empty() const { return frames.empty(); }
};

}  // namespace shoal::internal
