#include "formats/stablehlo/locations.h"

#include "core/base/strings.h"

namespace shoal::internal {
namespace {

using LocationKind = MlirLocation::Kind;
constexpr int kMaxLocationDepth = 500;
constexpr size_t kMaxParts = 10000;

// A name with a file location below it is a frame of the call stack: "function"("file":1:2).
bool IsFrame(const MlirLocation& location) {
  return location.kind == LocationKind::kName && !location.children.empty() && location.children[0]->kind == LocationKind::kFile;
}

void CollectNames(const MlirLocation& location, bool types, int depth, std::vector<std::string_view>& names) {
  if (depth > kMaxLocationDepth || names.size() > kMaxParts) return;
  switch (location.kind) {
    case LocationKind::kName: {
      std::string_view name = location.text.substr(0, location.text.find('@'));
      const bool is_type = name.ends_with(':');
      if (types && is_type) names.push_back(name.substr(0, name.size() - 1));
      if (!types && !is_type) names.push_back(name);
      const bool goes_on = types != is_type;
      if (goes_on && !location.children.empty()) CollectNames(*location.children[0], types, depth + 1, names);
      break;
    }
    case LocationKind::kCallSite:
      CollectNames(*location.children[0], types, depth + 1, names);
      break;
    case LocationKind::kFused:
      for (const MlirLocation* child : location.children) {
        CollectNames(*child, types, depth + 1, names);
        if (types) break;  // only the first location may name a type
      }
      break;
    default:
      break;
  }
}

std::string JoinedNames(const MlirLocation& location, bool types) {
  std::vector<std::string_view> names;
  CollectNames(location, types, 0, names);
  std::string joined;
  for (const std::string_view& name : names) {
    if (&name != names.data()) joined += ';';
    joined += name;
  }
  return joined;
}

// The frames of a call stack, innermost first.
void CollectFrames(const MlirLocation& location, int depth, std::vector<const MlirLocation*>& frames) {
  if (depth > kMaxLocationDepth || frames.size() > kMaxParts) return;
  if (location.kind == LocationKind::kCallSite) {
    CollectFrames(*location.children[0], depth + 1, frames);
    CollectFrames(*location.children[1], depth + 1, frames);
  } else if (IsFrame(location)) {
    frames.push_back(&location);
  }
}

void SetSource(const MlirLocation& location, int depth, Metadata& metadata) {
  if (depth > kMaxLocationDepth) return;
  if (location.kind == LocationKind::kFile) {
    metadata.source_file = location.text;
    metadata.source_line = location.line;
    metadata.source_end_line = location.end_line;
    metadata.source_column = location.column;
    metadata.source_end_column = location.end_column;
  } else if (location.kind == LocationKind::kFused) {
    for (const MlirLocation* child : location.children) SetSource(*child, depth + 1, metadata);
  }
}

}  // namespace

const LocationTable::Name& LocationTable::Named(const MlirLocation* location) {
  const auto [entry, is_new] = names_.try_emplace(location);
  Name& named = entry->second;
  if (!is_new || location == nullptr) return named;
  named.name = module_.arena.CopyString(JoinedNames(*location, /*types=*/false));
  if (named.name.empty()) return named;
  Metadata metadata;
  metadata.op_name = named.name;
  named.metadata = module_.arena.New<Metadata>(metadata);
  return named;
}

const Metadata* LocationTable::MetadataOf(const MlirLocation* location) {
  if (location == nullptr) return nullptr;
  if (location->import_id >= 0) return metadata_[static_cast<size_t>(location->import_id)];
  location->import_id = std::ssize(metadata_);
  metadata_.push_back(nullptr);
  const size_t slot = metadata_.size() - 1;
  Metadata metadata;
  metadata.op_name = module_.arena.CopyString(JoinedNames(*location, /*types=*/false));
  metadata.op_type = module_.arena.CopyString(JoinedNames(*location, /*types=*/true));
  // Names above the frames are the op's own.
  const MlirLocation* at = location;
  for (int depth = 0; depth < kMaxLocationDepth && at->kind == LocationKind::kName && !IsFrame(*at); ++depth) {
    if (at->children.empty()) {
      at = nullptr;
      break;
    }
    at = at->children[0];
  }
  if (at != nullptr) {
    std::vector<const MlirLocation*> frames;
    CollectFrames(*at, 0, frames);
    int32_t id = 0;
    for (size_t i = frames.size(); i-- > 0;) id = AddFrame(*frames[i], id);
    metadata.stack_frame_id = id;
    if (id == 0) SetSource(*at, 0, metadata);
    metadata.source_file = module_.arena.CopyString(metadata.source_file);
  }
  if (!metadata.empty()) metadata_[slot] = module_.arena.New<Metadata>(metadata);
  return metadata_[slot];
}

int32_t LocationTable::AddFrame(const MlirLocation& frame, int32_t parent) {
  const MlirLocation& file = *frame.children[0];
  auto id_of = [&](std::string_view text, auto& ids, std::vector<std::string_view>& list) {
    const auto found = ids.find(text);
    if (found != ids.end()) return found->second;
    list.push_back(module_.arena.CopyString(text));
    const auto id = static_cast<int32_t>(list.size());
    ids.emplace(list.back(), id);
    return id;
  };
  StackFrames::Location location{id_of(file.text, file_ids_, files_), id_of(frame.text, function_ids_, functions_),
                                 file.line, file.end_line, file.column, file.end_column};
  const std::tuple key{location.file_name_id, location.function_name_id, location.line, location.column};
  const auto [location_entry, new_location] =
      location_ids_.try_emplace(key, static_cast<int32_t>(locations_.size()) + 1);
  if (new_location) locations_.push_back(location);
  const auto [frame_entry, new_frame] =
      frame_ids_.try_emplace({location_entry->second, parent}, static_cast<int32_t>(frames_.size()) + 1);
  if (new_frame) frames_.push_back({location_entry->second, parent});
  return frame_entry->second;
}

void LocationTable::Finish() {
  module_.stack_frames.file_names = module_.arena.Copy(files_);
  module_.stack_frames.function_names = module_.arena.Copy(functions_);
  module_.stack_frames.locations = module_.arena.Copy(locations_);
  module_.stack_frames.frames = module_.arena.Copy(frames_);
}

}  // namespace shoal::internal
