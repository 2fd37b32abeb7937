// RUN: shoal print --format=short %s
// RUN: shoal run --print_literals --hlo_argument_mode=use_device_id_as_input %s
module @m attributes {mhlo.num_replicas = 4 : i32} {
func.func @main(%a: tensor<4x4xf32>, %b: tensor<4x16xf32>) -> (tensor<4x4xf32>, tensor<4x16xf32>, tensor<4x4xf32>, tensor<4x16xf32>, tensor<4x4xf32>, tensor<4x4xf32>) {
  %s0 = "stablehlo.async_start"(%a) ({
  ^bb0(%x: tensor<4x4xf32>):
    %1 = "stablehlo.all_reduce"(%x) ({
    ^bb1(%p: tensor<f32>, %q: tensor<f32>):
      %2 = "stablehlo.add"(%p, %q) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%2) : (tensor<f32>) -> ()
    }) {replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>} : (tensor<4x4xf32>) -> tensor<4x4xf32>
    "stablehlo.return"(%1) : (tensor<4x4xf32>) -> ()
  }) : (tensor<4x4xf32>) -> !stablehlo.future<tensor<4x4xf32>>
  %s1 = "stablehlo.async_start"(%a) ({
  ^bb0(%x: tensor<4x4xf32>):
    %1 = "stablehlo.all_gather"(%x) {all_gather_dim = 1 : i64, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>} : (tensor<4x4xf32>) -> tensor<4x16xf32>
    "stablehlo.return"(%1) : (tensor<4x16xf32>) -> ()
  }) : (tensor<4x4xf32>) -> !stablehlo.future<tensor<4x16xf32>>
  %s2 = "stablehlo.async_start"(%a) ({
  ^bb0(%x: tensor<4x4xf32>):
    %1 = "stablehlo.collective_permute"(%x) {source_target_pairs = dense<[[0, 1], [1, 2], [2, 3]]> : tensor<3x2xi64>} : (tensor<4x4xf32>) -> tensor<4x4xf32>
    "stablehlo.return"(%1) : (tensor<4x4xf32>) -> ()
  }) : (tensor<4x4xf32>) -> !stablehlo.future<tensor<4x4xf32>>
  %s3 = "stablehlo.async_start"(%b) ({
  ^bb0(%x: tensor<4x16xf32>):
    %1 = "stablehlo.all_to_all"(%x) {split_dimension = 1 : i64, concat_dimension = 1 : i64, split_count = 4 : i64, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>} : (tensor<4x16xf32>) -> tensor<4x16xf32>
    "stablehlo.return"(%1) : (tensor<4x16xf32>) -> ()
  }) : (tensor<4x16xf32>) -> !stablehlo.future<tensor<4x16xf32>>
  %s4 = "stablehlo.async_start"(%a) ({
  ^bb0(%x: tensor<4x4xf32>):
    %1 = "stablehlo.collective_broadcast"(%x) {replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>} : (tensor<4x4xf32>) -> tensor<4x4xf32>
    "stablehlo.return"(%1) : (tensor<4x4xf32>) -> ()
  }) : (tensor<4x4xf32>) -> !stablehlo.future<tensor<4x4xf32>>
  %s5 = "stablehlo.async_start"(%b) ({
  ^bb0(%x: tensor<4x16xf32>):
    %1 = "stablehlo.reduce_scatter"(%x) ({
      ^bb1(%p: tensor<f32>, %q: tensor<f32>):
      %2 = stablehlo.add %p, %q : tensor<f32>
      "stablehlo.return"(%2) : (tensor<f32>) -> ()
    }) {replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, scatter_dimension = 1 : i64} : (tensor<4x16xf32>) -> tensor<4x4xf32>
    "stablehlo.return"(%1) : (tensor<4x4xf32>) -> ()
  }) : (tensor<4x16xf32>) -> !stablehlo.future<tensor<4x4xf32>>
  %d0 = "stablehlo.async_done"(%s0) : (!stablehlo.future<tensor<4x4xf32>>) -> tensor<4x4xf32>
  %d1 = "stablehlo.async_done"(%s1) : (!stablehlo.future<tensor<4x16xf32>>) -> tensor<4x16xf32>
  %d2 = "stablehlo.async_done"(%s2) : (!stablehlo.future<tensor<4x4xf32>>) -> tensor<4x4xf32>
  %d3 = "stablehlo.async_done"(%s3) : (!stablehlo.future<tensor<4x16xf32>>) -> tensor<4x16xf32>
  %d4 = "stablehlo.async_done"(%s4) : (!stablehlo.future<tensor<4x4xf32>>) -> tensor<4x4xf32>
  %d5 = "stablehlo.async_done"(%s5) : (!stablehlo.future<tensor<4x4xf32>>) -> tensor<4x4xf32>
  return %d0, %d1, %d2, %d3, %d4, %d5 : tensor<4x4xf32>, tensor<4x16xf32>, tensor<4x4xf32>, tensor<4x16xf32>, tensor<4x4xf32>, tensor<4x4xf32>
}}
// OUTPUT
// HloModule m, entry_computation_layout={(f32[4,4]{1,0}, f32[4,16]{1,0})->(f32[4,4]{1,0}, f32[4,16]{1,0}, f32[4,4]{1,0}, f32[4,16]{1,0}, f32[4,4]{1,0}, /*index=5*/f32[4,4]{1,0})}
//
// region_0 {
//   Arg_0.1 = f32[] parameter(0)
//   Arg_1.1 = f32[] parameter(1)
//   ROOT add.1 = f32[] add(Arg_0.1, Arg_1.1)
// }
//
// region_4 {
//   Arg_0.5 = f32[] parameter(0)
//   Arg_1.2 = f32[] parameter(1)
//   ROOT add.2 = f32[] add(Arg_0.5, Arg_1.2)
// }
//
// ENTRY main {
//   Arg_0 = f32[4,4]{1,0} parameter(0)
//   all-reduce-start.1 = f32[4,4]{1,0} all-reduce-start(Arg_0), replica_groups={{0,1,2,3}}, to_apply=region_0
//   all-reduce-done.1 = f32[4,4]{1,0} all-reduce-done(all-reduce-start.1)
//   all-gather-start.1 = (f32[4,4]{1,0}, f32[4,16]{1,0}) all-gather-start(Arg_0), replica_groups={{0,1,2,3}}, constrain_layout=true, dimensions={1}
//   all-gather-done.1 = f32[4,16]{1,0} all-gather-done(all-gather-start.1)
//   collective-permute-start.1 = (f32[4,4]{1,0}, f32[4,4]{1,0}) collective-permute-start(Arg_0), source_target_pairs={{0,1},{1,2},{2,3}}
//   collective-permute-done.1 = f32[4,4]{1,0} collective-permute-done(collective-permute-start.1)
//   Arg_1 = f32[4,16]{1,0} parameter(1)
//   async-start.1 = ((f32[4,16]{1,0}), f32[4,16]{1,0}) all-to-all-start(Arg_1), replica_groups={{0,1,2,3}}, dimensions={1}
//   async-done.1 = f32[4,16]{1,0} all-to-all-done(async-start.1)
//   async-start.2 = ((f32[4,4]{1,0}), f32[4,4]{1,0}) collective-broadcast-start(Arg_0), replica_groups={{0,1,2,3}}, has_dynamic_root=false
//   async-done.2 = f32[4,4]{1,0} collective-broadcast-done(async-start.2)
//   async-start.3 = ((f32[4,16]{1,0}), f32[4,4]{1,0}) reduce-scatter-start(Arg_1), replica_groups={{0,1,2,3}}, dimensions={1}, to_apply=region_4
//   async-done.3 = f32[4,4]{1,0} reduce-scatter-done(async-start.3)
//   ROOT tuple.1 = (f32[4,4]{1,0}, f32[4,16]{1,0}, f32[4,4]{1,0}, f32[4,16]{1,0}, f32[4,4]{1,0}, /*index=5*/f32[4,4]{1,0}) tuple(all-reduce-done.1, all-gather-done.1, collective-permute-done.1, async-done.1, async-done.2, async-done.3)
// }
//
// output 0, devices 0-3: f32[4,4] { { 6, 6, 6, 6 }, { 6, 6, 6, 6 }, { 6, 6, 6, 6 }, { 6, 6, 6, 6 } }
// output 1, devices 0-3: f32[4,16] { { 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3 }, { 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3 }, { 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3 }, { 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3 } }
// output 2, devices 0,1: f32[4,4] { { 0, 0, 0, 0 }, { 0, 0, 0, 0 }, { 0, 0, 0, 0 }, { 0, 0, 0, 0 } }
// output 2, device 2: f32[4,4] { { 1, 1, 1, 1 }, { 1, 1, 1, 1 }, { 1, 1, 1, 1 }, { 1, 1, 1, 1 } }
// output 2, device 3: f32[4,4] { { 2, 2, 2, 2 }, { 2, 2, 2, 2 }, { 2, 2, 2, 2 }, { 2, 2, 2, 2 } }
// output 3, devices 0-3: f32[4,16] { { 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3 }, { 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3 }, { 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3 }, { 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3 } }
// output 4, devices 0-3: f32[4,4] { { 0, 0, 0, 0 }, { 0, 0, 0, 0 }, { 0, 0, 0, 0 }, { 0, 0, 0, 0 } }
// output 5, devices 0-3: f32[4,4] { { 6, 6, 6, 6 }, { 6, 6, 6, 6 }, { 6, 6, 6, 6 }, { 6, 6, 6, 6 } }
// ERROR
// no inputs given: generated with use_device_id_as_input
