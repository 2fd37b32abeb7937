// Checks invariants of the predicted times of modules, each on two machines: exposed times are at most total times, parts
// add up, more bandwidth is never slower, `time`, `report --json` and the page agree, and a module of another backend is
// reported.
//
//     check_predictions [--jobs=2] [--stride=N] FOLDER…
#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <mutex>
#include <thread>

#include "nlohmann/json.hpp"
#include "shoal/report.h"

namespace {

namespace fs = std::filesystem;
using nlohmann::json;

const std::vector<std::string> kGpus = {"h100x8", "b200x8"}, kTpus = {"tpu-v5p-2x2x2", "tpu-v6e-4x2"};
constexpr double kEpsilon = 1e-9;

struct Totals {
  std::mutex mutex;
  int64_t passed = 0, failed = 0, modules = 0, unpredictable = 0;
};

class Checker {
 public:
  Checker(Totals& totals, std::string path) : totals_(totals), path_(std::move(path)) {}

  void Run() {
    auto module = shoal::Read(path_);
    if (!module.ok()) return Skip();
    auto facts = shoal::Facts::Of(*module);
    if (!facts.ok()) return Skip();
    const auto memory = facts->memory();
    const bool is_tpu = memory.ok() && memory->backend == "tpu";
    bool predicted = false;
    for (const std::string& name : is_tpu ? kTpus : kGpus) predicted |= OnMachine(*facts, name);
    if (!predicted) return Skip();
    const std::lock_guard lock(totals_.mutex);
    ++totals_.modules;
  }

 private:
  void Skip() {
    const std::lock_guard lock(totals_.mutex);
    ++totals_.unpredictable;
  }

  void Check(bool passes, const std::string& what) {
    const std::lock_guard lock(totals_.mutex);
    ++(passes ? totals_.passed : totals_.failed);
    if (!passes) std::printf("FAILED %s on %s: %s\n", path_.c_str(), machine_.c_str(), what.c_str());
  }

  // The machine, and for each of its bandwidths a machine with twice as much of it.
  static std::vector<shoal::Machine> WithFasterOnes(const std::string& name, std::vector<std::string>& changed) {
    std::vector<shoal::Machine> machines = {*shoal::Machine::Load(name)};
    for (const shoal::MachineParameter& parameter : machines.front().parameters()) {
      if (parameter.unit != "B/s" || parameter.value <= 0) continue;
      shoal::Machine faster = *shoal::Machine::Load(name);
      if (!faster.Set(std::string(parameter.name) + "=" + std::to_string(2 * parameter.value)).ok()) continue;
      changed.emplace_back(parameter.name);
      machines.push_back(std::move(faster));
    }
    return machines;
  }

  bool OnMachine(const shoal::Facts& facts, const std::string& name) {
    machine_ = name;
    std::vector<std::string> changed;
    const std::vector<shoal::Machine> machines = WithFasterOnes(name, changed);
    auto all = shoal::Predict(facts, machines, {.trace = false});
    if (!all.ok()) return false;  // in global form, or too large for the machine
    const shoal::Prediction& one = all->all.front();
    CheckSums(one);
    for (size_t i = 0; i < changed.size(); ++i) {
      const double faster = all->all[i + 1].step_seconds;
      Check(faster <= one.step_seconds * (1 + 1e-6),
            "twice the " + changed[i] + " is slower: " + std::to_string(one.step_seconds) + " s, " + std::to_string(faster) + " s");
    }
    CheckOutputs(facts, machines.front(), one);
    return true;
  }

  void CheckSums(const shoal::Prediction& one) {
    double exposed = 0;
    for (const shoal::PredictedTransfer& transfer : one.transfers) {
      exposed += transfer.exposed_seconds;
      Check(transfer.exposed_seconds <= transfer.seconds * (1 + kEpsilon) + 1e-15,
            std::string(transfer.instruction.name()) + ": exposed " + std::to_string(transfer.exposed_seconds) + " s of " +
                std::to_string(transfer.seconds) + " s");
    }
    const double busy = one.matrix_seconds + one.memory_seconds + one.communication_seconds + one.copy_seconds;
    const double parts = busy + one.idle_seconds;
    Check(std::abs(parts - one.step_seconds) <= kEpsilon * std::max(parts, 1e-12), "the parts do not add up to the step");
    Check(std::abs(busy - one.device_seconds) <= kEpsilon * std::max(busy, 1e-12), "the parts do not add up to the device's time");
    double ops = 0;
    for (const shoal::PredictedOp& op : one.ops) ops += op.seconds;
    const double kernels = one.matrix_seconds + one.memory_seconds;
    Check(ops <= (kernels + one.copy_seconds) * (1 + 1e-6) + 1e-12 && ops >= kernels * (1 - 1e-6) - 1e-12,
          "the ops take " + std::to_string(ops) + " s, their kinds " + std::to_string(kernels) + " s");
    Check(one.idle_seconds >= -1e-12, "negative idle time");
  }

  // The JSON of `time`, the JSON of `report` and the page.
  void CheckOutputs(const shoal::Facts& facts, const shoal::Machine& machine, const shoal::Prediction& one) {
    const json time = json::parse(one.ToJson());
    Check(time["step_seconds"] == one.step_seconds, "the JSON has another step time");
    double exposed = time["late_seconds"];
    for (const json& each : time["collectives"]) exposed += each["exposed_seconds"].get<double>();
    const double waited = one.communication_seconds + one.copy_seconds;
    Check(std::abs(exposed - waited) <= 1e-6 * std::max(waited, 1e-9), "the exposed times do not add up");
    Check(time["hfu"] >= time["mfu"] && time["mfu"] >= 0, "HFU is less than MFU");
    const std::string wanted = machine.name().starts_with("tpu") ? "tpu" : "gpu", backend = time["backend"]["name"];
    const bool differs = backend != wanted && (time["backend"]["evident"] || backend == "cpu");
    Check(time["backend_mismatch"].get<std::string>().empty() != differs, "compiled for " + backend + ": '" + time["backend_mismatch"].get<std::string>() + "'");
    auto page = shoal::Page(facts, {.machines = {machine}});
    if (!page.ok()) return Check(false, "no page: " + page.error().message());
    const json contents = json::parse(page->contents);
    Check(contents["predictions"].size() == 1 && contents["predictions"][0]["step_seconds"] == one.step_seconds, "the page has another step time");
    const std::string mismatch = time["backend_mismatch"];
    Check(mismatch.empty() || page->html.find("compiled for") != std::string::npos, "the page has no note about the backend");
  }

  Totals& totals_;
  std::string path_, machine_;
};

bool IsModule(const fs::path& path) {
  const std::string name = path.filename().string();
  const bool is_seed = name.ends_with(".txt") && path.parent_path().filename() == "seeds";
  return is_seed || name.ends_with(".hlo") || name.ends_with(".hlo.gz");
}

std::vector<std::string> ModulesIn(const std::vector<std::string>& folders) {
  std::vector<std::string> paths;
  for (const std::string& folder : folders)
    for (const auto& entry : fs::recursive_directory_iterator(folder))
      if (entry.is_regular_file() && IsModule(entry.path())) paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  return paths;
}

}  // namespace

int main(int argc, char** argv) {
  size_t jobs = 2, stride = 1;
  std::vector<std::string> folders;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument.starts_with("--jobs=")) jobs = std::stoul(argument.substr(7));
    else if (argument.starts_with("--stride=")) stride = std::stoul(argument.substr(9));
    else folders.push_back(argument);
  }
  const std::vector<std::string> paths = ModulesIn(folders);
  Totals totals;
  std::atomic<size_t> next = 0;
  std::vector<std::jthread> workers;
  for (size_t job = 0; job < std::max<size_t>(jobs, 1); ++job)
    workers.emplace_back([&] {
      for (size_t i = next.fetch_add(stride); i < paths.size(); i = next.fetch_add(stride)) Checker(totals, paths[i]).Run();
    });
  workers.clear();
  std::printf("%lld modules on two machines each; %lld cannot be predicted\n", static_cast<long long>(totals.modules),
              static_cast<long long>(totals.unpredictable));
  std::printf("%lld passed, %lld failed\n", static_cast<long long>(totals.passed), static_cast<long long>(totals.failed));
  return totals.failed == 0 && totals.passed > 0 ? 0 : 1;
}
