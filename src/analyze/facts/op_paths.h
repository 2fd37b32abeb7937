// The parts of an op_name: the path of the user's model, and the forward op of a gradient.
#pragma once

#include <string>
#include <string_view>

namespace shoal::internal {

// "a/b" for "a/b/c"; empty for "c".
std::string_view WithoutLastPart(std::string_view op_name);

// The op_name of the forward op, for that of a gradient in JAX or TensorFlow; empty for other names.
//   jit(f)/transpose(jvp(Mlp))/dot         jit(f)/jvp(Mlp)/dot
//   gradients/dense/MatMul_grad/MatMul_1   dense/MatMul
//   gradient_tape/dense/MatMul/MatMul_1    dense/MatMul
std::string ForwardOpName(std::string_view op_name);

// The part of the user's model that an op_name states, without the op, jit(…) and transformations: "Mlp/Dense_0" for
// "jit(step)/jvp(Mlp)/Dense_0/dot_general" and for its gradient.
std::string ModulePathOf(std::string_view op_name);

}  // namespace shoal::internal
