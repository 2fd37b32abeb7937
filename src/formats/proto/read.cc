#include "formats/proto/read.h"

#include <google/protobuf/arena.h>

#include <climits>

#include "core/base/strings.h"
#include "core/ops/order.h"
#include "formats/proto/detect.h"
#include "formats/proto/field_table.h"
#include "formats/proto/module_reader.h"
#include "formats/proto/read_snapshot.h"

namespace shoal::internal {

// ---- ModuleReader

void ModuleReader::Error(Diag diag) {
  diag.message = LocationPrefix() + diag.message;
  diags_.Add(std::move(diag));
}

bool ModuleReader::TolerateDeviation(std::string_view rule, const std::string& message, Site site) {
  const Severity severity = strict_ ? Severity::kError : Severity::kWarning;
  diags_.Add({std::string(rule), LocationPrefix() + message, {}, severity, site});
  return !strict_;
}

std::string ModuleReader::LocationPrefix() const {
  std::string prefix;
  if (!computation_name_.empty()) StrAppend(&prefix, "computation ", computation_name_);
  if (!instruction_name_.empty()) StrAppend(&prefix, prefix.empty() ? "" : ", ", "instruction ", instruction_name_);
  if (!prefix.empty()) prefix += ": ";
  return prefix;
}

void ModuleReader::Read(proto::HloModuleProto& from) {
  const int errors_before = diags_.errors();
  payloads_ = &from.payloads();
  from_executable_ = from.has_device_assignment() && !from.has_shoal_config();
  module_.name = module_.arena.CopyString(from.name());
  for (proto::HloComputationProto* computation : CalleesFirst(from)) ReadComputation(*computation);
  computation_name_ = instruction_name_ = {};
  auto entry = computations_.find(from.entry_computation_id());
  if (entry == computations_.end()) {
    Error(Fail(StrCat("entry computation id ", from.entry_computation_id(), " does not exist")));
  } else {
    module_.entry = entry->second;
  }
  // The following steps need complete computations.
  if (diags_.errors() != errors_before) return;
  OrderComputations(from.shoal_config().computations_by_id());
  CheckNames(!from.shoal_config().not_final());
  if (from.has_schedule()) ReadSchedule(from.schedule());
  OrderInstructions(module_);
  computation_name_ = {};
  ReadHeader(from);
  ReadOriginRecovery(*from.mutable_original_value_recovery_table());
}

namespace {

// Owns the message read from a protobuf file.
class AnyMessage {
 public:
  // Returns null after an error if the bytes are not a T.
  template <class T>
  T* Parse(std::string_view bytes, Diags& diags) {
    T* message = google::protobuf::Arena::CreateMessage<T>(&arena_);
    if (message->ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) return message;
    const WireEnd end = CheckWire(bytes);
    if (end.missing > 0) {
      diags.Add(Fail(StrCat("the protobuf is truncated: the field at byte ", end.at, " needs ", end.missing,
                            end.missing == 1 ? " more byte" : " more bytes")));
    } else if (!end.is_complete) {
      diags.Add(Fail(StrCat("the protobuf is corrupt at byte ", end.at)));
    } else {
      diags.Add(Fail("the protobuf has a corrupt nested message, or is nested deeper than 100 levels"));
    }
    return nullptr;
  }

 private:
  google::protobuf::Arena arena_;
};

}  // namespace

std::unique_ptr<Module> ReadProto(std::unique_ptr<Source>& source, bool strict, Diags& diags) {
  return ReadProtoWithValues(source, strict, diags).module;
}

ProtoInput ReadProtoWithValues(std::unique_ptr<Source>& source, bool strict, Diags& diags) {
  const DelimitedMessage delimited = SplitDelimited(source->text());
  const std::string_view bytes = delimited.message.empty() ? source->text() : delimited.message;
  if (bytes.size() > INT_MAX) {
    diags.Add(Fail("the protobuf is larger than 2 GiB"));
    return {};
  }
  AnyMessage message;
  proto::HloSnapshot* snapshot = nullptr;
  proto::HloUnoptimizedSnapshot* inputs = nullptr;
  proto::HloModuleProto* from = nullptr;
  const google::protobuf::Descriptor* type = nullptr;
  switch (DetectProto(bytes)) {
    case ProtoKind::kModule:
      type = proto::HloModuleProto::descriptor();
      from = message.Parse<proto::HloModuleProto>(bytes, diags);
      break;
    case ProtoKind::kHlo:
      type = proto::HloProto::descriptor();
      if (auto* hlo = message.Parse<proto::HloProto>(bytes, diags)) from = hlo->mutable_hlo_module();
      break;
    case ProtoKind::kSnapshot:
      type = proto::HloSnapshot::descriptor();
      snapshot = message.Parse<proto::HloSnapshot>(bytes, diags);
      if (snapshot != nullptr) from = snapshot->mutable_hlo()->mutable_hlo_module();
      break;
    case ProtoKind::kUnoptimizedSnapshot:
      type = proto::HloUnoptimizedSnapshot::descriptor();
      inputs = message.Parse<proto::HloUnoptimizedSnapshot>(bytes, diags);
      if (inputs != nullptr) from = inputs->mutable_hlo_module();
      break;
    case ProtoKind::kNone:
      diags.Add(Fail("the file is neither HLO text nor an HloModuleProto, HloProto, HloSnapshot or HloUnoptimizedSnapshot"));
      break;
  }
  if (from == nullptr) return {};

  const int errors_before = diags.errors();
  CheckFields(bytes, *type, strict, diags);
  ProtoInput input;
  input.module = std::make_unique<Module>(nullptr);
  ModuleReader(*input.module, strict, diags).Read(*from);
  if (snapshot != nullptr) ReadSnapshotValues(*snapshot, input, diags);
  if (inputs != nullptr) ReadPartitionInputs(*inputs, delimited.values, input, diags);
  if (diags.errors() != errors_before) return {};
  input.module->source = std::move(source);
  return input;
}

}  // namespace shoal::internal
