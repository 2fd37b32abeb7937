// The sections of a bytecode file: strings, dialects, attributes and types by offset, properties, IR.
#include "formats/stablehlo/bytecode_parser.h"
#include "formats/stablehlo/bytecode_reader.h"

namespace shoal::internal {
namespace {

constexpr std::string_view kMagic = "ML\xEFR";
constexpr uint64_t kLastVersion = 6;

enum SectionId : uint8_t {
  kStrings,
  kDialects,
  kAttrTypes,
  kAttrTypeOffsets,
  kIr,
  kResources,
  kResourceOffsets,
  kDialectVersions,
  kProperties,
  kSectionCount
};

}  // namespace

bool IsMlirBytecode(std::string_view bytes) { return bytes.starts_with(kMagic); }

std::unique_ptr<MlirModule> ParseMlirBytecode(std::string_view bytes, Diags& diags) {
  auto module = std::make_unique<MlirModule>();
  module->is_bytecode = true;
  return MlirBytecodeReader(bytes, *module, diags).Read() ? std::move(module) : nullptr;
}

bool MlirBytecodeReader::Error(const char* at, std::string message) {
  if (failed_) return false;
  failed_ = true;
  const bool inside = at >= bytes_.data() && at <= bytes_.data() + bytes_.size();
  const size_t offset = inside ? static_cast<size_t>(at - bytes_.data()) : 0;
  diags_.Add(Fail(StrCat("MLIR bytecode, byte ", offset, ": ", message)));
  return false;
}

std::string_view MlirBytecodeReader::String(uint64_t index) {
  if (index < strings_.size()) return strings_[index];
  Error(StrCat("there is no string ", index));
  return {};
}

// id (bit 7: aligned), length, alignment?, padding, data
bool MlirBytecodeReader::ReadSection(BytecodeStream& stream, uint8_t* id, std::string_view* data) {
  const char* const at = stream.position();
  *id = stream.Byte();
  const uint64_t length = stream.Varint();
  const bool aligned = (*id & 0x80) != 0;
  *id &= 0x7F;
  if (aligned) {
    const uint64_t alignment = stream.Varint();
    if (alignment == 0 || (alignment & (alignment - 1)) != 0 || alignment > (1 << 20))
      return Error(at, "the alignment of a section must be a power of two");
    while (!stream.failed() && (static_cast<uint64_t>(stream.position() - bytes_.data()) & (alignment - 1)) != 0)
      stream.Byte();
  }
  *data = stream.Bytes(length);
  return !stream.failed() || Error(at, StrCat("the section needs ", length, " bytes, which the file does not have"));
}

bool MlirBytecodeReader::Read() {
  BytecodeStream stream(bytes_);
  if (!IsMlirBytecode(bytes_)) return Error("the file does not begin like MLIR bytecode");
  stream.Bytes(kMagic.size());
  version_ = stream.Varint();
  if (stream.failed()) return Error("the file ends in its header");
  if (version_ > kLastVersion)
    return Error(StrCat("bytecode version ", version_, " is newer than ", kLastVersion, ", the last one that is known"));
  stream.CString();  // the producer
  std::optional<std::string_view> sections[kSectionCount];
  while (!stream.AtEnd() && !stream.failed()) {
    uint8_t id = 0;
    std::string_view data;
    if (!ReadSection(stream, &id, &data)) return false;
    if (id < kSectionCount && !sections[id]) sections[id] = data;
  }
  for (const SectionId needed : {kStrings, kDialects, kAttrTypes, kAttrTypeOffsets, kIr})
    if (!sections[needed]) return Error(StrCat("the file has no section ", static_cast<int>(needed)));
  if (!ReadStrings(*sections[kStrings]) || !ReadDialects(*sections[kDialects]) ||
      !ReadOffsets(*sections[kAttrTypeOffsets], *sections[kAttrTypes]))
    return false;
  if (sections[kProperties] && !ReadProperties(*sections[kProperties])) return false;
  if (sections[kResourceOffsets] && sections[kResources] &&
      !ReadResources(*sections[kResourceOffsets], *sections[kResources]))
    return false;
  return ReadIr(*sections[kIr]);
}

// The lengths come in reverse order, before the strings, which end with a zero byte.
bool MlirBytecodeReader::ReadStrings(std::string_view data) {
  BytecodeStream stream(data);
  strings_.resize(stream.Count());
  size_t end = data.size();
  for (size_t i = strings_.size(); i-- > 0;) {
    const uint64_t size = stream.Varint();
    if (stream.failed() || size == 0 || size > end) return Error(data.data(), "the lengths of the strings are invalid");
    end -= size;
    strings_[i] = data.substr(end, size - 1);
  }
  return !stream.failed() || Error(data.data(), "the table of strings is cut short");
}

bool MlirBytecodeReader::ReadDialects(std::string_view data) {
  BytecodeStream stream(data);
  const uint64_t count = stream.Count();
  for (uint64_t i = 0; i < count && !failed_; ++i) {
    bool has_version = false;
    uint64_t name = version_ >= 1 ? stream.VarintWithFlag(&has_version) : stream.Varint();
    if (has_version) {
      uint8_t id = 0;
      std::string_view ignored;
      if (!ReadSection(stream, &id, &ignored)) return false;
    }
    if (stream.failed()) break;
    dialects_.push_back(String(name));
  }
  if (version_ >= 4) stream.Varint();  // the number of op names
  while (!stream.AtEnd() && !stream.failed() && !failed_) {
    const uint64_t dialect = stream.Varint();
    const uint64_t names = stream.Count();
    if (dialect >= dialects_.size()) return Error(data.data(), "an op name has an unknown dialect");
    for (uint64_t i = 0; i < names && !failed_; ++i) {
      BytecodeOpName op;
      op.dialect = dialects_[dialect];
      op.name = String(version_ >= 5 ? stream.VarintWithFlag(&op.registered) : stream.Varint());
      op_names_.push_back(op);
    }
  }
  if (stream.failed()) return Error(data.data(), "the table of dialects is cut short");
  return !failed_;
}

// Each entry of the table of attributes and types has a length, so that unknown ones can be skipped.
bool MlirBytecodeReader::ReadOffsets(std::string_view offsets, std::string_view data) {
  BytecodeStream stream(offsets);
  const uint64_t attrs = stream.Count(), types = stream.Count();
  size_t at = 0;
  auto read = [&](uint64_t count, std::vector<Entry>& entries) {
    while (entries.size() < count) {
      const uint64_t dialect = stream.Varint();
      const uint64_t group = stream.Count();
      if (stream.failed() || dialect >= dialects_.size() || group == 0 || group > count - entries.size())
        return Error(offsets.data(), "the table of attributes and types is invalid");
      for (uint64_t i = 0; i < group; ++i) {
        Entry entry;
        const uint64_t size = stream.VarintWithFlag(&entry.custom);
        if (stream.failed() || size > data.size() - at)
          return Error(offsets.data(), "an attribute or type lies outside of its section");
        entry.dialect = dialects_[dialect];
        entry.data = data.substr(at, size);
        at += size;
        entries.push_back(entry);
      }
    }
    return true;
  };
  return read(attrs, attrs_) && read(types, types_);
}

bool MlirBytecodeReader::ReadProperties(std::string_view data) {
  BytecodeStream stream(data);
  const uint64_t count = stream.Count();
  for (uint64_t i = 0; i < count && !stream.failed(); ++i) properties_.push_back({stream.Bytes(stream.Varint()), nullptr, {}});
  return !stream.failed() || Error(data.data(), "the section of properties is cut short");
}

// Groups of (key, size, kind); blobs are aligned within the section. Only blobs are kept.
bool MlirBytecodeReader::ReadResources(std::string_view offsets, std::string_view data) {
  BytecodeStream stream(offsets), values(data);
  stream.Varint();  // external groups come first
  while (!stream.AtEnd() && !stream.failed() && !failed_) {
    stream.Varint();  // group
    const uint64_t count = stream.Count();
    for (uint64_t i = 0; i < count && !failed_; ++i) {
      const std::string_view key = String(stream.Varint());
      const uint64_t size = stream.Varint();
      const uint8_t kind = stream.Byte();
      BytecodeStream value(values.Bytes(size));
      resource_keys_.push_back(key);
      if (kind != 0 || value.failed() || value.AtEnd()) continue;
      const uint64_t alignment = value.Varint();
      const uint64_t length = value.Varint();
      if (alignment == 0 || alignment > (1 << 20)) continue;
      while (!value.failed() && (static_cast<uint64_t>(value.position() - bytes_.data()) & (alignment - 1)) != 0)
        value.Byte();
      const std::string_view blob = value.Bytes(length);
      if (!value.failed()) resources_.emplace(key, blob);
    }
  }
  return !failed_;
}

}  // namespace shoal::internal
