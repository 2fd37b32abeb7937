// __cudnn$convForwardGraph: a convolution and the ops fused into it. backend_config lists the ops:
// "7:[f32]conv();9:[f32]relu(7);12:[f8e4m3fn]scale(9);". An entry has the op's number, result type and name, and the
// numbers of its operands. Operands that are not in the list are the operands of the call, in order.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>

#include "kernels/linalg/activation.h"
#include "execute/interp/algebra/convolution.h"
#include "core/ops/backend_config.h"
#include "execute/interp/custom_calls/custom_call.h"
#include "kernels/elementwise/element_loops.h"

namespace shoal::internal {
namespace {

struct GraphOp {
  int64_t number = 0;
  ElementType type = ElementType::kF32;
  std::string_view name;
  std::vector<int64_t> operands;
};

int64_t ParsedNumber(std::string_view text) {
  int64_t number = -1;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

// Removes the text before `stop` and `stop` itself. Returns the text before `stop`.
std::string_view Take(std::string_view& text, char stop) {
  const size_t end = std::min(text.find(stop), text.size());
  const std::string_view part = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return part;
}

std::vector<GraphOp> ParseGraph(std::string_view text) {
  std::vector<GraphOp> ops;
  while (!text.empty()) {
    std::string_view op = Take(text, ';');
    GraphOp& parsed = ops.emplace_back();
    parsed.number = ParsedNumber(Take(op, ':'));
    Take(op, '[');
    parsed.type = ParseElementType(Take(op, ']')).value_or(ElementType::kInvalid);
    parsed.name = Take(op, '(');
    std::string_view operands = Take(op, ')');
    while (!operands.empty()) parsed.operands.push_back(ParsedNumber(Take(operands, ',')));
  }
  return ops;
}

// Computes x = x op y. y is a scalar, or a vector along the last dimension.
Status CombineWith(const Instruction& hlo, std::string_view op, Array& x, const Array& operand) {
  const Array y = Converted(operand, ElementType::kF32);
  if (y.count() == 0 || x.count() % y.count() != 0)
    return ExecutionError(hlo, StrCat(op, " cannot combine ", ToString(x), " and ", ToString(operand)));
  const std::span<const float> in = y.As<float>();
  const std::span<float> out = x.Mutable<float>();
  for (size_t i = 0; i < out.size(); ++i) {
    const float value = in[i % in.size()];
    if (op == "add") out[i] += value;
    if (op == "min") out[i] = std::min(out[i], value);
    if (op == "max") out[i] = std::max(out[i], value);
    if (op == "scale") out[i] *= value;
    if (op == "invscale") out[i] /= value;
  }
  return {};
}

bool TakesTwo(std::string_view op) {
  constexpr std::string_view kNames[] = {"add", "min", "max", "scale", "invscale"};
  return std::find(std::begin(kNames), std::end(kNames), op) != std::end(kNames);
}

float LargestMagnitude(const Array& x) {
  float largest = 0;
  for (float value : x.As<float>()) largest = std::max(largest, std::abs(value));
  return largest;
}

}  // namespace

Result<Value> CudnnConvolutionGraph(Call& call) {
  const Instruction& hlo = call.hlo;
  SHOAL_ASSIGN(sums, CudnnForwardSums(call));
  const BackendConfig config = BackendConfig::Of(hlo).Object("cudnn_conv_backend_config");
  std::map<int64_t, Array> values;
  Array result = Converted(sums, ElementType::kF32);
  std::vector<float> largest;
  size_t next = 2;
  for (const GraphOp& op : ParseGraph(config.Text("serialized_graph"))) {
    if (op.name == "conv") {
      values[op.number] = result;
      continue;
    }
    if (op.operands.empty() || !values.contains(op.operands[0]) || !IsFloat(op.type))
      return ExecutionError(hlo, StrCat("serialized_graph has an op with an unsupported operand or type: ", op.name));
    Array x = values[op.operands[0]];
    if (op.name == "amax") {
      largest.push_back(LargestMagnitude(x));
      continue;
    }
    if (TakesTwo(op.name)) {
      const bool is_graph_value = op.operands.size() > 1 && values.contains(op.operands[1]);
      if (!is_graph_value && (next >= call.operands.size() || !call.operands[next].IsArray()))
        return ExecutionError(hlo, StrCat("missing operand for ", op.name));
      SHOAL_TRY(CombineWith(hlo, op.name, x, is_graph_value ? values[op.operands[1]] : call.array(next++)));
    } else if (op.name == "relu" || op.name == "elu") {
      Activate(op.name == "relu" ? Activation::kRelu : Activation::kElu, x, 1);
    } else {
      return ExecutionError(hlo, StrCat("unknown op in serialized_graph: ", op.name));
    }
    ClampToFinite(x, op.type);
    if (op.type != ElementType::kF32) x = Converted(Converted(x, op.type), ElementType::kF32);
    values[op.number] = result = x;
  }
  // The results are the output, the requested maximum magnitudes, and scratch memory.
  std::vector<Value> results;
  for (const Shape* shape : hlo.shape().elements()) {
    const size_t i = results.size();
    if (i == 0) {
      results.push_back(Converted(result, shape->element_type()));
    } else if (i <= largest.size() && shape->IsScalar()) {
      results.push_back(Converted(Array::Scalar(ElementType::kF32, largest[i - 1]), shape->element_type()));
    } else {
      results.push_back(ZeroValue(*shape));
    }
  }
  return Value::Tuple(std::move(results));
}

}  // namespace shoal::internal
