// RUN: shoal check %s
func.func @main(%arg0: tensor<4x2xf32>) -> tensor<4x2xf32> {
  %0 = stablehlo.transpose %arg0, dims = [1, 0] : (tensor<4x2xf32>) -> tensor<4x2xf32>
  return %0 : tensor<4x2xf32>
}
// ERROR
// bad-shape.mlir:3:8: error: the inferred shape of stablehlo.transpose is f32[2,4], but f32[4,2] is declared [shape.C1]
//     %0 = stablehlo.transpose %arg0, dims = [1, 0] : (tensor<4x2xf32>) -> tensor<4x2xf32>
//          ^^^^^^^^^^^^^^^^^^^
