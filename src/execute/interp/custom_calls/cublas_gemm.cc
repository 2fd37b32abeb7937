// cuBLAS matmuls. They accumulate in the sum type and round once.
#include "execute/interp/custom_calls/cublas_gemm.h"

#include <algorithm>
#include <cmath>

#include "core/ops/dims.h"
#include "kernels/elementwise/element_loops.h"

namespace shoal::internal {
namespace {

// Computes sums = alpha * sums + beta * c + bias.
template <class T>
void AddExtras(const GemmConfig& config, const GemmExtras& extras, Array& sums) {
  const std::span<T> out = sums.Mutable<T>();
  T alpha;
  if constexpr (std::is_floating_point_v<T> || std::is_integral_v<T>) {
    alpha = static_cast<T>(config.alpha.real() * extras.scale);
  } else {
    alpha = static_cast<T>(config.alpha * extras.scale);
  }
  if (alpha != T{1})
    for (T& x : out) x *= alpha;
  if (extras.c != nullptr) {
    const Array c = Converted(*extras.c, sums.type());
    const auto beta = static_cast<T>(config.beta);
    for (size_t i = 0; i < out.size(); ++i) out[i] += beta * c.As<T>()[i];
  }
  if (extras.bias != nullptr && extras.bias->count() != 0) {
    const Array bias = Converted(*extras.bias, sums.type());
    const std::span<const T> row = bias.As<T>();
    const auto step = static_cast<size_t>(extras.bias_step);
    for (size_t i = 0; i < out.size(); ++i) out[i] += row[i / step % row.size()];
  }
}

void AddExtrasTyped(const GemmConfig& config, const GemmExtras& extras, Array& sums) {
  if (sums.type() == ElementType::kF32) return AddExtras<float>(config, extras, sums);
  if (sums.type() == ElementType::kF64) return AddExtras<double>(config, extras, sums);
  if (sums.type() == ElementType::kC64) return AddExtras<std::complex<float>>(config, extras, sums);
  if (sums.type() == ElementType::kC128) return AddExtras<std::complex<double>>(config, extras, sums);
  if (sums.type() == ElementType::kS32) return AddExtras<int32_t>(config, extras, sums);
}

// Adds the other results: the maximum magnitude of an 8-bit result, the activation's input, scratch memory.
Value WithExtraResults(const Instruction& hlo, Array d, const Array& before_activation, const Array& sums,
                       const GemmConfig& config) {
  if (!hlo.shape().IsTuple()) return d;
  std::vector<Value> results{std::move(d)};
  for (const Shape* shape : hlo.shape().elements().subspan(1)) {
    const bool first = results.size() == 1;
    if (first && config.has_aux() && shape->IsArray()) {
      results.push_back(Converted(before_activation, shape->element_type()));
    } else if (first && config.amax && shape->IsArray() && sums.type() == ElementType::kF32) {
      float largest = 0;
      for (float x : sums.As<float>()) largest = std::max(largest, std::abs(x));
      results.push_back(Converted(Array::Scalar(ElementType::kF32, largest), shape->element_type()));
    } else {
      results.push_back(ZeroValue(*shape));
    }
  }
  return Value::Tuple(std::move(results));
}

// Returns GemmExtras::bias_step. The bias is broadcast along the result's most minor dimension in memory.
int64_t BiasStep(const Shape& result, const Array& bias) {
  if (result.layout() == nullptr || result.layout()->minor_to_major.size() != result.dims().size()) return 1;
  const int64_t minor = result.rank() == 0 ? 0 : result.layout()->minor_to_major[0];
  if (minor < 0 || minor >= result.rank() || result.dim(minor) != bias.count()) return 1;
  return std::max<int64_t>(RowMajorStrides(result.dims())[static_cast<size_t>(minor)], 1);
}

Result<Value> Matmul(Call& call, bool scaled) {
  SHOAL_TRY(CheckGemmForm(call, 2));
  const GemmConfig config(ConfigOf(call));
  const Array& a = call.array(0);
  const Array& b = call.array(1);
  const ContractionDims dims = config.numbers.dims();
  SHOAL_TRY(CheckContractionDims(call.hlo, a, b, dims));
  SHOAL_ASSIGN(extras, FindGemmExtras(call, config, 2, scaled));
  const ElementType type = SumType(a.type(), b.type(), FirstElement(call.hlo.shape()).element_type());
  return FinishedGemm(call.hlo, config, extras, DotGeneral(a, b, dims, type));
}

}  // namespace

DotDimensionNumbers::DotDimensionNumbers(const BackendConfig& config)
    : lhs_batch(config.Ints("lhs_batch_dimensions")),
      rhs_batch(config.Ints("rhs_batch_dimensions")),
      lhs_contracting(config.Ints("lhs_contracting_dimensions")),
      rhs_contracting(config.Ints("rhs_contracting_dimensions")) {}

GemmConfig::GemmConfig(const BackendConfig& whole) {
  const BackendConfig config = whole.has("gemm_backend_config") ? whole.Object("gemm_backend_config") : whole;
  alpha = {config.Number("alpha_real", 1), config.Number("alpha_imag")};
  beta = config.Number("beta");
  epilogue = config.Text("epilogue", "DEFAULT");
  amax = config.Bool("damax_output");
  numbers = DotDimensionNumbers(config.Object("dot_dimension_numbers"));
}

Activation GemmConfig::activation() const {
  if (epilogue.find("RELU") != std::string_view::npos) return Activation::kRelu;
  if (epilogue.find("GELU") != std::string_view::npos) return Activation::kGeluTanh;
  return epilogue.find("SILU") != std::string_view::npos ? Activation::kSilu : Activation::kNone;
}

Status CheckGemmForm(const Call& call, size_t count) {
  auto is_array = [](const Value& operand) { return operand.IsArray(); };
  if (call.operands.size() < count || !std::all_of(call.operands.begin(), call.operands.begin() + count, is_array))
    return ExecutionError(call.hlo, StrCat("expected at least ", count, " array operands"));
  if (FirstElement(call.hlo.shape()).IsArray()) return {};
  return ExecutionError(call.hlo, StrCat("the result must begin with an array, got ", ToString(call.hlo.shape())));
}

// Custom calls are not verified, so this checks the dimension numbers.
Status CheckContractionDims(const Instruction& hlo, const Array& lhs, const Array& rhs, const ContractionDims& dims) {
  auto named_once = [](const Array& array, Ints batch, Ints contracting) {
    std::vector<int64_t> all(batch.begin(), batch.end());
    all.insert(all.end(), contracting.begin(), contracting.end());
    return AllDistinct(all) && AllWithin(all, 0, array.rank());
  };
  auto same_sizes = [&](Ints left, Ints right) {
    return std::equal(left.begin(), left.end(), right.begin(), right.end(),
                      [&](int64_t l, int64_t r) { return lhs.dim(l) == rhs.dim(r); });
  };
  if (named_once(lhs, dims.lhs_batch, dims.lhs_contracting) && named_once(rhs, dims.rhs_batch, dims.rhs_contracting) &&
      same_sizes(dims.lhs_batch, dims.rhs_batch) && same_sizes(dims.lhs_contracting, dims.rhs_contracting))
    return {};
  return ExecutionError(hlo, StrCat("invalid dot_dimension_numbers for ", ToString(lhs), " and ", ToString(rhs)));
}

Result<GemmExtras> FindGemmExtras(const Call& call, const GemmConfig& config, size_t next, bool scaled) {
  GemmExtras extras;
  extras.scaled = scaled;
  bool missing = false;
  auto take = [&]() -> const Array* {
    if (next < call.operands.size() && call.operands[next].IsArray()) return &call.array(next++);
    missing = true;
    return nullptr;
  };
  auto number = [](const Array* array) { return array == nullptr || array->count() == 0 ? 1 : NumberAt(*array, 0); };
  if (config.beta != 0) extras.c = take();
  if (scaled) {
    extras.scale = number(take());
    extras.scale *= number(take());
  }
  if (config.adds_bias()) extras.bias = take();
  if (extras.bias != nullptr) extras.bias_step = BiasStep(FirstElement(call.hlo.shape()), *extras.bias);
  if (missing) return ExecutionError(call.hlo, StrCat("too few operands for backend_config: ", call.operands.size()));
  // Only 8-bit results have a scale of their own, as the last operand.
  if (scaled && next < call.operands.size() && call.operands.back().IsArray())
    extras.result_scale = number(&call.operands.back().array());
  return extras;
}

Result<Value> FinishedGemm(const Instruction& hlo, const GemmConfig& config, const GemmExtras& extras, Array sums) {
  const Shape& shape = FirstElement(hlo.shape());
  if (sums.count() != ElementCount(shape.dims()) || (extras.c != nullptr && extras.c->count() != sums.count()) ||
      (extras.bias != nullptr && extras.bias->count() != 0 && sums.count() % extras.bias->count() != 0))
    return ExecutionError(hlo, StrCat("operand sizes do not match the result ", ToString(shape)));
  sums = sums.WithDims(ToDims(shape.dims()));
  AddExtrasTyped(config, extras, sums);
  const Array before_activation = config.has_aux() ? sums : Array();
  Activate(config.activation(), sums);
  Array d = sums;
  if (extras.scaled && extras.result_scale != 1 && d.type() == ElementType::kF32)
    for (float& x : d.Mutable<float>()) x *= static_cast<float>(extras.result_scale);
  if (extras.scaled) ClampToFinite(d, shape.element_type());
  return WithExtraResults(hlo, Converted(d, shape.element_type()), before_activation, sums, config);
}

Result<Value> CublasMatmul(Call& call) { return Matmul(call, false); }
Result<Value> CublasMatmulF8(Call& call) { return Matmul(call, true); }

}  // namespace shoal::internal
