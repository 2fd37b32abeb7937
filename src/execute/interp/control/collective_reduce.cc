// Collectives that reduce: all-reduce, reduce-scatter, collective-reduce. All of them fold in member order, so that
// results are bit-identical in every run.
#include <algorithm>

#include "analyze/facts/wire_bytes.h"
#include "execute/interp/control/operand_fold.h"

namespace shoal::internal {
namespace {

Result<Arrays> FoldAll(const FoldPtr& fold, std::vector<Arrays> contributions) {
  Arrays sum;
  for (Arrays& each : contributions) SHOAL_TRY(fold->Add(sum, std::move(each)));
  return fold->Finish(std::move(sum));
}

Diag CannotScatter(const Instruction& hlo, const std::string& whole, int64_t n) {
  return ExecutionError(hlo, StrCat(whole, " cannot be scattered over ", n, " devices"));
}

// Rules by which each process receives its members' parts of all contributions and folds the parts.
PartRules ReduceScatterRules(const Instruction& hlo, const FoldPtr& fold, int64_t n) {
  PartRules rules;
  const int64_t dim = hlo[kDimensions][0];
  rules.split = [&hlo, n, dim](size_t, const Arrays& contribution, PartRules::Targets targets) -> Result<Arrays> {
    Arrays parts;
    for (size_t target : targets) {
      for (const Array& whole : contribution) {
        if (whole.dim(dim) % n != 0) return CannotScatter(hlo, ToString(whole), n);
        const int64_t part = whole.dim(dim) / n;
        parts.push_back(PartOrView(whole, dim, static_cast<int64_t>(target) * part, part));
      }
    }
    return parts;
  };
  rules.join = [&hlo, fold](std::vector<Arrays> parts, const std::vector<ArrayTypes>& types,
                            PartRules::Targets targets) -> Result<std::vector<Arrays>> {
    for (const ArrayTypes& each : types)
      for (size_t k = 0; k < each.size(); ++k)
        if (each[k].dims != types[0][k].dims) return DifferentSizes(hlo, ToString(types[0][k]), ToString(each[k]));
    const size_t operands = types[0].size();
    std::vector<Arrays> results;
    for (size_t i = 0; i < targets.size(); ++i) {
      std::vector<Arrays> target_parts;
      for (Arrays& each : parts) {
        const auto begin = std::make_move_iterator(each.begin() + static_cast<ptrdiff_t>(i * operands));
        target_parts.emplace_back(begin, begin + static_cast<ptrdiff_t>(operands));
      }
      SHOAL_ASSIGN(sums, FoldAll(fold, std::move(target_parts)));
      results.push_back(std::move(sums));
    }
    return results;
  };
  return rules;
}

// Members other than the root receive zeros.
Result<std::vector<Arrays>> ResultsAtRoots(const Roots& roots, const Arrays& sums, size_t members) {
  SHOAL_TRY(roots.Check(static_cast<int64_t>(members)));
  std::vector<Arrays> results(members);
  for (size_t k = 0; k < sums.size(); ++k) {
    const Array zeros = Array::Zeros(sums[k].type(), sums[k].dims());
    for (size_t i = 0; i < members; ++i) results[i].push_back(i == roots.Of(k) ? sums[k] : zeros);
  }
  return results;
}

// For few bytes: every process receives all contributions and folds them for its own members.
PartRules FoldOnEveryProcess(const FoldPtr& fold) {
  PartRules rules;
  rules.is_shared = true;
  rules.split = [](size_t, const Arrays& contribution, PartRules::Targets) -> Result<Arrays> { return contribution; };
  rules.join = [fold](std::vector<Arrays> parts, const std::vector<ArrayTypes>&,
                      PartRules::Targets targets) -> Result<std::vector<Arrays>> {
    SHOAL_ASSIGN(sums, FoldAll(fold, std::move(parts)));
    return std::vector<Arrays>(targets.size(), sums);
  };
  return rules;
}

// Only the process of an operand's root receives the contributions to that operand.
PartRules ReduceToRootsRules(const Instruction& hlo, const Roots& roots, const FoldPtr& fold) {
  auto is_wanted = [roots](size_t k, PartRules::Targets targets) {
    return std::find(targets.begin(), targets.end(), roots.Of(k)) != targets.end();
  };
  PartRules rules;
  rules.split = [roots, is_wanted](size_t, const Arrays& contribution, PartRules::Targets targets) -> Result<Arrays> {
    Arrays parts;
    for (size_t k = 0; k < roots.operands(); ++k)
      parts.push_back(is_wanted(k, targets) ? contribution[k] : Array(contribution[k].type(), Dims{0}));
    return parts;
  };
  rules.join = [&hlo, roots, fold, is_wanted](std::vector<Arrays> parts, const std::vector<ArrayTypes>& types,
                                              PartRules::Targets targets) -> Result<std::vector<Arrays>> {
    SHOAL_TRY(roots.Check(std::ssize(parts)));
    for (size_t k = 0; k < roots.operands(); ++k) {
      for (size_t member = 0; member < parts.size(); ++member) {
        if (types[member][k].dims != types[0][k].dims)
          return DifferentSizes(hlo, ToString(types[0][k]), ToString(types[member][k]));
        const bool has_arrived = std::ranges::equal(parts[member][k].dims(), types[member][k].dims);
        if (is_wanted(k, targets) && !has_arrived)
          return ExecutionError(hlo, StrCat("devices specify different roots for operand ", k));
      }
    }
    SHOAL_ASSIGN(sums, FoldAll(fold, std::move(parts)));
    std::vector<Arrays> results(targets.size());
    for (size_t k = 0; k < roots.operands(); ++k) {
      const Array zeros = Array::Zeros(types[0][k].type, AsInts(types[0][k].dims));
      for (size_t i = 0; i < targets.size(); ++i) results[i].push_back(targets[i] == roots.Of(k) ? sums[k] : zeros);
    }
    return results;
  };
  return rules;
}

}  // namespace

Status CheckBinaryReducer(const Instruction& hlo) {
  const Computation& computation = *hlo[kToApply];
  bool is_binary = computation.parameters.size() == 2;
  for (const Instruction* parameter : computation.parameters)
    is_binary = is_binary && parameter != nullptr && parameter->shape().IsScalar();
  if (is_binary) return {};
  return ExecutionError(hlo, StrCat(computation.name, " must take two scalars, got ", computation.parameters.size(), " parameters"));
}

Result<Value> BeginAllReduce(Call& call) {
  SHOAL_TRY(CheckBinaryReducer(call.hlo));
  SHOAL_ASSIGN(n, MembersOf(call));
  const size_t operands = call.operands.size();
  Arrays arrays = TakeArrays(call);
  auto to_all = [n](const Arrays& sums) -> Result<std::vector<Arrays>> { return std::vector<Arrays>(n, sums); };
  auto exchange = [&]() -> std::unique_ptr<Exchange> {
    const FoldPtr fold = FoldAcrossProcesses(call, operands);
    if (const std::optional<ReduceOp> op = FastOpOf(call, operands)) return NewFastReduceExchange(fold, *op);
    // Use the declared shapes, so that every process makes the same choice.
    if (PayloadOf(call.hlo) <= kSmallMessageBytes) return NewPartExchange(FoldOnEveryProcess(fold));
    return NewAllReduceExchange(fold, [&hlo = call.hlo](const ArrayType& a, const ArrayType& b) {
      return DifferentSizes(hlo, ToString(a), ToString(b));
    });
  };
  return BeginInGroup(call, std::move(arrays), {MakeAccumulate(call, operands, to_all), exchange});
}

Result<Value> BeginReduceScatter(Call& call) {
  SHOAL_TRY(CheckBinaryReducer(call.hlo));
  SHOAL_ASSIGN(members, MembersOf(call));
  const int64_t dim = call.hlo[kDimensions][0];
  const auto n = static_cast<int64_t>(members);
  auto scatter = [&hlo = call.hlo, n, dim](const Arrays& sums) -> Result<std::vector<Arrays>> {
    std::vector<Arrays> results(static_cast<size_t>(n));
    for (const Array& whole : sums) {
      if (whole.dim(dim) % n != 0) return CannotScatter(hlo, ToString(whole), n);
      const int64_t part = whole.dim(dim) / n;
      for (int64_t i = 0; i < n; ++i)
        results[static_cast<size_t>(i)].push_back(n == 1 ? whole : PartOf(whole, dim, i * part, part));
    }
    return results;
  };
  const size_t operands = call.operands.size();
  auto exchange = [&] { return NewPartExchange(ReduceScatterRules(call.hlo, FoldAcrossProcesses(call, operands), n)); };
  return BeginInGroup(call, TakeArrays(call),
                      {MakeAccumulate(call, operands, scatter), exchange});
}

Result<Value> BeginCollectiveReduce(Call& call) {
  SHOAL_TRY(CheckBinaryReducer(call.hlo));
  SHOAL_ASSIGN(members, MembersOf(call));
  Arrays arrays = TakeArrays(call);
  const Roots roots(call.hlo, arrays);
  auto exchange = [&] {
    return NewPartExchange(ReduceToRootsRules(call.hlo, roots, FoldAcrossProcesses(call, roots.operands())));
  };
  auto to_roots = [&roots, members](const Arrays& sums) { return ResultsAtRoots(roots, sums, members); };
  return BeginInGroup(
      call, std::move(arrays), roots.operands(),
      [&](int64_t n, int64_t position, int64_t payload) {
        return DirectBytes(call.hlo.opcode, {n, payload, roots.BytesAt(position), position});
      },
      {MakeAccumulate(call, roots.operands(), to_roots), exchange});
}

}  // namespace shoal::internal
