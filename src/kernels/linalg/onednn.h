// oneDNN's GEMMs and convolutions, in a library that is loaded on first use. Each call runs only in the calling thread,
// because oneDNN's threads would compete with the thread pool.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

namespace shoal::internal {

// A convolution of f32, bf16 or signed bytes in oneDNN's terms: all kinds name the arrays as the forward convolution with these sizes does.
// Strides are arbitrary, in elements, and in the order [batch, features, spatial…].
struct DnnConvolution {
  enum class Kind : uint8_t {
    kForward,          // source, weights -> result
    kBackwardData,     // weights, result -> source
    kBackwardWeights,  // source, result -> weights
  };
  Kind kind = Kind::kForward;
  bool is_int8 = false;  // s8 source and weights, s32 result; only kForward, and only if HasInt8()
  bool is_bf16 = false;  // bf16 source and weights, f32 result; only kForward, and only if HasBf16()
  int64_t batch = 1, groups = 1, in_features = 1, out_features = 1;  // for all groups together
  std::vector<int64_t> source, kernel, result;                       // spatial sizes
  std::vector<int64_t> strides, dilations, pad_low;
  std::vector<int64_t> source_strides, result_strides;
  std::vector<int64_t> weight_strides;  // [groups, out_features of a group, in_features of a group, spatial…]
};

class OneDnn {
 public:
  virtual ~OneDnn() = default;

  // Row-major: c = op(a) op(b) + beta * c.
  virtual void Sgemm(bool a_transposed, bool b_transposed, int64_t m, int64_t n, int64_t k, const float* a, int64_t lda,
                     const float* b, int64_t ldb, float beta, float* c, int64_t ldc) const = 0;

  // True if this CPU has instructions that multiply bf16.
  virtual bool HasBf16() const = 0;
  // Row-major: c = op(a) op(b) of bf16, summed in f32. Requires HasBf16().
  virtual void Bf16Gemm(bool a_transposed, bool b_transposed, int64_t m, int64_t n, int64_t k, const uint16_t* a,
                        int64_t lda, const uint16_t* b, int64_t ldb, float* c, int64_t ldc) const = 0;

  // True if this CPU has instructions that multiply signed bytes exactly; without them, sums of two products saturate.
  virtual bool HasInt8() const = 0;
  // Row-major: c = op(a) op(b), with sums that wrap. Requires HasInt8().
  virtual void Int8Gemm(bool a_transposed, bool b_transposed, int64_t m, int64_t n, int64_t k, const int8_t* a, int64_t lda,
                        const int8_t* b, int64_t ldb, int32_t* c, int64_t ldc) const = 0;

  // A convolution, ready to run. ConvolutionFor returns null if oneDNN does not support it.
  class Convolution {
   public:
    virtual ~Convolution() = default;
    // The weights in the form that Run takes, for any number of runs; null for kBackwardWeights.
    virtual std::shared_ptr<void> PackWeights(const void* weights) const = 0;
    // Reads two of source, weights and result, and writes the third. If the weights are read, they are in `packed`.
    // Returns false if oneDNN fails at run time, because it does not support the convolution on this CPU after all.
    virtual bool Run(void* source, void* weights, void* packed, void* result) const = 0;
  };
  virtual std::shared_ptr<const Convolution> ConvolutionFor(const DnnConvolution& convolution) const = 0;
};

// Null if oneDNN is not installed.
const OneDnn* OpenOneDnn();

}  // namespace shoal::internal
