#include "execute/interp/algebra/convolution.h"

namespace shoal::internal {

template <>
Result<Value> Evaluate<Opcode::kConvolution>(Call& call) {
  const Instruction& hlo = call.hlo;
  if (hlo[Op<Opcode::kConvolution>::kSparsity] != nullptr)
    return ExecutionError(hlo, "convolutions with sparsity_config are not supported");
  const Window* window = hlo[kWindow];
  const ConvolutionForm form{*hlo[kDimLabels], window == nullptr ? std::span<const WindowDim>() : window->dims,
                             hlo[kFeatureGroupCount], hlo[kBatchGroupCount]};
  SHOAL_TRY(CheckSizes(hlo, call.array(0), call.array(1), form));
  return Value(Convolved(call.array(0), call.array(1), form, hlo.shape().element_type()));
}

}  // namespace shoal::internal
