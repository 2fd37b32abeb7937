#include "readers.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <vector>

#include "analyze/diff/threshold.h"
#include "cli/options/shoal.h"
#include "compile/codegen/object_cache.h"
#include "core/base/json_reader.h"
#include "core/base/strings.h"
#include "core/base/units.h"
#include "execute/data/inputs.h"
#include "execute/data/outputs.h"
#include "execute/data/partitioned_inputs.h"
#include "execute/transport/placement.h"
#include "formats/files/profile.h"
#include "formats/proto/read.h"
#include "formats/text/parser.h"
#include "mutate.h"
#include "nlohmann/json.hpp"
#include "present/reports/machines_report.h"
#include "present/reports/time_report.h"

namespace shoal::internal::fuzz {
namespace {

void Put(const std::string& path, std::string_view bytes) {
  std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

std::string Get(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// Checks a failure: each has a message, which names no exception of the standard library.
std::string CheckMessage(const Diag& diag) {
  if (diag.message.empty()) return "an error without a message";
  if (diag.message.find("std::") != std::string::npos) return "an internal error: " + diag.message;
  for (char c : diag.message)
    if (static_cast<unsigned char>(c) < ' ' && c != '\n') return "a control character in the message: " + diag.message;
  return "";
}

std::string CheckJson(const std::string& text) {
  return nlohmann::json::accept(text) ? "" : "a document that is not JSON: " + text.substr(0, 80);
}

// shoal's reader of JSON accepts the same texts as the one that shoal writes JSON with, which also checks UTF-8
// and takes a zero byte as the end.
std::string CheckJsonReader(const std::string& text) {
  const bool is_ascii = std::ranges::all_of(text, [](char c) { return static_cast<signed char>(c) > 0; });
  if (!is_ascii || IsTooDeepJson(text)) return "";
  JsonReader reader(text);
  reader.Skip();
  reader.ExpectEnd();
  return reader.ok() == nlohmann::json::accept(text) ? "" : "the two readers of JSON disagree: " + reader.error();
}

std::unique_ptr<Module> Parsed(const std::string& text) {
  std::unique_ptr<Source> source = Source::FromString("fuzz", text);
  Diags diags;
  return ParseModule(source, {}, diags);
}

// A parameter of each storage size and kind that .npy files can hold, with several shapes.
std::string RunArrays(const std::string& inputs) {
  for (const char* type : {"f32[2,3]", "f64[2,3]", "bf16[2,3]", "pred[2,3]", "s4[4]", "c64[2]", "u8[0]", "s32[]", "f8e5m2[5]", "s64[<=4]"}) {
    const auto module = Parsed(StrCat("HloModule m\nENTRY e { p = ", type, " parameter(0) ROOT r = ", type, " copy(p) }\n"));
    Result<Arguments> arguments = ReadArguments(*module, DeviceGrid{}, inputs);
    if (!arguments.ok()) {
      if (std::string complaint = CheckMessage(arguments.diag()); !complaint.empty()) return complaint;
      continue;
    }
    const Array& array = arguments->at(0).at(0).array();
    if (array.type() != module->entry->parameters[0]->shape().element_type()) return "an array of another type";
    Summarize(array);
  }
  return "";
}

std::string RunNpy(const std::string& bytes, const std::string& folder) {
  std::filesystem::create_directories(folder + "/in");
  Put(folder + "/in/0.npy", bytes);
  return RunArrays(folder + "/in");
}

std::string RunNpz(const std::string& bytes, const std::string& folder) {
  Put(folder + "/in.npz", bytes);
  return RunArrays(folder + "/in.npz");
}

// A step with a product, a loop fusion and a collective, so that most parameters of a machine matter.
constexpr const char* kStep = R"(HloModule step, num_partitions=4
add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] add(a, b) }
ENTRY e {
  x = bf16[512,256] parameter(0)
  w = bf16[256,1024] parameter(1)
  d = bf16[512,1024] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  c = f32[512,1024] convert(d)
  t = f32[512,1024] tanh(c)
  ROOT r = f32[512,1024] all-reduce(t), replica_groups={{0,1,2,3}}, use_global_device_ids=true, channel_id=1, to_apply=add
})";

std::string CheckMachine(const Machine& machine) {
  static const std::unique_ptr<Module> module = Parsed(kStep);
  static const auto input = PredictionInput::Of(std::make_shared<const ModuleFacts>(*module, FactOptions{}));
  if (std::string complaint = CheckJson(MachinesJson({machine})); !complaint.empty()) return complaint;
  Result<Prediction> prediction = PredictOnMachine(**input, machine);
  if (!prediction.ok()) return CheckMessage(prediction.diag());
  const double seconds = prediction->prediction.step_seconds;
  if (!(seconds > 0) || !std::isfinite(seconds)) return StrCat("a step of ", seconds, " s");
  return CheckJson(TraceJson(prediction->prediction.trace));
}

std::string RunMachine(const std::string& bytes, const std::string& folder) {
  const std::string path = folder + "/machine.yaml";
  Put(path, bytes);
  Result<Machine> machine = LoadMachine(path);
  return machine.ok() ? CheckMachine(*machine) : CheckMessage(machine.diag());
}

std::string CheckTrace(Result<Trace> trace) {
  if (!trace.ok()) return CheckMessage(trace.diag());
  for (const TraceEvent& event : trace->events)
    if (!(event.duration >= 0) || !std::isfinite(event.start)) return StrCat("an event of ", event.duration, " s");
  return CheckJson(TraceJson(*trace));
}

std::string RunXplane(const std::string& bytes, const std::string&) { return CheckTrace(ReadXplane(bytes, "fuzz")); }
std::string RunChromeTrace(const std::string& bytes, const std::string&) {
  const std::string complaint = CheckJsonReader(bytes);
  return complaint.empty() ? CheckTrace(ReadChromeTrace(bytes, "fuzz")) : complaint;
}

// The bytes as a file, which may be packed.
std::string RunProfile(const std::string& bytes, const std::string& folder) {
  Put(folder + "/profile", bytes);
  return CheckTrace(ReadProfile(folder + "/profile"));
}

std::string RunSnapshot(const std::string& bytes, const std::string&) {
  std::unique_ptr<Source> source = Source::FromString("fuzz", bytes);
  Diags diags;
  const ProtoInput read = ReadProtoWithValues(source, /*strict=*/false, diags);
  if (read.module == nullptr) return diags.errors() > 0 ? "" : "no module and no error";
  Result<Arguments> arguments = SnapshotArguments(*read.module, DeviceGrid{}, read.arguments);
  if (!arguments.ok()) return CheckMessage(arguments.diag());
  const std::vector<Output> outputs = GroupEqualOutputs(std::vector<Value>(arguments->at(0)));
  if (read.result == nullptr) return "";
  Result<std::vector<OutputComparison>> comparison = CompareWithLiteral(*read.result, outputs);
  return comparison.ok() ? "" : CheckMessage(comparison.diag());
}

// Each line is an argument. Only files in the caller's folder can be named.
std::string RunOptions(const std::string& bytes, const std::string& folder) {
  std::vector<std::string> arguments{"shoal"};
  for (size_t at = 0; at < bytes.size() && arguments.size() < 30;) {
    const size_t end = std::min(bytes.find('\n', at), bytes.size());
    std::string argument = bytes.substr(at, end - at);
    for (char& c : argument)
      if (c == '/' || c == '\0') c = '_';
    if (argument.find("mpi") != std::string::npos) return "";  // starts a job
    const size_t repeats = argument.find("repeats=");
    if (repeats != std::string::npos && argument.size() > repeats + std::strlen("repeats=") + 2) return "";  // runs for long
    arguments.push_back(std::move(argument));
    at = end + 1;
  }
  if (chdir(folder.c_str()) != 0) return "no folder";
  Put("step.hlo", kStep);
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  const bool json = std::find(arguments.begin(), arguments.end(), "--json") != arguments.end();
  const int before = dup(STDOUT_FILENO), out = open("stdout", O_RDWR | O_CREAT | O_TRUNC, 0600);
  dup2(out, STDOUT_FILENO);
  const int status = cli::Shoal(static_cast<int>(arguments.size()), argv.data());
  dup2(before, STDOUT_FILENO);
  close(before), close(out);
  if (status < 0 || status > 3) return StrCat("exit status ", status);
  const std::string text = Get("stdout");
  return json && !text.empty() && (text[0] == '{' || text[0] == '[') ? CheckJson(text) : "";
}

// Each line is given to everything that parses a number.
std::string RunNumbers(const std::string& bytes, const std::string&) {
  for (size_t at = 0; at < bytes.size();) {
    const size_t end = std::min(bytes.find('\n', at), bytes.size());
    const std::string line = bytes.substr(at, end - at);
    at = end + 1;
    if (const std::optional<double> number = ParseNumber(line); number && !std::isfinite(*number)) return "not finite: " + line;
    if (const std::optional<int64_t> size = ParseBytes(line); size && *size < 0) return "a negative size: " + line;
    if (Result<Threshold> threshold = ParseThreshold("flops<=" + line); threshold.ok() && !std::isfinite(threshold->bound))
      return "a bound that is not finite: " + line;
    Machine machine = *LoadMachine("h100x8");
    if (SetMachineParameter(machine, line).ok())
      if (std::string complaint = CheckMachine(machine); !complaint.empty()) return line + ": " + complaint;
  }
  return "";
}

std::string RunPlacement(const std::string& bytes, const std::string& folder) {
  Put(folder + "/placement", bytes);
  Result<Placement> placement = ParsePlacement(folder + "/placement", 8, 4, 1);
  if (!placement.ok()) return CheckMessage(placement.diag());
  for (int64_t device = 0; device < 8; ++device)
    if (placement->RankOf(device) < 0 || placement->RankOf(device) >= 4) return "a rank that does not exist";
  return "";
}

// The only entry whose code may be used is the one that was written.
std::string RunCache(const std::string& bytes, const std::string& folder) {
  const std::string path = folder + "/cache";
  std::filesystem::remove_all(path);
  ObjectCache written(path);
  written.Write("key", "object");
  for (const auto& entry : std::filesystem::directory_iterator(path)) Put(entry.path().string(), bytes);
  ObjectCache cache(path);
  const std::optional<std::string> object = cache.Read("key");
  cache.Trim();
  const uLong crc = object ? crc32(crc32(0, reinterpret_cast<const Bytef*>("key"), 3),
                                   reinterpret_cast<const Bytef*>(object->data()), static_cast<uInt>(object->size())) : 0;
  uint64_t recorded = 0;
  if (object) std::memcpy(&recorded, bytes.data() + 24, sizeof recorded);
  if (object && recorded != crc) return "code with a wrong checksum";
  return "";
}

std::string MutateBinary(const std::string& bytes, const std::string& other, Random& random) {
  if (!random.OneIn(6) || other.empty() || bytes.empty()) return MutatedBytes(bytes, random);
  // The beginning of one file and the end of another.
  return bytes.substr(0, static_cast<size_t>(random.Below(std::ssize(bytes)))) +
         other.substr(static_cast<size_t>(random.Below(std::ssize(other))));
}

// Replaces numbers and words, copies lines from the other text, nests brackets.
std::string MutateText(const std::string& bytes, const std::string& other, Random& random) {
  static constexpr const char* kValues[] = {"nan", "-nan", "inf", "-inf", "1e999", "1e-999", "0", "-0", "-1", "0.5", "1e300",
                                            "1e-300", "9223372036854775808", "0x10", "010", "+1", "--5", "", "{}", "[]", "\"\"",
                                            "null", "~", "true", "\x7f", "\x1b[31m", "\xff", "*a", "&a", "!!x", "%", "---"};
  std::string text = bytes;
  for (int64_t n = 1 + random.Below(4); n > 0; --n) {
    const auto at = static_cast<size_t>(random.Below(std::ssize(text) + 1));
    switch (random.Below(6)) {
      case 0: {
        const size_t digit = text.find_first_of("0123456789", at);
        if (digit == std::string::npos) break;
        const size_t end = std::min(text.find_first_not_of("0123456789.", digit), text.size());
        text.replace(digit, end - digit, random.Of(kValues));
        break;
      }
      case 1: text.insert(at, random.Of(kValues)); break;
      case 2: {
        const size_t line = other.find('\n', static_cast<size_t>(random.Below(std::ssize(other) + 1)));
        const size_t here = text.find('\n', at);
        if (line == std::string::npos || here == std::string::npos) break;
        text.insert(here + 1, other.substr(line + 1, other.find('\n', line + 1) - line));
        break;
      }
      case 3: {
        const size_t start = text.rfind('\n', at) + 1;
        text.erase(start, text.find('\n', start) - start);
        break;
      }
      case 4: {
        static constexpr const char* kBrackets[] = {"[", "{", "{\"a\":", "- ", "? "};
        const char* bracket = random.Of(kBrackets);
        std::string nest;
        for (int64_t depth = random.OneIn(3) ? 3000 : random.Below(100); depth > 0; --depth) nest += bracket;
        text.insert(at, nest);
        break;
      }
      default: text = MutatedBytes(text, random);
    }
  }
  return text;
}

// Half of the entries have a correct checksum, so that the mutations behind it matter.
std::string MutateCache(const std::string& bytes, const std::string& other, Random& random) {
  std::string entry = MutateBinary(bytes, other, random);
  if (entry.size() < 32 || random.OneIn(2)) return entry;
  const uint64_t crc = crc32(0, reinterpret_cast<const Bytef*>(entry.data()) + 32, static_cast<uInt>(entry.size() - 32));
  std::memcpy(entry.data() + 24, &crc, sizeof crc);
  return entry;
}

constexpr ReaderTarget kTargets[] = {
    {"npy", RunNpy, MutateBinary},
    {"npz", RunNpz, MutateBinary},
    {"machine", RunMachine, MutateText},
    {"xplane", RunXplane, MutateBinary},
    {"chrome_trace", RunChromeTrace, MutateText},
    {"profile", RunProfile, MutateBinary},
    {"snapshot", RunSnapshot, MutateBinary},
    {"options", RunOptions, MutateText},
    {"numbers", RunNumbers, MutateText},
    {"placement", RunPlacement, MutateText},
    {"cache", RunCache, MutateCache},
};

}  // namespace

std::span<const ReaderTarget> ReaderTargets() { return kTargets; }

}  // namespace shoal::internal::fuzz
