// RUN: shoal check %s
func.func @main(%arg0: tensor<4x2xf32>) -> tensor<4x2xf32> {
  %0 = "stablehlo.no_such_op"(%arg0) : (tensor<4x2xf32>) -> tensor<4x2xf32>
  return %0 : tensor<4x2xf32>
}
// ERROR
// bad-op.mlir:3:8: error: stablehlo.no_such_op: unknown op [stablehlo.op]
//     %0 = "stablehlo.no_such_op"(%arg0) : (tensor<4x2xf32>) -> tensor<4x2xf32>
//          ^^^^^^^^^^^^^^^^^^^^
