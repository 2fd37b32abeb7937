// RUN: shoal check %s
func.func @main(%arg0: tensor<f32>) -> tensor<f32> {
  %0 = call @main(%arg0) : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}
// ERROR
// bad-recursion.mlir:2:1: error: func.func: the function calls itself [stablehlo.op]
//   func.func @main(%arg0: tensor<f32>) -> tensor<f32> {
//   ^^^^^^^^^
