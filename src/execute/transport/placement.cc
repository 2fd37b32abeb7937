#include "execute/transport/placement.h"

#include <charconv>

#include "core/base/files.h"
#include "core/base/strings.h"
#include "core/base/environment_error.h"

namespace shoal::internal {
namespace {

// "0-3,8": the devices of one process.
class LineReader {
 public:
  explicit LineReader(std::string_view text) : text_(text) {}

  std::optional<std::vector<int64_t>> Read() {
    std::vector<int64_t> devices;
    Skip();
    while (!text_.empty()) {
      const std::optional<int64_t> first = Number();
      if (!first) return std::nullopt;
      std::optional<int64_t> last = first;
      if (Took('-')) last = Number();
      if (!last || *last < *first || *last - *first > kMax) return std::nullopt;
      for (int64_t device = *first; device <= *last; ++device) devices.push_back(device);
      if (!text_.empty() && !Took(',')) return std::nullopt;
    }
    return devices;
  }

 private:
  static constexpr int64_t kMax = 1 << 20;

  void Skip() {
    while (!text_.empty() && (text_[0] == ' ' || text_[0] == '\t' || text_[0] == '\r')) text_.remove_prefix(1);
  }
  bool Took(char c) {
    if (text_.empty() || text_[0] != c) return false;
    text_.remove_prefix(1);
    Skip();
    return true;
  }
  std::optional<int64_t> Number() {
    int64_t number = 0;
    const auto [end, error] = std::from_chars(text_.data(), text_.data() + text_.size(), number);
    if (error != std::errc() || number < 0) return std::nullopt;
    text_.remove_prefix(static_cast<size_t>(end - text_.data()));
    Skip();
    return number;
  }

  std::string_view text_;
};

Result<std::vector<int>> FromFile(const std::string& path, int64_t devices, int ranks) {
  SHOAL_ASSIGN(file, FileBytes::Read(path));
  std::vector<int> rank_of(static_cast<size_t>(devices), -1);
  std::string_view text = file->bytes();
  int rank = 0;
  for (int line = 1; !text.empty(); ++line) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view row = text.substr(0, std::min(end, text.find('#')));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (row.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    auto fail = [&](const std::string& why) { return EnvironmentError(StrCat(path, ":", line, ": ", why)); };
    if (rank == ranks) return fail(StrCat("there is a line for each of ", ranks, " processes already"));
    const std::optional<std::vector<int64_t>> named = LineReader(row).Read();
    if (!named) return fail("must be numbers of devices, as 0-3,8");
    for (int64_t device : *named) {
      if (device >= devices) return fail(StrCat("there is no device ", device, " among ", devices));
      int& of = rank_of[static_cast<size_t>(device)];
      if (of >= 0) return fail(StrCat("device ", device, " was given to process ", of, " already"));
      of = rank;
    }
    ++rank;
  }
  for (size_t device = 0; device < rank_of.size(); ++device)
    if (rank_of[device] < 0) return EnvironmentError(StrCat(path, " gives device ", device, " to no process"));
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

Result<Placement> ParsePlacement(const std::string& how, int64_t devices, int ranks, int rank) {
  Placement placement = SingleProcessPlacement(devices);
  placement.rank = rank;
  if (how != "block" && how != "cyclic") {
    SHOAL_ASSIGN(rank_of, FromFile(how, devices, ranks));
    placement.rank_of = std::move(rank_of);
    return placement;
  }
  for (int64_t device = 0; device < devices; ++device)
    placement.rank_of[static_cast<size_t>(device)] =
        static_cast<int>(how == "cyclic" ? device % ranks : device * ranks / devices);
  return placement;
}

}  // namespace shoal::internal
