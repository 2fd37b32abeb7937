#include "formats/proto/parts.h"

namespace shoal::internal {
namespace {

void WriteLayout(const Layout& layout, proto::LayoutProto* to) {
  Assign(to->mutable_minor_to_major(), layout.minor_to_major);
  for (const Tile& tile : layout.tiles) Assign(to->add_tiles()->mutable_dimensions(), tile.dimensions);
  to->set_tail_padding_alignment_in_elements(layout.tail_padding_alignment);
  to->set_index_primitive_type(static_cast<int32_t>(layout.index_type));
  to->set_pointer_primitive_type(static_cast<int32_t>(layout.pointer_type));
  to->set_element_size_in_bits(layout.element_size_in_bits);
  to->set_memory_space(layout.memory_space);
  for (const SplitConfig& split : layout.split_configs) {
    proto::SplitConfigProto* one = to->add_split_configs();
    one->set_dimension(split.dimension);
    Assign(one->mutable_split_indices(), split.indices);
  }
  if (layout.physical_shape != nullptr) WriteShape(*layout.physical_shape, to->mutable_physical_shape());
  to->set_dynamic_shape_metadata_prefix_bytes(layout.dynamic_metadata_bytes);
}

}  // namespace

void WriteShape(const Shape& shape, proto::ShapeProto* to) {
  to->set_element_type(static_cast<int32_t>(shape.element_type()));
  Assign(to->mutable_dimensions(), shape.dims());
  for (int64_t i = 0; i < shape.rank(); ++i) to->add_is_dynamic_dimension(shape.is_dynamic(i));
  if (shape.layout() != nullptr) WriteLayout(*shape.layout(), to->mutable_layout());
  for (const Shape* element : shape.elements()) WriteShape(*element, to->add_tuple_shapes());
}

void WriteMetadata(const Metadata& metadata, proto::OpMetadata* to) {
  const RareMetadata& rare = metadata.rare();
  Assign(to->mutable_op_type(), metadata.op_type);
  Assign(to->mutable_op_name(), metadata.op_name);
  Assign(to->mutable_source_file(), metadata.source_file);
  to->set_source_line(metadata.source_line);
  to->set_source_end_line(metadata.source_end_line);
  to->set_source_column(metadata.source_column);
  to->set_source_end_column(metadata.source_end_column);
  for (int64_t type : rare.profile_type) to->add_profile_type(static_cast<int32_t>(type));
  Assign(to->mutable_deduplicated_name(), rare.deduplicated_name);
  Assign(to->mutable_scheduling_name(), rare.scheduling_name);
  to->set_stack_frame_id(metadata.stack_frame_id);
  if (rare.has_payload) Assign(to->mutable_metadata_payload()->mutable_value(), rare.payload);
}

void WriteOriginalArray(const OriginalArray& array, proto::OriginalArrayProto* to) {
  Assign(to->mutable_instruction_name(), array.instruction_name);
  Assign(to->mutable_shape_index(), array.shape_index);
}

void WriteFrontendAttributes(std::span<const FrontendAttribute> attributes, proto::FrontendAttributes* to) {
  for (const FrontendAttribute& attribute : attributes) {
    proto::FrontendAttributes::Entry* entry = to->add_map();
    Assign(entry->mutable_key(), attribute.name);
    Assign(entry->mutable_value(), attribute.value);
  }
}

}  // namespace shoal::internal
