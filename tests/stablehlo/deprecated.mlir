// RUN: shoal run %s --num_replicas=2 --print_literals
// einsum, unary_einsum, cross-replica-sum and dynamic_conv with constant padding.
func.func @main() -> (tensor<2x2xf32>, tensor<2xf32>, tensor<3x2xf32>, tensor<2x2xf32>, tensor<f32>, tensor<1x4x1xf32>, tensor<2x2xf32>) {
  %a = stablehlo.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>
  %b = stablehlo.constant dense<[[1.0, 0.0], [0.0, 1.0], [2.0, 2.0]]> : tensor<3x2xf32>
  %0 = stablehlo.einsum %a, %b, config = "ij,jk->ki" : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x2xf32>
  %1 = stablehlo.einsum %a, %a, config = "ab,ab->a" : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2xf32>
  %2 = stablehlo.unary_einsum %a, config = "ab->ba" : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %3 = stablehlo.einsum %a, %b, config = "ij,kl->il" : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x2xf32>
  %one = stablehlo.constant dense<1.0> : tensor<f32>
  %4 = "stablehlo.cross-replica-sum"(%one) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<f32>) -> tensor<f32>
  %line = stablehlo.constant dense<[[[1.0], [2.0], [3.0]]]> : tensor<1x3x1xf32>
  %kernel = stablehlo.constant dense<[[[1.0]], [[10.0]]]> : tensor<2x1x1xf32>
  %pad = stablehlo.constant dense<[[1, 1]]> : tensor<1x2xi32>
  %5 = "stablehlo.dynamic_conv"(%line, %kernel, %pad) {
    dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64
  } : (tensor<1x3x1xf32>, tensor<2x1x1xf32>, tensor<1x2xi32>) -> tensor<1x4x1xf32>
  %6 = stablehlo.unary_einsum %0, config = "xy->yx" : (tensor<2x2xf32>) -> tensor<2x2xf32>
  return %0, %1, %2, %3, %4, %5, %6 : tensor<2x2xf32>, tensor<2xf32>, tensor<3x2xf32>, tensor<2x2xf32>, tensor<f32>, tensor<1x4x1xf32>, tensor<2x2xf32>
}
// OUTPUT
// output 0, devices 0,1: f32[2,2] { { 7, 16 }, { 8, 17 } }
// output 1, devices 0,1: f32[2] {14, 77}
// output 2, devices 0,1: f32[3,2] { { 1, 4 }, { 2, 5 }, { 3, 6 } }
// output 3, devices 0,1: f32[2,2] { { 18, 18 }, { 45, 45 } }
// output 4, devices 0,1: f32[] 2
// output 5, devices 0,1: f32[1,4,1] { { {10}, {21}, {32}, {3} } }
// output 6, devices 0,1: f32[2,2] { { 7, 8 }, { 16, 17 } }
