// oneDNN's products and convolutions, in a library that is opened when the first of them is asked for. Each call runs in
// the thread that makes it: its threads and ours would get in each other's way.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

namespace shoal::internal {

// Of f32, in oneDNN's words: what a forward convolution with these sizes reads and writes. Arrays lie anywhere:
// strides are in elements, in the order [batch, features, spatial…].
struct DnnConvolution {
  enum class Kind : uint8_t {
    kForward,          // source, weights -> result
    kBackwardData,     // weights, result -> source
    kBackwardWeights,  // source, result -> weights
  };
  Kind kind = Kind::kForward;
  int64_t batch = 1, groups = 1, in_features = 1, out_features = 1;  // of all groups together
  std::vector<int64_t> source, kernel, result;                       // spatial sizes
  std::vector<int64_t> strides, dilations, pad_low;
  std::vector<int64_t> source_strides, result_strides;
  std::vector<int64_t> weight_strides;  // [groups, out_features, in_features, spatial…], features of one group
};

class OneDnn {
 public:
  virtual ~OneDnn() = default;

  // Row-major: c = op(a) op(b) + beta * c.
  virtual void Sgemm(bool a_transposed, bool b_transposed, int64_t m, int64_t n, int64_t k, const float* a, int64_t lda,
                     const float* b, int64_t ldb, float beta, float* c, int64_t ldc) const = 0;

  // Whether this CPU multiplies bf16 as it is.
  virtual bool HasBf16() const = 0;
  // Row-major: c = op(a) op(b) of bf16, summed in f32. Only where HasBf16.
  virtual void Bf16Gemm(bool a_transposed, bool b_transposed, int64_t m, int64_t n, int64_t k, const uint16_t* a,
                        int64_t lda, const uint16_t* b, int64_t ldb, float* c, int64_t ldc) const = 0;

  // Whether this CPU multiplies signed bytes exactly, as they are: without instructions for it sums of two would be cut off.
  virtual bool HasBytes() const = 0;
  // Row-major: c = op(a) op(b), which wraps. Only where HasBytes.
  virtual void ByteGemm(bool a_transposed, bool b_transposed, int64_t m, int64_t n, int64_t k, const int8_t* a, int64_t lda,
                        const int8_t* b, int64_t ldb, int32_t* c, int64_t ldc) const = 0;

  // Something that oneDNN has code for, ready to run; null if it has none.
  class Convolution {
   public:
    virtual ~Convolution() = default;
    // The weights as Run wants them, for any number of runs. Of kBackwardWeights: null.
    virtual std::shared_ptr<void> PackWeights(const float* weights) const = 0;
    // Whichever of source, weights and result is computed is written; `packed` are the weights if they are read. False
    // where oneDNN, which had code for it, finds on this CPU that it has not.
    virtual bool Run(float* source, float* weights, void* packed, float* result) const = 0;
  };
  virtual std::shared_ptr<const Convolution> ConvolutionFor(const DnnConvolution& convolution) const = 0;
};

// Null where oneDNN is not installed.
const OneDnn* OpenOneDnn();

}  // namespace shoal::internal
