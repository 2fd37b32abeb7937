// Reads meshes with named axes and shardings over them: {mesh['x'=4,'y'=2], [{'x'}, {'y', ?}], replicated={…}}.
#include <charconv>

#include "formats/text/sharding_reader.h"

namespace shoal::internal {

bool ShardingReader::ReadMesh(Mesh* mesh) {
  mesh->maximal = token().text != "mesh";
  lexer_.Next();
  if (!Expect(Tok::kLsquare, "'[' after mesh")) return false;
  if (mesh->maximal) {
    std::string_view name;
    if (!ReadAttrName(&name)) return false;
    if (name != "device_id") return ErrorHere("expected device_id=");
    mesh->devices.dims = {1};
    mesh->devices.devices.assign(1, 0);
    return ReadInt(&mesh->devices.devices[0]) && Expect(Tok::kRsquare, "']' after the mesh");
  }
  while (kind() != Tok::kRsquare) {
    std::string_view name;
    int64_t size = 0;
    if (!ReadString(&name) || !Expect(Tok::kEqual, "'=' after the axis name")) return false;
    TextSpan at = token().span();
    if (!ReadInt(&size)) return false;
    if (size <= 0 || size > int64_t{1} << 24) return Error(at, StrCat("axis size must be in [1, 2^24], got ", size));
    mesh->axis_names.emplace_back(name);
    mesh->devices.dims.push_back(size);
    if (!Eat(Tok::kComma)) break;
  }
  if (!Expect(Tok::kRsquare, "']' after the mesh")) return false;
  if (!mesh->axis_names.empty() && AtMeshDeviceIds()) return ReadMeshDevices(mesh);
  int64_t count = 1;
  for (int64_t size : mesh->devices.dims)
    if (__builtin_mul_overflow(count, size, &count) || count > int64_t{1} << 24)
      return ErrorHere("the mesh must have at most 2^24 devices");
  if (!mesh->axis_names.empty()) mesh->devices.iota = IotaTiles::Plain(mesh->devices.dims);
  return true;
}

// True at ", device_ids=". Any other comma belongs to the attribute that contains the mesh.
bool ShardingReader::AtMeshDeviceIds() {
  if (kind() != Tok::kComma) return false;
  Lexer ahead = lexer_;
  ahead.Next();
  return ahead.kind() == Tok::kAttrName && ahead.token().text == "device_ids";
}

// , device_ids=([4,2]T(1,0)) or , device_ids=(3,1,2,0)
bool ShardingReader::ReadMeshDevices(Mesh* mesh) {
  lexer_.Next();
  lexer_.Next();
  const TextSpan at = token().span();
  if (!Expect(Tok::kLparen, "'(' before the device ids")) return false;
  if (kind() == Tok::kLsquare)
    return ReadIota(mesh->devices.dims, &mesh->devices.iota.emplace()) &&
           Expect(Tok::kRparen, "')' after the device ids");
  if (kind() != Tok::kRparen) {
    do {
      mesh->devices.devices.emplace_back();
      if (!ReadInt(&mesh->devices.devices.back())) return false;
    } while (Eat(Tok::kComma));
  }
  if (!Expect(Tok::kRparen, "')' after the device ids")) return false;
  int64_t count = 1;
  for (int64_t size : mesh->devices.dims)
    if (__builtin_mul_overflow(count, size, &count)) return Error(at, "the number of mesh devices overflows");
  if (static_cast<int64_t>(mesh->devices.devices.size()) == count) return true;
  return Error(at, StrCat("the mesh has ", count, " devices, but device_ids lists ", mesh->devices.devices.size()));
}

// 'x', '0' (by index), or a sub-axis: 'x':(2)4
bool ShardingReader::ReadAxisRef(const Mesh& mesh, AxisRef* axis) {
  const TextSpan at = token().span();
  std::string_view name;
  if (!ReadString(&name)) return false;
  axis->axis = -1;
  for (size_t i = 0; i < mesh.axis_names.size(); ++i)
    if (mesh.axis_names[i] == name) axis->axis = static_cast<int64_t>(i);
  if (axis->axis < 0) std::from_chars(name.data(), name.data() + name.size(), axis->axis);
  if (axis->axis < 0 || axis->axis >= mesh.AxisCount()) return Error(at, StrCat("the mesh has no axis ", name));
  if (!Eat(Tok::kColon)) return true;
  axis->sub.emplace();
  if (!Expect(Tok::kLparen, "'(' before the pre-size of a sub-axis") || !ReadInt(&axis->sub->pre_size) ||
      !Expect(Tok::kRparen, "')' after the pre-size of a sub-axis") || !ReadInt(&axis->sub->size))
    return false;
  // Bounded by the axis, so that products of sizes cannot overflow later.
  const int64_t max_size = mesh.devices.dims[static_cast<size_t>(axis->axis)];
  if (axis->sub->pre_size > 0 && axis->sub->size > 0 && axis->sub->pre_size <= max_size && axis->sub->size <= max_size)
    return true;
  return Error(at, StrCat("invalid sub-axis of axis ", name, ", of size ", max_size, ": (", axis->sub->pre_size, ")",
                          axis->sub->size));
}

bool ShardingReader::ReadAxisRefs(const Mesh& mesh, std::vector<AxisRef>* axes) {
  return ReadList(Tok::kLbrace, Tok::kRbrace, Tok::kComma, [&] { return ReadAxisRef(mesh, &axes->emplace_back()); });
}

// {'x', 'y', ?}
bool ShardingReader::ReadDimensionSharding(const Mesh& mesh, Sharding::Dimension* dimension) {
  return ReadList(Tok::kLbrace, Tok::kRbrace, Tok::kComma, [&] {
    if (!dimension->closed) return ErrorHere("'?' must be the last entry");
    if (!Eat(Tok::kQuestion)) return ReadAxisRef(mesh, &dimension->axes.emplace_back());
    dimension->closed = false;
    return true;
  });
}

bool ShardingReader::ReadReductionOp(Sharding* sharding) {
  std::string_view name = token().text;
  if ((kind() != Tok::kIdent && kind() != Tok::kAttrName) || (name != "sum" && name != "max" && name != "min"))
    return ErrorHere("expected sum, max or min");
  sharding->reduction = name == "sum" ? ReductionOp::kSum : name == "max" ? ReductionOp::kMax : ReductionOp::kMin;
  lexer_.Next();
  return true;
}

// Reads mesh[…], then one of: nothing (maximal), replicated, unreduced, manual, or the dimensions and further axes.
bool ShardingReader::ReadNamedSharding(Sharding* sharding) {
  sharding->kind = Sharding::Kind::kNamed;
  if (!ReadMesh(&sharding->mesh.emplace())) return false;
  const Mesh& mesh = *sharding->mesh;
  auto finish = [&] {
    if (Eat(Tok::kComma)) {
      std::string_view name;
      if (!ReadAttrName(&name)) return false;
      if (name != "metadata") return ErrorHere("expected metadata=");
      if (!ReadShardingMetadata(&sharding->metadata)) return false;
    }
    return Expect(Tok::kRbrace, "'}' after the sharding");
  };
  auto all_axes = [&](std::vector<AxisRef>* axes) {
    for (int64_t i = 0; i < mesh.AxisCount(); ++i) axes->push_back({i, std::nullopt});
  };
  if (mesh.maximal) return finish();
  Eat(Tok::kComma);
  if (token().Is(Word::kReplicated)) {
    lexer_.Next();
    return finish();
  }
  const bool is_unreduced_attr = kind() == Tok::kAttrName && token().text == "unreduced";
  if (is_unreduced_attr || token().Is(Word::kUnreduced)) {
    lexer_.Next();
    if ((is_unreduced_attr || Eat(Tok::kEqual)) && !ReadReductionOp(sharding)) return false;
    if (kind() == Tok::kLbrace) {
      if (!ReadAxisRefs(mesh, &sharding->unreduced_axes)) return false;
    } else {
      all_axes(&sharding->unreduced_axes);
    }
    return finish();
  }
  if (token().Is(Word::kManual)) {
    lexer_.Next();
    all_axes(&sharding->manual_axes);
    return finish();
  }
  auto read_dimension = [&] { return ReadDimensionSharding(mesh, &sharding->dimensions.emplace_back()); };
  if (!ReadList(Tok::kLsquare, Tok::kRsquare, Tok::kComma, read_dimension)) return false;
  while (kind() != Tok::kRbrace) {
    std::string_view name;
    if (!Expect(Tok::kComma, "',' between the parts of a sharding") || !ReadAttrName(&name)) return false;
    bool good = true;
    if (name == "replicated") {
      good = ReadAxisRefs(mesh, &sharding->replicated_axes);
    } else if (name == "unreduced") {
      good = kind() == Tok::kLbrace || ReadReductionOp(sharding);
      good = good && ReadAxisRefs(mesh, &sharding->unreduced_axes);
    } else if (name == "manual") {
      good = ReadAxisRefs(mesh, &sharding->manual_axes);
    } else if (name == "metadata") {
      good = ReadShardingMetadata(&sharding->metadata);
    } else {
      good = ErrorHere(StrCat("unknown sharding field ", name, "; expected replicated, unreduced, manual or metadata"));
    }
    if (!good) return false;
  }
  lexer_.Next();
  return true;
}

}  // namespace shoal::internal
