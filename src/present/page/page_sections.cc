#include "present/page/page_sections.h"

#include <zlib.h>

#include <bit>

#include "core/base/check.h"
#include "core/base/printable.h"
#include "nlohmann/json.hpp"

namespace shoal::internal {
namespace {

static_assert(std::endian::native == std::endian::little, "columns are written in memory byte order");

// Compresses without time stamps or host names, so that equal inputs produce equal pages.
std::string Gzipped(std::string_view bytes) {
  z_stream stream{};
  constexpr int kGzip = 15 + 16, kLevel = 6, kMemory = 8;
  SHOAL_CHECK(deflateInit2(&stream, kLevel, Z_DEFLATED, kGzip, kMemory, Z_DEFAULT_STRATEGY) == Z_OK, "zlib");
  std::string out(deflateBound(&stream, bytes.size()), '\0');
  size_t read = 0, written = 0;
  constexpr size_t kChunk = size_t{1} << 30;  // zlib counts in 32 bits
  for (int state = Z_OK; state != Z_STREAM_END;) {
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data() + read));
    stream.avail_in = static_cast<uInt>(std::min(bytes.size() - read, kChunk));
    stream.next_out = reinterpret_cast<Bytef*>(out.data() + written);
    stream.avail_out = static_cast<uInt>(std::min(out.size() - written, kChunk));
    const uInt in = stream.avail_in, out_size = stream.avail_out;
    state = deflate(&stream, read + in == bytes.size() ? Z_FINISH : Z_NO_FLUSH);
    read += in - stream.avail_in;
    written += out_size - stream.avail_out;
  }
  deflateEnd(&stream);
  out.resize(written);
  return out;
}

uint32_t Crc(std::string_view bytes) {
  return static_cast<uint32_t>(crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

template <class T>
void AppendNumber(std::string& out, T number) {
  out.append(reinterpret_cast<const char*>(&number), sizeof(number));
}

size_t Aligned(size_t at) { return (at + 7) / 8 * 8; }

}  // namespace

void PageSection::Begin(std::string_view column, const char* type, size_t count) {
  bytes_.resize(Aligned(bytes_.size()), '\0');
  columns_.push_back({std::string(column), type, count});
}

template <class T>
void PageSection::AddArray(std::string_view column, const char* type, const std::vector<T>& values) {
  Begin(column, type, values.size());
  bytes_.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
}

template void PageSection::AddArray(std::string_view, const char*, const std::vector<uint8_t>&);
template void PageSection::AddArray(std::string_view, const char*, const std::vector<uint16_t>&);
template void PageSection::AddArray(std::string_view, const char*, const std::vector<uint32_t>&);
template void PageSection::AddArray(std::string_view, const char*, const std::vector<int32_t>&);
template void PageSection::AddArray(std::string_view, const char*, const std::vector<double>&);

void PageSection::Add(std::string_view column, const std::vector<std::string>& values) {
  Begin(column, "str", values.size());
  for (const std::string& value : values) {
    for (size_t at = 0; at < value.size();) {
      const size_t zero = std::min(value.find('\0', at), value.size());
      bytes_.append(value, at, zero - at);
      if (zero < value.size()) bytes_ += "\u2400";
      at = zero + 1;
    }
    bytes_ += '\0';
  }
}

PageSections::Packed PageSections::Pack(const std::vector<std::string>& files, const std::vector<StepTime>& predictions) const {
  using Json = nlohmann::ordered_json;
  Json list = Json::array();
  std::string packed;
  for (const PageSection& section : sections_) {
    packed.resize(Aligned(packed.size()), '\0');
    const std::string zipped = Gzipped(section.bytes());
    Json columns = Json::array();
    for (const PageSection::Column& column : section.columns())
      columns.push_back({{"name", column.name}, {"type", column.type}, {"count", column.count}});
    list.push_back({{"name", section.name()},
                    {"at", packed.size()},
                    {"bytes", zipped.size()},
                    {"raw_bytes", section.bytes().size()},
                    {"crc", Crc(zipped)},
                    {"columns", std::move(columns)}});
    packed += zipped;
  }
  Json times = Json::array();
  for (const StepTime& each : predictions)
    times.push_back({{"file", each.file}, {"machine", each.machine}, {"step_seconds", each.seconds}});
  const Json directory = {{"version", kPageVersion}, {"tool", "shoal"}, {"files", files},
                          {"predictions", std::move(times)}, {"sections", std::move(list)}};
  const std::string text = directory.dump(-1, ' ', false, Json::error_handler_t::replace);
  std::string out("SHOAL\0", 6);
  AppendNumber(out, kPageVersion);
  AppendNumber(out, static_cast<uint32_t>(text.size()));
  out += text;
  out.resize(Aligned(out.size()), '\0');  // section offsets are relative to this position
  return {out + packed, EscapeJsonForTerminal(directory.dump(2, ' ', false, Json::error_handler_t::replace))};
}

uint32_t StringTable::operator()(std::string_view text) {
  auto found = indices_.find(text);
  if (found != indices_.end()) return found->second;
  indices_.emplace(text, static_cast<uint32_t>(all_.size()));
  all_.emplace_back(text);
  return static_cast<uint32_t>(all_.size() - 1);
}

std::string Base64(std::string_view bytes) {
  static constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (size_t i = 0; i < bytes.size(); i += 3) {
    const size_t left = std::min<size_t>(bytes.size() - i, 3);
    uint32_t three = 0;
    for (size_t k = 0; k < 3; ++k) three = three << 8 | (k < left ? static_cast<uint8_t>(bytes[i + k]) : 0);
    for (size_t k = 0; k < 4; ++k) out += k <= left ? kDigits[three >> (18 - 6 * k) & 63] : '=';
  }
  return out;
}

}  // namespace shoal::internal
