// RUN: shoal check %s
func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "stablehlo.async_start"(%a) ({
  ^bb0(%x: tensor<4xf32>):
    %2 = stablehlo.add %x, %x : tensor<4xf32>
    "stablehlo.return"(%2) : (tensor<4xf32>) -> ()
  }) : (tensor<4xf32>) -> !stablehlo.future<tensor<4xf32>>
  %1 = "stablehlo.async_done"(%0) : (!stablehlo.future<tensor<4xf32>>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}
// ERROR
// bad-async.mlir:3:8: error: stablehlo.async_start: the region must hold one collective of its argument, and a return [stablehlo.op]
//     %0 = "stablehlo.async_start"(%a) ({
//          ^^^^^^^^^^^^^^^^^^^^^
