#include "cli/commands/interrupt.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <ctime>
#include <new>

#include "cli/commands/output.h"
#include "core/base/files.h"

namespace shoal::internal {
namespace {

// Two texts: one is shown while the other is written. Of a handler only async-signal-safe calls may be made, so there
// is no string, no lock and no stdio here.
constexpr size_t kMaxBytes = 400;
char texts[2][kMaxBytes];
std::atomic<const char*> now_doing = nullptr;
std::atomic<void (*)()> tell_peers = nullptr;
std::atomic<bool (*)()> is_peer_gone = nullptr;
std::atomic<bool> others_speak = false;

void Put(const char* text) {
  if (write(STDERR_FILENO, text, std::strlen(text)) < 0) return;  // nobody to tell
}

// The shell must see what it was that ended us.
void End(int signal) {
  struct sigaction standard {};
  standard.sa_handler = SIG_DFL;
  sigaction(signal, &standard, nullptr);
  raise(signal);
}

void Interrupted(int signal) {
  RemoveUnfinishedFiles();
  if (auto* tell = tell_peers.load()) {
    const timespec a_while{0, 100'000'000};
    nanosleep(&a_while, nullptr);
    // The thread that says who is gone ends the process.
    for (int i = 0; i < 50 && is_peer_gone.load()(); ++i) nanosleep(&a_while, nullptr);
    tell();
  }
  if (others_speak) return End(signal);
  if (isatty(STDERR_FILENO) != 0) Put("\r\033[K");
  Put("shoal: interrupted");
  if (const char* what = now_doing) {
    Put(" while ");
    Put(what);
  }
  Put("\n");
  End(signal);
}

// An exception would leave hash tables that were just growing in a state in which they cannot be destroyed. Arrays,
// which are what is large, are not allocated by `new`: that they do not fit is said where it arises.
void NoMemory() {
  RemoveUnfinishedFiles();
  Put("shoal: error: not enough memory\n");
  _exit(kUsageOrSystemError);
}

}  // namespace

void HandleSignals() {
  std::set_new_handler(NoMemory);
  struct sigaction action {};
  action.sa_handler = SIG_IGN;
  sigaction(SIGPIPE, &action, nullptr);
  sigaction(SIGXFSZ, &action, nullptr);  // too large for ulimit -f: the write fails, and says so
  action.sa_handler = Interrupted;
  action.sa_flags = SA_RESETHAND;  // a second Ctrl-C ends us at once
  for (int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction before {};
    // What was ignored stays so: nohup, or a job in the background.
    if (sigaction(signal, nullptr, &before) == 0 && before.sa_handler == SIG_IGN) continue;
    sigaction(signal, &action, nullptr);
  }
}

void NotifyPeersOfInterrupt(const PeersOfProcess& peers, bool speaks) {
  is_peer_gone = peers.is_gone;
  tell_peers = peers.tell;
  others_speak = !speaks;
}

void SetActivity(std::string_view what) {
  static int next = 0;
  char* text = texts[next];
  next = 1 - next;
  const size_t size = std::min(what.size(), kMaxBytes - 1);
  // Names come from files, and this goes to a terminal.
  std::transform(what.begin(), what.begin() + static_cast<ptrdiff_t>(size), text,
                 [](char c) { return static_cast<unsigned char>(c) < ' ' || c == 127 ? '?' : c; });
  text[size] = '\0';
  now_doing = text;
}

}  // namespace shoal::internal
