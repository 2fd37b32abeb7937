#include "sim/profile_match.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "absl/container/flat_hash_map.h"

namespace shoal {
namespace {

bool IsLibrary(KernelFamily family) {
  return family == KernelFamily::kProduct || family == KernelFamily::kAttention || family == KernelFamily::kConvolution ||
         family == KernelFamily::kRadixSort || family == KernelFamily::kTopK || family == KernelFamily::kUnknownCall;
}

class Matcher {
 public:
  Matcher(const Prediction& prediction, const Trace& profile) : profile_(profile) {
    std::map<std::tuple<KernelFamily, double, double, double>, std::vector<size_t>> alike;
    for (const OpTime& op : prediction.ops) {
      by_name_.try_emplace(std::string(op.hlo->name), ops_.size());
      by_kernel_.try_emplace(KernelName(op.hlo->name), ops_.size());
      index_[op.hlo] = ops_.size();
      library_.push_back(IsLibrary(op.family));
      times_.push_back(op.times);
      alike[{op.family, op.kernel.read(), op.kernel.written, op.kernel.flops}].push_back(ops_.size());
      ops_.push_back({op.hlo, op.kind, op.seconds, 0});
    }
    for (auto& [key, members] : alike) groups_.push_back(std::move(members));
    for (const AsyncTime& time : prediction.asyncs) {
      const Instruction& start = *time.async->start;
      by_name_.try_emplace(std::string(start.name), ops_.size());
      by_kernel_.try_emplace(KernelName(start.name), ops_.size());
      index_.try_emplace(&start, ops_.size());
      library_.push_back(false);
      times_.push_back(time.times);
      groups_.push_back({ops_.size()});
      ops_.push_back({&start, time.async->use != nullptr ? TimeKind::kCommunication : TimeKind::kCopy, time.seconds, 0});
    }
  }

  ProfileComparison Compare() {
    counts_.assign(ops_.size(), 0);
    std::vector<size_t> owner(profile_.events.size(), kNobody);
    for (size_t i = 0; i < owner.size(); ++i) owner[i] = Named(profile_.events[i].name);
    GiveToLibraries(owner);
    ProfileComparison result;
    double unmatched = 0;
    for (size_t i = 0; i < owner.size(); ++i) {
      result.measured += profile_.events[i].duration;
      if (owner[i] == kNobody) unmatched += profile_.events[i].duration;
      else ops_[owner[i]].measured += profile_.events[i].duration;
      result.owners.push_back(owner[i] == kNobody ? nullptr : ops_[owner[i]].hlo);
    }
    Share();
    result.steps = Steps(owner);
    result.measured /= result.steps;
    result.unmatched = unmatched / result.steps;
    for (MeasuredOp& op : ops_) op.measured /= result.steps, result.predicted += op.predicted;
    result.ops = ops_;
    std::stable_sort(result.ops.begin(), result.ops.end(), [](const MeasuredOp& a, const MeasuredOp& b) {
      return std::abs(a.measured - a.predicted) > std::abs(b.measured - b.predicted);
    });
    return result;
  }

 private:
  static constexpr size_t kNobody = SIZE_MAX;

  size_t Named(const std::string& name) const {
    if (const auto found = by_name_.find(name); found != by_name_.end()) return found->second;
    const auto found = by_kernel_.find(KernelName(name));
    return found == by_kernel_.end() ? kNobody : found->second;
  }

  // The library calls after `hlo` in its computation, up to the next instruction that has a kernel of its name.
  std::vector<size_t> CallsAfter(const Instruction& hlo) const {
    std::vector<size_t> calls;
    const auto& all = hlo.parent->instructions;
    for (size_t i = 1; i <= all.size(); ++i) {
      const auto found = index_.find(all[(hlo.index + i) % all.size()]);
      if (found == index_.end()) continue;
      if (!library_[found->second]) break;
      calls.push_back(found->second);
    }
    return calls;
  }

  void GiveToLibraries(std::vector<size_t>& owner) const {
    size_t before = kNobody;
    for (size_t i = 0; i < owner.size(); ++i) {
      if (owner[i] != kNobody) {
        before = owner[i];
        continue;
      }
      size_t end = i;
      while (end < owner.size() && owner[end] == kNobody) ++end;
      std::vector<size_t> calls;
      if (before != kNobody) calls = CallsAfter(*ops_[before].hlo);
      else for (size_t k = 0; k < ops_.size(); ++k) if (library_[k]) calls.push_back(k);
      if (before == kNobody && calls.size() > 1) calls.clear();
      for (size_t k = i; k < end && !calls.empty(); ++k) owner[k] = calls[(k - i) * calls.size() / (end - i)];
      i = end - 1;
    }
  }

  // Equal kernels are compiled once and run under one name: what was measured is theirs together.
  void Share() {
    for (const std::vector<size_t>& group : groups_) {
      double predicted = 0, measured = 0;
      for (size_t k : group) predicted += ops_[k].predicted, measured += ops_[k].measured;
      for (size_t k : group) ops_[k].measured = predicted > 0 ? measured * ops_[k].predicted / predicted : 0;
    }
  }

  // How often the step ran: what most kernels with a name of their own say.
  double Steps(const std::vector<size_t>& owner) {
    for (size_t i = 0; i < owner.size(); ++i)
      if (owner[i] != kNobody && !library_[owner[i]]) ++counts_[owner[i]];
    std::vector<double> said;
    for (const std::vector<size_t>& group : groups_) {
      double counted = 0, expected = 0;
      for (size_t k : group) counted += counts_[k], expected += times_[k];
      if (counted > 0 && expected > 0) said.push_back(counted / expected);
    }
    if (said.empty()) return 1;
    std::nth_element(said.begin(), said.begin() + static_cast<std::ptrdiff_t>(said.size() / 2), said.end());
    return std::max(1.0, std::round(said[said.size() / 2]));
  }

  const Trace& profile_;
  std::vector<MeasuredOp> ops_;
  std::vector<std::vector<size_t>> groups_;  // that a compiler cannot tell apart
  std::vector<bool> library_;
  std::vector<double> times_, counts_;
  absl::flat_hash_map<std::string, size_t> by_name_, by_kernel_;
  absl::flat_hash_map<const Instruction*, size_t> index_;
};

}  // namespace

// fusion_84 is fusion.84.
std::string KernelName(std::string_view name) {
  if (!name.empty() && name.front() == '%') name.remove_prefix(1);
  std::string kernel(name);
  for (char& c : kernel)
    if (c == '.' || c == '-') c = '_';
  return kernel;
}

ProfileComparison CompareWith(const Prediction& prediction, const Trace& profile) { return Matcher(prediction, profile).Compare(); }

}  // namespace shoal
