// What a request sees: a version of a document, and the client's settings.
#pragma once

#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "serve/documents/snapshot.h"

namespace shoal::internal {

using nlohmann::json;

// The settings of a client; settings.cc reads them.
struct LspSettings {
  std::string machine;                        // as `shoal time --on`; empty: no predictions
  std::map<std::string, std::string> paths;   // replaces a prefix of paths in metadata by a local one
  std::vector<std::string> own_packages;      // installed packages whose lines count as the user's program
  std::string docs;                           // address of the folder with check.md, for links to rules; empty: no links
  bool trip_counts = true, collective_bytes = true, memory_peak = true, time_share = true;  // inlay hints
  bool code_lenses = true;
};
LspSettings ReadSettings(const json& settings);

struct View {
  std::shared_ptr<const Snapshot> snapshot;
  PositionEncoding encoding = PositionEncoding::kUtf16;
  LspSettings settings;

  const TextIndex& index() const { return snapshot->index(); }
  json PositionOf(uint32_t offset) const;
  json RangeOf(TextSpan span) const;
  json LocationOf(TextSpan span) const;
  uint32_t OffsetOf(const json& position) const;
  TextSpan SpanOf(const json& range) const;
};

// file:///a%20b to /a b, and back. PathOfUri returns "" for other schemes.
std::string PathOfUri(std::string_view uri);
std::string UriOfPath(std::string_view path);

}  // namespace shoal::internal
