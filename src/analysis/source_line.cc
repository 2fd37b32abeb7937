#include "analysis/source_line.h"

#include "base/strings.h"
#include "ir/common_attrs.h"
#include "ir/metadata.h"

namespace shoal {
namespace {

// Ids count from 1; one that points nowhere gives nothing.
template <class T>
const T* Entry(std::span<const T> table, int32_t id) {
  return id >= 1 && static_cast<size_t>(id) <= table.size() ? &table[static_cast<size_t>(id) - 1] : nullptr;
}

}  // namespace

std::string_view OpName(const Instruction& hlo) {
  const Metadata* metadata = hlo[kMetadata];
  return metadata == nullptr ? std::string_view() : metadata->op_name;
}

std::string SourceLine(const Instruction& hlo, const Module& module) {
  const Metadata* metadata = hlo[kMetadata];
  if (metadata == nullptr) return {};
  if (!metadata->source_file.empty()) return StrCat(metadata->source_file, ":", metadata->source_line);
  const StackFrames& frames = module.stack_frames;
  const StackFrames::Frame* frame = Entry(frames.frames, metadata->stack_frame_id);
  if (frame == nullptr) return {};
  const StackFrames::Location* location = Entry(frames.locations, frame->file_location_id);
  if (location == nullptr) return {};
  const std::string_view* file = Entry(frames.file_names, location->file_name_id);
  return file == nullptr ? std::string() : StrCat(*file, ":", location->line);
}

}  // namespace shoal
