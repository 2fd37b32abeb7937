#include "predict/timeline/profile_match.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "absl/container/flat_hash_map.h"
#include "core/base/strings.h"
#include "predict/timeline/launch_order.h"

namespace shoal::internal {
namespace {

bool IsLibrary(KernelKind family) {
  return family == KernelKind::kGemm || family == KernelKind::kAttention || family == KernelKind::kConvolution ||
         family == KernelKind::kRadixSort || family == KernelKind::kTopK || family == KernelKind::kUnknownCall;
}

class Matcher {
 public:
  Matcher(const SimulatedStep& prediction, const Trace& profile) : prediction_(prediction), profile_(profile) {
    std::map<std::tuple<KernelKind, double, double, double>, std::vector<size_t>> equal_kernels;
    for (const OpTime& op : prediction.ops) {
      by_name_.try_emplace(std::string(op.hlo->name), ops_.size());
      by_kernel_.try_emplace(KernelName(op.hlo->name), ops_.size());
      index_[op.hlo] = ops_.size();
      is_library_.push_back(IsLibrary(op.family));
      times_.push_back(op.times);
      equal_kernels[{op.family, op.kernel.read(), op.kernel.written, op.kernel.flops}].push_back(ops_.size());
      ops_.push_back({op.hlo, op.kind, op.seconds, 0});
    }
    for (auto& [key, members] : equal_kernels) groups_.push_back(std::move(members));
    for (const AsyncTime& time : prediction.asyncs) {
      const Instruction& start = *time.async->start;
      by_name_.try_emplace(std::string(start.name), ops_.size());
      by_kernel_.try_emplace(KernelName(start.name), ops_.size());
      index_.try_emplace(&start, ops_.size());
      is_library_.push_back(false);
      times_.push_back(time.times);
      groups_.push_back({ops_.size()});
      ops_.push_back({&start, time.async->use != nullptr ? TimeKind::kCommunication : TimeKind::kCopy, time.seconds, 0});
    }
    group_of_.resize(ops_.size());
    for (size_t g = 0; g < groups_.size(); ++g)
      for (size_t k : groups_[g]) group_of_[k] = g;
  }

  ProfileComparison Compare() {
    counts_.assign(ops_.size(), 0);
    std::vector<size_t> owner(profile_.events.size(), kUnmatched);
    for (size_t i = 0; i < owner.size(); ++i) owner[i] = FindByName(profile_.events[i].name);
    const bool is_ordered = AttributeByLaunchOrder(owner);
    if (!is_ordered) AttributeToLibraryCalls(owner);
    ProfileComparison result;
    double unmatched = 0;
    for (size_t i = 0; i < owner.size(); ++i) {
      result.measured += profile_.events[i].duration;
      if (owner[i] == kUnmatched) unmatched += profile_.events[i].duration;
      else ops_[owner[i]].measured += profile_.events[i].duration;
      result.owners.push_back(owner[i] == kUnmatched ? nullptr : ops_[owner[i]].hlo);
    }
    if (!is_ordered) DivideAmongEqualKernels();
    result.steps = CountSteps(owner);
    result.measured /= result.steps;
    result.unmatched = unmatched / result.steps;
    for (MeasuredOp& op : ops_) op.measured /= result.steps, result.predicted += op.predicted;
    result.matched_share = result.measured > 0 ? 1 - result.unmatched / result.measured : 0;
    double found = 0;
    for (const MeasuredOp& op : ops_)
      if (op.measured > 0) found += op.predicted;
    result.found_share = result.predicted > 0 ? found / result.predicted : 0;
    result.ops = ops_;
    std::stable_sort(result.ops.begin(), result.ops.end(), [](const MeasuredOp& a, const MeasuredOp& b) {
      return std::abs(a.measured - a.predicted) > std::abs(b.measured - b.predicted);
    });
    return result;
  }

 private:
  static constexpr size_t kUnmatched = SIZE_MAX;

  size_t FindByName(const std::string& name) const {
    if (const auto found = by_name_.find(name); found != by_name_.end()) return found->second;
    const auto found = by_kernel_.find(KernelName(name));
    return found == by_kernel_.end() ? kUnmatched : found->second;
  }

  // Returns the library calls after `hlo` in its computation, up to the next instruction that is not a library call.
  std::vector<size_t> CallsAfter(const Instruction& hlo) const {
    std::vector<size_t> calls;
    const auto& all = hlo.parent->instructions;
    for (size_t i = 1; i <= all.size(); ++i) {
      const auto found = index_.find(all[(hlo.index + i) % all.size()]);
      if (found == index_.end()) continue;
      if (!is_library_[found->second]) break;
      calls.push_back(found->second);
    }
    return calls;
  }

  // Returns the next op after `calls`, or kUnmatched at the end of the computation.
  size_t NextNamed(const std::vector<size_t>& calls) const {
    const Instruction& last = *ops_[calls.back()].hlo;
    const auto& all = last.parent->instructions;
    for (size_t i = last.index + 1; i < all.size(); ++i)
      if (const auto found = index_.find(all[i]); found != index_.end()) return found->second;
    return kUnmatched;
  }

  // Rates the mismatch between `calls` and events that take `seconds` and precede a kernel of `next`. 0 is the best.
  double Mismatch(const std::vector<size_t>& calls, double seconds, size_t next) const {
    double predicted = 0;
    for (size_t k : calls) predicted += times_[k] > 0 ? ops_[k].predicted / times_[k] : 0;
    const size_t expected = NextNamed(calls);
    const bool other_end = next != kUnmatched && expected != kUnmatched && group_of_[next] != group_of_[expected];
    return std::abs(std::log(std::max(1e-12, seconds) / std::max(1e-12, predicted))) + (other_end ? 3 : 0);
  }

  // Returns the library calls that ran between the kernels `before` and `next`. If several instructions share the
  // kernel `before`, returns the calls after the instruction with the smallest mismatch.
  std::vector<size_t> CallsBetween(size_t before, size_t next, double seconds) const {
    std::vector<size_t> best;
    double min_mismatch = INFINITY;
    for (size_t candidate : groups_[group_of_[before]]) {
      std::vector<size_t> calls = CallsAfter(*ops_[candidate].hlo);
      if (calls.empty()) continue;
      if (const double mismatch = Mismatch(calls, seconds, next); mismatch < min_mismatch) min_mismatch = mismatch, best = std::move(calls);
    }
    return best;
  }

  // Attributes consecutive events to consecutive calls, in proportion to the predicted times of the calls.
  void Divide(size_t begin, size_t end, const std::vector<size_t>& calls, std::vector<size_t>& owner) const {
    double predicted = 0, seconds = 0;
    for (size_t k : calls) predicted += times_[k] > 0 ? ops_[k].predicted / times_[k] : 0;
    for (size_t i = begin; i < end; ++i) seconds += profile_.events[i].duration;
    size_t call = 0;
    double elapsed = 0, until = calls.empty() || predicted <= 0 ? 0 : ops_[calls[0]].predicted / times_[calls[0]] / predicted;
    for (size_t i = begin; i < end && !calls.empty(); ++i) {
      const double middle = seconds > 0 ? (elapsed + profile_.events[i].duration / 2) / seconds : 0;
      while (call + 1 < calls.size() && middle > until) {
        ++call;
        until += predicted > 0 ? ops_[calls[call]].predicted / times_[calls[call]] / predicted : 1;
      }
      owner[i] = calls[call];
      elapsed += profile_.events[i].duration;
    }
  }

  static bool IsDriverCopy(const std::string& name) {
    return name.starts_with("Mem") || name.starts_with("mem");  // MemcpyD2D, Memset, memcpy32_post
  }

  // The first event of each step: one of an op that runs once per step and whose name is unique.
  std::vector<size_t> StepStarts(const std::vector<size_t>& owner, size_t& op) const {
    std::vector<std::vector<size_t>> events(groups_.size());
    for (size_t i = 0; i < owner.size(); ++i)
      if (owner[i] != kUnmatched) events[group_of_[owner[i]]].push_back(i);
    const std::vector<size_t>* best = nullptr;
    for (size_t g = 0; g < groups_.size(); ++g) {
      if (groups_[g].size() != 1 || times_[groups_[g][0]] != 1 || events[g].empty()) continue;
      if (best == nullptr || events[g].front() < best->front()) best = &events[g], op = groups_[g][0];
    }
    return best == nullptr ? std::vector<size_t>() : *best;
  }

  // Aligns the kernels of each step with the schedule. Returns false if the steps cannot be told apart, or are too long.
  bool AttributeByLaunchOrder(std::vector<size_t>& owner) const {
    size_t first_op = 0;
    const std::vector<size_t> starts = StepStarts(owner, first_op);
    const std::vector<const OpTime*> order = LaunchOrder(prediction_);
    if (starts.empty() || order.empty()) return false;
    std::vector<ExpectedKernel> expected;
    std::vector<size_t> op_of;
    for (const OpTime* op : order) {
      const size_t k = index_.at(op->hlo);
      const bool is_copy = op->family == KernelKind::kMemcpy || op->family == KernelKind::kCopy || op->family == KernelKind::kHostCopy;
      expected.push_back({times_[k] > 0 ? ops_[k].predicted / times_[k] : 0, group_of_[k], is_copy, is_library_[k]});
      op_of.push_back(k);
    }
    // A step of the profile begins at `first_op`; rotate the schedule likewise.
    const auto at = static_cast<size_t>(std::find(op_of.begin(), op_of.end(), first_op) - op_of.begin());
    std::rotate(expected.begin(), expected.begin() + static_cast<std::ptrdiff_t>(at), expected.end());
    std::rotate(op_of.begin(), op_of.begin() + static_cast<std::ptrdiff_t>(at), op_of.end());
    std::vector<size_t> ordered(owner.size(), kUnmatched);
    for (size_t s = 0; s <= starts.size(); ++s) {
      // The events before the first start are the end of a step.
      const size_t begin = s == 0 ? 0 : starts[s - 1], end = s < starts.size() ? starts[s] : owner.size();
      if (begin == end) continue;
      std::vector<MeasuredKernel> launched;
      for (size_t i = begin; i < end; ++i)
        launched.push_back({profile_.events[i].duration, owner[i] == kUnmatched ? SIZE_MAX : group_of_[owner[i]],
                            IsDriverCopy(profile_.events[i].name)});
      const auto owners = AlignStep(launched, expected);
      if (!owners) return false;
      for (size_t i = begin; i < end; ++i)
        ordered[i] = (*owners)[i - begin] == SIZE_MAX ? owner[i] : op_of[(*owners)[i - begin]];
    }
    owner = std::move(ordered);
    return true;
  }

  void AttributeToLibraryCalls(std::vector<size_t>& owner) const {
    size_t before = kUnmatched;
    for (size_t i = 0; i < owner.size(); ++i) {
      if (owner[i] != kUnmatched) {
        before = owner[i];
        continue;
      }
      size_t end = i;
      double seconds = 0;
      while (end < owner.size() && owner[end] == kUnmatched) seconds += profile_.events[end++].duration;
      std::vector<size_t> calls;
      if (before != kUnmatched) calls = CallsBetween(before, end < owner.size() ? owner[end] : kUnmatched, seconds);
      else for (size_t k = 0; k < ops_.size(); ++k) if (is_library_[k]) calls.push_back(k);
      if (before == kUnmatched && calls.size() > 1) calls.clear();
      Divide(i, end, calls, owner);
      i = end - 1;
    }
  }

  // Divides the measured time of equal kernels, which the compiler emits once under one name, by predicted time.
  void DivideAmongEqualKernels() {
    for (const std::vector<size_t>& group : groups_) {
      double predicted = 0, measured = 0;
      bool all_measured = true;  // true if the profile has events for each op of the group
      for (size_t k : group) predicted += ops_[k].predicted, measured += ops_[k].measured, all_measured &= ops_[k].measured > 0;
      if (all_measured) continue;
      for (size_t k : group) ops_[k].measured = predicted > 0 ? measured * ops_[k].predicted / predicted : 0;
    }
  }

  // Returns the number of steps in the profile: the median ratio of counted to predicted executions of a kernel.
  double CountSteps(const std::vector<size_t>& owner) {
    for (size_t i = 0; i < owner.size(); ++i)
      if (owner[i] != kUnmatched && !is_library_[owner[i]]) ++counts_[owner[i]];
    std::vector<double> ratios;
    for (const std::vector<size_t>& group : groups_) {
      double counted = 0, expected = 0;
      for (size_t k : group) counted += counts_[k], expected += times_[k];
      if (counted > 0 && expected > 0) ratios.push_back(counted / expected);
    }
    if (ratios.empty()) return 1;
    std::nth_element(ratios.begin(), ratios.begin() + static_cast<std::ptrdiff_t>(ratios.size() / 2), ratios.end());
    return std::max(1.0, std::round(ratios[ratios.size() / 2]));
  }

  const SimulatedStep& prediction_;
  const Trace& profile_;
  std::vector<MeasuredOp> ops_;
  std::vector<std::vector<size_t>> groups_;  // indices of ops with equal kernels
  std::vector<size_t> group_of_;
  std::vector<bool> is_library_;
  std::vector<double> times_, counts_;
  absl::flat_hash_map<std::string, size_t> by_name_, by_kernel_;
  absl::flat_hash_map<const Instruction*, size_t> index_;
};

}  // namespace

std::string KernelName(std::string_view name) {
  if (!name.empty() && name.front() == '%') name.remove_prefix(1);
  std::string kernel(name);
  for (char& c : kernel)
    if (c == '.' || c == '-') c = '_';
  return kernel;
}

std::string WhyProfileDiffers(const ProfileComparison& comparison) {
  constexpr double kMinShare = .6;
  const auto percent = [](double share) { return StrCat(static_cast<int>(100 * share), " %"); };
  if (comparison.matched_share < kMinShare)
    return StrCat("only ", percent(comparison.matched_share), " of the profile's time belongs to kernels of this module");
  if (comparison.found_share < kMinShare)
    return StrCat("the profile has kernels for only ", percent(comparison.found_share), " of this module's predicted time");
  return {};
}

ProfileComparison CompareWith(const SimulatedStep& prediction, const Trace& profile) { return Matcher(prediction, profile).Compare(); }

}  // namespace shoal::internal
