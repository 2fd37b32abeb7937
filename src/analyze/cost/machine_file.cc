// Reads machines from YAML. For a deviation from the schema, reports an error with the key and the line.
#include <algorithm>
#include <sstream>

#include "analyze/cost/curves.h"
#include "analyze/cost/embedded.h"
#include "analyze/cost/machine.h"
#include "core/base/printable.h"
#include "core/base/settings.h"
#include "core/base/strings.h"
#include "core/base/suggest.h"
#include "yaml-cpp/eventhandler.h"
#include "yaml-cpp/yaml.h"

namespace shoal::internal {
namespace {

// Returns the current name of a key that version 2 renamed, or an empty string for other keys.
std::string_view RenamedKey(std::string_view key) {
  constexpr std::pair<std::string_view, std::string_view> kRenamed[] = {
      {"device.matrix_share", "device.matrix_efficiency"}, {"device.memory_share", "device.memory_efficiency"},
      {"device.launch", "device.launch_overhead"},         {"device.host_start", "device.step_overhead"},
      {"node.link_share", "node.link_efficiency"},         {"node.sums_in_switch", "node.in_switch_reduction"},
      {"cluster.nic_share", "cluster.nic_efficiency"},     {"torus.link_share", "torus.link_efficiency"},
      {"torus.wraps_from", "torus.min_ring_size"},
  };
  for (const auto& [before, now] : kRenamed)
    if (before == key) return now;
  return {};
}

std::vector<std::string> AllKeys() {
  std::vector<std::string> keys{"name", "base", "description", "accuracy", "collectives", "device.kind", "node.links", "torus.dims", "kernels"};
  for (const MachineParameter& parameter : MachineParameters()) keys.emplace_back(parameter.name);
  return keys;
}

class MachineReader {
 public:
  MachineReader(Machine& machine, const std::string& path, int depth) : machine_(machine), path_(path), depth_(depth) {}

  Status Read(const YAML::Node& root) {
    if (!root.IsMap()) return ErrorAt(root, "a machine file must be a map with the keys name, device, node, …");
    if (const YAML::Node base = root["base"]) SHOAL_TRY(ReadBase(base));
    SHOAL_TRY(ReadMap(root, ""));
    for (const MachineParameter& parameter : MachineParameters())
      if (parameter.required && !seen_keys_.contains(std::string(parameter.name)) && !inherited_.contains(std::string(parameter.name)))
        return ErrorAt(root, StrCat("key '", parameter.name, "' is missing"));
    if (machine_.family.empty()) return ErrorAt(root, "key 'name' is missing");
    if (machine_.node.links == NodeLinks::kTorus && machine_.torus.dims.empty())
      return ErrorAt(root, "key 'torus.dims' is missing; node.links is torus");
    return {};
  }

 private:
  Diag ErrorAt(const YAML::Node& node, std::string message) const {
    return Fail(StrCat(path_, ":", node.Mark().line + 1, ": ", message));
  }

  Status ReadMap(const YAML::Node& map, const std::string& prefix) {
    for (const auto& pair : map) {
      if (!pair.first.IsScalar()) return ErrorAt(pair.first, "a key must be a scalar");
      const std::string key = prefix + EscapeName(pair.first.Scalar());
      if (seen_keys_.contains(key)) return ErrorAt(pair.first, StrCat("duplicate key '", key, "'"));
      SHOAL_TRY(ReadKey(key, pair.first, pair.second));
      seen_keys_[key] = true;
    }
    return {};
  }

  Status ReadKey(const std::string& key, const YAML::Node& name, const YAML::Node& value) {
    for (const MachineParameter& parameter : MachineParameters())
      if (parameter.name == key) return ReadParameter(parameter, value);
    if (key == "name") return ReadText(key, value, machine_.family);
    if (key == "base") return {};  // read first
    if (key == "description") return ReadText(key, value, machine_.description);
    if (key == "accuracy") return ReadText(key, value, machine_.accuracy);
    if (key == "collectives") return ReadCurves(key, value);
    if (key == "device.kind") return ReadEnum(key, value, {"gpu", "tpu"}, machine_.device.kind);
    if (key == "node.links") return ReadEnum(key, value, {"switch", "mesh", "torus"}, machine_.node.links);
    if (key == "torus.dims") return ReadDims(key, value);
    if (key == "kernels") return ReadConstants(value);
    const bool is_section = std::any_of(
        MachineParameters().begin(), MachineParameters().end(), [&](const MachineParameter& parameter) {
          return parameter.name.size() > key.size() && parameter.name.substr(0, key.size() + 1) == key + ".";
        });
    if (!is_section) {
      const std::string_view renamed = RenamedKey(key);
      return ErrorAt(name, StrCat("unknown key '", key, "'", renamed.empty() ? "" : StrCat("; it is now '", renamed, "'"),
                                  "; shoal machines with ", Setting("keys"), " lists all keys", renamed.empty() ? DidYouMean(key, AllKeys()) : ""));
    }
    if (!value.IsMap()) return ErrorAt(value, StrCat("key '", key, "' must be a map"));
    return ReadMap(value, key + ".");
  }

  Status ReadText(const std::string& key, const YAML::Node& value, std::string& text) {
    if (!value.IsScalar()) return ErrorAt(value, StrCat("key '", key, "' must be a string"));
    text = value.Scalar();
    if (EscapeName(text) != text) return ErrorAt(value, StrCat("key '", key, "' must not have control characters"));
    return {};
  }

  Status ReadCurves(const std::string& key, const YAML::Node& value) {
    SHOAL_TRY(ReadText(key, value, machine_.curves));
    const std::vector<std::string> known = CurveNames();
    if (machine_.curves.empty() || machine_.curves == "none" || std::ranges::find(known, machine_.curves) != known.end())
      return {};
    return ErrorAt(value, StrCat("key '", key, "' must be one of none, ", StrJoin(known, ", "), ", got '", machine_.curves, "'"));
  }

  template <class Enum>
  Status ReadEnum(const std::string& key, const YAML::Node& value, std::initializer_list<std::string_view> words,
                  Enum& result) {
    const std::string word = value.IsScalar() ? value.Scalar() : "";
    const auto* found = std::find(words.begin(), words.end(), word);
    if (found == words.end())
      return ErrorAt(value, StrCat("key '", key, "' must be one of ", StrJoin(words, ", "), ", got '", EscapeName(word), "'"));
    result = static_cast<Enum>(found - words.begin());
    return {};
  }

  // `node` is a number with its unit, or {value: …, source: …}.
  Status ReadParameter(const MachineParameter& parameter, const YAML::Node& node) {
    YAML::Node value = node;
    if (node.IsMap()) {
      value.reset(YAML::Node(YAML::NodeType::Null));  // an assignment would change the node itself
      for (const auto& pair : node) {
        const std::string key = pair.first.IsScalar() ? pair.first.Scalar() : "";
        if (key == "value") {
          value.reset(pair.second);
        } else if (key == "source") {
          SHOAL_TRY(ReadText(StrCat(parameter.name, ".source"), pair.second, machine_.sources[std::string(parameter.name)]));
        } else {
          return ErrorAt(pair.first, StrCat("unknown key '", parameter.name, ".", EscapeName(key), "'"));
        }
      }
    }
    const Result<double> number = ParseParameter(parameter, value.IsDefined() && value.IsScalar() ? value.Scalar() : "");
    if (!number.ok()) return ErrorAt(node, StrCat("key '", parameter.name, "' ", number.diag().message));
    parameter.at(machine_) = *number;
    machine_.given.insert(std::string(parameter.name));
    return {};
  }

  // The values of another machine, which the keys of this file override.
  Status ReadBase(const YAML::Node& value) {
    if (!value.IsScalar()) return ErrorAt(value, "key 'base' must be the name of a machine");
    constexpr int kMaxDepth = 8;  // a file may name itself as its base
    if (depth_ == kMaxDepth) return ErrorAt(value, StrCat("key 'base': more than ", kMaxDepth, " machines are based on each other"));
    Result<Machine> base_machine = LoadMachine(value.Scalar(), depth_ + 1);
    if (!base_machine.ok()) return ErrorAt(value, StrCat("key 'base': ", base_machine.diag().message));
    Machine& base = *base_machine;
    machine_ = std::move(base);
    for (const MachineParameter& parameter : MachineParameters()) inherited_[std::string(parameter.name)] = true;
    return {};
  }

  Status ReadDims(const std::string& key, const YAML::Node& value) {
    if (!value.IsSequence() || value.size() < 1 || value.size() > 3)
      return ErrorAt(value, StrCat("key '", key, "' must be a list of one to three sizes"));
    for (const YAML::Node& size : value) {
      const std::optional<double> number = size.IsScalar() ? ParseNumber(size.Scalar()) : std::nullopt;
      if (!number || !CheckRange(*number, {.min = 1, .max = 1e6, .is_integer = true}).ok())
        return ErrorAt(size, StrCat("key '", key, "': a size must be an integer in [1, 1e6]"));
      machine_.torus.dims.push_back(static_cast<int64_t>(*number));
    }
    return {};
  }

  Status ReadConstants(const YAML::Node& value) {
    if (!value.IsMap()) return ErrorAt(value, "key 'kernels' must be a map of constants");
    for (const auto& pair : value) {
      const std::string name = pair.first.IsScalar() ? pair.first.Scalar() : "";
      const auto all = AllKernelConstants();
      const auto found = std::find_if(all.begin(), all.end(), [&](const auto& row) { return row.name == name; });
      if (found == all.end()) return ErrorAt(pair.first, StrCat("unknown key 'kernels.", EscapeName(name), "'"));
      const std::optional<double> number = pair.second.IsScalar() ? ParseNumber(pair.second.Scalar()) : std::nullopt;
      if (!number) return ErrorAt(pair.second, StrCat("key 'kernels.", name, "' must be a number"));
      // The formulas divide by some of the constants, and some are exponents.
      if (const Status in_range = CheckRange(*number, {.min = 1e-4, .max = 1e4}); !in_range.ok())
        return ErrorAt(pair.second, StrCat("key 'kernels.", name, "' ", in_range.diag().message));
      machine_.kernels.*(found->at) = *number;
    }
    return {};
  }

  Machine& machine_;
  const std::string& path_;
  const int depth_;  // number of machines that are based on this one
  std::map<std::string, bool> seen_keys_, inherited_;
};

// The lines on which the first two documents of a YAML text begin. YAML::LoadAll does not serve: it finds endlessly many
// documents in a text that begins with a comma.
struct DocumentStarts : YAML::EventHandler {
  void Find(const std::string& yaml) {
    std::istringstream text(yaml);
    YAML::Parser parser(text);
    while (lines.size() < 2 && parser.HandleNextDocument(*this)) {}
  }
  void OnDocumentStart(const YAML::Mark& mark) override { lines.push_back(mark.line); }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark&, YAML::anchor_t) override {}
  void OnAlias(const YAML::Mark&, YAML::anchor_t) override {}
  void OnScalar(const YAML::Mark&, const std::string&, YAML::anchor_t, const std::string&) override {}
  void OnSequenceStart(const YAML::Mark&, const std::string&, YAML::anchor_t, YAML::EmitterStyle::value) override {}
  void OnSequenceEnd() override {}
  void OnMapStart(const YAML::Mark&, const std::string&, YAML::anchor_t, YAML::EmitterStyle::value) override {}
  void OnMapEnd() override {}

  std::vector<int> lines;
};

Result<Machine> ReadMachineOver(Machine machine, const std::string& yaml, const std::string& path, int depth) {
  try {
    DocumentStarts documents;
    documents.Find(yaml);
    if (documents.lines.empty()) return Fail(StrCat(path, ": the file has no YAML document"));
    if (documents.lines.size() > 1) {
      const bool is_one_line = documents.lines[1] == documents.lines[0];  // the text is not YAML
      return Fail(StrCat(path, ":", documents.lines[1] + 1, is_one_line ? ": expected a map of keys"
                             : ": a machine file must have one YAML document; another one begins here"));
    }
    SHOAL_TRY(MachineReader(machine, path, depth).Read(YAML::Load(yaml)));
  } catch (const YAML::Exception& error) {
    return Fail(StrCat(path, ":", error.mark.line + 1, ": ", EscapeName(error.msg)));
  }
  machine.name = machine.family;
  return machine;
}

const KernelConstants& FittedConstants() {
  static const KernelConstants fitted = [] {
    KernelConstants constants;
    const YAML::Node values = YAML::Load(std::string(EmbeddedFile("fitted/kernels.yaml")))["constants"];
    for (const KernelConstant& constant : AllKernelConstants())
      if (const YAML::Node value = values[std::string(constant.name)]) constants.*(constant.at) = value.as<double>();
    return constants;
  }();
  return fitted;
}

}  // namespace

Result<Machine> ReadMachine(const std::string& yaml, const std::string& path, int depth) {
  Machine machine;
  machine.kernels = FittedConstants();
  return ReadMachineOver(std::move(machine), yaml, path, depth);
}

}  // namespace shoal::internal
