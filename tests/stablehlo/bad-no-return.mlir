// RUN: shoal check %s
func.func @main(%x: tensor<2x3xf32>) -> tensor<3x2xf32> {
  %0 = stablehlo.transpose %x, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>
}
// ERROR
// bad-no-return.mlir:2:1: error: func.func: a function must end with a return [stablehlo.op]
//   func.func @main(%x: tensor<2x3xf32>) -> tensor<3x2xf32> {
//   ^^^^^^^^^
