#include <re2/re2.h>

#include <map>
#include <set>
#include <unordered_map>

#include "core/base/files.h"
#include "core/base/settings.h"
#include "core/base/strings.h"
#include "core/base/environment_error.h"
#include "execute/runtime/observers.h"
#include "kernels/arrays/npy_array.h"
#include "execute/transport/job.h"
#include "execute/transport/message_buffer.h"

namespace shoal::internal {
namespace {

// Replaces all characters except letters, digits and ._- by _.
std::string FileName(std::string_view name) {
  std::string safe(name);
  for (char& c : safe)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '.' && c != '_' && c != '-') c = '_';
  return safe;
}

class DumpToFiles : public Dump {
 public:
  DumpToFiles(std::unordered_map<const Instruction*, std::string> names, std::string folder, int64_t devices)
      : names_(std::move(names)), folder_(std::move(folder)), times_(static_cast<size_t>(devices)) {}

  Status OnValue(const Device& device, const Instruction& hlo, const Value& value) override {
    const auto name = names_.find(&hlo);
    if (name == names_.end()) return {};
    int64_t& written = times_[static_cast<size_t>(device.id())][&hlo];
    const int64_t time = written;
    const std::string folder = StrCat(folder_, "/d", device.id());
    SHOAL_TRY(CreateDirectories(folder));
    std::vector<Value> leaves;
    AppendLeaves(value, leaves);
    for (size_t i = 0; i < leaves.size(); ++i) {
      if (!leaves[i].IsArray()) continue;
      std::string path = StrCat(folder, "/", name->second);
      if (value.IsTuple()) StrAppend(&path, ":", i);
      if (time > 0) StrAppend(&path, "@", time);
      SHOAL_TRY(WriteNpy(path + ".npy", leaves[i].array()));
    }
    ++written;
    return {};
  }

  std::string Summary() const override {
    int64_t values = remote_values_;
    std::set<std::string_view> evaluated(remote_names_.begin(), remote_names_.end());
    for (const auto& of_device : times_) {
      for (const auto& [hlo, times] : of_device) {
        if (times == 0) continue;
        values += times;
        evaluated.insert(names_.at(hlo));
      }
    }
    const int64_t instructions = std::ssize(evaluated);
    std::string text = StrCat(values, values == 1 ? " value of " : " values of ", instructions,
                              instructions == 1 ? " instruction" : " instructions");
    StrAppend(&text, " to ", folder_);
    const int64_t unevaluated = std::ssize(names_) - instructions;
    if (unevaluated > 0)
      StrAppend(&text, "; ", unevaluated, unevaluated == 1 ? " more matches, but was" : " more match, but were",
                " not evaluated individually");
    return text;
  }

  void Gather(Job& job) override {
    Writer writer;
    for (const auto& of_device : times_)
      for (const auto& [hlo, times] : of_device) writer.String(names_.at(hlo)).Int(times);
    const std::vector<std::string> all = job.Gather(writer.Take());
    for (size_t rank = 1; rank < all.size(); ++rank) {
      for (Reader reader(all[rank]); !reader.rest().empty();) {
        remote_names_.emplace(reader.String());
        remote_values_ += reader.Int();
      }
    }
  }

 private:
  std::unordered_map<const Instruction*, std::string> names_;  // names of the files
  std::set<std::string> remote_names_;                         // names of the files that other processes wrote
  int64_t remote_values_ = 0;
  std::string folder_;
  std::vector<std::unordered_map<const Instruction*, int64_t>> times_;  // by device: number of values written so far
};

}  // namespace

Result<std::unique_ptr<Dump>> Dump::Create(const Module& module, const std::string& pattern, const std::string& folder,
                                           int64_t devices) {
  // RE2 needs linear time and constant stack space for every expression.
  const re2::RE2 regex(pattern, re2::RE2::Quiet);
  if (!regex.ok())
    return EnvironmentError(StrCat(Setting("dump="), pattern, " is not a valid regular expression: ", regex.error()));
  std::vector<const Instruction*> matching;
  std::map<std::string_view, int> times;
  for (const Computation* computation : module.computations) {
    for (const Instruction* hlo : computation->instructions) {
      if (!re2::RE2::PartialMatch({hlo->name.data(), hlo->name.size()}, regex)) continue;
      matching.push_back(hlo);
      ++times[hlo->name];
    }
  }
  if (matching.empty()) return EnvironmentError(StrCat(Setting("dump="), pattern, " does not match any instruction name"));
  std::unordered_map<const Instruction*, std::string> names;
  // Different instructions may yield the same file name, as x in computation main and main.x.
  std::set<std::string> taken;
  for (const Instruction* hlo : matching) {
    const bool is_unique = times[hlo->name] == 1;
    const std::string name = FileName(is_unique ? std::string(hlo->name) : StrCat(hlo->parent->name, ".", hlo->name));
    std::string& file = names[hlo] = name;
    for (int copy = 2; !taken.insert(file).second; ++copy) file = StrCat(name, "~", copy);
  }
  return std::unique_ptr<Dump>(new DumpToFiles(std::move(names), folder, devices));
}

}  // namespace shoal::internal
