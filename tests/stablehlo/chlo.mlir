// RUN: shoal run %s --print_literals
func.func @main() -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<2xf32>, tensor<2xi32>, tensor<4xf32>, tensor<4xi1>) {
  %x = stablehlo.constant dense<[0.5, -0.25, 0.75, 0.0]> : tensor<4xf32>
  %y = stablehlo.constant dense<[3.0, 2.5, 0.25, -1.5]> : tensor<4xf32>
  %0 = chlo.erf_inv %x : tensor<4xf32> -> tensor<4xf32>
  %1 = chlo.lgamma %y : tensor<4xf32> -> tensor<4xf32>
  %2 = chlo.asinh %y : tensor<4xf32> -> tensor<4xf32>
  %3:2 = chlo.top_k(%y, k = 2) : tensor<4xf32> -> (tensor<2xf32>, tensor<2xi32>)
  %4 = chlo.next_after %x, %y : tensor<4xf32>, tensor<4xf32> -> tensor<4xf32>
  %5 = chlo.is_inf %x : tensor<4xf32> -> tensor<4xi1>
  return %0, %1, %2, %3#0, %3#1, %4, %5 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<2xf32>, tensor<2xi32>, tensor<4xf32>, tensor<4xi1>
}
// OUTPUT
// output 0: f32[4] {0.476936281, -0.225312069, 0.813419819, 0}
// output 1: f32[4] {0.693147659, 0.284683228, 1.28802252, 0.860046625}
// output 2: f32[4] {1.81844652, 1.6472311, 0.24746646, -1.19476318}
// output 3: f32[2] {3, 2.5}
// output 4: s32[2] {0, 1}
// output 5: f32[4] {0.50000006, -0.249999985, 0.74999994, -1.4013e-45}
// output 6: pred[4] {0, 0, 0, 0}
