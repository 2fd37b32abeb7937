// Sets random fields of valid messages to random values. Reading must neither crash nor hang, and a message that is
// read must survive a round trip through the writer. The input is a list of choices: message, field, value.
#include <google/protobuf/message.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "core/verify/verify.h"
#include "formats/proto/read.h"
#include "formats/proto/write.h"
#include "formats/text/parser.h"
#include "formats/text/printer.h"
#include "hlo.pb.h"

namespace shoal::internal {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

// Ops with attributes of many kinds.
constexpr char kText[] = R"(HloModule m, is_scheduled=true, input_output_alias={ {0}: (0, {}, may-alias) }, num_partitions=4
add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] add(a, b) }
less { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = pred[] compare(a, b), direction=LT, order=TOTAL }
body { t = (s32[], f32[8]) parameter(0) ROOT u = (s32[], f32[8]) opt-barrier(t) }
cond { t = (s32[], f32[8]) parameter(0) i = s32[] get-tuple-element(t), index=0 n = s32[] constant(3) ROOT c = pred[] compare(i, n), direction=LT }
ENTRY e {
  x = f32[8]{0} parameter(0), sharding={devices=[4]<=[4]}, metadata={op_name="x" source_file="a.py" source_line=3}
  m = f32[4,4]{1,0} parameter(1), frontend_attributes={a="b"}, origin={{"m" {0}}}
  i = s32[2,1]{1,0} constant({{1},{2}})
  r = f32[8]{0} all-reduce(x), channel_id=1, replica_groups=[2,2]<=[4], use_global_device_ids=true, to_apply=add
  g = f32[2,4]{1,0} gather(m, i), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,4}
  d = f32[4,4]{1,0} dot(m, m), lhs_contracting_dims={1}, rhs_contracting_dims={0}, operand_precision={high,highest}
  s = f32[8]{0} sort(r), dimensions={0}, to_apply=less
  p = f32[8]{0} collective-permute(s), channel_id=2, source_target_pairs={{0,1},{1,0}}
  k = f32[8]{0} custom-call(p), custom_call_target="Sharding", backend_config="{}"
  zero = s32[] constant(0)
  init = (s32[], f32[8]) tuple(zero, k)
  loop = (s32[], f32[8]) while(init), condition=cond, body=body
  y = f32[8]{0} get-tuple-element(loop), index=1
  ROOT t = (f32[8]{0}, f32[4,4]{1,0}, f32[2,4]{1,0}) tuple(y, d, g)
})";

const proto::HloModuleProto& Base() {
  static const auto* const kBase = [] {
    std::unique_ptr<Source> source = Source::FromString("m", kText);
    Diags diags;
    std::unique_ptr<Module> module = ParseModule(source, {}, diags);
    auto* message = new proto::HloModuleProto;
    if (module == nullptr || !message->ParseFromString(*WriteProto(*module))) std::abort();
    return message;
  }();
  return *kBase;
}

class Choices {
 public:
  Choices(const uint8_t* data, size_t size) : data_(data), size_(size) {}
  bool done() const { return at_ >= size_; }
  uint8_t Byte() { return done() ? 0 : data_[at_++]; }
  size_t Below(size_t n) { return n == 0 ? 0 : (size_t{Byte()} << 8 | Byte()) % n; }
  // Small, large or negative.
  int64_t Number() {
    constexpr int64_t kUnusual[] = {-1, -2, INT64_MIN, INT64_MAX, INT32_MAX, int64_t{1} << 32, 255, 1 << 20};
    const uint8_t byte = Byte();
    return byte < 128 ? byte % 9 : kUnusual[byte % std::size(kUnusual)];
  }

 private:
  const uint8_t* data_;
  size_t size_, at_ = 0;
};

void Collect(Message& message, std::vector<Message*>& all) {
  all.push_back(&message);
  std::vector<const FieldDescriptor*> fields;
  const Reflection& reflection = *message.GetReflection();
  reflection.ListFields(message, &fields);
  for (const FieldDescriptor* field : fields) {
    if (field->message_type() == nullptr) continue;
    const int count = field->is_repeated() ? reflection.FieldSize(message, field) : 1;
    for (int i = 0; i < count; ++i)
      Collect(field->is_repeated() ? *reflection.MutableRepeatedMessage(&message, field, i)
                                   : *reflection.MutableMessage(&message, field),
              all);
  }
}

void SetField(Message& message, const FieldDescriptor& field, Choices& choices) {
  const Reflection& r = *message.GetReflection();
  const bool many = field.is_repeated();
  constexpr const char* kTexts[] = {"", "a", "add", "TOTAL", "{}", "\n", "x.1"};
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_BOOL:
      return many ? r.AddBool(&message, &field, true) : r.SetBool(&message, &field, choices.Byte() % 2 != 0);
    case FieldDescriptor::CPPTYPE_INT32: {
      const auto value = static_cast<int32_t>(choices.Number());
      return many ? r.AddInt32(&message, &field, value) : r.SetInt32(&message, &field, value);
    }
    case FieldDescriptor::CPPTYPE_INT64:
      return many ? r.AddInt64(&message, &field, choices.Number()) : r.SetInt64(&message, &field, choices.Number());
    case FieldDescriptor::CPPTYPE_STRING: {
      const std::string text = kTexts[choices.Below(std::size(kTexts))];
      return many ? r.AddString(&message, &field, text) : r.SetString(&message, &field, text);
    }
    case FieldDescriptor::CPPTYPE_MESSAGE:
      (many ? r.AddMessage(&message, &field) : r.MutableMessage(&message, &field));
      return;
    default:
      return r.ClearField(&message, &field);
  }
}

std::unique_ptr<Module> Read(const std::string& bytes) {
  std::unique_ptr<Source> source = Source::FromString("fuzz", bytes);
  Diags diags;
  std::unique_ptr<Module> module = ReadProto(source, /*strict=*/false, diags);
  if (module == nullptr) return nullptr;
  Verify(*module, diags);
  return diags.errors() == 0 ? std::move(module) : nullptr;
}

}  // namespace
}  // namespace shoal::internal

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace shoal::internal;
  shoal::proto::HloModuleProto message = Base();
  for (Choices choices(data, size); !choices.done();) {
    std::vector<Message*> all;
    Collect(message, all);
    Message& chosen = *all[choices.Below(all.size())];
    const auto& type = *chosen.GetDescriptor();
    if (type.field_count() > 0)
      SetField(chosen, *type.field(static_cast<int>(choices.Below(static_cast<size_t>(type.field_count())))), choices);
  }
  const std::unique_ptr<Module> module = Read(message.SerializeAsString());
  if (module == nullptr) return 0;
  const std::string text = PrintModule(*module);
  Result<std::string> bytes = WriteProto(*module);
  if (!bytes.ok()) return 0;
  const std::unique_ptr<Module> again = Read(*bytes);
  if (again == nullptr || PrintModule(*again) != text) {
    std::fprintf(stderr, "the round trip changes the module:\n%s\n%s\n", text.c_str(),
                 again == nullptr ? "unreadable" : PrintModule(*again).c_str());
    std::abort();
  }
  return 0;
}
