// Gives mutated files to the readers of everything but modules. No call may crash, hang, need much memory, accept
// nonsense, or fail without a message. Each worker is a process, so that a crash is one finding.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

#include "CLI/CLI.hpp"
#include "core/base/strings.h"
#include "readers.h"

extern "C" const char* __asan_default_options() {
  return "allocator_may_return_null=1:exitcode=99:detect_leaks=0:max_allocation_size_mb=1024:hard_rss_limit_mb=3000:"
         "detect_stack_use_after_return=0:handle_abort=1";
}
extern "C" const char* __ubsan_default_options() { return "exitcode=99:print_stacktrace=1:halt_on_error=1"; }

namespace shoal::internal::fuzz {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

struct Flags {
  int64_t first = 0, count = 1000, jobs = 1, max_seconds = 20, seconds = 0;
  uint64_t seed = 1;
  std::string findings = "fuzz-findings", corpus = "tests/fuzz/corpus";
  std::vector<std::string> targets, replay;
};

// Shared memory in which a worker reports to its parent.
struct Note {
  int64_t number = 0;   // of the case
  int64_t started = 0;  // ns
  char complaint[256] = {};
};

std::string Slurp(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// The files of a folder, sorted by name, so that a seed yields the same cases on every machine.
std::vector<std::string> CorpusOf(const fs::path& folder) {
  std::vector<fs::path> paths;
  if (fs::is_directory(folder))
    for (const fs::directory_entry& entry : fs::directory_iterator(folder)) paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  std::vector<std::string> files;
  for (const fs::path& path : paths) files.push_back(Slurp(path));
  return files;
}

class ReaderFuzz {
 public:
  ReaderFuzz(const Flags& flags, const ReaderTarget& target) : flags_(flags), target_(target) {
    corpus_ = CorpusOf(fs::path(flags.corpus) / target.name);
    scratch_ = fs::path(fs::is_directory("/dev/shm") ? "/dev/shm" : "/tmp") / StrCat("shoal-readers.", getpid());
    notes_ = static_cast<Note*>(mmap(nullptr, sizeof(Note) * static_cast<size_t>(flags.jobs), PROT_READ | PROT_WRITE,
                                     MAP_SHARED | MAP_ANONYMOUS, -1, 0));
    if (flags.seconds > 0) until_ = Clock::now() + std::chrono::seconds(flags.seconds);
  }
  ~ReaderFuzz() { fs::remove_all(scratch_); }

  int64_t found() const { return found_; }
  int64_t done() const { return done_; }

  void Run() {
    if (corpus_.empty()) {
      std::printf("%s: no corpus\n", target_.name);
      ++found_;
      return;
    }
    std::vector<pid_t> workers(static_cast<size_t>(flags_.jobs));
    for (int64_t w = 0; w < flags_.jobs; ++w) workers[static_cast<size_t>(w)] = Start(w, flags_.first + w);
    for (bool is_running = true; is_running;) {
      is_running = false;
      for (int64_t w = 0; w < flags_.jobs; ++w) {
        pid_t& worker = workers[static_cast<size_t>(w)];
        if (worker > 0) worker = Poll(w, worker);
        is_running |= worker > 0;
      }
      usleep(10000);
    }
    for (int64_t w = 0; w < flags_.jobs; ++w) done_ += (notes_[w].number - flags_.first) / flags_.jobs;
  }

 private:
  int64_t end() const { return flags_.first + flags_.count; }

  std::string Case(int64_t number) const {
    if (number < std::ssize(corpus_)) return corpus_[static_cast<size_t>(number)];
    Random random(flags_.seed, static_cast<uint64_t>(number));
    const std::string& bytes = random.Of(corpus_);
    return target_.mutate(bytes, random.Of(corpus_), random);
  }

  // Starts a process for every jobs-th case from `number` on; returns 0 if there are none left.
  pid_t Start(int64_t w, int64_t number) {
    notes_[w].number = number;
    notes_[w].started = 0;
    notes_[w].complaint[0] = '\0';
    if (number >= end() || Clock::now() > until_) return 0;
    std::fflush(stdout);
    const pid_t pid = fork();
    if (pid == 0) Work(w, number);
    return pid;
  }

  [[noreturn]] void Work(int64_t w, int64_t number) {
    std::signal(SIGPIPE, SIG_IGN);
    const std::string folder = (scratch_ / StrCat(w)).string();
    fs::create_directories(folder);
    const int null = open("/dev/null", O_RDWR), messages = open((folder + "/stderr").c_str(), O_RDWR | O_CREAT | O_TRUNC | O_APPEND, 0600);
    dup2(null, STDIN_FILENO);
    dup2(null, STDOUT_FILENO);
    dup2(messages, STDERR_FILENO);
    const rlimit none{0, 0};
    setrlimit(RLIMIT_CORE, &none);
    for (; number < end() && Clock::now() < until_; number += flags_.jobs) {
      if (ftruncate(messages, 0) != 0) _exit(97);
      notes_[w].number = number;
      notes_[w].started = Clock::now().time_since_epoch().count();
      const std::string complaint = target_.run(Case(number), folder);
      std::snprintf(notes_[w].complaint, sizeof notes_[w].complaint, "%s", complaint.c_str());
      if (!complaint.empty()) _exit(98);
    }
    notes_[w].number = number;
    _exit(0);
  }

  pid_t Poll(int64_t w, pid_t pid) {
    int status = 0;
    if (waitpid(pid, &status, WNOHANG) != pid) {
      const int64_t now = Clock::now().time_since_epoch().count();
      if (notes_[w].started == 0 || now - notes_[w].started < flags_.max_seconds * 1'000'000'000) return pid;
      kill(pid, SIGKILL);
      waitpid(pid, &status, 0);
      return Record(w, "hangs");
    }
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return 0;
    if (WIFSIGNALED(status)) return Record(w, StrCat("signal ", WTERMSIG(status)));
    return Record(w, WEXITSTATUS(status) == 98 ? std::string(notes_[w].complaint) : StrCat("exit status ", WEXITSTATUS(status)));
  }

  pid_t Record(int64_t w, const std::string& outcome) {
    const int64_t number = notes_[w].number;
    const fs::path path = fs::path(flags_.findings) / StrCat(target_.name, "-", flags_.seed, "-", number);
    if (found_++ < 10) {
      fs::create_directories(flags_.findings);
      std::ofstream(path, std::ios::binary) << Case(number);
      std::ofstream(path.string() + ".log") << outcome << "\n" << Slurp(scratch_ / StrCat(w) / "stderr");
      std::printf("%s, seed %llu, case %lld: %s\n  stored as %s\n", target_.name, static_cast<unsigned long long>(flags_.seed),
                  static_cast<long long>(number), outcome.c_str(), path.c_str());
    }
    return Start(w, number + flags_.jobs);
  }

  const Flags& flags_;
  const ReaderTarget& target_;
  std::vector<std::string> corpus_;
  fs::path scratch_;
  Note* notes_ = nullptr;
  int64_t found_ = 0, done_ = 0;
  Clock::time_point until_ = Clock::time_point::max();
};

// Gives files to the target that the name of their folder, or the beginning of their own, says.
int Replay(const Flags& flags) {
  int64_t failed = 0;
  const std::string folder = (fs::temp_directory_path() / StrCat("shoal-readers.", getpid())).string();
  fs::create_directories(folder);
  for (const std::string& path : flags.replay) {
    for (const ReaderTarget& target : ReaderTargets()) {
      if (fs::path(path).parent_path().filename() != target.name && !fs::path(path).filename().string().starts_with(StrCat(target.name, "-")))
        continue;
      const std::string bytes = Slurp(path);
      std::fprintf(stderr, "%s\n", path.c_str());
      const std::string complaint = target.run(bytes, folder);
      failed += !complaint.empty();
      if (!complaint.empty()) std::fprintf(stderr, "%s: %s\n", path.c_str(), complaint.c_str());
    }
  }
  fs::remove_all(folder);
  std::printf("%lld passed, %lld failed\n", static_cast<long long>(std::ssize(flags.replay) - failed), static_cast<long long>(failed));
  return failed > 0;
}

int Main(int argc, char** argv) {
  Flags flags;
  CLI::App app("Gives mutated files to the readers of everything but modules");
  app.add_option("TARGETS", flags.targets, "The readers (default: all)");
  app.add_option("--first", flags.first, "Number of the first case: with --count=1, reproduces a finding")->capture_default_str();
  app.add_option("--count", flags.count, "Number of cases of each target")->capture_default_str();
  app.add_option("--seconds", flags.seconds, "Stop each target after this time (0: no limit)")->capture_default_str();
  app.add_option("--seed", flags.seed, "Seed of the random cases")->capture_default_str();
  app.add_option("--jobs", flags.jobs, "Processes at a time")->check(CLI::Range(1, 1024))->capture_default_str();
  app.add_option("--max_seconds", flags.max_seconds, "Report a longer case as a hang")->capture_default_str();
  app.add_option("--corpus", flags.corpus, "Folder with a folder of files for each target")->capture_default_str();
  app.add_option("--findings", flags.findings, "Folder for files with findings")->capture_default_str();
  app.add_option("--replay", flags.replay, "Only give these files to their targets");
  CLI11_PARSE(app, argc, argv);
  flags.corpus = fs::absolute(flags.corpus);
  flags.findings = fs::absolute(flags.findings);
  if (!flags.replay.empty()) return Replay(flags);
  int64_t failed = 0, done = 0;
  for (const ReaderTarget& target : ReaderTargets()) {
    if (!flags.targets.empty() && std::find(flags.targets.begin(), flags.targets.end(), target.name) == flags.targets.end()) continue;
    ReaderFuzz fuzz(flags, target);
    fuzz.Run();
    std::printf("%s: %lld cases, %lld findings\n", target.name, static_cast<long long>(fuzz.done()), static_cast<long long>(fuzz.found()));
    failed += fuzz.found();
    done += fuzz.done();
  }
  std::printf("%lld passed, %lld failed\n", static_cast<long long>(std::max(done - failed, int64_t{0})), static_cast<long long>(failed));
  return failed > 0;
}

}  // namespace
}  // namespace shoal::internal::fuzz

int main(int argc, char** argv) { return shoal::internal::fuzz::Main(argc, argv); }
