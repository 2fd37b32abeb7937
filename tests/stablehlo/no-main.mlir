// RUN: shoal print %s --warnings
module @m {
  func.func private @helper(%arg0: tensor<f32>) -> tensor<f32> {
    return %arg0 : tensor<f32>
  }
  func.func public @step(%arg0: tensor<f32>) -> tensor<f32> {
    return %arg0 : tensor<f32>
  }
}
// OUTPUT
// HloModule m, entry_computation_layout={(f32[])->f32[]}
//
// ENTRY %step (Arg_0: f32[]) -> f32[] {
//   ROOT %Arg_0 = f32[] parameter(0)
// }
//
// ERROR
// no-main.mlir:6:3: warning: the module has no function main; step is the entry [loose.main]
//     func.func public @step(%arg0: tensor<f32>) -> tensor<f32> {
//     ^^^^^^^^^
