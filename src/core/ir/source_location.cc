#include "core/ir/source_location.h"

#include <algorithm>

#include "core/base/strings.h"

namespace shoal::internal {
namespace {

// The element with id `id`, where ids start at 1; null if there is none.
template <class T>
const T* At(std::span<const T> list, int32_t id) {
  return id >= 1 && static_cast<size_t>(id) <= list.size() ? &list[static_cast<size_t>(id) - 1] : nullptr;
}

constexpr std::string_view kPackageFolders[] = {"/site-packages/", "/dist-packages/"};

// The path without the prefix of the folder in which packages are installed.
std::string_view WithoutPrefix(std::string_view file) {
  for (std::string_view folder : kPackageFolders)
    if (const size_t at = file.rfind(folder); at != std::string_view::npos) return file.substr(at + folder.size());
  return file;
}

}  // namespace

std::vector<SourceFrame> StackOf(const StackFrames& frames, int32_t id) {
  constexpr size_t kMaxFrames = 1000;  // a malformed table may have a cycle
  std::vector<SourceFrame> stack;
  for (size_t i = 0; i < kMaxFrames; ++i) {
    const StackFrames::Frame* frame = At(frames.frames, id);
    if (frame == nullptr) break;
    const StackFrames::Location* location = At(frames.locations, frame->file_location_id);
    const std::string_view* file = location == nullptr ? nullptr : At(frames.file_names, location->file_name_id);
    if (file != nullptr) {
      const std::string_view* function = At(frames.function_names, location->function_name_id);
      stack.push_back({*file, function == nullptr ? std::string_view() : *function, location->line, location->column});
    }
    id = frame->parent_frame_id;
  }
  return stack;
}

bool IsInstalledFile(std::string_view file) {
  for (std::string_view folder : kPackageFolders)
    if (file.find(folder) != std::string_view::npos) return true;
  return file.find("/lib/python3") != std::string_view::npos || file.starts_with("<");
}

std::string FormatSourceLocation(const Metadata& metadata, const StackFrames& frames) {
  const std::vector<SourceFrame> stack = StackOf(frames, metadata.stack_frame_id);
  const auto own = std::find_if(stack.begin(), stack.end(), [](const SourceFrame& f) { return !IsInstalledFile(f.file); });
  SourceFrame line = own != stack.end() ? *own : stack.empty() ? SourceFrame() : stack.front();
  const bool stated = !metadata.source_file.empty();
  if (stated && (line.file.empty() || !IsInstalledFile(metadata.source_file)))
    line = {metadata.source_file, {}, metadata.source_line, 0};
  return line.file.empty() ? std::string() : StrCat(WithoutPrefix(line.file), ":", line.line);
}

}  // namespace shoal::internal
