// RUN: shoal print %s
// Constants are folded as the ops compute them: a sum of booleans is true if one of them is, and integers wrap.
func.func @main() -> (tensor<4xi1>, tensor<2xi8>, tensor<2xf32>, tensor<3xi32>) {
  %a = stablehlo.constant dense<[false, false, true, true]> : tensor<4xi1>
  %b = stablehlo.constant dense<[false, true, false, true]> : tensor<4xi1>
  %0 = stablehlo.add %a, %b : tensor<4xi1>
  %c = stablehlo.constant dense<[100, -128]> : tensor<2xi8>
  %1 = stablehlo.add %c, %c : tensor<2xi8>
  %d = stablehlo.constant dense<[2.0, -3.0]> : tensor<2xf32>
  %2 = stablehlo.divide %d, %d : tensor<2xf32>
  %e = stablehlo.constant dense<[1, 2, 3, 4, 5]> : tensor<5xi32>
  %3 = stablehlo.slice %e [0:5:2] : (tensor<5xi32>) -> tensor<3xi32>
  return %0, %1, %2, %3 : tensor<4xi1>, tensor<2xi8>, tensor<2xf32>, tensor<3xi32>
}
// OUTPUT
// HloModule main, entry_computation_layout={()->(pred[4]{0}, s8[2]{0}, f32[2]{0}, s32[3]{0})}
//
// ENTRY %main () -> (pred[4], s8[2], f32[2], s32[3]) {
//   %constant.1 = pred[4]{0} constant({0, 1, 1, 1})
//   %constant.2 = s8[2]{0} constant({-56, 0})
//   %constant.3 = f32[] constant(1)
//   %broadcast.1 = f32[2]{0} broadcast(%constant.3), dimensions={}
//   %constant.4 = s32[3]{0} constant({1, 3, 5})
//   ROOT %tuple.1 = (pred[4]{0}, s8[2]{0}, f32[2]{0}, s32[3]{0}) tuple(%constant.1, %constant.2, %broadcast.1, %constant.4)
// }
//
