// RUN: shoal run %s --print_literals
// Folding respects the sign of zero and total orders.
func.func @main() -> (tensor<2xf32>, tensor<2xf32>, tensor<2xi1>) {
  %one = stablehlo.constant dense<1.0> : tensor<2xf32>
  %a = stablehlo.constant dense<[-0.0, 0.0]> : tensor<2xf32>
  %b = stablehlo.constant dense<[0.0, -0.0]> : tensor<2xf32>
  %max = stablehlo.maximum %a, %b : tensor<2xf32>
  %min = stablehlo.minimum %a, %b : tensor<2xf32>
  %0 = stablehlo.divide %one, %max : tensor<2xf32>
  %1 = stablehlo.divide %one, %min : tensor<2xf32>
  %2 = stablehlo.compare LT, %a, %b, TOTALORDER : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>
  return %0, %1, %2 : tensor<2xf32>, tensor<2xf32>, tensor<2xi1>
}
// OUTPUT
// output 0: f32[2] {inf, inf}
// output 1: f32[2] {-inf, -inf}
// output 2: pred[2] {1, 0}
