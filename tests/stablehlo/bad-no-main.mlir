// RUN: shoal check --strict %s
func.func public @step(%arg0: tensor<f32>) -> tensor<f32> {
  return %arg0 : tensor<f32>
}
// ERROR
// bad-no-main.mlir:2:1: error: builtin.module: the module needs a function main [stablehlo.op]
//   func.func public @step(%arg0: tensor<f32>) -> tensor<f32> {
//   ^^^^^^^^^
