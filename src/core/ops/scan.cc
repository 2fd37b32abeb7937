#include "core/ops/callee.h"
#include "core/ops/dims.h"
#include "core/ops/reduce.h"

namespace shoal::internal {
namespace {

// Operands are inputs and then carries; results are outputs and then carries.
struct ScanParts {
  Signature step;
  std::vector<const Shape*> roots;
  size_t inputs = 0, outputs = 0, carries = 0;
  int64_t dim = 0;
};

Status CheckCounts(const Instruction& hlo, size_t parameters) {
  using Scan = Op<Opcode::kScan>;
  const size_t operands = hlo.operand_count();
  if (operands != parameters)
    return Broken(hlo, "C1",
                  StrCat("to_apply must take ", Count(operands, "parameter"), ", one per operand, got ", parameters));
  SHOAL_TRY(OneDimension(hlo, "C2"));
  const int64_t carries = hlo[Scan::kNumCarries];
  if (carries < 0 || carries > static_cast<int64_t>(operands))
    return Broken(hlo, "C3", StrCat("num_carries must lie in [0, ", operands, "], the operands, got ", carries));
  return {};
}

Result<ScanParts> PartsOf(const Instruction& hlo) {
  SHOAL_ASSIGN(step, SignatureOf(hlo, kToApply));
  SHOAL_TRY(CheckCounts(hlo, step.parameters.size()));
  ScanParts parts;
  parts.roots = {step.result};
  if (step.result->IsTuple()) parts.roots.assign(step.result->elements().begin(), step.result->elements().end());
  parts.step = std::move(step);
  parts.carries = static_cast<size_t>(hlo[Op<Opcode::kScan>::kNumCarries]);
  parts.dim = hlo[kDimensions][0];
  parts.inputs = hlo.operand_count() - parts.carries;
  if (parts.roots.size() < parts.carries)
    return Broken(hlo, "C4", StrCat("to_apply must return ", parts.carries, " carries, got ", Str(*parts.step.result)));
  parts.outputs = parts.roots.size() - parts.carries;
  if (parts.inputs == 0 && parts.outputs == 0) return Broken(hlo, "C5", "must have an input or an output, got none");
  return parts;
}

// How many steps there are: the size of the inputs or, without any, of the declared first output.
Result<int64_t> StepCount(const Instruction& hlo, const ScanParts& parts) {
  const Shape* along = nullptr;
  if (parts.inputs > 0) {
    along = &hlo.operand_shape(0);
  } else if (hlo.shape_ != nullptr) {
    along = hlo.shape().IsTuple() && !hlo.shape().elements().empty() ? &hlo.shape().element(0) : hlo.shape_;
  }
  if (along == nullptr) return Broken(hlo, "C5", "must have an input from which to infer the shape, got none");
  const int64_t rank = along->IsArray() ? along->rank() : 0;
  if (parts.dim < 0 || parts.dim >= rank)
    return Broken(hlo, "C6", StrCat("dimensions must lie in [0, ", rank, "), got {", parts.dim, "}"));
  return along->dim(parts.dim);
}

const Shape* WithoutDim(const Shape& shape, int64_t dim, ShapePool& shapes) {
  DimList dims;
  for (int64_t i = 0; i < shape.rank(); ++i)
    if (i != dim) dims.AddFrom(shape, i);
  return dims.Make(shape.element_type(), shapes);
}

// Operands against the parameters of a step, which sees one slice of each input.
Status CheckOperands(const Instruction& hlo, const ScanParts& parts, int64_t steps, ShapePool& shapes) {
  for (size_t i = 0; i < hlo.operand_count(); ++i) {
    const Shape* seen = &hlo.operand_shape(i);
    if (i < parts.inputs) {
      if (!seen->IsArray() || parts.dim >= seen->rank() || seen->dim(parts.dim) != steps)
        return Broken(hlo, "C7",
                      StrCat("inputs must have size ", steps, " in dimension ", parts.dim, ", got ", Str(*seen)));
      seen = WithoutDim(*seen, parts.dim, shapes);
    }
    if (!SameButPrecision(*seen, *parts.step.parameters[i]))
      return Broken(
          hlo, "C8",
          StrCat("parameter ", i, " of to_apply must be ", Str(*seen), ", got ", Str(*parts.step.parameters[i])));
  }
  for (size_t i = 0; i < parts.carries; ++i) {
    const Shape& into = *parts.step.parameters[parts.inputs + i];
    const Shape& out_of = *parts.roots[parts.outputs + i];
    if (!SameButPrecision(into, out_of))
      return Broken(hlo, "C9", StrCat("to_apply must return carry ", i, " as ", Str(into), ", got ", Str(out_of)));
  }
  return {};
}

}  // namespace

Status Op<Opcode::kScan>::Normalize(Instruction& hlo, Module&) {
  const Computation* step = hlo[kToApply];
  return step == nullptr || !step->defined ? Status() : CheckCounts(hlo, step->parameters.size());
}

ShapeResult Op<Opcode::kScan>::Infer(const Instruction& hlo, ShapePool& shapes) {
  SHOAL_ASSIGN(parts, PartsOf(hlo));
  SHOAL_ASSIGN(steps, StepCount(hlo, parts));
  SHOAL_TRY(CheckOperands(hlo, parts, steps, shapes));
  std::vector<const Shape*> results;
  for (size_t r = 0; r < parts.roots.size(); ++r) {
    const Shape& root = *parts.roots[r];
    if (r >= parts.outputs) {
      results.push_back(&root);
      continue;
    }
    if (!root.IsArray() || parts.dim > root.rank())
      return Broken(
          hlo, "C10",
          StrCat("to_apply must return output ", r, " as an array of rank ", parts.dim, " or more, got ", Str(root)));
    DimList dims;
    for (int64_t i = 0; i <= root.rank(); ++i) {
      if (i == parts.dim) dims.Add(steps);
      if (i < root.rank()) dims.AddFrom(root, i);
    }
    results.push_back(dims.Make(root.element_type(), shapes));
  }
  return parts.step.result->IsTuple() ? shapes.Tuple(results) : results[0];
}

}  // namespace shoal::internal
