// Reads XSpace, the protobuf of XLA's profiler: planes (devices, hosts) contain lines (streams) of events, whose names
// are in a table. Decodes only the required fields, directly from the wire format.
#include <map>

#include "core/base/printable.h"
#include "core/base/strings.h"
#include "formats/files/profile.h"
#include "formats/files/profile_events.h"

namespace shoal::internal {
namespace {

// The fields of one message, in order.
class Fields {
 public:
  explicit Fields(std::string_view bytes) : bytes_(bytes) {}
  uint32_t number = 0;
  uint64_t value = 0;       // for a varint
  std::string_view inside;  // for bytes, strings, messages

  // Reads the next field. False at the end, and if the bytes are malformed.
  bool Next() {
    uint64_t tag = 0;
    if (bytes_.empty() || !Varint(tag)) return false;
    number = static_cast<uint32_t>(tag >> 3);
    value = 0;
    inside = {};
    switch (tag & 7) {
      case 0: return Varint(value);
      case 1: return TakeBytes(8);
      case 2: {
        uint64_t size = 0;
        return Varint(size) && TakeBytes(size);
      }
      case 5: return TakeBytes(4);
      default: is_malformed_ = true; return false;
    }
  }
  bool is_malformed() const { return is_malformed_; }

 private:
  bool Varint(uint64_t& number) {
    number = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      if (bytes_.empty()) return !(is_malformed_ = true);
      const auto byte = static_cast<uint8_t>(bytes_.front());
      bytes_.remove_prefix(1);
      number |= static_cast<uint64_t>(byte & 127) << shift;
      if (byte < 128) return true;
    }
    return !(is_malformed_ = true);
  }
  bool TakeBytes(uint64_t size) {
    if (size > bytes_.size()) return !(is_malformed_ = true);
    inside = bytes_.substr(0, size);
    bytes_.remove_prefix(size);
    return true;
  }
  std::string_view bytes_;
  bool is_malformed_ = false;
};

using Names = std::map<uint64_t, std::string_view>;

// Reads an entry of a map<int64, message with a name in field 2>.
void ReadName(std::string_view entry, Names& names) {
  uint64_t key = 0;
  std::string_view name;
  for (Fields pair(entry); pair.Next();) {
    if (pair.number == 1) key = pair.value;
    if (pair.number == 2)
      for (Fields row(pair.inside); row.Next();)
        if (row.number == 2) name = row.inside;
  }
  names[key] = name;
}

struct Plane {
  std::string_view name;
  std::vector<std::string_view> lines;
  Names events, stats;
};

Plane PlaneOf(std::string_view bytes) {
  Plane plane;
  for (Fields field(bytes); field.Next();) {
    if (field.number == 2) plane.name = field.inside;
    if (field.number == 3) plane.lines.push_back(field.inside);
    if (field.number == 4) ReadName(field.inside, plane.events);
    if (field.number == 5) ReadName(field.inside, plane.stats);
  }
  return plane;
}

// The instruction name that `stat` contains as a string or as a reference to the table of statistics; else empty.
std::string_view InstructionName(std::string_view stat, const Plane& plane) {
  uint64_t key = 0, ref = 0;
  std::string_view text;
  for (Fields field(stat); field.Next();) {
    if (field.number == 1) key = field.value;
    if (field.number == 5) text = field.inside;
    if (field.number == 7) ref = field.value;
  }
  const auto name = plane.stats.find(key);
  if (name == plane.stats.end() || name->second != "hlo_op") return {};
  if (!text.empty()) return text;
  const auto found = plane.stats.find(ref);
  return found == plane.stats.end() ? std::string_view() : found->second;
}

// The schema's times are signed.
double Seconds(uint64_t value, double unit) { return static_cast<double>(static_cast<int64_t>(value)) * unit; }

Status ReadEvent(std::string_view bytes, const Plane& plane, double line_start, Trace& trace) {
  TraceEvent event;
  std::string_view op;
  uint64_t metadata = 0;
  for (Fields field(bytes); field.Next();) {
    if (field.number == 1) metadata = field.value;
    if (field.number == 2) event.start = line_start + Seconds(field.value, 1e-12);
    if (field.number == 3) event.duration = Seconds(field.value, 1e-12);
    if (field.number == 4)
      if (const std::string_view name = InstructionName(field.inside, plane); !name.empty()) op = name;
  }
  const auto name = plane.events.find(metadata);
  event.category = name == plane.events.end() ? "" : std::string(name->second);
  event.name = op.empty() || op.substr(0, 14) == "command_buffer" ? event.category : std::string(op);
  return AddEvent(trace, std::move(event));
}

Status ReadLine(std::string_view bytes, const Plane& plane, Trace& trace) {
  double start = 0;
  std::string_view name;
  for (Fields field(bytes); field.Next();) {
    if (field.number == 3) start = Seconds(field.value, 1e-9);
    if (field.number == 2) name = field.inside;
  }
  // Skip lines that repeat the events of streams: steps, modules, name scopes.
  if (name.find("Stream") == std::string_view::npos && name != "XLA Ops") return {};
  for (Fields field(bytes); field.Next();)
    if (field.number == 4) SHOAL_TRY(ReadEvent(field.inside, plane, start, trace));
  return {};
}

}  // namespace

Result<Trace> ReadXplane(std::string_view bytes, const std::string& path) {
  Trace trace;
  trace.source = path;
  trace.devices = {"measured"};
  trace.streams = {"kernels"};
  Fields space(bytes);
  while (space.Next()) {
    if (space.number != 1) continue;
    const Plane plane = PlaneOf(space.inside);
    if (plane.name.substr(0, 8) != "/device:" || !trace.events.empty()) continue;
    for (std::string_view line : plane.lines)
      if (const Status read = ReadLine(line, plane, trace); !read.ok())
        return Fail(StrCat(EscapeName(path), " ", read.diag().message));
  }
  if (space.is_malformed() || trace.events.empty())
    return Fail(StrCat(EscapeName(path), ": expected a JSON trace, or an .xplane.pb with device events"));
  return trace;
}

}  // namespace shoal::internal
