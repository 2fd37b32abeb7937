#include "execute/interp/custom_calls/old_call.h"

#include "core/ops/control_flow.h"

namespace shoal::internal {

Diag BadOldCall(const Call& call) {
  return ExecutionError(call.hlo, StrCat("unexpected operands of the custom call \"",
                                         call.hlo[Op<Opcode::kCustomCall>::kTarget], "\" of an old version of JAX"));
}

bool HasOldForm(const Call& call, size_t scalars) {
  if (call.operands.size() <= scalars || !call.hlo.shape_->IsTuple()) return false;
  for (size_t i = 0; i < call.operands.size(); ++i)
    if (!call.operands[i].IsArray() ||
        (i < scalars && (call.array(i).count() != 1 || !IsInteger(call.array(i).type()))))
      return false;
  return true;
}

Result<Value> RunSuccessor(Call& call, const Translation& translation) {
  const Shape& shape = call.hlo.shape();
  std::vector<const Shape*> shapes;
  for (size_t i = 0; i < translation.results.size() && i < shape.elements().size(); ++i) {
    if (translation.results[i] == kWorkspace) continue;
    const auto at = static_cast<size_t>(translation.results[i]);
    if (shapes.size() <= at) shapes.resize(at + 1, shape.elements()[i]);
    shapes[at] = shape.elements()[i];
  }
  if (shapes.empty()) return BadOldCall(call);
  Arena arena;
  ShapePool pool(arena);
  Instruction successor = call.hlo;
  successor.shape_ = shapes.size() == 1 ? shapes[0] : pool.Tuple(shapes);
  NamedAttr attrs[] = {{kBackendConfig.id, std::string_view(translation.config)},
                             {Op<Opcode::kCustomCall>::kTarget.id, call.hlo[Op<Opcode::kCustomCall>::kTarget]}};
  successor.attrs = attrs;
  std::vector<Value> operands;
  for (size_t i : translation.arrays) operands.push_back(std::move(call.operands[i]));
  Call inner{successor, operands, call.device};
  SHOAL_ASSIGN(result, translation.successor(inner));
  std::vector<Value> parts;
  for (size_t i = 0; i < shape.elements().size(); ++i) {
    const Shape& element = *shape.elements()[i];
    const int at = i < translation.results.size() ? translation.results[i] : kWorkspace;
    if (at == kWorkspace)
      parts.push_back(Value(Array::Zeros(element.element_type(), element.dims())));
    else
      parts.push_back(result.IsArray() ? result : result.element(at));
  }
  return Value::Tuple(std::move(parts));
}

}  // namespace shoal::internal
