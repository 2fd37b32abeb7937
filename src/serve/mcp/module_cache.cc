#include <sys/stat.h>

#include <algorithm>

#include "core/base/strings.h"
#include "serve/mcp/tools.h"

namespace shoal::internal {
namespace {

std::string StampOf(const std::string& path) {
  struct stat info {};
  if (stat(path.c_str(), &info) != 0) return "";
  return StrCat(info.st_size, " ", info.st_mtim.tv_sec, ".", info.st_mtim.tv_nsec);
}

}  // namespace

std::variant<ModuleCache::Entry*, std::string> ModuleCache::Find(const std::string& path) {
  Result<std::string> resolved = roots_.Resolve(path);
  if (!resolved.ok()) return resolved.diag().message;
  if (roots_.IsFolder(*resolved)) return StrCat(path, " is a folder; the tool open lists its modules");
  const std::string stamp = StampOf(*resolved);
  const auto found = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& entry) {
    return entry.resolved == *resolved && entry.stamp == stamp;
  });
  if (found != entries_.end()) {
    std::rotate(found, found + 1, entries_.end());
    return &entries_.back();
  }
  Result<std::string> bytes = roots_.ReadFile(path);
  if (!bytes.ok()) return bytes.diag().message;
  api::Result<api::Module> module = api::Parse(*bytes, {}, path);
  if (!module.ok()) return module.error().ToText();
  if (entries_.size() >= kMaxModules) entries_.erase(entries_.begin());
  entries_.push_back({std::move(*resolved), stamp, *module, std::nullopt});
  return &entries_.back();
}

std::variant<api::Module, std::string> ModuleCache::ModuleOf(const std::string& path) {
  std::lock_guard lock(mutex_);
  const auto entry = Find(path);
  if (const auto* error = std::get_if<std::string>(&entry)) return *error;
  return std::get<Entry*>(entry)->module;
}

std::variant<api::Facts, std::string> ModuleCache::FactsOf(const std::string& path) {
  std::lock_guard lock(mutex_);
  const auto found = Find(path);
  if (const auto* error = std::get_if<std::string>(&found)) return *error;
  Entry& entry = *std::get<Entry*>(found);
  if (!entry.facts) {
    api::Result<api::Facts> facts = api::Facts::Of(entry.module);
    if (!facts.ok()) return facts.error().ToText();
    entry.facts = *facts;
  }
  return *entry.facts;
}

}  // namespace shoal::internal
