#include <algorithm>
#include <atomic>
#include <mutex>
#include <set>

#include "analyze/summary/module_role.h"
#include "api/cpp/facts_state.h"
#include "core/base/strings.h"
#include "core/base/threads.h"
#include "core/base/units.h"
#include "present/reports/stats_report.h"
#include "shoal/files.h"

namespace shoal::internal {
namespace {

// Reads every file of every module. Each thread reads one module at a time.
class DumpReader {
 public:
  DumpReader(StatsReport& report, const shoal::StatsOptions& options) : report_(report), options_(options) {
    for (const DumpedModule& module : report.dump.modules) {
      report_.modules.emplace_back().dumped = &module;
      files_ += std::ssize(module.files);
    }
  }

  void ReadAll() {
    const size_t max_threads = std::max<size_t>(std::thread::hardware_concurrency(), 1);
    std::vector<std::jthread> threads;
    for (size_t i = 1; i < std::min(max_threads, report_.modules.size()); ++i)
      if (std::optional<std::jthread> thread = StartThread([this] { Work(); })) threads.push_back(std::move(*thread));
    Work();
    threads.clear();  // joins them
    if (no_memory_) throw std::bad_alloc();
    for (const auto& folder : report_.dump.unreadable) report_.unreadable.push_back(folder);
    std::erase_if(report_.modules, [](const ModuleStats& module) { return module.final_file.empty(); });
    std::sort(report_.unreadable.begin(), report_.unreadable.end());
    if (unknown_loops_ > 0)
      report_.assumptions.push_back(
          StrCat(Pluralize(unknown_loops_, "loop"), " whose trip count depends on data: counted as one iteration"));
    if (conditionals_ > 0)
      report_.assumptions.push_back(StrCat(Pluralize(conditionals_, "conditional"), ": all branches equally likely"));
    report_.assumptions.insert(report_.assumptions.end(), assumptions_.begin(), assumptions_.end());
  }

 private:
  // An exception must not leave the thread, because that would end the program.
  void Work() {
    try {
      for (size_t i = next_++; i < report_.modules.size(); i = next_++) ReadModule(report_.modules[i]);
    } catch (const std::bad_alloc&) {
      no_memory_ = true;
    }
  }

  // The metrics are those of the last readable stage. The files are sorted by stage, the last stage first.
  void ReadModule(ModuleStats& stats) {
    ModuleFile later;  // the module of the next stage
    std::unique_ptr<ModuleFacts> later_facts;
    std::string later_stage, origin_stage;
    for (const DumpFile& file : stats.dumped->files) {
      ModuleFile input = ReadModuleFile(file.path, {options_.strict});
      auto facts = input.module == nullptr ? nullptr
                                           : std::make_unique<ModuleFacts>(*input.module, FactOptions{.own_packages = options_.own_packages});
      // Of one stage, the protobuf is read first: older texts lack the stacks.
      if (facts != nullptr && (file.stage != origin_stage || stats.line.empty())) {
        origin_stage = file.stage;
        stats.program = ProgramKeyOf(*facts);
        stats.role = ToString(RoleOf(*facts));
        stats.line = MainLineOf(*facts);
      }
      if (input.module != nullptr && stats.final_file.empty()) {
        stats.final_file = file.path;
        stats.totals = facts->totals();
        const ExecutionCounts& executions = facts->executions();
        const std::lock_guard lock(mutex_);
        unknown_loops_ += std::ssize(executions.unknown_loops());
        conditionals_ += std::ssize(executions.conditionals());
        assumptions_.insert(stats.totals.assumptions.begin(), stats.totals.assumptions.end());
      }
      const std::string reason = input.module == nullptr ? ReasonUnreadable(input) : "";
      if (options_.stages && input.module != nullptr && (later.module == nullptr || file.stage != later_stage)) {
        if (later.module != nullptr)
          stats.stages.insert(stats.stages.begin(), ChangesOfStage(*facts, *later_facts, later_stage));
        later_stage = file.stage;
        later_facts = std::move(facts);  // before its module is replaced
        later = std::move(input);
      }
      const std::lock_guard lock(mutex_);
      if (!reason.empty()) report_.unreadable.push_back({file.path, reason});
      ++files_read_;
      if (options_.progress) options_.progress(files_read_, files_, stats.dumped->name);
    }
  }

  static std::string ReasonUnreadable(const ModuleFile& input) {
    for (const Diag& diag : input.diags.found()) {
      if (diag.severity != Severity::kError) continue;
      if (!diag.at.known() || input.text() == nullptr) return diag.message;
      return StrCat("line ", input.text()->Locate(diag.at.offset).line, ": ", diag.message);
    }
    return "not an HLO module";
  }

  StatsReport& report_;
  const shoal::StatsOptions& options_;
  std::atomic<size_t> next_ = 0;
  std::atomic<bool> no_memory_ = false;
  std::mutex mutex_;  // guards all members below
  int64_t files_ = 0, files_read_ = 0, unknown_loops_ = 0, conditionals_ = 0;
  std::set<std::string> assumptions_;
};

}  // namespace
}  // namespace shoal::internal

namespace shoal::inline v0_1 {

Result<DumpStats> Stats(const std::string& folder, const StatsOptions& options) {
  if (options.top < 0) return internal::ArgumentError("top must not be negative");
  return internal::Guarded([&]() -> Result<DumpStats> {
    auto dump = internal::ReadDumpFolder(folder);
    if (!dump.ok()) return internal::ArgumentError(dump.diag().message);
    auto report = std::make_shared<internal::StatsReport>();
    report->folder = folder;
    report->dump = std::move(*dump);
    internal::DumpReader(*report, options).ReadAll();
    return DumpStats{internal::MakeView([report, top = options.top](const auto& style) { return StatsText(*report, top, style); },
                                        [report] { return StatsJson(*report); }),
                     std::ssize(report->modules), std::ssize(report->unreadable)};
  });
}

}  // namespace shoal::inline v0_1
