// RUN: shoal run %s --print_literals
// chlo.scan: the outputs at each position, then the last carries; chlo.ragged_dot.
func.func @main() -> (tensor<4xi32>, tensor<i32>, tensor<3x2xf32>) {
  %input = stablehlo.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
  %init = stablehlo.constant dense<10> : tensor<i32>
  %0:2 = chlo.scan(%input) inits(%init) dimension=0 attributes {is_reverse = true} {
  ^bb0(%x: tensor<i32>, %carry: tensor<i32>):
    %1 = stablehlo.add %x, %carry : tensor<i32>
    stablehlo.return %1, %1 : tensor<i32>, tensor<i32>
  } : (tensor<4xi32>, tensor<i32>) -> (tensor<4xi32>, tensor<i32>)
  %lhs = stablehlo.constant dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]> : tensor<3x2xf32>
  %rhs = stablehlo.constant dense<[[[1.0, 0.0], [0.0, 1.0]], [[2.0, 0.0], [0.0, 2.0]]]> : tensor<2x2x2xf32>
  %sizes = stablehlo.constant dense<[1, 2]> : tensor<2xi32>
  %2 = "chlo.ragged_dot"(%lhs, %rhs, %sizes) {
    ragged_dot_dimension_numbers = #chlo.ragged_dot<
      lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [1],
      rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>,
    precision_config = [#chlo<precision DEFAULT>, #chlo<precision DEFAULT>]
  } : (tensor<3x2xf32>, tensor<2x2x2xf32>, tensor<2xi32>) -> tensor<3x2xf32>
  return %0#0, %0#1, %2 : tensor<4xi32>, tensor<i32>, tensor<3x2xf32>
}
// OUTPUT
// output 0: s32[4] {20, 19, 17, 14}
// output 1: s32[] 20
// output 2: f32[3,2] { { 1, 2 }, { 6, 8 }, { 10, 12 } }
