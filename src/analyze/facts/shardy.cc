#include "analyze/facts/shardy.h"

#include <algorithm>
#include <charconv>
#include <optional>

namespace shoal::internal {
namespace {

std::string_view Find(std::span<const FrontendAttribute> attributes, std::string_view name) {
  for (const FrontendAttribute& attribute : attributes)
    if (attribute.name == name) return attribute.value;
  return {};
}

// Rejects larger meshes, so that products of sizes do not overflow. Real meshes are far smaller.
constexpr int64_t kMaxMeshDevices = int64_t{1} << 20;

// Reads MLIR attributes token by token. Quotes may or may not be escaped.
class ShardyText {
 public:
  explicit ShardyText(std::string_view text) {
    for (char c : text)
      if (c != '\\' && c != ' ') text_ += c;
  }

  bool Eat(std::string_view token) {
    const bool matches = rest().starts_with(token);
    if (matches) at_ += token.size();
    return matches;
  }
  // Moves to the end of the next `token`.
  bool SkipPast(std::string_view token) {
    const size_t found = text_.find(token, at_);
    if (found != std::string::npos) at_ = found + token.size();
    return found != std::string::npos;
  }
  std::string_view Until(std::string_view ends) {
    const std::string_view word = rest().substr(0, rest().find_first_of(ends));
    at_ += word.size();
    return word;
  }
  std::optional<std::string_view> Quoted() {
    if (!Eat("\"")) return std::nullopt;
    const std::string_view name = Until("\"");
    return Eat("\"") ? std::optional(name) : std::nullopt;
  }
  std::optional<int64_t> Number() {
    int64_t number = 0;
    const std::string_view digits = rest();
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    if (error != std::errc() || number < 0 || number > kMaxMeshDevices) return std::nullopt;
    at_ += static_cast<size_t>(end - digits.data());
    return number;
  }
  std::string_view rest() const { return std::string_view(text_).substr(at_); }

 private:
  std::string text_;
  size_t at_ = 0;
};

// Parses ["a"=2,"b"=4],device_ids=[…]>.
std::optional<Mesh> ReadMesh(ShardyText& text) {
  Mesh mesh;
  int64_t devices = 1;
  if (!text.Eat("[")) return std::nullopt;
  while (!text.Eat("]")) {
    const auto name = text.Quoted();
    if (!name || !text.Eat("=")) return std::nullopt;
    mesh.axis_names.emplace_back(*name);
    const auto size = text.Number();
    if (!size || *size == 0) return std::nullopt;
    mesh.devices.dims.push_back(*size);
    if ((devices *= *size) > kMaxMeshDevices) return std::nullopt;
    text.Eat(",");
  }
  mesh.devices.iota = IotaTiles::Plain(mesh.devices.dims);
  if (text.Eat(",device_ids=[")) {
    mesh.devices.iota.reset();
    while (!text.Eat("]")) {
      const auto id = text.Number();
      if (!id) return std::nullopt;
      mesh.devices.devices.push_back(*id);
      text.Eat(",");
    }
    if (mesh.devices.DeviceCount() != std::ssize(mesh.devices.devices)) return std::nullopt;
  }
  return text.Eat(">") ? std::optional(std::move(mesh)) : std::nullopt;
}

// Parses an inline mesh<["a"=2]>, or resolves @mesh, which the module header declares.
std::optional<Mesh> ReadMeshOf(const Module& module, ShardyText& text) {
  if (text.Eat("mesh<")) return ReadMesh(text);
  if (!text.Eat("@")) return std::nullopt;
  const std::string name(text.Until(",>"));
  ShardyText meshes(Find(module.frontend_attributes, "xla.sdy.meshes"));
  for (const char* before : {"{", ","}) {
    ShardyText at = meshes;
    if (at.SkipPast(before + name + "=#sdy.mesh<")) return ReadMesh(at);
  }
  return std::nullopt;
}

// Parses "a" or "a":(2)4.
std::optional<AxisRef> ReadAxis(const Mesh& mesh, ShardyText& text) {
  const auto name = text.Quoted();
  if (!name) return std::nullopt;
  const auto found = std::find(mesh.axis_names.begin(), mesh.axis_names.end(), *name);
  if (found == mesh.axis_names.end()) return std::nullopt;
  AxisRef axis;
  axis.axis = static_cast<int64_t>(found - mesh.axis_names.begin());
  if (!text.Eat(":(")) return axis;
  const auto pre_size = text.Number();
  if (!pre_size || !text.Eat(")")) return std::nullopt;
  const auto size = text.Number();
  if (!size || *size == 0) return std::nullopt;
  axis.sub = SubAxis{*pre_size, *size};
  return axis;
}

// Parses {"a","b",?}p1. If `manual` is set, keeps only the axes in `manual`.
bool ReadDimension(const Mesh& mesh, std::optional<std::string_view> manual, ShardyText& text,
                   Sharding::Dimension& dimension) {
  if (!text.Eat("{")) return false;
  int64_t parts = 1;
  while (!text.Eat("}")) {
    if (text.Eat("?")) {
      dimension.closed = false;
    } else {
      const auto axis = ReadAxis(mesh, text);
      if (!axis || (parts *= axis->Size(mesh)) > kMaxMeshDevices) return false;
      const std::string quoted = '"' + mesh.axis_names[static_cast<size_t>(axis->axis)] + '"';
      if (!manual || manual->find(quoted) != std::string_view::npos) dimension.axes.push_back(*axis);
    }
    text.Eat(",");
  }
  if (text.Eat("p")) text.Number();
  return true;
}

// Parses <@mesh,[{"a"},{}],replicated={"b"}>.
std::optional<Sharding> ReadSharding(const Module& module, std::optional<std::string_view> manual, ShardyText& text) {
  Sharding sharding;
  sharding.kind = Sharding::Kind::kNamed;
  if (!text.Eat("<")) return std::nullopt;
  sharding.mesh = ReadMeshOf(module, text);
  if (!sharding.mesh || !text.Eat(",[")) return std::nullopt;
  while (!text.Eat("]")) {
    if (!ReadDimension(*sharding.mesh, manual, text, sharding.dimensions.emplace_back())) return std::nullopt;
    text.Eat(",");
  }
  if (!text.SkipPast(">")) return std::nullopt;
  return sharding;
}

// Parses #sdy.sharding_per_value<[<@mesh,[…]>,…]>, or #sdy.sharding<@mesh,[…]> if there is only one result.
std::vector<Sharding> ReadShardings(const Module& module, std::string_view written,
                                    std::optional<std::string_view> manual) {
  ShardyText text(written);
  std::vector<Sharding> shardings;
  if (text.Eat("#sdy.sharding<")) {
    ShardyText one("<" + std::string(text.rest()));
    if (std::optional<Sharding> sharding = ReadSharding(module, manual, one)) shardings.push_back(std::move(*sharding));
    return shardings;
  }
  if (!text.Eat("#sdy.sharding_per_value<[")) return {};
  while (!text.Eat("]>")) {
    std::optional<Sharding> sharding = ReadSharding(module, manual, text);
    if (!sharding) return {};
    shardings.push_back(std::move(*sharding));
    text.Eat(",");
  }
  return shardings;
}

}  // namespace

std::vector<Sharding> ManualShardings(const Module& module, const Instruction& hlo) {
  const std::span<const FrontendAttribute> attributes = hlo[kFrontendAttributes];
  std::string_view written = Find(attributes, "xla.sdy.in_shardings");
  if (written.empty()) written = Find(attributes, "xla.sdy.out_shardings");
  const ShardyText manual(Find(attributes, "xla.sdy.manual_axes"));
  return ReadShardings(module, written, manual.rest());
}

std::vector<Sharding> AnnotatedShardings(const Module& module, const Instruction& hlo) {
  const std::span<const FrontendAttribute> attributes = hlo[kFrontendAttributes];
  std::string_view written = Find(attributes, "xla.sdy.sharding");
  if (written.empty()) written = Find(attributes, "xla.sdy.out_shardings");
  return written.empty() ? std::vector<Sharding>() : ReadShardings(module, written, std::nullopt);
}

std::vector<Mesh> DeclaredMeshes(const Module& module) {
  std::vector<Mesh> meshes;
  ShardyText text(Find(module.frontend_attributes, "xla.sdy.meshes"));
  while (text.SkipPast("=#sdy.mesh<"))
    if (auto mesh = ReadMesh(text); mesh && !mesh->axis_names.empty()) meshes.push_back(std::move(*mesh));
  return meshes;
}

}  // namespace shoal::internal
