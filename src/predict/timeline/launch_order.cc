#include "predict/timeline/launch_order.h"

#include <algorithm>
#include <cmath>

#include "core/ops/traits.h"

namespace shoal::internal {
namespace {

constexpr size_t kMaxCells = 50'000'000;     // of the alignment's table
constexpr int64_t kMaxVisits = 2'000'000;  // of ops and iterations; a loop may have any trip count

class Unroller {
 public:
  explicit Unroller(const SimulatedStep& prediction) : plan_(*prediction.plan) {
    for (const OpTime& op : prediction.ops) op_of_[op.hlo] = &op;
  }

  std::vector<const OpTime*> Run() {
    if (plan_.entry != nullptr) Add(*plan_.entry, 0);
    return std::move(all_);
  }

 private:
  // The number of executions of a computation, as the largest of its ops.
  double CountOf(const Computation& computation) const {
    double count = 0;
    if (auto block = plan_.blocks.find(&computation); block != plan_.blocks.end())
      for (const DevicePlanOp& op : block->second)
        if (auto found = op_of_.find(op.hlo); found != op_of_.end()) count = std::max(count, found->second->times);
    return count;
  }

  void Add(const Computation& computation, int depth) {
    constexpr int kMaxDepth = 32;
    const auto block = plan_.blocks.find(&computation);
    if (block == plan_.blocks.end() || depth > kMaxDepth) return;
    for (const DevicePlanOp& op : block->second) {
      if (++visits_ > kMaxVisits) return;
      if (auto found = op_of_.find(op.hlo); found != op_of_.end()) all_.push_back(found->second);
      for (const Computation* callee : CalledComputations(*op.hlo)) {
        if (!plan_.blocks.contains(callee)) continue;
        const double own = std::max(1.0, CountOf(computation)), inside = CountOf(*callee);
        const double times = IsLoop(*op.hlo) ? std::round(inside / own) : 1;
        for (double i = 0; i < times && ++visits_ <= kMaxVisits; ++i) Add(*callee, depth + 1);
      }
    }
  }

  const DevicePlan& plan_;
  absl::flat_hash_map<const Instruction*, const OpTime*> op_of_;
  std::vector<const OpTime*> all_;
  int64_t visits_ = 0;
};

constexpr double kImpossible = -1e9;
constexpr double kSkipLaunched = -1.5, kSkipExpected = -0.5;
constexpr double kSameName = 10, kUnnamed = 3, kAnotherOfSameOp = -0.75;

double MatchScore(const MeasuredKernel& launched, const ExpectedKernel& expected) {
  if (launched.group != SIZE_MAX) return launched.group == expected.group ? kSameName : kImpossible;
  if (launched.is_copy) return expected.is_copy ? kUnnamed : kImpossible;
  if (!expected.is_library) return kImpossible;
  const double ratio = std::abs(std::log(std::max(1e-9, launched.seconds) / std::max(1e-9, expected.seconds)));
  return kUnnamed - std::min(3.0, ratio);
}

// One op may launch several kernels, for example a memset before the kernel proper, or a second pass.
bool MayRepeat(const MeasuredKernel& launched, const ExpectedKernel& expected) {
  return launched.group == SIZE_MAX ? expected.is_library || launched.is_copy : launched.group == expected.group;
}

enum class Move : uint8_t { kMatch, kRepeat, kSkipLaunched, kSkipExpected };

}  // namespace

std::vector<const OpTime*> LaunchOrder(const SimulatedStep& prediction) {
  return prediction.plan == nullptr ? std::vector<const OpTime*>() : Unroller(prediction).Run();
}

std::optional<std::vector<size_t>> AlignStep(std::span<const MeasuredKernel> launched, std::span<const ExpectedKernel> expected) {
  const size_t rows = launched.size() + 1, columns = expected.size() + 1;
  if (rows > kMaxCells / columns) return std::nullopt;
  // best[j]: the score of aligning the first i kernels with the first j ops. matched[j]: the same, if kernel i belongs
  // to op j.
  std::vector<double> best(columns), matched(columns, kImpossible), last_best(columns), last_matched(columns, kImpossible);
  std::vector<Move> best_moves(rows * columns), matched_moves(rows * columns);
  for (size_t j = 1; j < columns; ++j) last_best[j] = last_best[j - 1] + kSkipExpected, best_moves[j] = Move::kSkipExpected;
  for (size_t i = 1; i < rows; ++i) {
    best[0] = last_best[0] + kSkipLaunched;
    matched[0] = kImpossible;
    best_moves[i * columns] = Move::kSkipLaunched;
    for (size_t j = 1; j < columns; ++j) {
      const size_t cell = i * columns + j;
      const MeasuredKernel& kernel = launched[i - 1];
      const double fresh = last_best[j - 1] + MatchScore(kernel, expected[j - 1]);
      const double repeat = MayRepeat(kernel, expected[j - 1]) ? last_matched[j] + kAnotherOfSameOp : kImpossible;
      matched[j] = std::max(fresh, repeat);
      matched_moves[cell] = repeat > fresh ? Move::kRepeat : Move::kMatch;
      best[j] = matched[j], best_moves[cell] = Move::kMatch;
      if (const double skip = last_best[j] + kSkipLaunched; skip > best[j]) best[j] = skip, best_moves[cell] = Move::kSkipLaunched;
      if (const double skip = best[j - 1] + kSkipExpected; skip > best[j]) best[j] = skip, best_moves[cell] = Move::kSkipExpected;
    }
    std::swap(best, last_best);
    std::swap(matched, last_matched);
  }
  std::vector<size_t> owners(launched.size(), SIZE_MAX);
  size_t i = launched.size(), j = expected.size();
  bool in_match = false;  // the cell's value is `matched`, not `best`
  while (i > 0) {
    const size_t cell = i * columns + j;
    if (!in_match && best_moves[cell] == Move::kSkipLaunched) {
      --i;
    } else if (!in_match && best_moves[cell] == Move::kSkipExpected) {
      --j;
    } else {
      owners[i - 1] = j - 1;
      in_match = matched_moves[cell] == Move::kRepeat;
      --i;
      if (!in_match) --j;
    }
  }
  return owners;
}

}  // namespace shoal::internal
