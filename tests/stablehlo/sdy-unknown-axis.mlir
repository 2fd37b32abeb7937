// A sharding that names an axis that the mesh does not have is kept as an attribute only.
// RUN: shoal print %s
module @m {
  sdy.mesh @mesh = <["x"=2]>
  func.func public @main(%a: tensor<4x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>}) -> tensor<4x2xf32> {
    %0 = stablehlo.add %a, %a : tensor<4x2xf32>
    return %0 : tensor<4x2xf32>
  }
}
// OUTPUT
// HloModule m, entry_computation_layout={(f32[4,2]{1,0})->f32[4,2]{1,0}}, frontend_attributes={xla.sdy.meshes={mesh = #sdy.mesh<["x"=2]>}}
//
// ENTRY %main (Arg_0: f32[4,2]) -> f32[4,2] {
//   %Arg_0 = f32[4,2]{1,0} parameter(0), frontend_attributes={xla.sdy.sharding="#sdy.sharding<@mesh, [{\"y\"}, {}]>"}
//   ROOT %add.1 = f32[4,2]{1,0} add(%Arg_0, %Arg_0)
// }
//
