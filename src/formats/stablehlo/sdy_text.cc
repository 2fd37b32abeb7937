#include "formats/stablehlo/sdy_text.h"

#include <algorithm>
#include <charconv>

#include "core/ir/sizes.h"

namespace shoal::internal {
namespace {

class SdyReader {
 public:
  explicit SdyReader(std::string_view text) : text_(text) {}

  bool Eat(std::string_view token) {
    while (!text_.empty() && (text_[0] == ' ' || text_[0] == '\n')) text_.remove_prefix(1);
    if (!text_.starts_with(token)) return false;
    text_.remove_prefix(token.size());
    return true;
  }
  bool String(std::string* value) {
    if (!Eat("\"")) return false;
    const size_t end = text_.find('"');
    if (end == text_.npos) return false;
    *value = std::string(text_.substr(0, end));
    text_.remove_prefix(end + 1);
    return true;
  }
  bool Int(int64_t* value) {
    Eat("");
    const auto [stop, error] = std::from_chars(text_.data(), text_.data() + text_.size(), *value);
    if (error != std::errc()) return false;
    text_.remove_prefix(static_cast<size_t>(stop - text_.data()));
    return true;
  }
  bool AtEnd() { return Eat("") && text_.empty(); }

  // ["x"=2, "y"=4], device_ids=[…]>
  bool MeshBody(Mesh* mesh) {
    if (!Eat("[")) return false;
    std::vector<int64_t> sizes;
    if (!Eat("]")) {
      do {
        std::string name;
        int64_t size = 0;
        if (!String(&name) || !Eat("=") || !Int(&size) || size < 1 || size > kLargestCluster) return false;
        mesh->axis_names.push_back(name);
        sizes.push_back(size);
      } while (Eat(","));
      if (!Eat("]")) return false;
    }
    if (SaturatingProduct(sizes) > kLargestCluster) return false;
    mesh->devices.dims = sizes;
    mesh->devices.iota = IotaTiles::Plain(sizes);
    if (Eat(",")) {
      if (!Eat("device_ids") || !Eat("=") || !Eat("[")) return false;
      mesh->devices.iota.reset();
      if (!Eat("]")) {
        do {
          int64_t id = 0;
          if (!Int(&id)) return false;
          mesh->devices.devices.push_back(id);
        } while (Eat(","));
        if (!Eat("]")) return false;
      }
      mesh->maximal = mesh->axis_names.empty();
      const auto count = static_cast<int64_t>(mesh->devices.devices.size());
      if (count != (mesh->maximal ? 1 : SaturatingProduct(sizes))) return false;
      if (mesh->maximal) mesh->devices.dims = {1};
    }
    return Eat(">");
  }
  bool Axis(SdyAxis* axis) {
    if (!String(&axis->name)) return false;
    if (!Eat(":")) return true;
    SubAxis sub;
    if (!Eat("(") || !Int(&sub.pre_size) || !Eat(")") || !Int(&sub.size)) return false;
    if (sub.pre_size < 1 || sub.size < 1 || sub.pre_size > kLargestCluster || sub.size > kLargestCluster) return false;
    axis->sub = sub;
    return true;
  }
  bool AxisList(std::vector<SdyAxis>* axes) {
    if (!Eat("{")) return false;
    while (!Eat("}")) {
      if (Eat("?")) continue;
      if (Eat(",")) continue;
      SdyAxis axis;
      if (!Axis(&axis)) return false;
      axes->push_back(axis);
    }
    return true;
  }
  bool Sharding(SdySharding* sharding) {
    Eat("#sdy.sharding");
    if (!Eat("<")) return false;
    if (Eat("@")) {
      const size_t end = text_.find(',');
      if (end == text_.npos) return false;
      sharding->mesh = std::string(text_.substr(0, end));
      if (sharding->mesh.starts_with('"') && sharding->mesh.size() > 1)
        sharding->mesh = sharding->mesh.substr(1, sharding->mesh.size() - 2);
      text_.remove_prefix(end);
    } else {
      if (!Eat("mesh")) return false;
      const std::string_view before = text_;
      Mesh ignored;
      if (!Eat("<") || !MeshBody(&ignored)) return false;
      sharding->mesh_text = std::string(before.substr(0, before.size() - text_.size()));
    }
    if (!Eat(",") || !Eat("[")) return false;
    if (!Eat("]")) {
      do {
        sharding->dims.emplace_back();
        if (!AxisList(&sharding->dims.back())) return false;
        if (Eat("p")) {  // a priority
          int64_t ignored = 0;
          if (!Int(&ignored)) return false;
        }
      } while (Eat(","));
      if (!Eat("]")) return false;
    }
    while (Eat(",")) {
      if (Eat("replicated")) {
        if (!Eat("=") || !AxisList(&sharding->replicated)) return false;
      } else if (Eat("unreduced")) {
        const bool typed = Eat("(");
        if (typed) {
          const size_t end = text_.find(')');
          if (end == text_.npos) return false;
          text_.remove_prefix(end + 1);
        }
        if (!Eat("=") || !AxisList(&sharding->unreduced)) return false;
      } else {
        return false;
      }
    }
    return Eat(">");
  }

 private:
  std::string_view text_;
};

}  // namespace

std::optional<Mesh> ParseSdyMesh(std::string_view text) {
  SdyReader reader(text);
  Mesh mesh;
  if (!reader.Eat("<") || !reader.MeshBody(&mesh) || !reader.AtEnd()) return std::nullopt;
  return mesh;
}

std::optional<SdySharding> ParseSdySharding(std::string_view text) {
  SdyReader reader(text);
  SdySharding sharding;
  if (!reader.Sharding(&sharding) || !reader.AtEnd()) return std::nullopt;
  return sharding;
}

std::optional<std::vector<SdySharding>> ParseSdyShardingList(std::string_view text) {
  SdyReader reader(text);
  const bool wrapped = reader.Eat("#sdy.sharding_per_value<");
  if (!reader.Eat("[")) return std::nullopt;
  std::vector<SdySharding> list;
  if (!reader.Eat("]")) {
    do {
      list.emplace_back();
      if (!reader.Sharding(&list.back())) return std::nullopt;
    } while (reader.Eat(","));
    if (!reader.Eat("]")) return std::nullopt;
  }
  if ((wrapped && !reader.Eat(">")) || !reader.AtEnd()) return std::nullopt;
  return list;
}

}  // namespace shoal::internal
