// RUN: shoal check %s
func.func @main() -> tensor<2x2xi8> {
  %0 = stablehlo.constant dense<[[1, 2], [3, 400]]> : tensor<2x2xi8>
  return %0 : tensor<2x2xi8>
}
// ERROR
// bad-constant.mlir:3:46: error: expected an element of type s8
//     %0 = stablehlo.constant dense<[[1, 2], [3, 400]]> : tensor<2x2xi8>
//                                                ^^^
