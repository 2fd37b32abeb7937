// RUN: shoal print %s
"builtin.module"() <{sym_name = "m"}> ({
  "func.func"() <{function_type = (tensor<2x3xf32>, tensor<2xi32>) -> tensor<2x3xf32>, sym_name = "main"}> ({
  ^bb0(%arg0: tensor<2x3xf32>, %arg1: tensor<2xi32>):
    %0 = "stablehlo.transpose"(%arg0) <{permutation = array<i64: 1, 0>}> : (tensor<2x3xf32>) -> tensor<3x2xf32>
    %1 = "stablehlo.slice"(%0) {limit_indices = array<i64: 3, 2>, start_indices = array<i64: 0, 0>, strides = array<i64: 2, 1>} : (tensor<3x2xf32>) -> tensor<2x2xf32>
    %2 = "stablehlo.constant"() <{value = dense<[[1.5, 0x7F800000, -2.0], [3.0, 4.0, 5.0]]> : tensor<2x3xf32>}> : () -> tensor<2x3xf32>
    %3 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %4:2 = "stablehlo.reduce"(%1, %1, %3, %3) <{dimensions = array<i64: 0>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<f32>, %d: tensor<f32>):
      %x = "stablehlo.maximum"(%a, %c) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      %y = "stablehlo.minimum"(%b, %d) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%x, %y) : (tensor<f32>, tensor<f32>) -> ()
    }) : (tensor<2x2xf32>, tensor<2x2xf32>, tensor<f32>, tensor<f32>) -> (tensor<2xf32>, tensor<2xf32>)
    %5 = "stablehlo.broadcast_in_dim"(%4#1) <{broadcast_dimensions = array<i64: 0>}> : (tensor<2xf32>) -> tensor<2x3xf32>
    %6 = "stablehlo.add"(%2, %5) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
    "func.return"(%6) : (tensor<2x3xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// OUTPUT
// HloModule m, entry_computation_layout={(f32[2,3]{1,0}, s32[2]{0})->f32[2,3]{1,0}}
//
// %region_0 (Arg_0.1: f32[], Arg_1.1: f32[], Arg_2: f32[], Arg_3: f32[]) -> (f32[], f32[]) {
//   %Arg_0.1 = f32[] parameter(0)
//   %Arg_2 = f32[] parameter(2)
//   %maximum.1 = f32[] maximum(%Arg_0.1, %Arg_2)
//   %Arg_1.1 = f32[] parameter(1)
//   %Arg_3 = f32[] parameter(3)
//   %minimum.1 = f32[] minimum(%Arg_1.1, %Arg_3)
//   ROOT %tuple.1 = (f32[], f32[]) tuple(%maximum.1, %minimum.1)
// }
//
// ENTRY %main (Arg_0: f32[2,3], Arg_1: s32[2]) -> f32[2,3] {
//   %Arg_1 = s32[2]{0} parameter(1)
//   %Arg_0 = f32[2,3]{1,0} parameter(0)
//   %transpose.1 = f32[3,2]{0,1} transpose(%Arg_0), dimensions={1,0}
//   %slice.1 = f32[2,2]{0,1} slice(%transpose.1), slice={[0:3:2], [0:2:1]}
//   %constant.1 = f32[] constant(0)
//   %reduce.1 = (f32[2]{0}, f32[2]{0}) reduce(%slice.1, %slice.1, %constant.1, %constant.1), dimensions={0}, to_apply=%region_0
//   %get-tuple-element.1 = f32[2]{0} get-tuple-element(%reduce.1), index=0
//   %get-tuple-element.2 = f32[2]{0} get-tuple-element(%reduce.1), index=1
//   %broadcast.1 = f32[2,3]{1,0} broadcast(%get-tuple-element.2), dimensions={0}
//   %constant.2 = f32[2,3]{1,0} constant({ { 1.5, inf, -2 }, { 3, 4, 5 } })
//   ROOT %add.1 = f32[2,3]{1,0} add(%broadcast.1, %constant.2)
// }
//
