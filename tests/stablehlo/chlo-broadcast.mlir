// RUN: shoal run --print_literals %s
module {
  func.func @main() -> (tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>) {
    %x = stablehlo.constant dense<[[2.0], [3.0]]> : tensor<2x1xf32>
    %y = stablehlo.constant dense<[1.0, 2.5]> : tensor<2xf32>
    %0 = "chlo.broadcast_zeta"(%x, %y) : (tensor<2x1xf32>, tensor<2xf32>) -> tensor<2x2xf32>
    %1 = "chlo.broadcast_polygamma"(%x, %y) : (tensor<2x1xf32>, tensor<2xf32>) -> tensor<2x2xf32>
    %2 = "chlo.broadcast_next_after"(%x, %y) : (tensor<2x1xf32>, tensor<2xf32>) -> tensor<2x2xf32>
    return %0, %1, %2 : tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>
  }
}
// OUTPUT
// output 0: f32[2,2] { { 1.64493406, 0.490357757 }, { 1.202057, 0.118102029 } }
// output 1: f32[2,2] { { -2.4041152, -0.236204177 }, { 6.49394608, 0.22390607 } }
// output 2: f32[2,2] { { 1.99999988, 2.00000024 }, { 2.99999976, 2.99999976 } }
