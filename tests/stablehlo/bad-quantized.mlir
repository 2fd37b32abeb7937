// RUN: shoal check %s
func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.uniform_quantize %a : (tensor<4xf32>) -> tensor<4x!quant.uniform<i8:f32, 0.1:-30>>
  %1 = stablehlo.uniform_dequantize %0 : (tensor<4x!quant.uniform<i8:f32, 0.1:-30>>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}
// ERROR
// bad-quantized.mlir:3:8: error: stablehlo.uniform_quantize: HLO has no such op [stablehlo.op]
//     %0 = stablehlo.uniform_quantize %a : (tensor<4xf32>) -> tensor<4x!quant.uniform<i8:f32, 0.1:-30>>
//          ^^^^^^^^^^^^^^^^^^^^^^^^^^
