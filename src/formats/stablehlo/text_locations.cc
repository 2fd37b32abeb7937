// Source locations: loc("file":1:2), loc("name"(…)), loc(callsite(… at …)), loc(fused[…]), loc(#loc3).
#include "formats/stablehlo/text_reader.h"

namespace shoal::internal {
namespace {

constexpr int64_t kMaxLine = int64_t{1} << 31;

}  // namespace

// An alias may be defined after its uses, at the end of the file.
const MlirLocation* MlirTextReader::LocationAlias(std::string_view name) {
  MlirLocation*& location = location_aliases_[name];
  if (location == nullptr) location = module_.arena.New<MlirLocation>();
  return location;
}

const MlirLocation* MlirTextReader::ReadOptionalLocation() {
  SkipSpace();
  if (at_ == end_ || *at_ != 'l' || !At("loc(")) return nullptr;
  return ReadLocation();
}

const MlirLocation* MlirTextReader::ReadLocation() {
  if (!Expect("loc")) return nullptr;
  if (!Expect('(')) return nullptr;
  const MlirLocation* location = ReadLocationBody();
  return location != nullptr && Expect(')') ? location : nullptr;
}

const MlirLocation* MlirTextReader::ReadLocationBody() {
  if (++depth_ > kMaxDepth) {
    Error("locations are nested too deeply");
    return nullptr;
  }
  struct Leave {
    int& depth;
    ~Leave() { --depth; }
  } leave{depth_};
  if (Eat('#')) return LocationAlias(ReadBareName());
  if (At("loc(")) return ReadLocation();
  MlirLocation location;
  std::vector<const MlirLocation*> children;
  auto read_child = [&] {
    children.push_back(ReadLocationBody());
    return children.back() != nullptr;
  };
  if (EatKeyword("unknown")) return module_.arena.New<MlirLocation>(location);
  if (EatKeyword("callsite")) {
    location.kind = MlirLocation::Kind::kCallSite;
    if (!Expect('(') || !read_child() || !Expect("at") || !read_child() || !Expect(')')) return nullptr;
  } else if (EatKeyword("fused")) {
    location.kind = MlirLocation::Kind::kFused;
    std::string_view ignored;
    if (Peek() == '<' && !ReadBalanced(&ignored)) return nullptr;
    if (!Expect('[')) return nullptr;
    do {
      if (!read_child()) return nullptr;
    } while (Eat(','));
    if (!Expect(']')) return nullptr;
  } else {
    if (!ReadString(&location.text)) return nullptr;
    location.kind = MlirLocation::Kind::kName;
    if (Eat(':')) {
      location.kind = MlirLocation::Kind::kFile;
      // "file":line:column, "file":line:column to line:column, "file":line:column to :column
      int64_t values[4] = {};
      if (!ReadInt(&values[0])) return nullptr;
      values[2] = values[0];
      if (Eat(':') && !ReadInt(&values[1])) return nullptr;
      values[3] = values[1];
      if (EatKeyword("to")) {
        if (Peek() != ':' && !ReadInt(&values[2])) return nullptr;
        if (Eat(':') && !ReadInt(&values[3])) return nullptr;
      }
      for (const int64_t value : values)
        if (value < 0 || value >= kMaxLine) {
          Error("the line number is out of range");
          return nullptr;
        }
      location.line = static_cast<int32_t>(values[0]);
      location.column = static_cast<int32_t>(values[1]);
      location.end_line = static_cast<int32_t>(values[2]);
      location.end_column = static_cast<int32_t>(values[3]);
    } else if (Eat('(')) {
      if (!read_child() || !Expect(')')) return nullptr;
    }
  }
  location.children = module_.arena.Copy(children);
  return module_.arena.New<MlirLocation>(location);
}

}  // namespace shoal::internal
