// Attributes of the sdy dialect in bytecode: as text, the form that the importer reads.
#include "formats/stablehlo/bytecode_reader.h"

namespace shoal::internal {

const MlirAttr* MlirBytecodeReader::ReadSdyAttr(BytecodeStream& stream) {
  auto text_of = [&](uint64_t index) -> std::string {
    const MlirAttr* attr = Attr(index);
    return attr == nullptr ? std::string() : std::string(attr->text);
  };
  auto list = [&] {
    std::string out;
    const uint64_t count = stream.Count();
    for (uint64_t i = 0; i < count && !failed_; ++i) StrAppend(&out, i == 0 ? "" : ", ", text_of(stream.Varint()));
    return out;
  };
  auto quoted = [](std::string_view name) { return StrCat("\"", name, "\""); };
  const uint64_t code = stream.Varint();
  switch (code) {
    case 0: {  // manual axes
      std::string out = "#sdy<manual_axes{";
      const uint64_t count = stream.Count();
      for (uint64_t i = 0; i < count && !failed_; ++i)
        StrAppend(&out, i == 0 ? "" : ", ", quoted(text_of(stream.Varint())));
      return Text(out + "}>");
    }
    case 1: {  // mesh axis
      const std::string name = quoted(String(stream.Varint()));
      return Text(StrCat(name, "=", stream.SignedVarint()));
    }
    case 2: {  // mesh
      std::string out = StrCat("<[", list(), "]");
      const uint64_t count = stream.Count();
      if (count > 0) out += ", device_ids=[";
      for (uint64_t i = 0; i < count && !stream.failed(); ++i) StrAppend(&out, i == 0 ? "" : ", ", stream.SignedVarint());
      return Text(StrCat(out, count > 0 ? "]>" : ">"));
    }
    case 3: {  // part of an axis
      const int64_t pre_size = stream.SignedVarint();
      return Text(StrCat(":(", pre_size, ")", stream.SignedVarint()));
    }
    case 4: {  // axis
      std::string out = quoted(String(stream.Varint()));
      bool present = false;
      const uint64_t sub = stream.VarintWithFlag(&present);
      return Text(present ? out + text_of(sub) : out);
    }
    case 5: {  // a dimension
      std::string axes = list();
      const bool closed = stream.Byte() != 0;
      bool has_priority = false;
      const uint64_t priority = stream.VarintWithFlag(&has_priority);
      if (!closed) axes += axes.empty() ? "?" : ", ?";
      std::string out = StrCat("{", axes, "}");
      if (has_priority) StrAppend(&out, "p", priority);
      return Text(out);
    }
    case 6:     // sharding
    case 15:    // with unreduced axes
    case 17: {  // with a reduction
      const MlirAttr* mesh = ReadAttr(stream);
      if (mesh == nullptr) return nullptr;
      std::string out = mesh->kind == Kind::kSymbol ? StrCat("#sdy.sharding<@", mesh->text)
                                                    : StrCat("#sdy.sharding<mesh", mesh->text);
      StrAppend(&out, ", [", list(), "]");
      const std::string replicated = list();
      if (!replicated.empty()) StrAppend(&out, ", replicated={", replicated, "}");
      const std::string unreduced = code == 6 ? std::string() : list();
      const int64_t reduction = code == 17 ? stream.SignedVarint() : 0;
      static constexpr std::string_view kReductions[] = {"", "(max)", "(min)"};
      const std::string_view kind = reduction > 0 && reduction < 3 ? kReductions[reduction] : std::string_view();
      if (!unreduced.empty()) StrAppend(&out, ", unreduced", kind, "={", unreduced, "}");
      return Text(out + ">");
    }
    case 7:
    case 16: {  // shardings of several values
      std::string out = "#sdy.sharding_per_value<[";
      const uint64_t count = stream.Count();
      for (uint64_t i = 0; i < count && !failed_; ++i) {
        std::string sharding = text_of(stream.Varint());
        if (sharding.starts_with("#sdy.sharding<")) sharding.erase(0, 13);
        StrAppend(&out, i == 0 ? "" : ", ", sharding);
      }
      return Text(out + "]>");
    }
    case 8: {  // factors of a dimension
      std::string out;
      for (const int64_t factor : ReadSignedInts(stream)) out += FactorName(factor);
      return Text(out);
    }
    case 9:  // dimensions of a tensor
      return Text(StrCat("[", list(), "]"));
    case 10:
      return ReadShardingRule(stream);
    case 11:  // list of axes
      return Text(StrCat("{", list(), "}"));
    case 12:
      return Text(StrCat("[", list(), "]"));
    default:
      return NewAttr(Kind::kOpaque);
  }
}

// i, j, …, z, z_1, z_2, …
std::string MlirBytecodeReader::FactorName(int64_t factor) {
  if (factor < 0) return "?";
  return factor <= 17 ? std::string(1, static_cast<char>('i' + factor)) : StrCat("z_", factor - 17);
}

// #sdy.op_sharding_rule<([i, j])->([i]) {i=16, j=4} reduction={j}, custom>
const MlirAttr* MlirBytecodeReader::ReadShardingRule(BytecodeStream& stream) {
  const Ints sizes = ReadSignedInts(stream);
  std::string out = "#sdy.op_sharding_rule<(";
  for (const std::string_view between : {std::string_view(")->("), std::string_view(") {")}) {
    const uint64_t count = stream.Count();
    for (uint64_t i = 0; i < count && !failed_; ++i) {
      const MlirAttr* mapping = ReadAttr(stream);
      if (mapping == nullptr) return nullptr;
      StrAppend(&out, i == 0 ? "" : ", ", mapping->text);
    }
    out += between;
  }
  for (size_t i = 0; i < sizes.size(); ++i)
    StrAppend(&out, i == 0 ? "" : ", ", FactorName(static_cast<int64_t>(i)), "=", sizes[i]);
  out += "}";
  for (const std::string_view name : {"reduction", "need_replication", "permutation", "blocked_propagation"}) {
    const Ints factors = ReadSignedInts(stream);
    if (factors.empty()) continue;
    StrAppend(&out, " ", name, "={");
    for (const int64_t& factor : factors) StrAppend(&out, &factor == factors.data() ? "" : ", ", FactorName(factor));
    out += "}";
  }
  if (stream.Byte() != 0) out += ", custom";
  return Text(out + ">");
}

}  // namespace shoal::internal
