#include "core/ir/source_location.h"

#include "core/base/strings.h"

namespace shoal::internal {
namespace {

// The element with id `id`, where ids start at 1; null if there is none.
template <class T>
const T* At(std::span<const T> list, int32_t id) {
  return id >= 1 && static_cast<size_t>(id) <= list.size() ? &list[static_cast<size_t>(id) - 1] : nullptr;
}

struct Line {
  std::string_view file;
  int32_t line = 0;
};

// The innermost frame outside of installed packages; else the innermost frame; no file if there is no frame.
Line UserLine(const StackFrames& frames, int32_t id) {
  constexpr int kMaxFrames = 1000;  // a malformed table may have a cycle
  Line innermost;
  for (int i = 0; i < kMaxFrames; ++i) {
    const StackFrames::Frame* frame = At(frames.frames, id);
    if (frame == nullptr) break;
    const StackFrames::Location* location = At(frames.locations, frame->file_location_id);
    const std::string_view* file = location == nullptr ? nullptr : At(frames.file_names, location->file_name_id);
    if (file != nullptr) {
      if (!IsInstalledFile(*file)) return {*file, location->line};
      if (innermost.file.empty()) innermost = {*file, location->line};
    }
    id = frame->parent_frame_id;
  }
  return innermost;
}

constexpr std::string_view kPackageFolders[] = {"/site-packages/", "/dist-packages/"};

// The path without the prefix of the folder in which packages are installed.
std::string_view WithoutPrefix(std::string_view file) {
  for (std::string_view folder : kPackageFolders)
    if (const size_t at = file.rfind(folder); at != std::string_view::npos) return file.substr(at + folder.size());
  return file;
}

}  // namespace

bool IsInstalledFile(std::string_view file) {
  for (std::string_view folder : kPackageFolders)
    if (file.find(folder) != std::string_view::npos) return true;
  return file.find("/lib/python3") != std::string_view::npos || file.starts_with("<");
}

std::string FormatSourceLocation(const Metadata& metadata, const StackFrames& frames) {
  Line line = UserLine(frames, metadata.stack_frame_id);
  const bool stated = !metadata.source_file.empty();
  if (stated && (line.file.empty() || !IsInstalledFile(metadata.source_file)))
    line = {metadata.source_file, metadata.source_line};
  return line.file.empty() ? std::string() : StrCat(WithoutPrefix(line.file), ":", line.line);
}

}  // namespace shoal::internal
