#include "cases.h"

#include <fcntl.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

#include "analyze/facts/infer_devices.h"
#include "cli/options/shoal.h"
#include "core/base/npy.h"
#include "core/base/zip.h"
#include "formats/proto/detect.h"
#include "formats/proto/read.h"
#include "formats/proto/write.h"
#include "formats/text/parser.h"
#include "mutate.h"
#include "nlohmann/json.hpp"

namespace shoal::internal::fuzz {
namespace {

using Arguments = std::vector<std::string>;

// Limits of a run. With an instruction limit, a loop runs instruction by instruction instead of as one function.
Arguments Limits(bool limit_instructions) {
  Arguments limits{"--max_memory=64MB", limit_instructions ? "--max_seconds=10" : "--max_seconds=2"};
  if (limit_instructions) limits.push_back("--max_instructions=20000");
  return limits;
}

void Append(Arguments& call, const Arguments& more) { call.insert(call.end(), more.begin(), more.end()); }

void WriteFile(const std::string& path, std::string_view bytes) {
  std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

std::string ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::unique_ptr<Module> Read(const std::string& bytes) {
  std::unique_ptr<Source> source = Source::FromString("fuzz", bytes);
  Diags diags;
  if (LooksLikeProto(source->text())) return ReadProto(source, /*strict=*/false, diags);
  return ParseModule(source, {}, diags);
}

// Number of devices that the module in a file is compiled for; 0 if it cannot be read.
int64_t DeviceCount(const std::string& path) {
  const std::unique_ptr<Module> module = Read(ReadFile(path));
  return module == nullptr ? 0 : InferDevices(*module).grid.count();
}

// A zlib stream; `window` as for deflateInit2: -15 is raw deflate, 31 is gzip.
std::string Deflated(const std::string& bytes, int window) {
  z_stream stream{};
  if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, window, 8, Z_DEFAULT_STRATEGY) != Z_OK) return "";
  std::string packed(deflateBound(&stream, bytes.size()) + 64, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

// An .npz file with one entry, stored or deflated.
std::string ZipOf(const std::string& name, const std::string& bytes, bool deflated) {
  auto number = [](uint64_t value, int width) {
    std::string out;
    for (int i = 0; i < width; ++i) out += static_cast<char>(value >> (8 * i));
    return out;
  };
  const std::string packed = deflated ? Deflated(bytes, -15) : bytes;
  const uLong crc = crc32(0, reinterpret_cast<const Bytef*>(bytes.data()), static_cast<uInt>(bytes.size()));
  const std::string about = number(0, 2) + number(deflated ? 8 : 0, 2) + number(0, 4) + number(crc, 4) +
                            number(packed.size(), 4) + number(bytes.size(), 4) + number(name.size(), 2) + number(0, 2);
  const std::string local = "PK\3\4" + number(20, 2) + about + name + packed;
  const std::string central = "PK\1\2" + number(20, 2) + number(20, 2) + about + number(0, 2) + number(0, 2) +
                              number(0, 2) + number(0, 4) + number(0, 4) + name;
  return local + central + "PK\5\6" + number(0, 4) + number(1, 2) + number(1, 2) + number(central.size(), 4) +
         number(local.size(), 4) + number(0, 2);
}

// Text that a correct run never prints: an exception of the standard library, or an internal error reported by `run`.
const char* Complaint(const std::string& messages) {
  static constexpr const char* kSymptoms[] = {
      "internal error", "std::",          "basic_string",     "vector::",
      "bad_variant",    "runtime error:", "AddressSanitizer", "wrong index for variant",
      "stoi",           "map::at",        "terminate called"};
  std::istringstream lines(messages);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("  ")) continue;  // quotes the module
    for (const char* symptom : kSymptoms)
      if (line.find(symptom) != std::string::npos) return symptom;
  }
  return nullptr;
}

}  // namespace

Cases::Cases(const std::vector<Origin>& origins, uint64_t seed, std::string folder, Note& note)
    : origins_(origins), seed_(seed), folder_(std::move(folder)), note_(note) {}

bool Cases::Run(int64_t number) {
  note_.number = number;
  Random random(seed_, static_cast<uint64_t>(number));
  const Origin& origin = random.Of(origins_);
  const int64_t kind = random.Below(100);
  if (kind < 10) return RunText(Generated(random), origin, random);
  if (kind < 14) return RunArrays(random);
  const std::string& other = random.Of(origins_).text;
  std::string text = Mutated(kind < 20 ? Generated(random) : origin.text, other, random);
  if (random.OneIn(2)) text = Repaired(text, random).value_or(text);
  if (kind < 28) return RunProto(text, origin, random);
  return RunText(text, origin, random);
}

bool Cases::RunIllTyped(int64_t number, const std::string& text) {
  note_.number = number;
  const std::string path = folder_ + "/module.hlo";
  WriteFile(path, text);
  if (!Call({"check", path})) return false;
  for (const char* command : {"show", "cost", "mem", "time", "opt"}) {
    Arguments call{command, path};
    if (call[0] == "time") call.push_back("--on=h100x8");
    if (!Call(std::move(call))) return false;
  }
  for (const char* engine : {"--engine=jit", "--engine=interp"}) {
    Arguments call{"run", path, engine};
    Append(call, Limits(call[2] == "--engine=interp"));
    if (DeviceCount(path) > 8) Append(call, {"--num_replicas=2", "--num_partitions=2"});
    if (!Call(std::move(call))) return false;
  }
  return true;
}

bool Cases::RunText(const std::string& text, const Origin& origin, Random& random) {
  const std::string path = folder_ + "/module.hlo";
  WriteFile(path, text);
  return RunFile(path, origin.path, random);
}

bool Cases::RunProto(const std::string& text, const Origin& origin, Random& random) {
  std::unique_ptr<Module> module = Read(text);
  if (module == nullptr) return true;
  Result<std::string> proto = WriteProto(*module);
  if (!proto.ok()) return true;
  const std::string path = folder_ + "/module.pb";
  WriteFile(path, random.OneIn(3) ? *proto : MutatedBytes(*proto, random));
  return RunFile(path, origin.path, random);
}

// Runs a module on an array file in an archive and in a folder. Bytes may be mutated before and after packing.
bool Cases::RunArrays(Random& random) {
  static constexpr std::pair<const char*, const char*> kTypes[] = {{"f32", "<f4"}, {"f64", "<f8"},  {"pred", "|b1"}, {"s32", "<i4"},
                                                                   {"c64", "<c8"}, {"bf16", "|V2"}, {"u8", "|u1"},   {"s64", ">i8"}};
  const auto& [type, descr] = random.Of(kTypes);
  std::string npy = NpyHeader(descr, {2, 3}) + std::string(96, '\1');
  if (!random.OneIn(4)) npy = MutatedBytes(npy, random);
  std::string zip = ZipOf("0.npy", npy, random.OneIn(2));
  if (!random.OneIn(3)) zip = MutatedBytes(zip, random);
  (void)ParseNpy(npy);
  (void)ParseNpyHeader(npy);
  if (Result<ZipReader> reader = ZipReader::Open(InputFile::FromString("in.npz", zip)); reader.ok()) {
    for (const auto& [name, entry] : reader->entries()) {
      (void)reader->ReadBeginning(name, static_cast<uint64_t>(random.Below(1000)));
      (void)reader->Read(name, 1 << 24);
    }
  }
  const std::string shape = std::string(type) + "[2,3]";
  WriteFile(folder_ + "/module.hlo", "HloModule m\nENTRY e { p = " + shape + " parameter(0) ROOT r = " + shape + " copy(p) }\n");
  WriteFile(folder_ + "/in.npz", zip);
  std::filesystem::create_directories(folder_ + "/in");
  WriteFile(folder_ + "/in/0.npy", npy);
  for (const char* inputs : {"/in.npz", "/in"}) {
    if (!Call({"run", "--max_memory=256MB", "--inputs=" + folder_ + inputs, folder_ + "/module.hlo"})) return false;
  }
  const std::string packed = folder_ + "/module.hlo.gz";
  WriteFile(packed, MutatedBytes(Deflated(ReadFile(folder_ + "/module.hlo"), 31), random));
  return Call({"check", packed});
}

std::vector<std::string> Cases::RunFlags(const std::string& path, Random& random) const {
  Arguments flags{"run", path};
  Append(flags, Limits(random.OneIn(2)));
  if (DeviceCount(path) > 8 || random.OneIn(3)) {
    const int64_t replicas = 1 + random.Below(4);
    flags.push_back("--num_replicas=" + std::to_string(replicas));
    flags.push_back("--num_partitions=" + std::to_string(1 + random.Below(replicas > 2 ? 2 : 4)));
  }
  if (random.OneIn(3)) flags.push_back("--hlo_argument_mode=use_zeros_as_input");
  if (random.OneIn(4)) flags.push_back("--stub-custom-calls");
  if (random.OneIn(6)) flags.push_back("--check_nans");
  if (random.OneIn(4)) flags.push_back(random.OneIn(2) ? "--json" : "--print_literals");
  return flags;
}

bool Cases::RunFile(const std::string& path, const std::string& origin, Random& random) {
  return ReadIt(path, random) && RunIt(path, random) && CompareIt(path, origin, random);
}

bool Cases::ReadIt(const std::string& path, Random& random) {
  static constexpr const char* kMachines[] = {"h200", "h100x8", "h100x8x16", "tpu-v5p-4x4x8", "b200x8"};
  const Arguments memory = random.OneIn(2) ? Arguments{"mem", path} : Arguments{"mem", "--run", path};
  const Arguments calls[] = {
      {"check", path},
      {"show", path, random.OneIn(2) ? "--op=all" : "--op=communication"},
      {"comm", path},
      {"cost", path},
      memory,
  };
  for (Arguments call : calls) {
    if (random.OneIn(3)) call.push_back("--json");
    if (random.OneIn(12)) call.push_back("--strict");
    if (call[0] == "check" && call.back() == "--strict") call.pop_back();  // check is always strict
    if (!Call(std::move(call))) return false;
  }
  if (random.OneIn(2) && !Call({"time", path, std::string("--on=") + random.Of(kMachines)})) return false;
  if (random.OneIn(8) && !Call({"print", "--format=json", path})) return false;
  if (random.OneIn(6) && !Call({"report", path, "--on=h100x8", "-o", folder_ + "/page.html"})) return false;
  return true;
}

bool Cases::RunIt(const std::string& path, Random& random) {
  const Arguments flags = RunFlags(path, random);
  if (!Call(flags)) return false;
  if (!random.OneIn(3)) return true;
  Arguments interpreted = flags;
  interpreted.push_back("--engine=interp");
  return Call(std::move(interpreted));
}

bool Cases::CompareIt(const std::string& path, const std::string& origin, Random& random) {
  const std::string printed = folder_ + "/printed.hlo", proto = folder_ + "/printed.pb", optimized = folder_ + "/optimized.hlo";
  auto compare = [&](const std::string& a, const std::string& b) {
    Arguments call{"compare", a, b};
    Append(call, Limits(random.OneIn(2)));
    if (random.OneIn(3)) call.push_back("--json");
    if (random.OneIn(2) || DeviceCount(a) > 8 || DeviceCount(b) > 8) {
      call.push_back("--num_replicas=1");
      call.push_back(random.OneIn(2) ? "--num_partitions=1" : "--num_partitions=4");
    }
    return Call(std::move(call));
  };
  if (!Call({"print", path, "-o", printed})) return false;
  if (random.OneIn(3) && !Call({"print", printed, "-o", printed})) return false;
  if (random.OneIn(3) && (!Call({"print", "--format=pb", path, "-o", proto}) || !Call({"check", proto}))) return false;
  if (random.OneIn(2) && !Call({"opt", path, "-o", optimized})) return false;
  if (random.OneIn(4) && !compare(path, random.OneIn(2) ? printed : optimized)) return false;
  if (random.OneIn(8) && !Call(random.OneIn(2) ? Arguments{"stats", folder_, "--diff"} : Arguments{"stats", folder_, "--json"}))
    return false;
  if (origin.empty()) return true;
  if (random.OneIn(6) && !compare(origin, path)) return false;
  if (random.OneIn(2) && !Call(random.OneIn(3) ? Arguments{"diff", origin, path, "--json"} : Arguments{"diff", origin, path}))
    return false;
  return !random.OneIn(20) || Call({"report", origin, path, "-o", folder_ + "/page.html"});
}

bool Cases::Call(std::vector<std::string> arguments) {
  std::string call;
  for (const std::string& argument : arguments) call += (call.empty() ? "" : " ") + argument;
  std::snprintf(note_.call, sizeof note_.call, "%s", call.c_str());
  note_.since = std::chrono::steady_clock::now().time_since_epoch().count();
  arguments.insert(arguments.begin(), "shoal");
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  // Messages go to the worker's standard error, which is a file.
  std::fflush(stderr);
  if (ftruncate(STDERR_FILENO, 0) == 0) lseek(STDERR_FILENO, 0, SEEK_SET);
  const bool json = std::find(arguments.begin(), arguments.end(), "--json") != arguments.end();
  const std::string document = folder_ + "/document";
  const int before = dup(STDOUT_FILENO);
  const int out = json ? open(document.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600) : -1;
  if (json) dup2(out, STDOUT_FILENO);
  const int status = cli::Shoal(static_cast<int>(argv.size()) - 1, argv.data());
  std::fflush(stdout);
  dup2(before, STDOUT_FILENO);
  close(before);
  if (json) close(out);
  std::fflush(stderr);
  note_.since = 0;
  const char* complaint = nullptr;
  if (status < 0 || status > 2) complaint = "an exit status other than 0, 1 and 2";
  const std::string messages = ReadFile(folder_ + "/stderr");
  if (complaint == nullptr) complaint = Complaint(messages);
  if (complaint == nullptr && json && !nlohmann::json::accept(ReadFile(document))) complaint = "a document that is not JSON";
  if (complaint != nullptr) std::snprintf(note_.complaint, sizeof note_.complaint, "%s", complaint);
  return complaint == nullptr;
}

}  // namespace shoal::internal::fuzz
