// RUN: shoal print %s
#loc = loc(unknown)
module @jit_f attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["model"=4]>
  sdy.mesh @same = <["model"=4]>
  func.func public @main(%arg0: tensor<16x64xf32> {jax.buffer_donor = true, sdy.sharding = #sdy.sharding<@same, [{}, {"model"}]>} loc("x"),
                         %arg1: tensor<64x8xf32> {tf.aliasing_output = 1 : i32, mhlo.sharding = "{replicated}"})
      -> (tensor<16x8xf32>, tensor<64x8xf32>) {
    %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0], precision = [DEFAULT, HIGHEST] : (tensor<16x64xf32>, tensor<64x8xf32>) -> tensor<16x8xf32> loc(#loc4)
    %1 = call @silu(%0) : (tensor<16x8xf32>) -> tensor<16x8xf32>
    %2 = sdy.sharding_constraint %1 <@mesh, [{"model"}, {}]> : tensor<16x8xf32>
    return %2, %arg1 : tensor<16x8xf32>, tensor<64x8xf32>
  }
  func.func private @silu(%arg0: tensor<16x8xf32>) -> tensor<16x8xf32> {
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<16x8xf32>
    %1 = stablehlo.logistic %arg0 : tensor<16x8xf32>
    %2 = stablehlo.multiply %0, %1 : tensor<16x8xf32>
    %3 = stablehlo.add %0, %2 : tensor<16x8xf32>
    return %3 : tensor<16x8xf32>
  }
}
#loc2 = loc("model.py":12:4 to :20)
#loc3 = loc("train"(#loc2))
#loc4 = loc("jit(f)/dot_general"(#loc3))
// OUTPUT
// HloModule jit_f, input_output_alias={ {1}: (1, {}, may-alias) }, buffer_donor={ (0, {}) }, entry_computation_layout={(f32[16,64]{1,0}, f32[64,8]{1,0})->(f32[16,8]{1,0}, f32[64,8]{1,0})}, frontend_attributes={xla.sdy.meshes={mesh = #sdy.mesh<["model"=4]>}}
//
// FileNames
// 1 "model.py"
//
// FunctionNames
// 1 "train"
//
// FileLocations
// 1 {file_name_id=1 function_name_id=1 line=12 end_line=12 column=4 end_column=20}
//
// StackFrames
// 1 {file_location_id=1 parent_frame_id=1}
//
//
// %silu (Arg_0: f32[16,8]) -> f32[16,8] {
//   %Arg_0 = f32[16,8]{1,0} parameter(0)
//   %logistic.1 = f32[16,8]{1,0} logistic(%Arg_0)
//   %constant.1 = f32[] constant(1)
//   %broadcast.1 = f32[16,8]{1,0} broadcast(%constant.1), dimensions={}
//   ROOT %add.1 = f32[16,8]{1,0} add(%logistic.1, %broadcast.1)
// }
//
// ENTRY %main (x: f32[16,64], Arg_1: f32[64,8]) -> (f32[16,8], f32[64,8]) {
//   %x = f32[16,64]{1,0} parameter(0), sharding={devices=[1,4]<=[4]}, frontend_attributes={xla.sdy.sharding="#sdy.sharding<@mesh, [{}, {\"model\"}]>"}, metadata={op_name="x"}
//   %Arg_1 = f32[64,8]{1,0} parameter(1), sharding={replicated}
//   %dot.1 = f32[16,8]{1,0} dot(%x, %Arg_1), lhs_contracting_dims={1}, rhs_contracting_dims={0}, operand_precision={default,highest}, metadata={op_name="jit(f)/dot_general" stack_frame_id=1}
//   %call.1 = f32[16,8]{1,0} call(%dot.1), to_apply=%silu
//   %custom-call.1 = f32[16,8]{1,0} custom-call(%call.1), custom_call_target="Sharding", sharding={devices=[4,1]<=[4]}, frontend_attributes={xla.sdy.sharding="#sdy.sharding_per_value<[<@mesh, [{\"model\"}, {}]>]>"}
//   ROOT %tuple.1 = (f32[16,8]{1,0}, f32[64,8]{1,0}) tuple(%custom-call.1, %Arg_1)
// }
//
