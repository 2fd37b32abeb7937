#include "core/ir/source_location.h"

#include "core/base/strings.h"

namespace shoal::internal {
namespace {

// The element with id `id`, where ids start at 1; null if there is none.
template <class T>
const T* At(std::span<const T> list, int32_t id) {
  return id >= 1 && static_cast<size_t>(id) <= list.size() ? &list[static_cast<size_t>(id) - 1] : nullptr;
}

}  // namespace

std::string FormatSourceLocation(const Metadata& metadata, const StackFrames& frames) {
  if (!metadata.source_file.empty()) return StrCat(metadata.source_file, ":", metadata.source_line);
  const StackFrames::Frame* frame = At(frames.frames, metadata.stack_frame_id);
  const StackFrames::Location* location = frame == nullptr ? nullptr : At(frames.locations, frame->file_location_id);
  const std::string_view* file = location == nullptr ? nullptr : At(frames.file_names, location->file_name_id);
  return file == nullptr ? std::string() : StrCat(*file, ":", location->line);
}

}  // namespace shoal::internal
