// RUN: shoal check %s
func.func @main(%arg0: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.add %arg0, %arg0 : tensor<4xq32>
  return %0 : tensor<4xf32>
}
// ERROR
// bad-type.mlir:3:46: error: unknown type q32
//     %0 = stablehlo.add %arg0, %arg0 : tensor<4xq32>
//                                                ^^^
