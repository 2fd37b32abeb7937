// RUN: shoal check %s
func.func @main(%arg0: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.add %arg0, %arg1 : tensor<4xf32>
  return %0 : tensor<4xf32>
}
// ERROR
// bad-syntax.mlir:3:30: error: %arg1 is not defined
//     %0 = stablehlo.add %arg0, %arg1 : tensor<4xf32>
//                                ^^^^
