// The table of fields (proto_fields.def) agrees with hlo.proto and with the reader.
#include <google/protobuf/unknown_field_set.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <set>

#include "core/base/strings.h"
#include "formats/proto/field_table.h"
#include "formats/proto/read.h"
#include "formats/proto/write.h"
#include "formats/text/parser.h"
#include "hlo.pb.h"

namespace shoal::internal {
namespace {

namespace fs = std::filesystem;
using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

constexpr int kFirstOwnField = 90001;  // of shoal's extensions

std::string NameOf(const Descriptor& type) {
  return std::string(type.full_name()).substr(type.file()->package().size() + 1);
}

// All messages of hlo.proto that XLA has too.
std::vector<const Descriptor*> MessageTypes() {
  std::vector<const Descriptor*> types;
  std::function<void(const Descriptor*)> add = [&](const Descriptor* type) {
    if (type->name().substr(0, 5) != "Shoal") types.push_back(type);
    for (int i = 0; i < type->nested_type_count(); ++i) add(type->nested_type(i));
  };
  const google::protobuf::FileDescriptor* file = proto::HloModuleProto::descriptor()->file();
  for (int i = 0; i < file->message_type_count(); ++i) add(file->message_type(i));
  return types;
}

const FieldDescriptor* Declared(const FieldRow& row) {
  for (const Descriptor* type : MessageTypes()) {
    if (NameOf(*type) != row.message) continue;
    const FieldDescriptor* field = type->FindFieldByNumber(row.number);
    return field != nullptr && field->name() == row.name ? field : nullptr;
  }
  return nullptr;
}

TEST(FieldTable, HasARowForEachDeclaredField) {
  std::set<std::pair<std::string, std::string>> rows;
  for (const FieldRow& row : FieldRows()) rows.emplace(row.message, row.name);
  for (const Descriptor* type : MessageTypes())
    for (int i = 0; i < type->field_count(); ++i) {
      if (type->field(i)->number() >= kFirstOwnField) continue;
      EXPECT_TRUE(rows.contains({NameOf(*type), std::string(type->field(i)->name())})) << type->field(i)->full_name();
    }
}

TEST(FieldTable, DeclaresTheFieldsThatAreRead) {
  std::set<std::string> messages;
  for (const Descriptor* type : MessageTypes()) messages.insert(NameOf(*type));
  for (const FieldRow& row : FieldRows()) {
    const std::string name = StrCat(row.message, ".", row.name);
    EXPECT_TRUE(messages.contains(std::string(row.message))) << name;
    if (row.use == FieldUse::kRead || row.use > FieldUse::kIgnored) {
      EXPECT_EQ(Declared(row) != nullptr, row.use == FieldUse::kRead) << name;
    }
    EXPECT_EQ(row.reason.empty(), row.use == FieldUse::kRead) << name;
    EXPECT_EQ(row.first.size(), 7u) << name;
    EXPECT_TRUE(row.last.empty() || row.last >= row.first) << name;
  }
}

// ---- the reader, on the messages of the text tests

std::unique_ptr<Module> ReadBytes(const std::string& bytes, Diags& diags) {
  std::unique_ptr<Source> source = Source::FromString("m.pb", bytes);
  return ReadProto(source, /*strict=*/false, diags);
}

// The bytes of the module that `bytes` contain; "refused" if they contain none.
std::string Reread(const std::string& bytes) {
  Diags diags;
  const std::unique_ptr<Module> module = ReadBytes(bytes, diags);
  if (module == nullptr) return "refused";
  Result<std::string> written = WriteProto(*module);
  return written.ok() ? *written : "refused";
}

const std::vector<proto::HloModuleProto>& Modules() {
  static const auto* const kModules = [] {
    auto* modules = new std::vector<proto::HloModuleProto>;
    std::vector<fs::path> paths;
    for (const char* folder : {"/ops", "/proto", "/text", "/interp"})
      for (const fs::directory_entry& entry : fs::recursive_directory_iterator(std::string(SHOAL_TESTS) + folder))
        if (entry.path().extension() == ".hlo" && !entry.path().filename().string().starts_with("bad-"))
          paths.push_back(entry.path());
    std::sort(paths.begin(), paths.end());
    for (const fs::path& path : paths) {
      std::ifstream file(path, std::ios::binary);
      std::unique_ptr<Source> source =
          Source::FromString(path.string(), {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()});
      Diags diags;
      std::unique_ptr<Module> module = ParseModule(source, {}, diags);
      if (module == nullptr || !diags.found().empty()) continue;
      Result<std::string> bytes = WriteProto(*module);
      constexpr size_t kMaxBytes = 200'000;
      if (bytes.ok() && bytes->size() <= kMaxBytes) modules->emplace_back().ParseFromString(*bytes);
    }
    return modules;
  }();
  return *kModules;
}

// Messages with fields that shoal does not write.
const std::vector<proto::HloModuleProto>& ForeignModules() {
  static const auto* const kModules = [] {
    auto* modules = new std::vector<proto::HloModuleProto>;
    for (const proto::HloModuleProto& module : Modules()) {
      if (module.computations_size() != 1) continue;
      proto::HloModuleProto executable = module;
      executable.clear_shoal_config();
      executable.mutable_device_assignment()->set_replica_count(2);
      executable.mutable_device_assignment()->set_computation_count(3);
      executable.add_payloads("stored");
      proto::HloInstructionProto& first = *executable.mutable_computations(0)->mutable_instructions(0);
      first.mutable_metadata()->mutable_metadata_payload()->set_id(0);
      first.mutable_sharding()->set_type(3);  // tiled
      first.mutable_sharding()->add_tile_assignment_dimensions(2);
      first.mutable_sharding()->add_tile_assignment_dimensions(2);
      for (int device = 0; device < 4; ++device) first.mutable_sharding()->add_tile_assignment_devices(device);
      *executable.add_spmd_parameters_shardings() = first.sharding();
      *executable.mutable_spmd_output_sharding() = first.sharding();
      proto::HloModuleProto last_replicated = executable;
      last_replicated.mutable_computations(0)->mutable_instructions(0)->mutable_sharding()->set_replicate_on_last_tile_dim(
          true);
      proto::HloModuleProto configured = module;
      configured.mutable_computations(0)->mutable_instructions(0)->mutable_backend_config_payload()->set_value("x");
      proto::HloModuleProto ordered = module;
      for (proto::HloInstructionProto& hlo : *ordered.mutable_computations(0)->mutable_instructions()) {
        if (hlo.opcode() == "compare") hlo.set_comparison_order("TOTAL");
        if (hlo.shape().dimensions_size() == 0) continue;
        proto::LayoutProto& layout = *hlo.mutable_shape()->mutable_layout();
        layout.set_index_primitive_type(8);
        layout.set_pointer_primitive_type(9);
        layout.mutable_physical_shape()->set_element_type(8);
      }
      proto::HloModuleProto typed = ordered;  // as before 2026
      for (proto::HloInstructionProto& hlo : *typed.mutable_computations(0)->mutable_instructions()) {
        hlo.clear_comparison_order();
        if (hlo.opcode() == "compare") hlo.set_comparison_type("TOTALORDER");
      }
      modules->insert(modules->end(), {executable, last_replicated, configured, ordered, typed});
      constexpr size_t kEnough = 4000;
      if (modules->size() >= kEnough) break;
    }
    return modules;
  }();
  return *kModules;
}

const proto::HloModuleProto& ModuleAt(size_t i) {
  return i < Modules().size() ? Modules()[i] : ForeignModules()[i - Modules().size()];
}

// Calls `visit` for each message inside `message`, and for itself.
void ForEachMessage(Message& message, const std::function<void(Message&)>& visit) {
  visit(message);
  std::vector<const FieldDescriptor*> fields;
  const google::protobuf::Reflection& reflection = *message.GetReflection();
  reflection.ListFields(message, &fields);
  for (const FieldDescriptor* field : fields) {
    if (field->message_type() == nullptr) continue;
    if (!field->is_repeated()) {
      ForEachMessage(*reflection.MutableMessage(&message, field), visit);
      continue;
    }
    for (int i = 0; i < reflection.FieldSize(message, field); ++i)
      ForEachMessage(*reflection.MutableRepeatedMessage(&message, field, i), visit);
  }
}

// The modules in which each field is set, by index.
const std::map<const FieldDescriptor*, std::vector<size_t>>& Users() {
  static const auto* const kUsers = [] {
    auto* users = new std::map<const FieldDescriptor*, std::vector<size_t>>;
    for (size_t i = 0; i < Modules().size() + ForeignModules().size(); ++i) {
      proto::HloModuleProto copy = ModuleAt(i);
      ForEachMessage(copy, [&](Message& message) {
        std::vector<const FieldDescriptor*> fields;
        message.GetReflection()->ListFields(message, &fields);
        for (const FieldDescriptor* field : fields) {
          std::vector<size_t>& list = (*users)[field];
          if (list.empty() || list.back() != i) list.push_back(i);
        }
      });
    }
    return users;
  }();
  return *kUsers;
}

// True if the reader uses the field: without it, some module is refused or differs.
bool Matters(const FieldDescriptor& field) {
  auto users = Users().find(&field);
  if (users == Users().end()) return false;
  for (size_t i : users->second) {
    proto::HloModuleProto copy = ModuleAt(i);
    const std::string whole = Reread(copy.SerializeAsString());
    ForEachMessage(copy, [&](Message& message) {
      if (message.GetDescriptor() == field.containing_type()) message.GetReflection()->ClearField(&message, &field);
    });
    if (Reread(copy.SerializeAsString()) != whole) return true;
  }
  return false;
}

// True for the message of a file around the module.
bool IsAroundModule(std::string_view message) {
  return message.starts_with("HloProto") || message.starts_with("HloSnapshot") || message.starts_with("HloInputs") ||
         message.starts_with("HloUnoptimizedSnapshot");
}

TEST(FieldTable, ReadFieldsMatter) {
  ASSERT_GT(Modules().size(), 100u);
  for (const FieldRow& row : FieldRows()) {
    const FieldDescriptor* field = Declared(row);
    if (field == nullptr || IsAroundModule(row.message)) continue;
    if (row.use == FieldUse::kUpgraded) continue;
    EXPECT_EQ(Matters(*field), row.use == FieldUse::kRead) << row.message << "." << row.name;
  }
}

// Adds a field without a declaration to the first message of a type in any module.
std::string WithField(std::string_view type, int number) {
  for (size_t i = 0; i < Modules().size() + ForeignModules().size(); ++i) {
    proto::HloModuleProto copy = ModuleAt(i);
    bool added = false;
    ForEachMessage(copy, [&](Message& message) {
      if (added || NameOf(*message.GetDescriptor()) != type) return;
      message.GetReflection()->MutableUnknownFields(&message)->AddVarint(number, 2);
      added = true;
    });
    if (added) return copy.SerializeAsString();
  }
  return "";
}

std::string Messages(const Diags& diags) {
  std::string text;
  for (const Diag& diag : diags.found()) StrAppend(&text, diag.rule, ": ", diag.message, "\n");
  return text;
}

TEST(FieldTable, ReportsTheFieldsThatAreNotRead) {
  for (const FieldRow& row : FieldRows()) {
    if (row.use < FieldUse::kIgnored || Declared(row) != nullptr) continue;
    if (IsAroundModule(row.message)) continue;
    const std::string bytes = WithField(row.message, row.number);
    const std::string name = StrCat(row.message, ".", row.name);
    ASSERT_FALSE(bytes.empty()) << name;
    Diags diags;
    const std::unique_ptr<Module> module = ReadBytes(bytes, diags);
    const bool named = Messages(diags).find(name) != std::string::npos;
    EXPECT_EQ(named, row.use != FieldUse::kIgnored) << name << "\n" << Messages(diags);
    EXPECT_EQ(module != nullptr, row.use <= FieldUse::kReported) << name;
  }
}

TEST(FieldTable, ReportsUnknownFields) {
  for (const Descriptor* type : MessageTypes()) {
    const std::string bytes = WithField(NameOf(*type), 211);
    if (bytes.empty()) continue;
    Diags diags;
    EXPECT_NE(ReadBytes(bytes, diags), nullptr);
    EXPECT_NE(Messages(diags).find(StrCat("field 211 of ", NameOf(*type), " is unknown")), std::string::npos)
        << NameOf(*type);
  }
}

// A round trip through the reader and the writer keeps every field of every module.
TEST(FieldTable, KeepsEveryField) {
  for (const proto::HloModuleProto& module : Modules()) {
    const std::string bytes = module.SerializeAsString();
    EXPECT_EQ(Reread(bytes), bytes) << module.name();
  }
}

}  // namespace
}  // namespace shoal::internal
