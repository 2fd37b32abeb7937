// The lines of the user's program from which instructions originate, also for backward ops without a line of their own.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "core/ir/source_location.h"

namespace shoal::internal {

class SourceLines {
 public:
  static constexpr const char* kVia = " (via forward)";  // marks the line of the forward op

  // The module and the names of `own_packages` (see IsInstalledFile) must outlive this object.
  explicit SourceLines(const Module& module, std::span<const std::string> own_packages = {});

  // "model.py:12". "model.py:12 (via forward)" if the line is that of the forward op. Empty if the line is unknown.
  std::string Of(const Instruction& hlo) const;
  // The same without "(via forward)".
  std::string LocationOf(const Instruction& hlo) const;
  // The stack of the instruction, else of its forward op, innermost frame first.
  std::vector<SourceFrame> StackOf(const Instruction& hlo) const;
  // The forward op whose line stands for an instruction; null if the instruction has a line, or if the forward op is
  // unknown. Names tell it: transpose(jvp(x)) of JAX, gradients/x_grad and gradient_tape/x of TensorFlow, x_backward of
  // PyTorch. If the same name has several lines, and for matrix products of PyTorch, the operands tell it.
  const Instruction* ForwardOf(const Instruction& hlo) const;

 private:
  const Module& module_;
  const std::span<const std::string> own_packages_;
  absl::flat_hash_map<const Instruction*, const Instruction*> forward_;
};

}  // namespace shoal::internal
