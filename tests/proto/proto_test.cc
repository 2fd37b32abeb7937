// Messages that no text produces: invalid ones, other message types, older formats.
#include <google/protobuf/unknown_field_set.h>
#include <gtest/gtest.h>

#include <functional>

#include "core/ops/families.h"
#include "formats/proto/attr_fields.h"
#include "formats/proto/detect.h"
#include "formats/proto/read.h"
#include "formats/proto/sort_json.h"
#include "formats/proto/write.h"
#include "formats/text/parser.h"
#include "formats/text/printer.h"
#include "hlo.pb.h"

namespace shoal::internal {
namespace {

constexpr char kText[] = R"(HloModule m, is_scheduled=true
neg {
  q = f32[2] parameter(0)
  ROOT n = f32[2] negate(q)
}
ENTRY e {
  x = f32[2] parameter(0)
  c = f32[2] constant({1, 2})
  s = f32[2] add(x, c), sharding={devices=[2]<=[2]}
  ROOT r = f32[2] call(s), to_apply=neg
})";

// The message of kText. Computation 0 is neg. Computation 1 is e; the ids of its instructions start at 1 << 32.
proto::HloModuleProto Message() {
  std::unique_ptr<Source> source = Source::FromString("m.hlo", kText);
  Diags diags;
  std::unique_ptr<Module> module = ParseModule(source, {}, diags);
  proto::HloModuleProto message;
  EXPECT_TRUE(message.ParseFromString(*WriteProto(*module)));
  return message;
}

ProtoInput Read(const std::string& bytes, Diags& diags, bool strict = false) {
  std::unique_ptr<Source> source = Source::FromString("m.pb", bytes);
  return ReadProtoWithValues(source, strict, diags);
}

// The first diagnostic for the message after `change`; empty if there is none.
std::string ErrorOf(const std::function<void(proto::HloModuleProto&)>& change, bool strict = false) {
  proto::HloModuleProto message = Message();
  change(message);
  Diags diags;
  const bool read = Read(message.SerializeAsString(), diags, strict).module != nullptr;
  EXPECT_EQ(read, diags.errors() == 0);
  return diags.found().empty() ? "" : diags.found()[0].message;
}

using M = proto::HloModuleProto&;
using I = proto::HloInstructionProto*;
I At(M m, int computation, int instruction) {
  return m.mutable_computations(computation)->mutable_instructions(instruction);
}

TEST(ReadProto, NamesTheComputationAndTheInstruction) {
  EXPECT_EQ(ErrorOf([](M) {}), "");
  EXPECT_EQ(ErrorOf([](M m) { At(m, 0, 1)->set_operand_ids(0, 17); }),
            "computation neg, instruction n: operand id 17 does not exist");
  EXPECT_EQ(ErrorOf([](M m) { At(m, 0, 1)->set_operand_ids(0, 1); }),
            "computation neg, instruction n: operand id 1 must precede its user");
  EXPECT_EQ(ErrorOf([](M m) { At(m, 0, 1)->set_id(0); }), "computation neg, instruction n: duplicate id 0");
  EXPECT_EQ(ErrorOf([](M m) { At(m, 0, 1)->clear_operand_ids(); }),
            "computation neg, instruction n: negate takes 1 operand, found 0");
  EXPECT_EQ(ErrorOf([](M m) { m.mutable_computations(0)->set_root_id(9); }),
            "computation neg: root id 9 does not exist");
  EXPECT_EQ(ErrorOf([](M m) { At(m, 0, 0)->set_parameter_number(1); }),
            "computation neg: parameter number of q must lie in [0, 1), got 1");
  EXPECT_EQ(ErrorOf([](M m) { m.set_entry_computation_id(5); }), "entry computation id 5 does not exist");
  EXPECT_EQ(ErrorOf([](M m) { At(m, 1, 3)->set_called_computation_ids(0, 1); }),
            "computation e, instruction r: called computation id 1 does not exist or does not precede its caller");
  EXPECT_EQ(ErrorOf([](M m) { At(m, 1, 3)->clear_called_computation_ids(); }),
            "computation e, instruction r: call needs the attribute to_apply");
}

TEST(ReadProto, ChecksShapesAndLiterals) {
  EXPECT_EQ(ErrorOf([](M m) { At(m, 0, 1)->clear_shape(); }),
            "computation neg, instruction n: the instruction has no shape");
  EXPECT_EQ(ErrorOf([](M m) { At(m, 0, 1)->mutable_shape()->set_element_type(99); }),
            "computation neg, instruction n: shape: there is no element type 99");
  EXPECT_EQ(ErrorOf([](M m) { At(m, 0, 1)->mutable_shape()->set_dimensions(0, -2); }),
            "computation neg, instruction n: shape: a dimension must not be negative, got -2");
  EXPECT_EQ(ErrorOf([](M m) { At(m, 0, 1)->mutable_shape()->set_dimensions(0, int64_t{1} << 62); }),
            "computation neg, instruction n: shape: [4611686018427387904] has more than 2^63 - 1 bytes");
  EXPECT_EQ(ErrorOf([](M m) { At(m, 0, 1)->mutable_shape()->mutable_layout()->set_minor_to_major(0, 3); }),
            "computation neg, instruction n: shape: the layout's minor_to_major is not a permutation: {3}");
  EXPECT_EQ(ErrorOf([](M m) { At(m, 1, 1)->mutable_literal()->add_f32s(3); }),
            "computation e, instruction c: literal: f32[2] has 2 elements, but the message has 3");
  EXPECT_EQ(ErrorOf([](M m) { At(m, 1, 1)->mutable_literal()->mutable_shape()->set_element_type(4); }),
            "computation e, instruction c: the value has shape s32[2], expected f32[2]");
  EXPECT_EQ(
      ErrorOf([](M m) { At(m, 1, 1)->mutable_literal()->mutable_shape()->set_dimensions(0, int64_t{1} << 40); }),
      "computation e, instruction c: literal: f32[1099511627776] has 1099511627776 elements, but the message has 2");
}

TEST(ReadProto, ChecksShardingsAndSchedules) {
  EXPECT_EQ(ErrorOf([](M m) { At(m, 1, 2)->mutable_sharding()->set_tile_assignment_dimensions(0, 3); }),
            "computation e, instruction s: devices: [3] and [2] differ in device count");
  EXPECT_EQ(ErrorOf([](M m) { At(m, 1, 2)->mutable_sharding()->set_tile_assignment_dimensions(0, 1 << 30); }),
            "computation e, instruction s: devices: [1073741824] has more than 16777216 devices");
  EXPECT_EQ(ErrorOf([](M m) { At(m, 1, 2)->mutable_sharding()->set_type(9); }),
            "computation e, instruction s: sharding: there is no type 9");
  auto sequence = [](M m) { return m.mutable_schedule()->mutable_sequences(1)->mutable_value(); };
  EXPECT_EQ(ErrorOf([&](M m) { sequence(m)->mutable_instruction_ids()->RemoveLast(); }),
            "computation e: the schedule lists 3 instructions, expected 4");
  EXPECT_EQ(ErrorOf([&](M m) { sequence(m)->set_instruction_ids(0, 77); }),
            "computation e: the schedule lists instruction id 77, which does not exist");
}

TEST(ReadProto, UnknownOpIsADeviation) {
  auto change = [](M m) { At(m, 0, 1)->set_opcode("frob"); };
  EXPECT_EQ(ErrorOf(change), "computation neg, instruction n: unknown HLO op frob");
  proto::HloModuleProto message = Message();
  change(message);
  Diags loose, strict;
  EXPECT_NE(Read(message.SerializeAsString(), loose).module, nullptr);
  EXPECT_EQ(Read(message.SerializeAsString(), strict, /*strict=*/true).module, nullptr);
}

TEST(ReadProto, OldComparison) {
  proto::HloModuleProto message = Message();
  I add = At(message, 1, 2);
  add->set_opcode("less-than");
  add->mutable_shape()->set_element_type(1);
  I call = At(message, 1, 3);
  call->set_opcode("copy");
  call->clear_called_computation_ids();
  Diags diags;
  ProtoInput input = Read(message.SerializeAsString(), diags);
  ASSERT_NE(input.module, nullptr);
  const Instruction& hlo = *input.module->entry->instructions[2];
  EXPECT_EQ(hlo.opcode, Opcode::kCompare);
  EXPECT_EQ(hlo[Op<Opcode::kCompare>::kDirection], ComparisonDirection::kLt);
}

// The text of the message after `change`; empty if it cannot be read.
std::string TextOf(const std::function<void(proto::HloModuleProto&)>& change) {
  proto::HloModuleProto message = Message();
  change(message);
  Diags diags;
  ProtoInput input = Read(message.SerializeAsString(), diags);
  return input.module == nullptr ? "" : PrintModule(*input.module);
}

bool Contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

TEST(ReadProto, IotaGroupsOf2024) {
  auto change = [](M m) {
    I reduce = At(m, 1, 2);
    reduce->set_opcode("all-reduce");
    reduce->mutable_operand_ids()->RemoveLast();
    reduce->set_channel_id(1);
    reduce->set_use_global_device_ids(true);
    reduce->add_called_computation_ids(0);
    auto* iota = reduce->mutable_collective_device_list()->mutable_iota_replica_group_list();
    iota->set_num_replica_groups(2);
    iota->set_num_devices_per_group(4);
    iota->add_iota_reshape_dims(4);
    iota->add_iota_reshape_dims(2);
    iota->add_iota_transpose_perm(1);
    iota->add_iota_transpose_perm(0);
  };
  EXPECT_TRUE(Contains(TextOf(change), "replica_groups=[2,4]<=[4,2]T(1,0)")) << TextOf(change);
  // The oldest field wins, as in XLA.
  auto both = [&](M m) {
    change(m);
    At(m, 1, 2)->add_replica_groups()->add_replica_ids(3);
  };
  EXPECT_TRUE(Contains(TextOf(both), "replica_groups={{3}}")) << TextOf(both);
}

TEST(ReadProto, ComparisonOrder) {
  for (const char* order : {"TOTAL", "PARTIAL"}) {
    auto change = [&](M m) {
      I compare = At(m, 1, 2);
      compare->set_opcode("compare");
      compare->set_comparison_direction("LT");
      compare->set_comparison_order(order);
      compare->mutable_shape()->set_element_type(1);
      I call = At(m, 1, 3);
      call->set_opcode("copy");
      call->clear_called_computation_ids();
    };
    EXPECT_EQ(Contains(TextOf(change), "order=TOTAL") || Contains(TextOf(change), "type=TOTALORDER"),
              std::string_view(order) == "TOTAL")
        << TextOf(change);
  }
}

TEST(ReadProto, OldCustomCalls) {
  auto change = [](M m) {
    I call = At(m, 1, 2);
    call->set_opcode("custom-call");
    call->set_custom_call_target("f");
    call->set_custom_call_opaque("how");
  };
  const std::string text = TextOf(change);
  EXPECT_TRUE(Contains(text, "custom_call_target=\"f\"")) << text;
  EXPECT_TRUE(Contains(text, "backend_config=\"how\"")) << text;
  EXPECT_FALSE(Contains(text, "UNSPECIFIED")) << text;
}

// Older versions of XLA did not write is_stable for a topk, and their texts mean true.
TEST(ReadProto, OldTopK) {
  auto make_topk = [](M m, bool is_current) {
    I topk = At(m, 1, 2);
    topk->set_opcode("topk");
    topk->mutable_operand_ids()->RemoveLast();
    topk->clear_sharding();
    topk->set_k(2);
    topk->set_largest(true);
    topk->mutable_shoal()->set_is_unstable(is_current);
  };
  EXPECT_TRUE(Contains(TextOf([&](M m) { make_topk(m, false); }), "is_stable=true"));
  EXPECT_TRUE(Contains(TextOf([&](M m) { make_topk(m, true); }), "is_stable=false"));
}

TEST(ReadProto, OldOriginalValues) {
  proto::OriginalArrayProto array;
  array.set_instruction_name("x");
  array.add_shape_index(1);
  proto::OriginalValueElementProto current, of_2024;
  current.set_original_array(array.SerializeAsString());
  of_2024.set_original_array("x");
  of_2024.add_array_shape_index(1);
  auto set = [&](const proto::OriginalValueElementProto& element) {
    return [&](M m) { *At(m, 1, 0)->mutable_original_value()->add_elements() = element; };
  };
  // In the middle of 2025, the elements were in field 2.
  auto set_leaves = [&](M m) {
    proto::OriginalValueProto& value = *At(m, 1, 0)->mutable_original_value();
    value.GetReflection()->MutableUnknownFields(&value)->AddLengthDelimited(2, of_2024.SerializeAsString());
  };
  EXPECT_TRUE(Contains(TextOf(set(current)), "origin={{\"x\" {1}}}"));
  EXPECT_EQ(TextOf(set(of_2024)), TextOf(set(current)));
  EXPECT_EQ(TextOf(set_leaves), TextOf(set(current)));
}

TEST(ReadProto, OrderFollowsTheSchedule) {
  proto::HloModuleProto message = Message();
  auto* ids = message.mutable_schedule()->mutable_sequences(1)->mutable_value()->mutable_instruction_ids();
  ids->SwapElements(0, 1);
  Diags diags;
  ProtoInput input = Read(message.SerializeAsString(), diags);
  ASSERT_NE(input.module, nullptr);
  EXPECT_EQ(input.module->entry->instructions[0]->name, "c");
  EXPECT_EQ(input.module->entry->instructions[1]->name, "x");
}

TEST(ReadProto, HloProtoAndSnapshot) {
  proto::HloProto hlo;
  *hlo.mutable_hlo_module() = Message();
  EXPECT_EQ(DetectProto(hlo.SerializeAsString()), ProtoKind::kHlo);
  proto::HloSnapshot snapshot;
  *snapshot.mutable_hlo() = hlo;
  *snapshot.add_arguments() = hlo.hlo_module().computations(1).instructions(1).literal();
  *snapshot.mutable_result() = snapshot.arguments(0);
  EXPECT_EQ(DetectProto(snapshot.SerializeAsString()), ProtoKind::kSnapshot);
  EXPECT_TRUE(LooksLikeProto(hlo.SerializeAsString()));
  EXPECT_TRUE(LooksLikeProto(snapshot.hlo().SerializeAsString()));
  EXPECT_TRUE(LooksLikeProto(snapshot.SerializeAsString()));
  Diags diags;
  ProtoInput input = Read(snapshot.SerializeAsString(), diags);
  ASSERT_NE(input.module, nullptr);
  ASSERT_EQ(input.arguments.size(), 1u);
  std::string text;
  AppendLiteral(text, *input.arguments[0], /*with_shape=*/true);
  EXPECT_EQ(text, "f32[2]{0} {1, 2}");
  EXPECT_NE(input.result, nullptr);
}

// A module before optimization and the inputs of two partitions.
proto::HloUnoptimizedSnapshot UnoptimizedSnapshot() {
  proto::HloUnoptimizedSnapshot snapshot;
  *snapshot.mutable_hlo_module() = Message();
  for (int partition = 0; partition < 2; ++partition)
    *snapshot.add_partitions()->add_arguments() = snapshot.hlo_module().computations(1).instructions(1).literal();
  return snapshot;
}

std::string ArgumentsText(const ProtoInput& input) {
  std::string text;
  for (const Literal* argument : input.arguments) {
    AppendLiteral(text, *argument, /*with_shape=*/true);
    text += ';';
  }
  return text;
}

TEST(ReadProto, UnoptimizedSnapshot) {
  const std::string bytes = UnoptimizedSnapshot().SerializeAsString();
  EXPECT_EQ(DetectProto(bytes), ProtoKind::kUnoptimizedSnapshot);
  EXPECT_TRUE(LooksLikeProto(bytes));
  Diags diags;
  const ProtoInput input = Read(bytes, diags);
  ASSERT_NE(input.module, nullptr);
  EXPECT_EQ(ArgumentsText(input), "f32[2]{0} {1, 2};f32[2]{0} {1, 2};");
}

// The size of the message, the message, then each literal: the size of its shape, its shape, its elements.
std::string Delimited(const proto::HloUnoptimizedSnapshot& message, const std::string& values) {
  const std::string bytes = message.SerializeAsString();
  std::string file;
  for (size_t size = bytes.size(); ; size >>= 7) {
    file += static_cast<char>((size & 127) | (size > 127 ? 128 : 0));
    if (size <= 127) break;
  }
  return file + bytes + values;
}

TEST(ReadProto, UnoptimizedSnapshotWithValuesBehindIt) {
  proto::HloUnoptimizedSnapshot message = UnoptimizedSnapshot();
  std::string values;
  const auto add = [&](proto::HloInputs& inputs, int type, const std::string& elements) {
    proto::ShapeProto shape = inputs.arguments(0).shape();
    shape.set_element_type(type);
    inputs.clear_arguments();
    const std::string shape_bytes = shape.SerializeAsString();
    const uint64_t size = shape_bytes.size();
    const std::string literal = std::string(reinterpret_cast<const char*>(&size), sizeof size) + shape_bytes + elements;
    inputs.add_arguments_descriptors()->set_argument_size_bytes(literal.size());
    values += literal;
  };
  const float numbers[] = {3, 4};
  add(*message.mutable_partitions(0), 11, std::string(reinterpret_cast<const char*>(numbers), sizeof numbers));
  add(*message.mutable_partitions(1), 1, "\x02");  // pred: two elements in a byte
  const std::string file = Delimited(message, values);
  EXPECT_TRUE(LooksLikeProto(file));
  Diags diags;
  const ProtoInput input = Read(file, diags);
  ASSERT_NE(input.module, nullptr);
  EXPECT_EQ(ArgumentsText(input), "f32[2]{0} {3, 4};pred[2]{0} {0, 1};");
  for (size_t size = 0; size < file.size(); ++size) {
    Diags errors;
    EXPECT_EQ(Read(file.substr(0, size), errors).module, nullptr) << size;
    EXPECT_GT(errors.errors(), 0) << size;
  }
}

TEST(ReadProto, RoundTrips) {
  Diags diags;
  ProtoInput first = Read(Message().SerializeAsString(), diags);
  ProtoInput second = Read(*WriteProto(*first.module), diags);
  EXPECT_EQ(PrintModuleLikeSource(*first.module), PrintModuleLikeSource(*second.module));
}

TEST(LooksLikeProto, DistinguishesText) {
  for (const char* text : {"", "\n", "\n\n\n", "\nHloModule m\n", "\n// HloModule\n", "HloModule m",
                           "\n\x1b[0mHloModule m", "ENTRY e {", "\r\n\t %x = f32[] add", "// \xC3\xA9"})
    EXPECT_FALSE(LooksLikeProto(text)) << text;
  EXPECT_TRUE(LooksLikeProto(Message().SerializeAsString()));
  proto::HloModuleProto nameless = Message();
  nameless.clear_name();
  EXPECT_TRUE(LooksLikeProto(nameless.SerializeAsString()));
  for (int length : {10, 13, 32, 72, 126, 200, 5000}) {
    proto::HloModuleProto named = Message();
    named.set_name(std::string(static_cast<size_t>(length), 'x'));
    EXPECT_TRUE(LooksLikeProto(named.SerializeAsString())) << length;
  }
}

TEST(AttrFields, EveryAttributeHasAField) {
  for (int i = 0; i <= kOpcodeCount; ++i)
    for (const AttrField& field : FieldsOf(static_cast<Opcode>(i))) EXPECT_NE(field.codec, nullptr) << field.def->name;
}

TEST(SortJson, SortsKeys) {
  EXPECT_EQ(SortJson(R"({"b": [2, {"d":1,"c":"}"}], "a" : null})"), R"({"a":null,"b":[2,{"c":"}","d":1}]})");
  EXPECT_EQ(SortJson("{\"a\":"), std::nullopt);
  EXPECT_EQ(SortJson("no json"), std::nullopt);
  EXPECT_EQ(SortJson(std::string(1000, '[')), std::nullopt);
}

}  // namespace
}  // namespace shoal::internal
