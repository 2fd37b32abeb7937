#include "execute/transport/placement.h"

#include <charconv>

#include "core/base/files.h"
#include "core/base/settings.h"
#include "core/base/strings.h"
#include "core/base/environment_error.h"

namespace shoal::internal {
namespace {

// Parses the devices of one process, such as "0-3,8".
class LineReader {
 public:
  explicit LineReader(std::string_view text) : text_(text) {}

  std::optional<std::vector<int64_t>> Read() {
    std::vector<int64_t> devices;
    SkipBlanks();
    while (!text_.empty()) {
      const std::optional<int64_t> first = Number();
      if (!first) return std::nullopt;
      std::optional<int64_t> last = first;
      if (Consume('-')) last = Number();
      if (!last || *last < *first || *last - *first > kMaxRange) return std::nullopt;
      for (int64_t i = 0; i <= *last - *first; ++i) devices.push_back(*first + i);
      if (!text_.empty() && !Consume(',')) return std::nullopt;
    }
    return devices;
  }

 private:
  static constexpr int64_t kMaxRange = 1 << 20;

  void SkipBlanks() {
    while (!text_.empty() && (text_[0] == ' ' || text_[0] == '\t' || text_[0] == '\r')) text_.remove_prefix(1);
  }
  bool Consume(char c) {
    if (text_.empty() || text_[0] != c) return false;
    text_.remove_prefix(1);
    SkipBlanks();
    return true;
  }
  std::optional<int64_t> Number() {
    int64_t number = 0;
    const auto [end, error] = std::from_chars(text_.data(), text_.data() + text_.size(), number);
    if (error != std::errc() || number < 0) return std::nullopt;
    text_.remove_prefix(static_cast<size_t>(end - text_.data()));
    SkipBlanks();
    return number;
  }

  std::string_view text_;
};

constexpr uint64_t kMaxFileBytes = uint64_t{64} << 20;

Result<std::vector<int>> ReadPlacementFile(const std::string& path, int64_t devices, int ranks) {
  SHOAL_ASSIGN(file, InputFile::Open(path));
  SHOAL_ASSIGN(bytes, file.ReadAll(kMaxFileBytes));
  std::vector<int> rank_of(static_cast<size_t>(devices), -1);
  std::string_view text = bytes;
  int rank = 0;
  for (int line = 1; !text.empty(); ++line) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view row = text.substr(0, std::min(end, text.find('#')));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (row.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    auto fail = [&](const std::string& reason) { return EnvironmentError(StrCat(path, ":", line, ": ", reason)); };
    if (rank == ranks) return fail(StrCat("too many lines; the job has ", ranks, " processes, one line each"));
    const std::optional<std::vector<int64_t>> row_devices = LineReader(row).Read();
    if (!row_devices) return fail("expected device numbers, such as 0-3,8");
    for (int64_t device : *row_devices) {
      if (device >= devices) return fail(StrCat("device must be in [0, ", devices, "), got ", device));
      int& owner = rank_of[static_cast<size_t>(device)];
      if (owner >= 0) return fail(StrCat("device ", device, " is already assigned to rank ", owner));
      owner = rank;
    }
    ++rank;
  }
  for (size_t device = 0; device < rank_of.size(); ++device)
    if (rank_of[device] < 0) return EnvironmentError(StrCat(path, " does not assign device ", device, " to any rank"));
  return rank_of;
}

}  // namespace

std::vector<int64_t> Placement::DevicesOf(int rank) const {
  std::vector<int64_t> devices;
  for (size_t device = 0; device < rank_of.size(); ++device)
    if (rank_of[device] == rank) devices.push_back(static_cast<int64_t>(device));
  return devices;
}

Placement SingleProcessPlacement(int64_t devices) { return {std::vector<int>(static_cast<size_t>(devices), 0), 0}; }

Status CheckPlacement(const std::string& spec) {
  if (spec == "block" || spec == "cyclic") return {};
  const Result<InputFile> file = InputFile::Open(spec);
  if (!file.ok()) return EnvironmentError(StrCat(Setting("placement"), " is neither block nor cyclic nor a file: ", file.diag().message));
  return {};
}

Result<Placement> ParsePlacement(const std::string& spec, int64_t devices, int ranks, int rank) {
  Placement placement = SingleProcessPlacement(devices);
  placement.rank = rank;
  if (spec != "block" && spec != "cyclic") {
    SHOAL_ASSIGN(rank_of, ReadPlacementFile(spec, devices, ranks));
    placement.rank_of = std::move(rank_of);
    return placement;
  }
  for (int64_t device = 0; device < devices; ++device)
    placement.rank_of[static_cast<size_t>(device)] =
        static_cast<int>(spec == "cyclic" ? device % ranks : device * ranks / devices);
  return placement;
}

}  // namespace shoal::internal
