// RUN: shoal print %s
// NO-ROUND-TRIP
// A text that ends in the middle of an op: the function returns the result of the op before it.
module @torn {
  func.func public @main(%arg0: tensor<2xf32>) -> tensor<2xf32> {
    %0 = stablehlo.negate %arg0 : tensor<2xf32>
    %1 = stablehlo.abs %0 : tensor<2x
// OUTPUT
// HloModule torn, entry_computation_layout={(f32[2]{0})->f32[2]{0}}
//
// ENTRY %main (Arg_0: f32[2]) -> f32[2] {
//   %Arg_0 = f32[2]{0} parameter(0)
//   ROOT %negate.1 = f32[2]{0} negate(%Arg_0)
// }
//
// ERROR
// truncated.mlir:6:10: warning: the text is truncated: the function ends after this op [loose.cut-short]
//       %0 = stablehlo.negate %arg0 : tensor<2xf32>
//            ^^^^^^^^^^^^^^^^
