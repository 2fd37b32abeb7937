// The open documents of a client: full text, incremental edits, versions.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "core/base/result.h"
#include "serve/documents/snapshot.h"

namespace shoal::internal {

// A change of a document; without a range, of all of it.
struct TextChange {
  bool whole = true;
  Position start, end;
  std::string text;
};

class Documents {
 public:
  std::shared_ptr<const Snapshot> Open(const std::string& uri, std::string text, int64_t version);
  // Fails, and leaves the document unchanged, if it is not open or if a range ends before it starts.
  Result<std::shared_ptr<const Snapshot>> Change(const std::string& uri, std::vector<TextChange> changes,
                                                 int64_t version, PositionEncoding encoding);
  void Close(const std::string& uri);
  // Null if the document is not open.
  std::shared_ptr<const Snapshot> Find(const std::string& uri) const;
  // True if `snapshot` is the newest version of its document.
  bool IsCurrent(const Snapshot& snapshot) const;
  std::vector<std::shared_ptr<const Snapshot>> All() const;
  // All documents get new snapshots.
  void SetSettings(AnalysisSettings settings);

 private:
  mutable std::mutex mutex_;
  std::map<std::string, std::shared_ptr<const Snapshot>> open_;
  AnalysisSettings settings_;
};

}  // namespace shoal::internal
