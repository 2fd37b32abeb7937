// Attention as in cuDNN: softmax(scale * q * k^T + bias, masked) * v, and its gradients. Computed in f32.
#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/linalg/dot_general.h"
#include "kernels/linalg/attention_heads.h"
#include "core/ops/backend_config.h"
#include "execute/interp/custom_calls/custom_call.h"
#include "kernels/elementwise/element_loops.h"
#include "kernels/arrays/strided.h"
#include "core/ops/control_flow.h"

namespace shoal::internal {
namespace {

constexpr ElementType kF32 = ElementType::kF32;

struct OwnedDims {
  std::vector<int64_t> lhs_batch, rhs_batch, lhs_contracting, rhs_contracting;

  static OwnedDims Of(const BackendConfig& config, std::string_view key) {
    const BackendConfig dims = config.Object(key);
    return {dims.Ints("lhs_batch_dimensions"), dims.Ints("rhs_batch_dimensions"),
            dims.Ints("lhs_contracting_dimensions"), dims.Ints("rhs_contracting_dimensions")};
  }
};

// Repeats the heads of rhs to match lhs (grouped-query attention). The second batch dimension is the head.
Array RepeatHeadsLike(const Array& lhs, const Array& rhs, const OwnedDims& dims) {
  if (dims.lhs_batch.size() < 2 || dims.rhs_batch.size() < 2) return rhs;
  const int64_t heads = lhs.dim(dims.lhs_batch[1]), kv_heads = rhs.dim(dims.rhs_batch[1]);
  return kv_heads != 0 && heads > kv_heads && heads % kv_heads == 0 ? RepeatHeads(rhs, dims.rhs_batch[1], heads) : rhs;
}
int64_t HeadsOf(const Array& rhs, const OwnedDims& dims) {
  return dims.rhs_batch.size() < 2 ? 0 : rhs.dim(dims.rhs_batch[1]);
}

class Attention {
 public:
  explicit Attention(Call& call)
      : call_(call),
        config_(ConfigOf(call).Object("cudnn_fmha_backend_config")),
        target_(call.hlo[Op<Opcode::kCustomCall>::kTarget]) {}

  Status Check(size_t operands) const {
    if (call_.operands.size() < operands || !call_.hlo.shape().IsTuple())
      return ExecutionError(call_.hlo, StrCat("expected at least ", operands, " operands and a tuple result"));
    for (const Value& operand : call_.operands)
      if (!operand.IsArray()) return ExecutionError(call_.hlo, "all operands must be arrays");
    if (config_.Number("dropout_rate") != 0) return ExecutionError(call_.hlo, "cuDNN's dropout cannot be reproduced");
    return {};
  }

  Result<Array> Multiply(const Array& lhs, const Array& rhs, const OwnedDims& dims) const {
    auto are_valid = [](const Array& array, Ints a, Ints b) {
      std::vector<int64_t> all(a.begin(), a.end());
      all.insert(all.end(), b.begin(), b.end());
      std::sort(all.begin(), all.end());
      return std::adjacent_find(all.begin(), all.end()) == all.end() &&
             (all.empty() || (all.front() >= 0 && all.back() < array.rank()));
    };
    if (!are_valid(lhs, dims.lhs_batch, dims.lhs_contracting) || !are_valid(rhs, dims.rhs_batch, dims.rhs_contracting))
      return ExecutionError(call_.hlo, StrCat("invalid dimension numbers for ", ToString(lhs), " and ", ToString(rhs)));
    const Array wide = RepeatHeadsLike(lhs, rhs, dims);
    auto sizes_match = [&](Ints l, Ints r) {
      return std::equal(l.begin(), l.end(), r.begin(), r.end(),
                        [&](int64_t a, int64_t b) { return lhs.dim(a) == wide.dim(b); });
    };
    if (!sizes_match(dims.lhs_batch, dims.rhs_batch) || !sizes_match(dims.lhs_contracting, dims.rhs_contracting))
      return ExecutionError(call_.hlo, StrCat("invalid dimension numbers for ", ToString(lhs), " and ", ToString(rhs)));
    return DotGeneral(lhs, wide, {dims.lhs_batch, dims.rhs_batch, dims.lhs_contracting, dims.rhs_contracting}, kF32);
  }

  bool has_bias() const { return target_.find("Bias") != std::string_view::npos; }
  float scale() const { return static_cast<float>(config_.Number("fmha_scale", 1)); }
  const BackendConfig& config() const { return config_; }

  // Computes scores = scale * scores + bias, and sets the scores of masked keys to -inf.
  Status Mask(Array& scores, const Array* bias, const Array* kv_lengths) const {
    if (scores.rank() < 2) return ExecutionError(call_.hlo, StrCat("scores must be matrices, got ", ToString(scores)));
    for (float& x : scores.Mutable<float>()) x *= scale();
    if (bias != nullptr) {
      SHOAL_ASSIGN(addend, BroadcastTo(Converted(*bias, kF32), scores.dims()));
      for (size_t i = 0; i < addend.As<float>().size(); ++i) scores.Mutable<float>()[i] += addend.As<float>()[i];
    }
    const std::string_view mask = config_.Text("mask_type");
    const bool causal = mask == "CAUSAL" || mask == "PADDING_CAUSAL" || config_.Bool("is_causal_mask");
    const int64_t window = config_.Int("sliding_window_length");
    const int64_t queries = scores.dim(scores.rank() - 2), keys = scores.dim(scores.rank() - 1);
    const std::span<float> out = scores.Mutable<float>();
    for (int64_t at = 0; at < scores.count(); ++at) {
      const int64_t key = at % keys, query = at / keys % queries, matrix = at / keys / queries;
      int64_t length = keys;
      if (kv_lengths != nullptr && kv_lengths->count() > 0)
        length = IntAt(*kv_lengths, matrix * kv_lengths->count() / (scores.count() / (keys * queries)));
      if ((causal && key > query) || (window > 0 && key <= query - window) || key >= length)
        out[static_cast<size_t>(at)] = -std::numeric_limits<float>::infinity();
    }
    return {};
  }

  Result<Array> BroadcastTo(const Array& array, Ints sizes) const {
    const Dims strides = RowMajorStrides(array.dims());
    Strided from;
    bool fits = static_cast<size_t>(array.rank()) == sizes.size();
    for (size_t d = 0; fits && d < sizes.size(); ++d) {
      const int64_t size = array.dim(static_cast<int64_t>(d));
      fits = size == 1 || size == sizes[d];
      from.strides.push_back(size == 1 ? 0 : strides[d]);
    }
    if (!fits) return ExecutionError(call_.hlo, StrCat("bias ", ToString(array), " cannot be broadcast to the scores"));
    return Gathered(array, ToDims(sizes), from);
  }

  // Replaces each row of scores with its softmax. Returns the logarithm of each row's sum.
  static Array Softmax(Array& scores) {
    const int64_t n = scores.dims().back();
    Array sums(kF32, Dims(scores.dims().begin(), scores.dims().end() - 1));
    float* row = scores.Mutable<float>().data();
    for (float& log_sum : sums.Mutable<float>()) {
      float largest = -std::numeric_limits<float>::infinity(), sum = 0;
      for (int64_t j = 0; j < n; ++j) largest = std::max(largest, row[j]);
      const float base = std::isfinite(largest) ? largest : 0;  // a fully masked row becomes zeros
      for (int64_t j = 0; j < n; ++j) sum += row[j] = std::exp(row[j] - base);
      for (int64_t j = 0; j < n && sum != 0; ++j) row[j] /= sum;
      log_sum = base + std::log(sum);
      row += n;
    }
    return sums;
  }

  // Returns the declared tuple: first `arrays`, whose sizes must match, then zero-filled scratch results.
  Result<Value> Finish(const std::vector<Array>& arrays) const {
    std::vector<Value> results;
    for (const Shape* shape : call_.hlo.shape().elements()) {
      const size_t i = results.size();
      const bool matches = i < arrays.size() && shape->IsArray() && arrays[i].count() == ElementCount(shape->dims()) &&
                         (i == 0 || IsFloat(shape->element_type()));
      if (i == 0 && !matches)
        return ExecutionError(call_.hlo, StrCat("yields ", ToString(arrays[0]), ", but declares ", ToString(*shape)));
      results.push_back(matches ? Value(Converted(arrays[i].WithDims(ToDims(shape->dims())), shape->element_type()))
                                : ZeroValue(*shape));
    }
    return Value::Tuple(std::move(results));
  }

  const Array* Operand(size_t i) const { return i < call_.operands.size() ? &call_.array(i) : nullptr; }
  // The lengths of the keys. If the mask uses lengths, the last two operands are the lengths of queries and keys.
  const Array* KeyLengths() const {
    const bool padded = config_.Text("mask_type").starts_with("PADDING");
    return padded ? Operand(call_.operands.size() - 1) : nullptr;
  }

 private:
  Call& call_;
  BackendConfig config_;
  std::string_view target_;
};

// The dimension of a [batch, sequence, head] operand that is in neither `batch` nor `sequence`.
std::vector<int64_t> HeadDim(const Array& array, Ints batch, Ints sequence) {
  std::vector<int64_t> head;
  for (int64_t d = 0; d < array.rank(); ++d)
    if (std::find(batch.begin(), batch.end(), d) == batch.end() &&
        std::find(sequence.begin(), sequence.end(), d) == sequence.end())
      head.push_back(d);
  return head;
}

// Sums the scores' gradient over the dimensions along which the bias was broadcast.
Array SumToBias(const Array& scores, const Array& bias) {
  Array sums = Array::Zeros(kF32, bias.dims());
  const Dims strides = RowMajorStrides(bias.dims()), sizes = ToDims(scores.dims());
  for (int64_t at = 0; at < scores.count(); ++at) {
    int64_t rest = at, offset = 0;
    for (size_t d = sizes.size(); d-- > 0;) {
      if (bias.dim(static_cast<int64_t>(d)) != 1) offset += rest % sizes[d] * strides[d];
      rest /= sizes[d];
    }
    sums.Mutable<float>()[static_cast<size_t>(offset)] += scores.As<float>()[static_cast<size_t>(at)];
  }
  return sums;
}

}  // namespace

// Operands: q, k, v, optional bias, optional lengths. Results: output, optional logarithms of the row sums.
Result<Value> CudnnAttention(Call& call) {
  const Attention attention(call);
  SHOAL_TRY(attention.Check(3));
  const OwnedDims scores_dims = OwnedDims::Of(attention.config(), "bmm1_dot_dimension_numbers");
  SHOAL_ASSIGN(scores, attention.Multiply(call.array(0), call.array(1), scores_dims));
  SHOAL_TRY(attention.Mask(scores, attention.has_bias() ? attention.Operand(3) : nullptr, attention.KeyLengths()));
  const Array log_sums = Attention::Softmax(scores);
  const OwnedDims output_dims = OwnedDims::Of(attention.config(), "bmm2_dot_dimension_numbers");
  SHOAL_ASSIGN(output, attention.Multiply(scores, call.array(2), output_dims));
  return attention.Finish({output, log_sums});
}

// Operands: q, k, v, log row sums, output gradient, optional bias, …. Results: gradients of q, k, v, optionally bias.
Result<Value> CudnnAttentionBackward(Call& call) {
  const Attention attention(call);
  SHOAL_TRY(attention.Check(5));
  const Array &q = call.array(0), &k = call.array(1), &v = call.array(2), &gradient = call.array(4);
  const OwnedDims to_k = OwnedDims::Of(attention.config(), "bmm1_grad_gemm1_dot_dimension_numbers");
  const OwnedDims to_q = OwnedDims::Of(attention.config(), "bmm1_grad_gemm2_dot_dimension_numbers");
  const OwnedDims forward{to_k.rhs_batch, to_q.rhs_batch, HeadDim(q, to_k.rhs_batch, to_k.rhs_contracting),
                          HeadDim(k, to_q.rhs_batch, to_q.rhs_contracting)};
  const Array* bias = attention.has_bias() ? attention.Operand(5) : nullptr;
  SHOAL_ASSIGN(weights, attention.Multiply(q, k, forward));
  SHOAL_TRY(attention.Mask(weights, bias, attention.KeyLengths()));
  Attention::Softmax(weights);
  SHOAL_ASSIGN(dv, attention.Multiply(weights, gradient,
                                      OwnedDims::Of(attention.config(), "bmm2_grad_gemm1_dot_dimension_numbers")));
  const OwnedDims to_scores = OwnedDims::Of(attention.config(), "bmm2_grad_gemm2_dot_dimension_numbers");
  SHOAL_ASSIGN(scores, attention.Multiply(gradient, v, to_scores));
  if (scores.count() != weights.count()) return ExecutionError(call.hlo, "gradient sizes must match the operands");
  const int64_t n = weights.dims().back();
  float* row = scores.Mutable<float>().data();
  const float* weight = weights.As<float>().data();
  for (int64_t i = 0; n != 0 && i < scores.count() / n; ++i, row += n, weight += n) {
    float sum = 0;
    for (int64_t j = 0; j < n; ++j) sum += weight[j] * row[j];
    for (int64_t j = 0; j < n; ++j) row[j] = weight[j] * (row[j] - sum);
  }
  std::vector<Array> gradients;
  if (bias != nullptr) gradients.push_back(SumToBias(scores, *bias));
  for (float& x : scores.Mutable<float>()) x *= attention.scale();
  SHOAL_ASSIGN(dq, attention.Multiply(scores, k, to_q));
  SHOAL_ASSIGN(dk, attention.Multiply(scores, q, to_k));
  gradients.insert(gradients.begin(), {dq, SumHeads(dk, HeadsOf(k, to_q)), SumHeads(dv, HeadsOf(v, to_scores))});
  return attention.Finish(gradients);
}

}  // namespace shoal::internal
