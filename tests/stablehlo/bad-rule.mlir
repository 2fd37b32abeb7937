// RUN: shoal check %s
func.func @main(%arg0: tensor<4x2xf32>) -> tensor<4x2xf32> {
  %0 = stablehlo.reverse %arg0, dims = [0, 2] : tensor<4x2xf32>
  return %0 : tensor<4x2xf32>
}
// ERROR
// bad-rule.mlir:3:8: error: dimensions must lie in [0, 2), got {0,2} [reverse.C2]
//     %0 = stablehlo.reverse %arg0, dims = [0, 2] : tensor<4x2xf32>
//          ^^^^^^^^^^^^^^^^^
