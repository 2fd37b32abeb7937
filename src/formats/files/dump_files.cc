#include "formats/files/dump_files.h"

#include <algorithm>
#include <charconv>
#include <climits>
#include <filesystem>
#include <set>

#include "core/base/files.h"
#include "core/base/source.h"
#include "core/base/strings.h"
#include "formats/files/graph_dump.h"

namespace shoal::internal {
namespace {

constexpr std::string_view kAfter = "after_optimizations", kBefore = "before_optimizations";
constexpr int64_t kLast = INT64_MAX;

// The parts of a file name: module, stage and file kind.
struct FileName {
  std::string module, stage, kind;
  int64_t order = 0;
  bool may_be_module = false;
};

// Removes the file extension of a module from the name. False if the name has none.
bool RemoveModuleExtension(std::string& name) {
  for (std::string_view ending : {".hlo.pb", ".hlo.txt", ".txt", ".hlo", ".pb"})
    if (name.size() > ending.size() && name.ends_with(ending)) {
      name.resize(name.size() - ending.size());
      return true;
    }
  return false;
}

bool IsDigits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

// The position of the dot before a pass number, as in module_0001.jit_step.0003.pipeline.after_x.before_y.
size_t FindPass(const std::string& name) {
  for (size_t dot = name.find('.'); dot != std::string::npos; dot = name.find('.', dot + 1))
    if (dot + 5 < name.size() && name[dot + 5] == '.' && IsDigits(std::string_view(name).substr(dot + 1, 4)))
      return dot;
  return std::string::npos;
}

// The position of the dot before a stage of another compiler: X.before_run_auto_sharding, X.after_spmd_partitioner.
size_t FindForeignStage(const std::string& name) {
  const size_t dot = name.rfind('.');
  if (dot == std::string::npos || dot == 0) return std::string::npos;
  const std::string_view last = std::string_view(name).substr(dot + 1);
  return last.starts_with("before_") || last.starts_with("after_") ? dot : std::string::npos;
}

FileName ParseFileName(std::string name) {
  FileName parts;
  if (name.ends_with(".gz")) name.resize(name.size() - 3);
  const std::string whole = name;
  if (!RemoveModuleExtension(name)) {
    const size_t dot = name.rfind('.');
    parts.kind = dot == std::string::npos ? "without extension" : name.substr(dot + 1);
    return parts;
  }
  parts.may_be_module = true;
  parts.module = name;
  if (const size_t after = name.rfind(kAfter); after != std::string::npos) {
    // The platform name precedes kAfter and may contain a dot: sm_9.0_gpu_after_optimizations.
    size_t dot = name.rfind(".sm_", after);
    if (dot == std::string::npos) dot = name.rfind('.', after);
    const size_t end = after + kAfter.size();
    parts.may_be_module = end == name.size();
    if (!parts.may_be_module) parts.kind = whole.substr(std::min(end + 1, whole.size()));
    if (dot == std::string::npos) return parts;
    parts.module = name.substr(0, dot);
    parts.stage = name.substr(dot + 1);
    parts.order = kLast;
  } else if (name.ends_with(kBefore) && name.size() > kBefore.size()) {
    parts.module = name.substr(0, name.size() - kBefore.size() - 1);
    parts.stage = kBefore;
  } else if (const size_t pass = FindPass(name); pass != std::string::npos) {
    parts.module = name.substr(0, pass);
    parts.stage = name.substr(pass + 1);
    std::from_chars(parts.stage.data(), parts.stage.data() + 4, parts.order);
    parts.order += 2;  // 0 and 1 are the stages before all passes
  } else if (const size_t stage = FindForeignStage(name); stage != std::string::npos) {
    parts.module = name.substr(0, stage);
    parts.stage = name.substr(stage + 1);
    parts.order = parts.stage.starts_with("before_") ? 1 : kLast - 1;
  }
  return parts;
}

// True for files of a dump that are not modules, even if they have the file extension of a module.
bool IsReport(const FileName& name, const std::string& file) {
  for (std::string_view word : {"thunk_sequence", "execution_stream_assignment", "memory-usage-report"})
    if (file.find(word) != std::string::npos) return true;
  return !name.may_be_module || file == "compile_options.pb" || file == "topology.pb" || file == "CMakeLists.txt";
}

}  // namespace

int64_t DumpedModule::Stages() const {
  std::set<std::string> stages;
  for (const DumpFile& file : files) stages.insert(file.stage);
  return std::ssize(stages);
}

int64_t DumpedModule::Bytes() const {
  int64_t bytes = 0;
  for (const DumpFile& file : files) bytes += file.bytes;
  return bytes;
}

namespace {

// The distinct graphs of a file of PyTorch/XLA, as modules.
Result<DumpFolder> ReadGraphDump(const std::string& path) {
  SHOAL_ASSIGN(source, Source::Read(path));
  if (!LooksLikeGraphDump(source->text()))
    return Fail(StrCat(path, " is neither a directory nor a file of XLA_SAVE_TENSORS_FILE"));
  const std::vector<SavedGraph> graphs = FindSavedGraphs(source->text());
  DumpFolder folder;
  for (const SavedGraph& graph : graphs) {
    if (graph.first_same != graph.number) continue;
    const auto times = std::ranges::count_if(graphs, [&](const SavedGraph& g) { return g.first_same == graph.number; });
    std::string name = StrCat("#", graph.number, graph.location.empty() ? "" : " ", graph.location);
    if (times > 1) StrAppend(&name, " × ", times);
    folder.modules.push_back(
        {std::move(name), {{StrCat(path, "#", graph.number), std::ssize(graph.hlo), "before_optimizations", 0}}});
  }
  return folder;
}

}  // namespace

Result<DumpFolder> ReadDumpFolder(const std::string& path) {
  std::error_code error;
  if (std::filesystem::is_regular_file(path, error)) return ReadGraphDump(path);
  SHOAL_ASSIGN(listing, ListFolder(path, /*max_depth=*/INT_MAX, /*follow_links=*/false));
  DumpFolder folder;
  for (const auto& [subfolder, reason] : listing.unreadable)
    folder.unreadable.emplace_back(StrCat(path, "/", subfolder), reason);
  std::map<std::string, DumpedModule> modules;
  for (const FolderEntry& entry : listing.files) {
    const size_t slash = entry.path.rfind('/');
    const std::string file = entry.path.substr(slash == std::string::npos ? 0 : slash + 1);
    const FileName name = ParseFileName(file);
    if (IsReport(name, file)) {
      ++folder.others[name.kind.empty() ? "report" : name.kind];
      continue;
    }
    const std::string key = slash == std::string::npos ? name.module : StrCat(entry.path.substr(0, slash + 1), name.module);
    modules[key].name = key;
    modules[key].files.push_back({StrCat(path, path.ends_with('/') ? "" : "/", entry.path), entry.bytes, name.stage, name.order});
  }
  for (auto& [key, module] : modules) {
    std::sort(module.files.begin(), module.files.end(), [](const DumpFile& x, const DumpFile& y) {
      return x.order != y.order ? x.order > y.order : x.path < y.path;
    });
    folder.modules.push_back(std::move(module));
  }
  return folder;
}

}  // namespace shoal::internal
