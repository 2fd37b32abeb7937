// Attributes and types of the stablehlo dialect in bytecode, as Operation.write_bytecode writes it. Portable artifacts
// have the vhlo dialect instead.
#include "formats/stablehlo/bytecode_enums.h"
#include "formats/stablehlo/bytecode_reader.h"

namespace shoal::internal {

const MlirAttr* MlirBytecodeReader::ReadStablehloAttr(BytecodeStream& stream) {
  auto list = [&] {
    MlirAttr* attr = NewAttr(Kind::kInts);
    attr->ints = ReadSignedInts(stream);
    return attr;
  };
  auto number = [&] { return Number(stream.SignedVarint()); };
  // Fields in the order of the encoding; a name that ends in "dim" or "dimension" is that of one number.
  auto read_fields = [&](std::string_view name, std::initializer_list<std::string_view> names) {
    std::vector<MlirNamedAttr> fields;
    for (const std::string_view field : names) {
      const bool single = field.ends_with("dim") || field.ends_with("dimension");
      fields.push_back({field, single ? number() : list()});
    }
    return Dictionary(name, std::move(fields));
  };
  switch (stream.Varint()) {
    case 1: {
      MlirAttr* handle = number();
      return Dictionary("stablehlo.channel_handle", {{"handle", handle}, {"type", number()}});
    }
    case 2:
      return ReadKeyword(stream, kDirections);
    case 3:
      return ReadKeyword(stream, kCompareTypes);
    case 4:
      return read_fields("stablehlo.conv", {"input_batch_dimension", "input_feature_dimension", "input_spatial_dimensions",
                                            "kernel_input_feature_dimension", "kernel_output_feature_dimension",
                                            "kernel_spatial_dimensions", "output_batch_dimension",
                                            "output_feature_dimension", "output_spatial_dimensions"});
    case 5:
      return read_fields("stablehlo.dot", {"lhs_batching_dimensions", "rhs_batching_dimensions",
                                           "lhs_contracting_dimensions", "rhs_contracting_dimensions"});
    case 6:
      return ReadKeyword(stream, kFftTypes);
    case 7:
      return read_fields("stablehlo.gather", {"offset_dims", "collapsed_slice_dims", "operand_batching_dims",
                                              "start_indices_batching_dims", "start_index_map", "index_vector_dim"});
    case 8:
      return ReadKeyword(stream, kPrecisions);
    case 9:
      return ReadKeyword(stream, kAlgorithms);
    case 10:
      return ReadKeyword(stream, kDistributions);
    case 11:
      return read_fields("stablehlo.scatter", {"update_window_dims", "inserted_window_dims", "input_batching_dims",
                                               "scatter_indices_batching_dims", "scatter_dims_to_operand_dims",
                                               "index_vector_dim"});
    case 12:
      return ReadKeyword(stream, kTransposes);
    case 13:  // bounds
      return list();
    case 14: {
      MlirAttr* output = list();
      MlirAttr* operand = number();
      return Dictionary("stablehlo.output_operand_alias",
                        {{"output_tuple_indices", output}, {"operand_index", operand}, {"operand_tuple_indices", list()}});
    }
    case 15: {
      std::vector<MlirNamedAttr> fields;
      for (const std::string_view name : {"lhs_precision_type", "rhs_precision_type", "accumulation_type"}) {
        MlirAttr* type = NewAttr(Kind::kType);
        type->type = ReadType(stream);
        if (type->type == nullptr) return nullptr;
        fields.push_back({name, type});
      }
      for (const std::string_view name : {"lhs_component_count", "rhs_component_count", "num_primitive_operations"})
        fields.push_back({name, number()});
      fields.push_back({"allow_imprecise_accumulation", Number(stream.Byte())});
      return Dictionary("stablehlo.dot_algorithm", std::move(fields));
    }
    case 16:
      return ReadKeyword(stream, kAccuracies);
    case 17: {
      const MlirAttr* accuracy = ReadResultAccuracy(stream);
      return accuracy;
    }
    case 18: {
      const MlirAttr* mesh = ReadAttr(stream);
      MlirAttr* axes = NewAttr(Kind::kArray);
      std::vector<const MlirAttr*> elements(stream.Count());
      for (const MlirAttr*& element : elements)
        if ((element = ReadAttr(stream)) == nullptr) return nullptr;
      axes->elements = module_.arena.Copy(elements);
      return Dictionary("stablehlo.replica_group_mesh_axes", {{"mesh", mesh}, {"axes", axes}});
    }
    case 19: {
      MlirAttr* pre_size = number();
      return Dictionary("stablehlo.sub_axis_info", {{"pre_size", pre_size}, {"size", number()}});
    }
    case 20: {
      MlirAttr* name = NewAttr(Kind::kString);
      name->text = String(stream.Varint());
      const MlirAttr* sub = stream.Byte() != 0 ? ReadAttr(stream) : nullptr;
      return Dictionary("stablehlo.axis_ref", {{"name", name}, {"sub_axis_info", sub}});
    }
    case 21: {
      MlirAttr* name = NewAttr(Kind::kString);
      name->text = String(stream.Varint());
      return Dictionary("stablehlo.mesh_axis", {{"name", name}, {"size", number()}});
    }
    case 22: {
      const MlirAttr* axes = ReadAttr(stream);
      const MlirAttr* ids = stream.Byte() != 0 ? ReadAttr(stream) : nullptr;
      return Dictionary("stablehlo.mesh", {{"axes", axes}, {"device_ids", ids}});
    }
    default:
      return NewAttr(Kind::kOpaque);
  }
}

const MlirType* MlirBytecodeReader::ReadStablehloType(BytecodeStream& stream) {
  if (stream.Varint() == 0) return NewType(MlirType::Kind::kToken);
  MlirType* type = NewType(MlirType::Kind::kFuture);
  type->text = "!stablehlo.future";
  return type;
}

}  // namespace shoal::internal
