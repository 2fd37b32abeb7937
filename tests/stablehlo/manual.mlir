// RUN: shoal print %s
module @m {
  sdy.mesh @mesh = <["a"=2, "b"=2]>
  func.func public @main(%arg0: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"b"}, {"a"}]>}) -> (tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a", "b"}, {}]>}) {
    %0 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"a", "b"}, {}]>] out_shardings=[<@mesh, [{"a", "b"}, {}]>] manual_axes={"a", "b"} (%arg1: tensor<2x4xf32>) {
      %1 = "stablehlo.all_reduce"(%arg1) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = #stablehlo.replica_group_mesh_axes<mesh = @mesh, axes = [#stablehlo.axis_ref<name = "b">]>, use_global_device_ids}> ({
      ^bb0(%a: tensor<f32>, %b: tensor<f32>):
        %2 = stablehlo.add %a, %b : tensor<f32>
        stablehlo.return %2 : tensor<f32>
      }) : (tensor<2x4xf32>) -> tensor<2x4xf32>
      %3 = "stablehlo.all_to_all"(%1) <{concat_dimension = 1 : i64, replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>, split_count = 2 : i64, split_dimension = 0 : i64}> : (tensor<2x4xf32>) -> tensor<1x8xf32>
      %4 = stablehlo.reshape %3 : (tensor<1x8xf32>) -> tensor<2x4xf32>
      sdy.return %4 : tensor<2x4xf32>
    } : (tensor<8x4xf32>) -> tensor<8x4xf32>
    return %0 : tensor<8x4xf32>
  }
}
// OUTPUT
// HloModule m, entry_computation_layout={(f32[8,4]{1,0})->f32[8,4]{1,0}}, frontend_attributes={xla.sdy.meshes={mesh = #sdy.mesh<["a"=2, "b"=2]>}}
//
// %region_0 (Arg_0.2: f32[], Arg_1: f32[]) -> f32[] {
//   %Arg_0.2 = f32[] parameter(0)
//   %Arg_1 = f32[] parameter(1)
//   ROOT %add.1 = f32[] add(%Arg_0.2, %Arg_1)
// }
//
// %xla.sdy.manual_computation_body (Arg_0.1: f32[2,4]) -> f32[2,4] {
//   %Arg_0.1 = f32[2,4]{1,0} parameter(0)
//   %all-reduce.1 = f32[2,4]{1,0} all-reduce(%Arg_0.1), channel_id=1, replica_groups=mesh['a'=2,'b'=2] {'b'}, use_global_device_ids=true, to_apply=%region_0
//   %all-to-all.1 = f32[2,4]{1,0} all-to-all(%all-reduce.1), replica_groups={{0,1},{2,3}}, dimensions={0}
//   %reshape.1 = f32[2,1,4]{2,1,0} reshape(%all-to-all.1)
//   %transpose.1 = f32[1,2,4]{2,0,1} transpose(%reshape.1), dimensions={1,0,2}
//   %reshape.2 = f32[1,8]{1,0} reshape(%transpose.1)
//   ROOT %reshape.3 = f32[2,4]{1,0} reshape(%reshape.2)
// }
//
// ENTRY %main (Arg_0: f32[8,4]) -> f32[8,4] {
//   %Arg_0 = f32[8,4]{1,0} parameter(0), sharding={devices=[2,2]<=[2,2]T(1,0)}, frontend_attributes={xla.sdy.sharding="#sdy.sharding<@mesh, [{\"b\"}, {\"a\"}]>"}
//   %custom-call.1 = f32[2,4]{1,0} custom-call(%Arg_0), custom_call_target="xla.sdy.GlobalToLocalShape", custom_call_has_side_effect=true, frontend_attributes={xla.sdy.in_shardings="#sdy.sharding_per_value<[<@mesh, [{\"a\", \"b\"}, {}]>]>",xla.sdy.manual_axes="#sdy<manual_axes{\"a\", \"b\"}>"}
//   %call.1 = f32[2,4]{1,0} call(%custom-call.1), to_apply=%xla.sdy.manual_computation_body, frontend_attributes={inlineable="xla_late"}
//   %custom-call.2 = f32[8,4]{1,0} custom-call(%call.1), custom_call_target="xla.sdy.LocalToGlobalShape", custom_call_has_side_effect=true, frontend_attributes={xla.sdy.manual_axes="#sdy<manual_axes{\"a\", \"b\"}>",xla.sdy.out_shardings="#sdy.sharding_per_value<[<@mesh, [{\"a\", \"b\"}, {}]>]>"}
//   %custom-call.3 = f32[8,4]{1,0} custom-call(%custom-call.2), custom_call_target="xla.sdy.FuncResultSharding", custom_call_has_side_effect=true, sharding={devices=[4,1]<=[4]}, frontend_attributes={xla.sdy.sharding="#sdy.sharding_per_value<[<@mesh, [{\"a\", \"b\"}, {}]>]>"}
//   %tuple.1 = (f32[8,4]{1,0}) tuple(%custom-call.3), sharding={{devices=[4,1]<=[4]}}
//   ROOT %get-tuple-element.1 = f32[8,4]{1,0} get-tuple-element(%tuple.1), index=0, sharding={devices=[4,1]<=[4]}
// }
//
