// Checks that every command prints equal output for the text and the protobuf of a module, except for file names. The
// protobufs are those that XLA wrote beside its texts (X.hlo and X.hlo.pb) and the output of `print --format=pb`. Also
// shuffles the instructions, since commands must not rely on file order. Each job is a process.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <random>
#include <regex>

#include "CLI/CLI.hpp"
#include "cli/options/shoal.h"
#include "core/base/strings.h"

extern "C" const char* __asan_default_options() { return "exitcode=99:detect_leaks=0"; }
extern "C" const char* __ubsan_default_options() { return "exitcode=99:print_stacktrace=1:halt_on_error=1"; }

namespace shoal::internal {
namespace {

namespace fs = std::filesystem;
using Arguments = std::vector<std::string>;

struct Flags {
  std::vector<std::string> folders;
  std::string only;
  int64_t jobs = 1, max_bytes = INT64_MAX;
};

std::string Slurp(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

bool IsProtobuf(const std::string& path) { return path.ends_with(".pb") || path.ends_with(".pb.gz"); }

// X.hlo.pb or X.hlo.pb.gz, for X.hlo and X.hlo.gz; empty if there is none.
std::string ProtobufBeside(const std::string& text) {
  const std::string stem = text.ends_with(".gz") ? text.substr(0, text.size() - 3) : text;
  for (const char* extension : {".pb", ".pb.gz"})
    if (fs::exists(stem + extension)) return stem + extension;
  return "";
}

// True for texts, and for protobufs without a text beside them.
bool IsModule(const fs::path& path) {
  const std::string name = path.string();
  if (IsProtobuf(name)) {
    const std::string text = name.substr(0, name.rfind(".pb"));
    return !fs::exists(text) && !fs::exists(text + ".gz");
  }
  return name.ends_with(".hlo") || name.ends_with(".hlo.gz") || (name.ends_with(".txt") && path.filename() != "CMakeLists.txt");
}

std::string Joined(const Arguments& arguments) { return StrJoin(arguments, " "); }

void ReplaceAll(std::string& text, const std::string& old, std::string_view by) {
  for (size_t at = text.find(old); at != std::string::npos; at = text.find(old, at + by.size()))
    text.replace(at, old.size(), by);
}

// Shared memory in which a worker records its current call, so that its parent can report a crash.
struct Note {
  int64_t file = -1;
  char call[512] = {};
};

struct CallResult {
  int status = 0;
  std::string out;
  bool operator==(const CallResult&) const = default;
};

// One worker: runs all commands on each of its files and writes the differences to `results`.
class Worker {
 public:
  Worker(Note& note, const fs::path& folder, int results) : note_(note), folder_(folder), results_(results) {
    fs::create_directories(folder);
    out_ = memfd_create("out", 0);
    dup2(out_, STDOUT_FILENO);
    dup2(open("/dev/null", O_RDWR), STDERR_FILENO);
    dup2(open("/dev/null", O_RDONLY), STDIN_FILENO);
  }

  void Check(const std::string& path, bool run) {
    const std::string own = folder_ / "own.pb", given = IsProtobuf(path) ? path : ProtobufBeside(path);
    const std::string text = IsProtobuf(path) ? (folder_ / "own.hlo").string() : path;  // of a module that is only a protobuf
    found_ = 0;
    text_ = text;
    if (IsProtobuf(path) && Call({"print", path, "-o", text}).status != 0) return Report("skipped");
    if (Call({"print", "--format=pb", text, "-o", own}).status != 0) return Report("skipped");
    const bool loose = Call({"check", text}).status == 1;  // a protobuf cannot have deviations from the text grammar
    std::vector<Arguments> commands = ReadingCommands();
    if (!loose) commands.insert(commands.end(), {{"check"}, {"opt"}});
    // XLA's parser rejects some texts that XLA prints, although it reads their protobufs.
    // It reads -0 as 0, so the protobuf must be written from a text that was read strictly too.
    const std::string strict = folder_ / "strict.pb";
    if (Call({"print", "--strict", "--format=pb", text, "-o", strict}).status == 0) Compare(strict, {{"print", "--strict"}}, "");
    // The text of a golden may be short but take long to run. Only those with a protobuf are meant to be run.
    const bool has_given = !given.empty();
    if (!loose && (run || has_given))
      commands.insert(commands.end(), {{"mem", "--run", "--json"}, {"run"}, {"run", "--engine=jit"}});
    Compare(own, commands, "");
    if (!given.empty()) CompareGiven(given, std::move(commands));
    Shuffle(own);
    Report(found_ == 0 ? "passed" : "failed");
  }

 private:
  static std::vector<Arguments> ReadingCommands() {
    return {{"print"},          {"print", "--format=short"},       {"print", "--format=json"},
            {"show"},           {"show", "--op=all", "--name"},    {"comm", "--json"},
            {"comm"},           {"cost", "--by=op", "--top=0"},    {"cost", "--by=line", "--json"},
            {"mem", "--json"},  {"time", "--on=h100x8", "--json"}, {"time", "--on=tpu-v5p-2x2x2"}};
  }

  // If a command fails, only its status is compared, since text and protobuf have different deviations.
  CallResult Call(Arguments arguments) {
    std::snprintf(note_.call, sizeof note_.call, "%s", Joined(arguments).c_str());
    const std::string path = arguments.back();
    arguments.insert(arguments.begin(), "shoal");
    std::vector<char*> argv;
    for (std::string& argument : arguments) argv.push_back(argument.data());
    argv.push_back(nullptr);
    if (ftruncate(out_, 0) == 0) lseek(out_, 0, SEEK_SET);
    CallResult result;
    result.status = cli::Shoal(static_cast<int>(argv.size()) - 1, argv.data());
    if (result.status != 0) return result;
    result.out = Slurp("/proc/self/fd/" + std::to_string(out_));
    return result;
  }

  CallResult Clean(Arguments command, const std::string& path) {
    command.push_back(path);
    CallResult result = Call(command);
    ReplaceAll(result.out, path, "FILE");
    ReplaceAll(result.out, fs::path(path).filename(), "FILE");
    static const std::regex kTime(R"(\d+(\.\d+)?(e-\d+)? (ms|s|us)\b)");
    if (command[0] == "run") result.out = std::regex_replace(result.out, kTime, "TIME");
    static const std::regex kDevices(R"(from (the header|\w+ of [\w.]+))");  // the header of a protobuf has no counts
    static const std::regex kMetadata(R"re(\s*"(source|op_name|assumptions|by_line)": ("[^"]*"|\[[^\]]*\]),?)re");
    result.out = std::regex_replace(result.out, kDevices, "from DEVICES");
    if (without_metadata_) result.out = std::regex_replace(result.out, kMetadata, "");
    return result;
  }

  static std::string FirstDifference(const std::string& a, const std::string& b) {
    const auto at = static_cast<size_t>(std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin());
    const size_t line = a.rfind('\n', at == 0 ? 0 : at - 1) + 1;
    return StrCat("'", a.substr(line, 200), "' from text, '", b.substr(std::min(line, b.size()), 200), "' from protobuf");
  }

  void Compare(const std::string& proto, const std::vector<Arguments>& commands, const char* prefix) {
    for (const Arguments& command : commands) {
      const CallResult a = Clean(command, text_), b = Clean(command, proto);
      if (a == b) continue;
      ReportDifference(StrCat(prefix, Joined(command), ": status ", a.status, " and ", b.status, ", ", FirstDifference(a.out, b.out)));
    }
    const CallResult diff = Call({"diff", text_, proto});
    if (diff.status != 0) ReportDifference(StrCat(prefix, "diff: status ", diff.status));
  }

  // XLA's protobuf of the text. Only the protobuf has ids, an internal order and, in older versions, the stack; only the
  // text has some flags of the header.
  void CompareGiven(const std::string& given, std::vector<Arguments> commands) {
    const CallResult a = Call({"print", "--format=short", text_}), b = Call({"print", "--format=short", given});
    if (a.status != b.status || SortedParts(a.out) != SortedParts(b.out))
      ReportDifference(StrCat("XLA's protobuf: print: status ", a.status, " and ", b.status, ", ", FirstDifference(a.out, b.out)));
    const bool same = Body(a.out) == Body(b.out);
    const bool same_metadata = same && Body(Call({"print", text_}).out) == Body(Call({"print", given}).out);
    std::erase_if(commands, [&](const Arguments& command) {
      const bool exact = command[0] == "print" || command[0] == "opt" || command[0] == "check";
      const bool has_source = command[0] == "show" || command[0] == "mem" || command[0] == "time";
      return exact || (!same && command[0] == "run") || (!same_metadata && (has_source || command[0] != "run"));
    });
    if (!same_metadata) commands.insert(commands.end(), {{"comm", "--json"}, {"cost", "--json"}});
    without_metadata_ = !same_metadata;
    Compare(given, commands, "XLA's protobuf: ");
    without_metadata_ = false;
  }

  // The printed module without its header.
  static std::string Body(const std::string& text) { return text.substr(std::min(text.find('\n'), text.size())); }

  // The words of the printed module, without the flags of its header and with fewer digits, in any order.
  static std::vector<std::string> SortedParts(const std::string& text) {
    static const std::regex kConfig(R"(backend_config=\{.*\})"), kSeparators(R"([\s,{}]+)"), kNumber(R"(-?\d+\.\d+(e[-+]?\d+)?)");
    const std::string body = std::regex_replace(Body(text), kConfig, "");
    std::vector<std::string> parts(std::sregex_token_iterator(body.begin(), body.end(), kSeparators, -1), {});
    for (std::string& part : parts)
      if (std::regex_match(part, kNumber)) part = FormatRounded(std::stod(part));
    std::sort(parts.begin(), parts.end());
    return parts;
  }
  static std::string FormatRounded(double value) {
    char text[32];
    std::snprintf(text, sizeof text, "%.4g", value);
    return text;
  }

  // Shuffles the instructions of each computation: the exit status must not change.
  void Shuffle(const std::string& proto) {
    const CallResult printed = Call({"print", proto});
    if (printed.status != 0 || printed.out.substr(0, 4096).find("is_scheduled=true") != std::string::npos) return;
    std::mt19937 random(7);
    std::vector<std::string> body;
    std::string shuffled_text;
    for (size_t start = 0; start < printed.out.size();) {
      const size_t end = std::min(printed.out.find('\n', start), printed.out.size() - 1) + 1;
      std::string line = printed.out.substr(start, end - start);
      start = end;
      const bool is_instruction = (line.starts_with("  %") || line.starts_with("  ROOT %")) && line.find(" = ") != std::string::npos;
      if (is_instruction) {
        body.push_back(std::move(line));
      } else if (!body.empty() && !line.starts_with("}")) {
        body.back() += line;  // JSON of several lines
      } else {
        std::shuffle(body.begin(), body.end(), random);
        for (const std::string& each : body) shuffled_text += each;
        shuffled_text += line;
        body.clear();
      }
    }
    const std::string target = folder_ / "shuffled_text.hlo";
    std::ofstream(target, std::ios::binary) << shuffled_text;
    for (const char* command : {"cost", "show", "mem"}) {
      const int original = Call({command, proto}).status, shuffled = Call({command, target}).status;
      if (original != shuffled)
        ReportDifference(StrCat("shuffled, ", command, ": status ", shuffled, ", ", original, " unshuffled"));
    }
  }

  void ReportDifference(const std::string& message) {
    ++found_;
    Report(StrCat("DIFFERS ", text_, ": ", message));
  }
  void Report(std::string line) {
    std::replace(line.begin(), line.end(), '\n', ' ');
    line += '\n';
    if (write(results_, line.data(), line.size()) < 0) _exit(1);
  }

  Note& note_;
  fs::path folder_;
  std::string text_;
  int results_, out_ = -1, found_ = 0;
  bool without_metadata_ = false;
};

struct File {
  std::string path;
  bool run = false;  // a small module of this repository
};

std::vector<File> FilesOf(const Flags& flags) {
  constexpr uintmax_t kMaxBytesToRun = 6000;
  std::vector<File> files;
  for (const std::string& folder : flags.folders) {
    const bool own = folder.find("shared") == std::string::npos;
    std::vector<File> found;
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder)) {
      const fs::path& path = entry.path();
      if (!IsModule(path) || !entry.is_regular_file()) continue;
      if (path.filename().string().starts_with("bad-") || path.string().find(flags.only) == std::string::npos) continue;
      if (static_cast<int64_t>(entry.file_size()) <= flags.max_bytes)
        found.push_back({path.string(), own && entry.file_size() <= kMaxBytesToRun});
    }
    std::sort(found.begin(), found.end(), [](const File& a, const File& b) { return a.path < b.path; });
    files.insert(files.end(), found.begin(), found.end());
  }
  return files;
}

class Forms {
 public:
  Forms(const Flags& flags, std::vector<File> files) : flags_(flags), files_(std::move(files)) {
    scratch_ = fs::temp_directory_path() / ("shoal-forms." + std::to_string(getpid()));
    notes_ = static_cast<Note*>(mmap(nullptr, sizeof(Note) * static_cast<size_t>(flags.jobs), PROT_READ | PROT_WRITE,
                                     MAP_SHARED | MAP_ANONYMOUS, -1, 0));
    next_ = static_cast<std::atomic<int64_t>*>(
        mmap(nullptr, sizeof(std::atomic<int64_t>), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
    fs::create_directories(scratch_);
  }
  ~Forms() { fs::remove_all(scratch_); }

  int Run() {
    std::map<pid_t, int64_t> workers;
    for (int64_t w = 0; w < flags_.jobs; ++w) workers[Start(w)] = w;
    while (!workers.empty()) {
      int status = 0;
      const pid_t pid = wait(&status);
      if (pid < 0 || !workers.contains(pid)) break;
      const int64_t w = workers[pid];
      workers.erase(pid);
      if (WIFEXITED(status) && WEXITSTATUS(status) == 0) continue;
      std::printf("%s: %s ended by %s %d\n", files_[static_cast<size_t>(notes_[w].file)].path.c_str(), notes_[w].call,
                  WIFSIGNALED(status) ? "signal" : "status", WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
      ++died_;
      workers[Start(w)] = w;  // continues with the next file
    }
    return Sum();
  }

 private:
  fs::path Results(int64_t w) const { return scratch_ / ("results." + std::to_string(w)); }

  pid_t Start(int64_t w) {
    std::fflush(stdout);
    const pid_t pid = fork();
    if (pid != 0) return pid;
    const int results = open(Results(w).c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
    Worker worker(notes_[w], scratch_ / std::to_string(w), results);
    for (int64_t i = (*next_)++; i < std::ssize(files_); i = (*next_)++) {
      notes_[w].file = i;
      worker.Check(files_[static_cast<size_t>(i)].path, files_[static_cast<size_t>(i)].run);
    }
    _exit(0);
  }

  int Sum() const {
    int64_t passed = 0, failed = died_;
    for (int64_t w = 0; w < flags_.jobs; ++w) {
      std::ifstream results(Results(w));
      for (std::string line; std::getline(results, line);) {
        passed += line == "passed";
        failed += line == "failed";
        if (line.starts_with("DIFFERS ")) std::printf("%s\n", line.substr(8).c_str());
      }
    }
    std::printf("%lld passed, %lld failed\n", static_cast<long long>(passed), static_cast<long long>(failed));
    return failed == 0 && passed > 0 ? 0 : 1;
  }

  const Flags& flags_;
  const std::vector<File> files_;
  fs::path scratch_;
  Note* notes_ = nullptr;
  std::atomic<int64_t>* next_ = nullptr;
  int64_t died_ = 0;
};

int Main(int argc, char** argv) {
  Flags flags;
  CLI::App app("Checks that every command prints equal output for a module's text and its protobuf");
  app.add_option("FOLDERS", flags.folders, "Folders with texts, some with protobufs beside them")->required();
  app.add_option("--only", flags.only, "Only paths that contain this");
  app.add_option("--jobs", flags.jobs, "Processes at a time")->check(CLI::Range(1, 1024))->capture_default_str();
  app.add_option("--max_bytes", flags.max_bytes, "Skip larger texts");
  CLI11_PARSE(app, argc, argv);
  return Forms(flags, FilesOf(flags)).Run();
}

}  // namespace
}  // namespace shoal::internal

int main(int argc, char** argv) { return shoal::internal::Main(argc, argv); }
