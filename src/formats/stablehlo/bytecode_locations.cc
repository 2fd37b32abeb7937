// Source locations of bytecode: attributes of the builtin dialect.
#include <algorithm>

#include "formats/stablehlo/bytecode_reader.h"

namespace shoal::internal {

// Null for a location of an unknown kind, which is skipped.
const MlirLocation* MlirBytecodeReader::Location(uint64_t index) {
  if (index >= attrs_.size()) {
    Error(StrCat("there is no location ", index));
    return nullptr;
  }
  Entry& entry = attrs_[index];
  if (entry.location_state == Entry::State::kRead) return entry.location;
  if (entry.location_state == Entry::State::kReading || !entry.custom || entry.dialect != "builtin" || depth_ > kMaxDepth) return nullptr;
  entry.location_state = Entry::State::kReading;
  ++depth_;
  BytecodeStream stream(entry.data);
  MlirLocation location;
  std::vector<const MlirLocation*> children;
  bool known = true;
  auto child = [&] {
    const MlirLocation* part = Location(stream.Varint());
    children.push_back(part);
    known &= part != nullptr;
  };
  auto number = [&] { return static_cast<int32_t>(std::min<uint64_t>(stream.Varint(), INT32_MAX)); };
  auto text = [&]() -> std::string_view {
    const MlirAttr* attr = ReadAttr(stream);
    return attr == nullptr ? std::string_view() : attr->text;
  };
  switch (stream.Varint()) {
    case 10:
      location.kind = MlirLocation::Kind::kCallSite;
      child();
      child();
      break;
    case 11:
      location.kind = MlirLocation::Kind::kFile;
      location.text = text();
      location.line = location.end_line = number();
      location.column = location.end_column = number();
      break;
    case 12:
    case 13:
      location.kind = MlirLocation::Kind::kFused;
      for (uint64_t i = stream.Count(); i-- > 0 && known;) child();
      break;
    case 14:
      location.kind = MlirLocation::Kind::kName;
      location.text = text();
      child();
      break;
    case 15:
      break;
    case 22: {  // file, then line; line, column; line, column, end column; or line, column, end line, end column
      location.kind = MlirLocation::Kind::kFile;
      location.text = text();
      int32_t values[4] = {};
      const uint64_t count = std::min<uint64_t>(stream.Count(), 4);
      for (uint64_t i = 0; i < count; ++i) values[i] = number();
      location.line = location.end_line = values[0];
      location.column = location.end_column = values[1];
      if (count == 3) location.end_column = values[2];
      if (count == 4) {
        location.end_line = values[2];
        location.end_column = values[3];
      }
      break;
    }
    default:
      known = false;
      break;
  }
  --depth_;
  Entry& stored = attrs_[index];
  stored.location_state = Entry::State::kRead;
  if (!known || stream.failed() || failed_) return nullptr;
  location.children = module_.arena.Copy(children);
  stored.location = module_.arena.New<MlirLocation>(location);
  return stored.location;
}

}  // namespace shoal::internal
