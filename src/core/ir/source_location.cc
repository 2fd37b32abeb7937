#include "core/ir/source_location.h"

#include <algorithm>

#include "core/base/strings.h"
#include "core/ir/common_attrs.h"

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

std::vector<SourceFrame> StackOf(const Instruction& hlo, const Module& module) {
  const Metadata* metadata = hlo[kMetadata];
  if (metadata == nullptr) return {};
  std::vector<SourceFrame> stack = StackOf(module.stack_frames, metadata->stack_frame_id);
  if (stack.empty() && !metadata->source_file.empty())
    stack.push_back({metadata->source_file, {}, metadata->source_line, metadata->source_column});
  return stack;
}

bool IsInstalledFile(std::string_view file, std::span<const std::string> own_packages) {
  const bool in_package = std::any_of(std::begin(kPackageFolders), std::end(kPackageFolders), [&](std::string_view folder) {
    return file.find(folder) != std::string_view::npos;
  });
  if (!in_package) return file.find("/lib/python3") != std::string_view::npos || file.starts_with("<");
  const std::string_view path = WithoutPrefix(file);
  return std::none_of(own_packages.begin(), own_packages.end(), [&](std::string_view name) {
    const std::string_view rest = path.starts_with(name) ? path.substr(name.size()) : "";
    return !name.empty() && (rest.starts_with("/") || rest == ".py");
  });
}

std::string FormatFrame(const SourceFrame& frame) { return StrCat(WithoutPrefix(frame.file), ":", frame.line); }

std::string FormatCall(const SourceFrame& frame) {
  return StrCat(FormatFrame(frame), frame.function.empty() ? "" : " in ", frame.function);
}

std::string SourceLocationOf(const Instruction& hlo, const Module& module, std::span<const std::string> own_packages) {
  const Metadata* metadata = hlo[kMetadata];
  if (metadata == nullptr) return "";
  const auto is_own = [&](const SourceFrame& frame) { return !IsInstalledFile(frame.file, own_packages); };
  const std::vector<SourceFrame> stack = StackOf(hlo, module);
  const SourceFrame stated{metadata->source_file, {}, metadata->source_line, metadata->source_column};
  if (!stated.file.empty() && is_own(stated)) return FormatFrame(stated);
  const auto own = std::find_if(stack.begin(), stack.end(), is_own);
  if (own != stack.end()) return FormatFrame(*own);
  return stack.empty() ? "" : FormatFrame(stack.front());
}

}  // namespace shoal::internal
