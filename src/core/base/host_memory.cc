#include "core/base/host_memory.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <string>

namespace shoal::internal {
namespace {

constexpr double kUnknown = std::numeric_limits<double>::infinity();

// The number after `name` in a file of lines like "MemAvailable:  123 kB".
double KilobytesOf(const char* file, const std::string& name) {
  std::ifstream lines(file);
  for (std::string word; lines >> word;) {
    double kilobytes = 0;
    if (word == name && lines >> kilobytes) return kilobytes * 1024;
  }
  return kUnknown;
}

// The number in a file that contains only a number; kUnknown for "max", which means no limit.
double NumberIn(const char* file) {
  std::ifstream text(file);
  double number = 0;
  return text >> number ? number : kUnknown;
}

}  // namespace

int64_t PhysicalMemoryBytes() {
  // Computed once: each run needs it, and the system calls take longer than a small run.
  static const int64_t total = [] {
    const int64_t pages = sysconf(_SC_PHYS_PAGES), bytes = sysconf(_SC_PAGESIZE);
    return pages > 0 && bytes > 0 ? pages * bytes : INT64_MAX;
  }();
  return total;
}

double AvailableMemory() {
  double bytes = KilobytesOf("/proc/meminfo", "MemAvailable:");
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) {
    const double used = KilobytesOf("/proc/self/status", "VmSize:");
    bytes = std::min(bytes, static_cast<double>(limit.rlim_cur) - (used == kUnknown ? 0 : used));
  }
  const double max = NumberIn("/sys/fs/cgroup/memory.max"), used = NumberIn("/sys/fs/cgroup/memory.current");
  if (max != kUnknown && used != kUnknown) bytes = std::min(bytes, max - used);
  return std::max(bytes, 0.0);
}

}  // namespace shoal::internal
