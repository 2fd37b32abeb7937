// RUN: shoal print --format=short %s
// RUN: shoal run --print_literals %s
module {
  func.func @main() -> (tensor<3xi1>, tensor<3xf32>) {
    %x = stablehlo.constant dense<[(-1.0, 0.0), (0.0, 1.0), (1.0, 2.0)]> : tensor<3xcomplex<f32>>
    %0 = stablehlo.convert %x : (tensor<3xcomplex<f32>>) -> tensor<3xi1>
    %1 = stablehlo.convert %x : (tensor<3xcomplex<f32>>) -> tensor<3xf32>
    return %0, %1 : tensor<3xi1>, tensor<3xf32>
  }
}
// OUTPUT
// HloModule main, entry_computation_layout={()->(pred[3]{0}, f32[3]{0})}
//
// ENTRY main {
//   constant.1 = c64[3]{0} constant({(-1, 0), (0, 1), (1, 2)})
//   real.1 = f32[3]{0} real(constant.1)
//   convert.1 = pred[3]{0} convert(real.1)
//   real.2 = f32[3]{0} real(constant.1)
//   convert.2 = f32[3]{0} convert(real.2)
//   ROOT tuple.1 = (pred[3]{0}, f32[3]{0}) tuple(convert.1, convert.2)
// }
//
// output 0: pred[3] {1, 0, 1}
// output 1: f32[3] {-1, 0, 1}
