// Custom calls with a known meaning: one table (custom_calls.cc), one row each.
#pragma once

#include "interp/evaluate.h"

namespace shoal {

struct CustomCallRow {
  std::string_view target;  // "__cublas$gemm"; a last '*' stands for any ending
  Evaluator evaluate;
};

// The row of a target; null if nobody knows it.
const CustomCallRow* FindCustomCall(std::string_view target);

// matrix products (custom_gemm.cc)
Result<Value> CublasMatmul(Call& call);
Result<Value> CublasMatmulF8(Call& call);
// convolutions (custom_convolution.cc)
Result<Value> CudnnConvolution(Call& call);
// oneDNN (custom_onednn.cc)
Result<Value> OneDnnMatmul(Call& call);

// what a compiler leaves for itself (custom_annotations.cc)
Result<Value> PassThrough(Call& call);
Result<Value> Reshard(Call& call);
Result<Value> Nothing(Call& call);
Result<Value> MakeBuffer(Call& call);
Result<Value> PadToStatic(Call& call);
Result<Value> SliceToDynamic(Call& call);
Result<Value> GetRngSeed(Call& call);
Result<Value> X64(Call& call);

}  // namespace shoal
