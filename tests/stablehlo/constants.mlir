// RUN: shoal print %s
func.func @main() -> (tensor<2xi4>, tensor<3xi1>, tensor<2x1xbf16>, tensor<2xcomplex<f32>>, tensor<0x4xf32>, tensor<2xf32>, tensor<2xui8>) {
  %0 = stablehlo.constant dense<[-8, 7]> : tensor<2xi4>
  %1 = stablehlo.constant dense<[true, false, true]> : tensor<3xi1>
  %2 = stablehlo.constant dense<[[1.5], [-2.0]]> : tensor<2x1xbf16>
  %3 = stablehlo.constant dense<[(1.0, 2.0), (3.0, -4.0)]> : tensor<2xcomplex<f32>>
  %4 = stablehlo.constant dense<> : tensor<0x4xf32>
  %5 = stablehlo.constant dense<"0x0000803F00000040"> : tensor<2xf32>
  %6 = stablehlo.constant dense_resource<blob> : tensor<2xui8>
  return %0, %1, %2, %3, %4, %5, %6 : tensor<2xi4>, tensor<3xi1>, tensor<2x1xbf16>, tensor<2xcomplex<f32>>, tensor<0x4xf32>, tensor<2xf32>, tensor<2xui8>
}

{-#
  dialect_resources: {
    builtin: {
      blob: "0x01000000070C"
    }
  }
#-}
// OUTPUT
// HloModule main, entry_computation_layout={()->(s4[2]{0}, pred[3]{0}, bf16[2,1]{1,0}, c64[2]{0}, f32[0,4]{1,0}, /*index=5*/f32[2]{0}, u8[2]{0})}
//
// ENTRY %main () -> (s4[2], pred[3], bf16[2,1], c64[2], f32[0,4], /*index=5*/f32[2], u8[2]) {
//   %constant.1 = s4[2]{0} constant({-8, 7})
//   %constant.2 = pred[3]{0} constant({1, 0, 1})
//   %constant.3 = bf16[2,1]{1,0} constant({ {1.5}, {-2} })
//   %constant.4 = c64[2]{0} constant({(1, 2), (3, -4)})
//   %constant.5 = f32[0,4]{1,0} constant({  })
//   %constant.6 = f32[2]{0} constant({1, 2})
//   %constant.7 = u8[2]{0} constant({7, 12})
//   ROOT %tuple.1 = (s4[2]{0}, pred[3]{0}, bf16[2,1]{1,0}, c64[2]{0}, f32[0,4]{1,0}, /*index=5*/f32[2]{0}, u8[2]{0}) tuple(%constant.1, %constant.2, %constant.3, %constant.4, %constant.5, /*index=5*/%constant.6, %constant.7)
// }
//
