#include "core/ops/callee.h"
#include "core/ops/dims.h"
#include "core/ops/reduce.h"

namespace shoal::internal {
namespace {

// The operands are the inputs, then the carries. The results are the outputs, then the carries.
struct ScanParts {
  Signature body;
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
    return Broken(hlo, "C3", StrCat("num_carries must lie in [0, ", operands, "], the operand count, got ", carries));
  return {};
}

Result<ScanParts> PartsOf(const Instruction& hlo) {
  SHOAL_ASSIGN(body, SignatureOf(hlo, kToApply));
  SHOAL_TRY(CheckCounts(hlo, body.parameters.size()));
  ScanParts parts;
  parts.roots = {body.result};
  if (body.result->IsTuple()) parts.roots.assign(body.result->elements().begin(), body.result->elements().end());
  parts.body = std::move(body);
  parts.carries = static_cast<size_t>(hlo[Op<Opcode::kScan>::kNumCarries]);
  parts.dim = hlo[kDimensions][0];
  parts.inputs = hlo.operand_count() - parts.carries;
  if (parts.roots.size() < parts.carries)
    return Broken(hlo, "C4", StrCat("to_apply must return ", parts.carries, " carries, got ", Str(*parts.body.result)));
  parts.outputs = parts.roots.size() - parts.carries;
  if (parts.inputs == 0 && parts.outputs == 0) return Broken(hlo, "C5", "must have an input or an output, got none");
  return parts;
}

// Number of iterations: the size along the dimension of the inputs or, without inputs, of the first declared output.
Result<int64_t> ScanLength(const Instruction& hlo, const ScanParts& parts) {
  const Shape* along = nullptr;
  if (parts.inputs > 0) {
    along = &hlo.operand_shape(0);
  } else if (hlo.shape_ != nullptr) {
    along = &FirstElement(hlo.shape());
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

// Checks the operands against the parameters of to_apply, which takes one slice of each input.
Status CheckOperands(const Instruction& hlo, const ScanParts& parts, int64_t length, ShapePool& shapes) {
  for (size_t i = 0; i < hlo.operand_count(); ++i) {
    const Shape* expected = &hlo.operand_shape(i);
    if (i < parts.inputs) {
      if (!expected->IsArray() || parts.dim >= expected->rank() || expected->dim(parts.dim) != length)
        return Broken(hlo, "C7",
                      StrCat("inputs must have size ", length, " in dimension ", parts.dim, ", got ", Str(*expected)));
      expected = WithoutDim(*expected, parts.dim, shapes);
    }
    if (!EqualExceptPrecision(*expected, *parts.body.parameters[i]))
      return Broken(
          hlo, "C8",
          StrCat("parameter ", i, " of to_apply must be ", Str(*expected), ", got ", Str(*parts.body.parameters[i])));
  }
  for (size_t i = 0; i < parts.carries; ++i) {
    const Shape& parameter = *parts.body.parameters[parts.inputs + i];
    const Shape& carry = *parts.roots[parts.outputs + i];
    if (!EqualExceptPrecision(parameter, carry))
      return Broken(hlo, "C9", StrCat("to_apply must return carry ", i, " as ", Str(parameter), ", got ", Str(carry)));
  }
  return {};
}

}  // namespace

Status Op<Opcode::kScan>::Normalize(Instruction& hlo, Module&) {
  const Computation* body = hlo[kToApply];
  return body == nullptr || !body->defined ? Status() : CheckCounts(hlo, body->parameters.size());
}

ShapeResult Op<Opcode::kScan>::Infer(const Instruction& hlo, ShapePool& shapes) {
  SHOAL_ASSIGN(parts, PartsOf(hlo));
  SHOAL_ASSIGN(length, ScanLength(hlo, parts));
  SHOAL_TRY(CheckOperands(hlo, parts, length, shapes));
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
      if (i == parts.dim) dims.Add(length);
      if (i < root.rank()) dims.AddFrom(root, i);
    }
    results.push_back(dims.Make(root.element_type(), shapes));
  }
  return parts.body.result->IsTuple() ? shapes.Tuple(results) : results[0];
}

}  // namespace shoal::internal
