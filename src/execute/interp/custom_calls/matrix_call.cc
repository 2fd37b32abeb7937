#include "execute/interp/custom_calls/matrix_call.h"

#include <algorithm>
#include <limits>

#include "core/ops/control_flow.h"

namespace shoal::internal {
namespace {

bool IsLapackType(ElementType type) {
  return type == ElementType::kF32 || type == ElementType::kF64 || type == ElementType::kC64 ||
         type == ElementType::kC128;
}

}  // namespace

MatrixCall::MatrixCall(Call& call, size_t main) : call_(call), main_(main), config_(ConfigOf(call)) {
  const bool are_arrays = call.operands.size() > main && std::all_of(call.operands.begin(), call.operands.end(),
                                                                 [](const Value& value) { return value.IsArray(); });
  if (!are_arrays || !IsLapackType(call.array(main).type()) || call.array(main).rank() < 2) return;
  const Ints dims = call.array(main).dims();
  const int64_t rows = dims[dims.size() - 2], columns = dims.back();
  if (rows > std::numeric_limits<int>::max() / 8 || columns > std::numeric_limits<int>::max() / 8) return;
  batch_dims_ = ToDims(dims.first(dims.size() - 2));
  batch_ = ElementCount(AsInts(batch_dims_));
  rows_ = static_cast<int>(rows);
  columns_ = static_cast<int>(columns);
  results_.reserve(8);
  ok_ = true;
}

ElementType MatrixCall::real_type() const {
  if (type() == ElementType::kC64) return ElementType::kF32;
  return type() == ElementType::kC128 ? ElementType::kF64 : type();
}

ElementType MatrixCall::complex_type() const {
  return real_type() == ElementType::kF32 ? ElementType::kC64 : ElementType::kC128;
}

int MatrixCall::LastOf(size_t i, int before) const {
  if (i >= call_.operands.size() || operand(i).rank() <= before) return 0;
  const int64_t size = operand(i).dim(operand(i).rank() - 1 - before);
  return static_cast<int>(std::min<int64_t>(size, std::numeric_limits<int>::max() / 8));
}

bool MatrixCall::Has(size_t i, ElementType type, std::initializer_list<int64_t> dims) const {
  if (i >= call_.operands.size() || operand(i).type() != type) return false;
  Dims required = batch_dims_;
  required.insert(required.end(), dims.begin(), dims.end());
  return std::equal(required.begin(), required.end(), operand(i).dims().begin(), operand(i).dims().end());
}

Array& MatrixCall::Add(ElementType type, std::initializer_list<int64_t> dims) {
  Dims all = batch_dims_;
  all.insert(all.end(), dims.begin(), dims.end());
  return results_.emplace_back(Array::Zeros(type, AsInts(all)));
}

void MatrixCall::AddUndefined() {
  const Shape& shape = call_.hlo.shape();
  const size_t at = results_.size();
  const bool declared = shape.IsTuple() && at < shape.elements().size() && shape.elements()[at]->IsArray();
  if (!declared) return;
  results_.push_back(Array::Zeros(shape.elements()[at]->element_type(), shape.elements()[at]->dims()));
}

Result<Value> MatrixCall::Finish() {
  std::vector<Value> parts(results_.begin(), results_.end());
  Value value = parts.size() == 1 && !call_.hlo.shape().IsTuple() ? parts[0] : Value::Tuple(std::move(parts));
  if (!Fits(value, call_.hlo.shape())) return ShapeError();
  return value;
}

Diag MatrixCall::ShapeError() const {
  std::string operands;
  for (const Value& value : call_.operands)
    StrAppend(&operands, operands.empty() ? "" : ", ", value.IsArray() ? ToString(value.array()) : "not an array");
  return ExecutionError(call_.hlo, StrCat("the custom call \"", call_.hlo[Op<Opcode::kCustomCall>::kTarget],
                                          "\" cannot produce ", ToString(call_.hlo.shape()), " from (", operands, ")"));
}

}  // namespace shoal::internal
