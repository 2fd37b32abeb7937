// RUN: shoal print --format=short %s
// Ops that StableHLO lacks, as custom calls of XLA.
func.func @main(%x: tensor<4xf32>) -> (tensor<2xf32>, tensor<2xi32>, tensor<4xf32>) {
  %0:2 = stablehlo.custom_call @mhlo.topk(%x) {mhlo.attributes = {k = 2 : i64, largest = true}, mhlo.version = 1 : i64} : (tensor<4xf32>) -> (tensor<2xf32>, tensor<2xi32>)
  %1 = stablehlo.custom_call @mhlo.erf(%x) {mhlo.attributes = {}, mhlo.version = 1 : i64, mhlo.sharding = "{replicated}"} : (tensor<4xf32>) -> tensor<4xf32>
  return %0#0, %0#1, %1 : tensor<2xf32>, tensor<2xi32>, tensor<4xf32>
}
// OUTPUT
// HloModule main, entry_computation_layout={(f32[4]{0})->(f32[2]{0}, s32[2]{0}, f32[4]{0})}
//
// ENTRY main {
//   Arg_0 = f32[4]{0} parameter(0)
//   topk.1 = (f32[2]{0}, s32[2]{0}) topk(Arg_0), k=2, largest=true, is_stable=true
//   get-tuple-element.1 = f32[2]{0} get-tuple-element(topk.1), index=0
//   get-tuple-element.2 = s32[2]{0} get-tuple-element(topk.1), index=1
//   erf.1 = f32[4]{0} erf(Arg_0), sharding={replicated}
//   ROOT tuple.1 = (f32[2]{0}, s32[2]{0}, f32[4]{0}) tuple(get-tuple-element.1, get-tuple-element.2, erf.1)
// }
//
