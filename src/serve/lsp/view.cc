#include "serve/lsp/view.h"

#include <algorithm>

#include "core/base/strings.h"

namespace shoal::internal {

LspSettings ReadSettings(const json& settings) {
  LspSettings read;
  if (!settings.is_object()) return read;
  const auto flag = [](const json& from, const char* name, bool* value) {
    if (from.is_object() && from.contains(name) && from[name].is_boolean()) *value = from[name];
  };
  if (settings.contains("machine") && settings["machine"].is_string()) read.machine = settings["machine"];
  if (settings.contains("docs") && settings["docs"].is_string()) read.docs = settings["docs"];
  if (settings.contains("pathMap") && settings["pathMap"].is_object())
    for (const auto& [from, to] : settings["pathMap"].items())
      if (to.is_string()) read.paths[from] = to;
  if (settings.contains("ownPackages") && settings["ownPackages"].is_array())
    for (const json& name : settings["ownPackages"])
      if (name.is_string()) read.own_packages.push_back(name);
  const json hints = settings.value("inlayHints", json::object());
  flag(hints, "tripCounts", &read.trip_counts);
  flag(hints, "collectiveBytes", &read.collective_bytes);
  flag(hints, "memoryPeak", &read.memory_peak);
  flag(hints, "timeShare", &read.time_share);
  flag(settings, "codeLenses", &read.code_lenses);
  return read;
}

json View::PositionOf(uint32_t offset) const {
  const Position position = snapshot->lines().PositionOf(offset, encoding);
  return {{"line", position.line}, {"character", position.character}};
}

json View::RangeOf(TextSpan span) const {
  return {{"start", PositionOf(span.offset)}, {"end", PositionOf(span.offset + span.length)}};
}

json View::LocationOf(TextSpan span) const { return {{"uri", snapshot->uri()}, {"range", RangeOf(span)}}; }

uint32_t View::OffsetOf(const json& position) const {
  const auto unit = [&](const char* name) {
    return static_cast<uint32_t>(std::clamp<int64_t>(position.at(name).get<int64_t>(), 0, UINT32_MAX));
  };
  return snapshot->lines().OffsetOf({unit("line"), unit("character")}, encoding);
}

TextSpan View::SpanOf(const json& range) const {
  const uint32_t start = OffsetOf(range.at("start")), end = OffsetOf(range.at("end"));
  return {start, end > start ? end - start : 0};
}

namespace {

int HexDigit(char c) {
  return c >= '0' && c <= '9' ? c - '0' : (c | 0x20) >= 'a' && (c | 0x20) <= 'f' ? (c | 0x20) - 'a' + 10 : -1;
}

}  // namespace

std::string PathOfUri(std::string_view uri) {
  constexpr std::string_view kScheme = "file://";
  if (!uri.starts_with(kScheme)) return "";
  uri.remove_prefix(kScheme.size());
  uri.remove_prefix(std::min(uri.find('/'), uri.size()));  // a host name
  std::string path;
  for (size_t i = 0; i < uri.size(); ++i) {
    const bool escaped = uri[i] == '%' && i + 2 < uri.size() && HexDigit(uri[i + 1]) >= 0 && HexDigit(uri[i + 2]) >= 0;
    path += escaped ? static_cast<char>(HexDigit(uri[i + 1]) * 16 + HexDigit(uri[i + 2])) : uri[i];
    if (escaped) i += 2;
  }
  return path;
}

std::string UriOfPath(std::string_view path) {
  std::string uri = "file://";
  for (const char c : path) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       std::string_view("-._~/").find(c) != std::string_view::npos;
    if (plain) {
      uri += c;
    } else {
      constexpr char kDigits[] = "0123456789ABCDEF";
      const auto byte = static_cast<unsigned char>(c);
      StrAppend(&uri, '%', kDigits[byte / 16], kDigits[byte % 16]);
    }
  }
  return uri;
}

}  // namespace shoal::internal
