// Matrix products as cuBLAS has them: d = activation(alpha * a * b + beta * c + bias), computed in the type of the sum
// and rounded once.
#include <algorithm>
#include <cmath>
#include <complex>

#include "interp/algebra/activation.h"
#include "interp/algebra/product.h"
#include "interp/custom_calls/backend_config.h"
#include "interp/custom_calls/custom_call.h"
#include "interp/elementwise/elementwise.h"
#include "ops/dims.h"

namespace shoal {
namespace {

struct GemmConfig {
  std::complex<double> alpha = 1;
  double beta = 0;
  std::string_view epilogue;
  bool amax = false;
  std::vector<int64_t> lhs_batch, rhs_batch, lhs_contracting, rhs_contracting;

  explicit GemmConfig(const Instruction& hlo) {
    const BackendConfig whole = BackendConfig::Of(hlo);
    const BackendConfig config = whole.has("gemm_backend_config") ? whole.Object("gemm_backend_config") : whole;
    alpha = {config.Number("alpha_real", 1), config.Number("alpha_imag")};
    beta = config.Number("beta");
    epilogue = config.Text("epilogue", "DEFAULT");
    amax = config.Bool("damax_output");
    const BackendConfig dims = config.Object("dot_dimension_numbers");
    lhs_batch = dims.Ints("lhs_batch_dimensions");
    rhs_batch = dims.Ints("rhs_batch_dimensions");
    lhs_contracting = dims.Ints("lhs_contracting_dimensions");
    rhs_contracting = dims.Ints("rhs_contracting_dimensions");
  }

  bool adds_bias() const { return epilogue.starts_with("BIAS"); }
  bool has_aux() const { return epilogue.ends_with("_AUX"); }
  Activation activation() const {
    if (epilogue.find("RELU") != std::string_view::npos) return Activation::kRelu;
    if (epilogue.find("GELU") != std::string_view::npos) return Activation::kGeluTanh;
    return epilogue.find("SILU") != std::string_view::npos ? Activation::kSilu : Activation::kNone;
  }
  ProductDims dims() const { return {lhs_batch, rhs_batch, lhs_contracting, rhs_contracting}; }
};

// Nobody has checked a custom call before it gets here.
Status CheckDims(const Instruction& hlo, const Array& lhs, const Array& rhs, const ProductDims& dims) {
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
  return Stopped(hlo, StrCat("dot_dimension_numbers do not fit ", ToString(lhs), " and ", ToString(rhs)));
}

const Shape& ResultShape(const Instruction& hlo) {
  const Shape& shape = hlo.shape();
  return shape.IsTuple() && !shape.elements().empty() ? shape.element(0) : shape;
}

// The operands behind a and b, and what the scales of 8-bit floats come to.
struct Extras {
  const Array* c = nullptr;
  const Array* bias = nullptr;
  double scale = 1, result_scale = 1;
};

Result<Extras> FindExtras(const Call& call, const GemmConfig& config, bool scaled) {
  Extras extras;
  size_t next = 2;
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
  if (missing) return Stopped(call.hlo, StrCat("has too few operands for its backend_config: ", call.operands.size()));
  // Only results of 8 bits have a scale of their own; it comes last.
  if (scaled && next < call.operands.size()) extras.result_scale = number(&call.array(call.operands.size() - 1));
  return extras;
}

// sums = alpha * sums + beta * c + bias
template <class T>
void Combine(const GemmConfig& config, const Extras& extras, Array& sums) {
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
    for (size_t i = 0; i < out.size(); ++i) out[i] += row[i % row.size()];
  }
}

void CombineTyped(const GemmConfig& config, const Extras& extras, Array& sums) {
  if (sums.type() == ElementType::kF32) return Combine<float>(config, extras, sums);
  if (sums.type() == ElementType::kF64) return Combine<double>(config, extras, sums);
  if (sums.type() == ElementType::kC64) return Combine<std::complex<float>>(config, extras, sums);
  if (sums.type() == ElementType::kC128) return Combine<std::complex<double>>(config, extras, sums);
  if (sums.type() == ElementType::kS32) return Combine<int32_t>(config, extras, sums);
}

// What the tuple of results has beside d: the largest magnitude of 8-bit results, the input of the activation, and
// memory to work in.
Value WithOthers(const Instruction& hlo, Array d, const Array& before_activation, const Array& sums,
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

Result<Value> Matmul(Call& call, bool scaled) {
  const Instruction& hlo = call.hlo;
  if (call.operands.size() < 2 || !call.operands[0].IsArray() || !call.operands[1].IsArray())
    return Stopped(hlo, "takes two matrices at least");
  const GemmConfig config(hlo);
  SHOAL_TRY(CheckDims(hlo, call.array(0), call.array(1), config.dims()));
  SHOAL_ASSIGN(extras, FindExtras(call, config, scaled));
  const Shape& shape = ResultShape(hlo);
  const Array& a = call.array(0);
  const Array& b = call.array(1);
  Array sums = Product(a, b, config.dims(), SumType(a.type(), b.type(), shape.element_type()));
  if (sums.count() != ElementCount(shape.dims()) || (extras.c != nullptr && extras.c->count() != sums.count()) ||
      (extras.bias != nullptr && extras.bias->count() != 0 && sums.count() % extras.bias->count() != 0))
    return Stopped(hlo, StrCat("operands do not fit the result ", ToString(shape)));
  sums = sums.WithDims(ToDims(shape.dims()));
  CombineTyped(config, extras, sums);
  const Array before_activation = config.has_aux() ? sums : Array();
  Activate(config.activation(), sums);
  Array d = sums;
  if (scaled && extras.result_scale != 1 && d.type() == ElementType::kF32)
    for (float& x : d.Mutable<float>()) x *= static_cast<float>(extras.result_scale);
  if (scaled) ClampToFinite(d, shape.element_type());
  return WithOthers(hlo, Converted(d, shape.element_type()), before_activation, sums, config);
}

}  // namespace

Result<Value> CublasMatmul(Call& call) { return Matmul(call, false); }
Result<Value> CublasMatmulF8(Call& call) { return Matmul(call, true); }

}  // namespace shoal
