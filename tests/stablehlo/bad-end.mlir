// RUN: shoal check %s
module @m {
  func.func @main(%arg0: tensor<f32>) -> tensor<f32> {
    %0 = stablehlo.negate %arg0 : tensor<f32>
// ERROR
// bad-end.mlir:9:1: error: expected '}' at the end of the region; the text ends here
//   
//   ^
