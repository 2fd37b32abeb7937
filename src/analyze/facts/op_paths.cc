#include "analyze/facts/op_paths.h"

#include "core/base/strings.h"

namespace shoal::internal {
namespace {

// The end of the parenthesis that opens before `at`.
size_t CloseOf(std::string_view name, size_t at) {
  for (int depth = 1; at < name.size(); ++at) {
    depth += name[at] == '(' ? 1 : name[at] == ')' ? -1 : 0;
    if (depth == 0) return at;
  }
  return std::string_view::npos;
}

// Replaces each transpose(jvp(x)) of JAX by jvp(x); empty if there is none.
std::string WithoutTranspose(std::string_view name) {
  constexpr std::string_view kTranspose = "transpose(", kBoth = "transpose(jvp(";
  std::string forward;
  size_t at = 0;
  for (size_t found = name.find(kBoth); found != std::string_view::npos; found = name.find(kBoth, at)) {
    const size_t inner = found + kTranspose.size(), end = CloseOf(name, inner);
    if (end == std::string_view::npos) break;
    StrAppend(&forward, name.substr(at, found - at), name.substr(inner, end - inner));
    at = end + 1;
  }
  return at == 0 ? "" : forward.append(name.substr(at));
}

// The name of TensorFlow's forward op; empty for other names.
std::string WithoutGradient(std::string_view name) {
  constexpr std::string_view kTape = "gradient_tape/", kGradients = "gradients/", kGrad = "_grad";
  if (const size_t tape = name.find(kTape); tape != std::string_view::npos) {
    name.remove_prefix(tape + kTape.size());
    const std::string_view op = WithoutLastPart(name);
    return std::string(op.empty() ? name : op);
  }
  const size_t start = name.find(kGradients), grad = name.rfind(kGrad);
  if (start == std::string_view::npos || grad == std::string_view::npos || grad < start + kGradients.size()) return "";
  return std::string(name.substr(start + kGradients.size(), grad - start - kGradients.size()));
}

// PyTorch/XLA gives the ops of one function such as lerp a scope of their own, such as aten__lerp.74.
bool IsTorchFunction(std::string_view part) {
  return part.starts_with("aten__") || part.starts_with("prim__") || part.starts_with("xla__");
}

}  // namespace

std::string_view WithoutLastPart(std::string_view op_name) {
  const size_t slash = op_name.rfind('/');
  return slash == std::string_view::npos ? "" : op_name.substr(0, slash);
}

std::string ForwardOpName(std::string_view op_name) {
  std::string name = WithoutTranspose(op_name);
  return name.empty() ? WithoutGradient(op_name) : name;
}

std::string ModulePathOf(std::string_view op_name) {
  const std::string forward = ForwardOpName(op_name);
  std::string_view rest = forward.empty() ? op_name : std::string_view(forward);
  std::string path;
  while (!rest.empty()) {
    const size_t slash = rest.find('/');
    if (slash == std::string_view::npos) break;
    std::string_view part = rest.substr(0, slash);
    rest.remove_prefix(slash + 1);
    if (part.starts_with("jit(") || part.starts_with("pjit(") || IsTorchFunction(part)) continue;
    if (const size_t open = part.rfind('('); open != std::string_view::npos)
      part = part.substr(open + 1, part.find(')', open) - open - 1);
    if (!part.empty()) StrAppend(&path, path.empty() ? "" : "/", part);
  }
  return path;
}

}  // namespace shoal::internal
