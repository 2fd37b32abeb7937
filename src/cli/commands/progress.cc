#include "cli/commands/progress.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>

#include "cli/commands/base.h"
#include "cli/commands/interrupt.h"
#include "cli/commands/output.h"

namespace shoal::cli {
namespace {

// ", 3 min left"; empty as long as an estimate would be unreliable.
std::string TimeLeft(double seconds, double fraction) {
  if (seconds < 2 || fraction < 0.01 || fraction >= 1) return "";
  const double left = seconds * (1 - fraction) / fraction;
  if (left < 120) return StrCat(", ", std::llround(left), " s left");
  if (left < 7200) return StrCat(", ", std::llround(left / 60), " min left");
  return StrCat(", ", std::llround(left / 3600), " h left");
}

}  // namespace

double ProgressLine::Seconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}

void ProgressLine::Show(double done, double total, const std::string& detail) {
  const double seconds = Seconds(), fraction = total > 0 ? std::min(done / total, 0.999) : 0;
  if (shown_at_ > 0 && seconds < shown_at_ + 0.1) return;
  shown_at_ = seconds;
  std::string line = StrCat(task_, ": ", static_cast<int64_t>(seconds), " s");
  if (total > 0) StrAppend(&line, ", ", static_cast<int64_t>(fraction * 100), " %", TimeLeft(seconds, fraction));
  StrAppend(&line, ", ", detail);
  SetActivity(line);
  if (seconds < 1 || isatty(STDERR_FILENO) == 0) return;
  winsize size{};
  const size_t width = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1 ? size.ws_col - 1u : 79u;
  if (line.size() > width) line.resize(width);
  PrintInPlace(line);
  shown_ = true;
}

void ProgressLine::Clear() {
  if (shown_) PrintInPlace("");
  shown_ = false;
}

}  // namespace shoal::cli
