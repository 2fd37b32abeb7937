// Generates and mutates modules and runs every command on each, including `run` on up to 8 devices. No call may crash,
// hang, or fail without a message. Each worker is a process, so that a crash is one finding and the other
// workers continue.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <new>

#include "CLI/CLI.hpp"
#include "cases.h"
#include "core/base/strings.h"
#include "formats/text/parser.h"
#include "ill_typed.h"

// Sanitizers must neither stop at a failed allocation nor exit with a status that a command uses.
extern "C" const char* __asan_default_options() {
  return "allocator_may_return_null=1:exitcode=99:detect_leaks=0:max_allocation_size_mb=4096:detect_stack_use_after_return=0:handle_abort=1";
}
extern "C" const char* __ubsan_default_options() { return "exitcode=99:print_stacktrace=1:halt_on_error=1"; }

namespace shoal::internal::fuzz {
namespace {

namespace fs = std::filesystem;

struct Flags {
  int64_t count = 500, first = 0, jobs = 1, max_seconds = 60, max_bytes = 6000;
  uint64_t seed = 1;
  bool ill_typed = false;
  std::string findings = "fuzz-findings";
  std::vector<std::string> origins, replay;
};

std::string Slurp(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// True if a module is small enough to run quickly. Mutations keep most sizes.
bool IsSmall(const std::string& text) {
  constexpr int64_t kMaxElements = 1 << 16;
  std::unique_ptr<Source> source = Source::FromString("origin", text);
  Diags diags;
  const std::unique_ptr<Module> module = ParseModule(source, {}, diags);
  if (module == nullptr) return true;
  for (const Computation* computation : module->computations)
    for (const Instruction* hlo : computation->instructions)
      if (hlo->shape_ != nullptr && hlo->shape().IsArray() &&
          hlo->shape().ElementCount().value_or(INT64_MAX) > kMaxElements)
        return false;
  return true;
}

// Sorted by name, so that a seed yields the same cases on every machine.
std::vector<Origin> ReadOrigins(const Flags& flags) {
  std::vector<Origin> origins;
  for (const std::string& root : flags.origins) {
    std::vector<fs::path> paths;
    if (fs::is_directory(root)) {
      for (const fs::directory_entry& entry : fs::recursive_directory_iterator(root))
        if (entry.path().extension() == ".hlo" || entry.path().extension() == ".txt") paths.push_back(entry.path());
    } else {
      paths.push_back(root);
    }
    std::sort(paths.begin(), paths.end());
    for (const fs::path& path : paths)
      if (static_cast<int64_t>(fs::file_size(path)) <= flags.max_bytes)
        if (std::string text = Slurp(path); IsSmall(text)) origins.push_back({path.string(), std::move(text)});
  }
  return origins;
}

// The location of a crash in a sanitizer report: the first function of shoal.
std::string CrashLocation(const std::string& report) {
  for (size_t at = report.find(" in shoal::"); at != std::string::npos; at = report.find(" in shoal::", at + 1)) {
    const std::string line = report.substr(at + 4, report.find('\n', at) - at - 4);
    return line.substr(0, 160);
  }
  const size_t error = report.find("runtime error:");
  return error == std::string::npos ? "" : report.substr(error, report.find('\n', error) - error).substr(0, 160);
}

// The ill-typed variants of all origins, numbered. The variants of an origin are created when one of them is used.
class IllTypedModules {
 public:
  explicit IllTypedModules(const std::vector<Origin>& origins) : origins_(origins) {
    for (const Origin& origin : origins) ends_.push_back(count() + std::ssize(IllTypedVariants(origin.text)));
  }
  int64_t count() const { return ends_.empty() ? 0 : ends_.back(); }
  const std::string& operator[](int64_t number) {
    const auto origin = static_cast<size_t>(std::upper_bound(ends_.begin(), ends_.end(), number) - ends_.begin());
    if (origin != origin_) variants_ = IllTypedVariants(origins_[origin_ = origin].text);
    return variants_[static_cast<size_t>(number - (origin == 0 ? 0 : ends_[origin - 1]))];
  }

 private:
  const std::vector<Origin>& origins_;
  std::vector<int64_t> ends_;
  size_t origin_ = SIZE_MAX;
  std::vector<std::string> variants_;
};

class Fuzz {
 public:
  Fuzz(Flags flags, std::vector<Origin> origins)
      : flags_(std::move(flags)), origins_(std::move(origins)), ill_typed_(flags_.ill_typed ? origins_ : kNone) {
    if (flags_.ill_typed) flags_.count = std::min(flags_.count, ill_typed_.count());
    scratch_ = fs::path(fs::is_directory("/dev/shm") ? "/dev/shm" : fs::temp_directory_path().string()) /
               ("shoal-fuzz." + std::to_string(getpid()));
    void* shared = mmap(nullptr, sizeof(Note) * static_cast<size_t>(flags_.jobs), PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    notes_ = static_cast<Note*>(shared);
  }
  ~Fuzz() { fs::remove_all(scratch_); }

  int Run() {
    workers_.resize(static_cast<size_t>(flags_.jobs));
    for (int64_t w = 0; w < flags_.jobs; ++w) Start(w, flags_.first + w);
    while (std::any_of(workers_.begin(), workers_.end(), [](pid_t pid) { return pid > 0; })) {
      for (int64_t w = 0; w < flags_.jobs; ++w) Poll(w);
      ShowProgress();
      usleep(20000);
    }
    for (const auto& [finding, count] : findings_)
      std::printf("%6lld  %s\n", static_cast<long long>(count), finding.c_str());
    std::printf("%lld passed, %lld failed\n", static_cast<long long>(flags_.count - found_), static_cast<long long>(found_));
    return found_ == 0 ? 0 : 1;
  }

 private:
  // Prints one line per minute: the number of cases before the first unfinished one.
  void ShowProgress() {
    if (std::chrono::steady_clock::now() < next_line_) return;
    next_line_ += std::chrono::minutes(1);
    int64_t done = INT64_MAX;
    for (int64_t w = 0; w < flags_.jobs; ++w)
      if (workers_[static_cast<size_t>(w)] > 0) done = std::min(done, notes_[w].number);
    if (done == INT64_MAX) return;
    std::fprintf(stderr, "%lld of %lld\n", static_cast<long long>(done - flags_.first),
                 static_cast<long long>(flags_.count));
  }

  fs::path Folder(int64_t w) const { return scratch_ / std::to_string(w); }

  void Start(int64_t w, int64_t number) {
    workers_[static_cast<size_t>(w)] = 0;
    if (number >= flags_.first + flags_.count) return;
    fs::create_directories(Folder(w));
    notes_[w] = Note{};
    notes_[w].number = number;
    std::fflush(stdout);
    const pid_t pid = fork();
    if (pid == 0) Work(w, number);
    workers_[static_cast<size_t>(w)] = pid;
  }

  [[noreturn]] void Work(int64_t w, int64_t number) {
    std::signal(SIGPIPE, SIG_IGN);
    const std::string folder = Folder(w).string();
    const int null = open("/dev/null", O_RDWR), messages = open((folder + "/stderr").c_str(), O_RDWR | O_CREAT | O_APPEND, 0600);
    dup2(null, STDIN_FILENO);
    dup2(null, STDOUT_FILENO);
    dup2(messages, STDERR_FILENO);
    const rlimit none{0, 0};
    setrlimit(RLIMIT_CORE, &none);
    Cases cases(origins_, flags_.seed, folder, notes_[w]);
    for (; number < flags_.first + flags_.count; number += flags_.jobs) {
      const int64_t variant = flags_.ill_typed ? number * ill_typed_.count() / flags_.count : 0;
      const bool fine = flags_.ill_typed ? cases.RunIllTyped(number, ill_typed_[variant]) : cases.Run(number);
      if (!fine) _exit(98);
    }
    _exit(0);
  }

  // Checks whether a worker has finished, has crashed or hangs.
  void Poll(int64_t w) {
    const pid_t pid = workers_[static_cast<size_t>(w)];
    if (pid <= 0) return;
    int status = 0;
    if (waitpid(pid, &status, WNOHANG) == pid) {
      if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return void(workers_[static_cast<size_t>(w)] = 0);
      std::string outcome = WIFSIGNALED(status) ? StrCat("signal ", WTERMSIG(status)) : notes_[w].complaint;
      if (outcome.empty()) outcome = StrCat("exit status ", WEXITSTATUS(status));
      return Record(w, outcome);
    }
    const int64_t since = notes_[w].since, now = std::chrono::steady_clock::now().time_since_epoch().count();
    if (since == 0 || now - since < flags_.max_seconds * 1000000000) return;
    kill(pid, SIGKILL);
    waitpid(pid, &status, 0);
    Record(w, "hangs");
  }

  void Record(int64_t w, const std::string& outcome) {
    const Note note = notes_[w];
    const std::string report = Slurp(Folder(w) / "stderr");
    const std::string command = std::string(note.call).substr(0, std::string(note.call).find(' '));
    const std::string finding = StrCat(command, ": ", outcome, " ", CrashLocation(report));
    ++found_;
    if (findings_[finding]++ < 3) {
      fs::create_directories(flags_.findings);
      const fs::path stem = fs::path(flags_.findings) /
                            StrCat(flags_.ill_typed ? "ill_typed-" : "", command, "-", flags_.seed, "-", note.number);
      for (const char* name : {"module.hlo", "module.pb", "in.npz", "module.hlo.gz"})
        if (std::string(note.call).find(name) != std::string::npos)
          fs::copy_file(Folder(w) / name, fs::path(stem.string() + fs::path(name).extension().string()),
                        fs::copy_options::overwrite_existing);
      std::ofstream(stem.string() + ".log") << note.call << "\n" << outcome << "\n" << report;
      std::printf("seed %llu, case %lld: %s\n  %s\n  stored as %s\n", static_cast<unsigned long long>(flags_.seed),
                  static_cast<long long>(note.number), finding.c_str(), note.call, stem.c_str());
      std::fflush(stdout);
    }
    Start(w, note.number + flags_.jobs);
  }

  inline static const std::vector<Origin> kNone;
  Flags flags_;
  const std::vector<Origin> origins_;
  IllTypedModules ill_typed_;
  fs::path scratch_;
  Note* notes_ = nullptr;
  std::vector<pid_t> workers_;
  std::map<std::string, int64_t> findings_;
  int64_t found_ = 0;
  std::chrono::steady_clock::time_point next_line_ = std::chrono::steady_clock::now() + std::chrono::minutes(1);
};

// Runs all calls for existing files, in this process.
int Replay(const Flags& flags) {
  const fs::path folder = fs::temp_directory_path() / ("shoal-replay." + std::to_string(getpid()));
  fs::create_directories(folder);
  Note note;
  Cases cases({}, flags.seed, folder.string(), note);
  const int out = dup(STDOUT_FILENO);
  const int null = open("/dev/null", O_RDWR), messages = open((folder / "stderr").c_str(), O_RDWR | O_CREAT | O_APPEND, 0600);
  dup2(null, STDOUT_FILENO);
  int64_t failed = 0;
  for (const std::string& path : flags.replay) {
    dprintf(STDERR_FILENO, "%s\n", path.c_str());
    const int err = dup(STDERR_FILENO);
    if (flags.replay.size() > 1) dup2(messages, STDERR_FILENO);
    for (uint64_t attempt = 0; attempt < 4; ++attempt) {
      Random random(flags.seed, attempt);
      if (cases.RunFile(path, path, random)) continue;
      ++failed;
      dprintf(err, "%s: %s\n", note.call, note.complaint);
    }
    dup2(err, STDERR_FILENO);
    close(err);
  }
  fs::remove_all(folder);
  dprintf(out, "%zu passed, %lld failed\n", flags.replay.size() - static_cast<size_t>(failed > 0), static_cast<long long>(failed));
  return failed == 0 ? 0 : 1;
}

int Main(int argc, char** argv) {
  Flags flags;
  CLI::App app("Runs every command on random modules");
  app.add_option("ORIGINS", flags.origins, "Folders and files of HLO text to mutate");
  app.add_option("--count", flags.count, "Number of cases")->capture_default_str();
  app.add_option("--first", flags.first, "Number of the first case")->capture_default_str();
  app.add_option("--seed", flags.seed, "Seed of the random cases")->capture_default_str();
  app.add_option("--jobs", flags.jobs, "Processes at a time")->check(CLI::Range(1, 1024))->capture_default_str();
  app.add_option("--max_seconds", flags.max_seconds, "Report a longer call as a hang")->capture_default_str();
  app.add_option("--max_bytes", flags.max_bytes, "Skip larger origins")->capture_default_str();
  app.add_flag("--ill_typed", flags.ill_typed, "Use an even sample of the modules with one ill-typed instruction");
  app.add_option("--findings", flags.findings, "Folder for modules with findings")->capture_default_str();
  app.add_option("--replay", flags.replay, "Only run every command on these files");
  CLI11_PARSE(app, argc, argv);
  if (!flags.replay.empty()) return Replay(flags);
  std::vector<Origin> origins = ReadOrigins(flags);
  if (origins.empty()) {
    std::fputs("fuzz_modules: no .hlo files to mutate\n", stderr);
    return 2;
  }
  std::printf("%zu origins, seed %llu\n", origins.size(), static_cast<unsigned long long>(flags.seed));
  return Fuzz(std::move(flags), std::move(origins)).Run();
}

}  // namespace
}  // namespace shoal::internal::fuzz

int main(int argc, char** argv) { return shoal::internal::fuzz::Main(argc, argv); }
