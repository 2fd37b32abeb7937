#include "cli/commands/interrupt.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <ctime>

#include "cli/commands/output.h"
#include "core/base/files.h"

namespace shoal::cli {
namespace {

// Two buffers: the handler may read one while the other is written. A signal handler may only make async-signal-safe
// calls, so it uses no string, no lock and no stdio.
constexpr size_t kMaxBytes = 400;
char texts[2][kMaxBytes];
std::atomic<const char*> activity = nullptr;
std::atomic<void (*)()> notify_peers = nullptr;
std::atomic<bool (*)()> is_peer_lost = nullptr;
std::atomic<bool> is_quiet = false;

void WriteToStderr(const char* text) {
  if (write(STDERR_FILENO, text, std::strlen(text)) < 0) return;  // the error cannot be reported
}

// Ends the process with the signal itself, so that the shell sees the cause.
void EndBySignal(int signal) {
  struct sigaction action {};
  action.sa_handler = SIG_DFL;
  sigaction(signal, &action, nullptr);
  raise(signal);
}

void OnInterrupt(int signal) {
  internal::RemoveUnfinishedFiles();
  if (auto* notify = notify_peers.load()) {
    const timespec interval{0, 100'000'000};
    nanosleep(&interval, nullptr);
    // The monitoring thread reports the lost process and then ends this one.
    for (int i = 0; i < 50 && is_peer_lost.load()(); ++i) nanosleep(&interval, nullptr);
    notify();
  }
  if (is_quiet) return EndBySignal(signal);
  if (isatty(STDERR_FILENO) != 0) WriteToStderr("\r\033[K");
  WriteToStderr("shoal: interrupted");
  if (const char* text = activity) {
    WriteToStderr(" while ");
    WriteToStderr(text);
  }
  WriteToStderr("\n");
  EndBySignal(signal);
}

// Exits instead of throwing: an exception would leave a growing hash table in a state that cannot be destroyed. Arrays,
// the large objects, are not allocated by `new`; their allocation reports its own error.
void OnOutOfMemory() {
  internal::RemoveUnfinishedFiles();
  WriteToStderr("shoal: error: not enough memory\n");
  _exit(kUsageOrSystemError);
}

}  // namespace

void HandleSignals() {
  std::set_new_handler(OnOutOfMemory);
  struct sigaction action {};
  action.sa_handler = SIG_IGN;
  sigaction(SIGPIPE, &action, nullptr);
  sigaction(SIGXFSZ, &action, nullptr);  // a write beyond ulimit -f returns an error instead
  action.sa_handler = OnInterrupt;
  action.sa_flags = SA_RESETHAND;  // a second Ctrl-C ends the process immediately
  for (int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction before {};
    // A signal that was ignored stays ignored, as under nohup or in a background job.
    if (sigaction(signal, nullptr, &before) == 0 && before.sa_handler == SIG_IGN) continue;
    sigaction(signal, &action, nullptr);
  }
}

void NotifyPeersOfInterrupt(const PeerCallbacks& peers, bool prints) {
  is_peer_lost = peers.is_any_lost;
  notify_peers = peers.notify;
  is_quiet = !prints;
}

void SetActivity(std::string_view description) {
  static int next = 0;
  char* text = texts[next];
  next = 1 - next;
  const size_t size = std::min(description.size(), kMaxBytes - 1);
  // Replaces control characters: file names may contain them, and the text goes to a terminal.
  std::transform(description.begin(), description.begin() + static_cast<ptrdiff_t>(size), text,
                 [](char c) { return static_cast<unsigned char>(c) < ' ' || c == 127 ? '?' : c; });
  text[size] = '\0';
  activity = text;
}

}  // namespace shoal::cli
