#include "serve/documents/documents.h"

#include "core/base/strings.h"

namespace shoal::internal {

std::shared_ptr<const Snapshot> Documents::Open(const std::string& uri, std::string text, int64_t version) {
  std::lock_guard lock(mutex_);
  auto shared = std::make_shared<const std::string>(std::move(text));
  return open_[uri] = std::make_shared<const Snapshot>(uri, std::move(shared), version, settings_);
}

Result<std::shared_ptr<const Snapshot>> Documents::Change(const std::string& uri, std::vector<TextChange> changes,
                                                          int64_t version, PositionEncoding encoding) {
  const std::shared_ptr<const Snapshot> old = Find(uri);
  if (old == nullptr) return Fail(StrCat(uri, " is not open"));
  std::string text;
  bool first = true;
  for (TextChange& change : changes) {
    if (change.whole) {
      text = std::move(change.text);
    } else {
      if (first) text = old->text();
      const Lines lines(text);
      const uint32_t start = lines.OffsetOf(change.start, encoding), end = lines.OffsetOf(change.end, encoding);
      if (end < start) return Fail("the range of a change ends before it starts");
      text.replace(start, end - start, change.text);
    }
    first = false;
  }
  if (first) text = old->text();
  std::lock_guard lock(mutex_);
  auto shared = std::make_shared<const std::string>(std::move(text));
  return open_[uri] = std::make_shared<const Snapshot>(uri, std::move(shared), version, settings_);
}

void Documents::Close(const std::string& uri) {
  std::lock_guard lock(mutex_);
  open_.erase(uri);
}

std::shared_ptr<const Snapshot> Documents::Find(const std::string& uri) const {
  std::lock_guard lock(mutex_);
  const auto found = open_.find(uri);
  return found == open_.end() ? nullptr : found->second;
}

bool Documents::IsCurrent(const Snapshot& snapshot) const { return Find(snapshot.uri()).get() == &snapshot; }

std::vector<std::shared_ptr<const Snapshot>> Documents::All() const {
  std::lock_guard lock(mutex_);
  std::vector<std::shared_ptr<const Snapshot>> all;
  for (const auto& [uri, snapshot] : open_) all.push_back(snapshot);
  return all;
}

void Documents::SetSettings(AnalysisSettings settings) {
  std::lock_guard lock(mutex_);
  settings_ = std::move(settings);
  for (auto& [uri, snapshot] : open_)
    snapshot = std::make_shared<const Snapshot>(uri, snapshot->shared_text(), snapshot->version(), settings_);
}

}  // namespace shoal::internal
