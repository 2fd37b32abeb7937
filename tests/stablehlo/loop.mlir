// RUN: shoal print %s
// RUN: shoal run %s --print_literals
// The loop adds a captured value, and a constant of its body, four times. The unchanged value is no longer passed on.
func.func @main() -> (tensor<i32>, tensor<f32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %step = stablehlo.constant dense<1> : tensor<i32>
  %end = stablehlo.constant dense<4> : tensor<i32>
  %start = stablehlo.constant dense<1.0> : tensor<f32>
  %base = stablehlo.iota dim = 0 : tensor<3xf32>
  %sum = stablehlo.reduce(%base init: %start) applies stablehlo.add across dimensions = [0] : (tensor<3xf32>, tensor<f32>) -> tensor<f32>
  %r:3 = stablehlo.while(%i = %zero, %x = %start, %n = %end) : tensor<i32>, tensor<f32>, tensor<i32>
  cond {
    %p = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %j = stablehlo.add %i, %step : tensor<i32>
    %y = stablehlo.add %x, %sum : tensor<f32>
    stablehlo.return %j, %y, %n : tensor<i32>, tensor<f32>, tensor<i32>
  }
  return %r#0, %r#1 : tensor<i32>, tensor<f32>
}
// OUTPUT
// HloModule main, entry_computation_layout={()->(s32[], f32[])}
//
// %region_0 (Arg_0: f32[], Arg_1: f32[]) -> f32[] {
//   %Arg_0 = f32[] parameter(0)
//   %Arg_1 = f32[] parameter(1)
//   ROOT %add.1 = f32[] add(%Arg_0, %Arg_1)
// }
//
// %region_1 (arg_tuple: (s32[], f32[], f32[])) -> (s32[], f32[], f32[]) {
//   %arg_tuple = (s32[], f32[], f32[]) parameter(0)
//   %get-tuple-element.1 = s32[] get-tuple-element(%arg_tuple), index=0
//   %constant.3 = s32[] constant(1)
//   %add.2 = s32[] add(%get-tuple-element.1, %constant.3)
//   %get-tuple-element.2 = f32[] get-tuple-element(%arg_tuple), index=1
//   %get-tuple-element.3 = f32[] get-tuple-element(%arg_tuple), index=2
//   %add.3 = f32[] add(%get-tuple-element.2, %get-tuple-element.3)
//   ROOT %tuple.1 = (s32[], f32[], f32[]) tuple(%add.2, %add.3, %get-tuple-element.3)
// }
//
// %region_2 (arg_tuple.1: (s32[], f32[], f32[])) -> pred[] {
//   %arg_tuple.1 = (s32[], f32[], f32[]) parameter(0)
//   %get-tuple-element.5 = f32[] get-tuple-element(%arg_tuple.1), index=1
//   %get-tuple-element.6 = f32[] get-tuple-element(%arg_tuple.1), index=2
//   %get-tuple-element.4 = s32[] get-tuple-element(%arg_tuple.1), index=0
//   %constant.4 = s32[] constant(4)
//   ROOT %compare.1 = pred[] compare(%get-tuple-element.4, %constant.4), direction=LT
// }
//
// ENTRY %main () -> (s32[], f32[]) {
//   %constant.2 = s32[] constant(0)
//   %constant.1 = f32[] constant(1)
//   %iota.1 = f32[3]{0} iota(), iota_dimension=0
//   %reduce.1 = f32[] reduce(%iota.1, %constant.1), dimensions={0}, to_apply=%region_0
//   %tuple.2 = (s32[], f32[], f32[]) tuple(%constant.2, %constant.1, %reduce.1)
//   %while.1 = (s32[], f32[], f32[]) while(%tuple.2), condition=%region_2, body=%region_1
//   %get-tuple-element.7 = s32[] get-tuple-element(%while.1), index=0
//   %get-tuple-element.8 = f32[] get-tuple-element(%while.1), index=1
//   ROOT %tuple.3 = (s32[], f32[]) tuple(%get-tuple-element.7, %get-tuple-element.8)
// }
//
// output 0: s32[] 4
// output 1: f32[] 17
