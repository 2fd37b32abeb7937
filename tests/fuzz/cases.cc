#include "cases.h"

#include <fcntl.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>

#include "base/npy.h"
#include "base/zip.h"
#include "cli/shoal.h"
#include "devices/infer_devices.h"
#include "mutate.h"
#include "proto/detect.h"
#include "proto/read.h"
#include "proto/write.h"
#include "text/parser.h"

namespace shoal::fuzz {
namespace {

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

// An .npz file with one stored entry.
std::string ZipOf(const std::string& name, const std::string& bytes) {
  auto number = [](uint64_t value, int width) {
    std::string out;
    for (int i = 0; i < width; ++i) out += static_cast<char>(value >> (8 * i));
    return out;
  };
  uint32_t crc = ~0u;
  for (char c : bytes) {
    crc ^= static_cast<uint8_t>(c);
    for (int k = 0; k < 8; ++k) crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
  }
  const std::string about = number(0, 2) + number(0, 2) + number(0, 4) + number(~crc, 4) + number(bytes.size(), 4) +
                            number(bytes.size(), 4) + number(name.size(), 2) + number(0, 2);
  const std::string local = "PK\3\4" + number(20, 2) + about + name + bytes;
  const std::string central = "PK\1\2" + number(20, 2) + number(20, 2) + about + number(0, 2) + number(0, 2) +
                              number(0, 2) + number(0, 4) + number(0, 4) + name;
  return local + central + "PK\5\6" + number(0, 4) + number(1, 2) + number(1, 2) + number(central.size(), 4) +
         number(local.size(), 4) + number(0, 2);
}

// What no message of ours says: an exception of the standard library, or a defect that `run` noticed.
const char* Complaint(const std::string& messages) {
  static constexpr const char* kTelling[] = {"itself is at fault", "std::", "basic_string", "vector::", "bad_variant",
                                             "runtime error:", "AddressSanitizer", "wrong index for variant",
                                             "stoi", "map::at", "terminate called"};
  for (const char* telling : kTelling)
    if (messages.find(telling) != std::string::npos) return telling;
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

// Files of arrays for a module that takes one.
bool Cases::RunArrays(Random& random) {
  std::string npy = NpyHeader("<f4", {2, 3}) + std::string(24, '\1');
  if (!random.OneIn(4)) npy = MutatedBytes(npy, random);
  std::string zip = ZipOf("0.npy", npy);
  if (!random.OneIn(3)) zip = MutatedBytes(zip, random);
  (void)ParseNpy(npy);
  if (Result<ZipReader> reader = ZipReader::Open(zip); reader.ok())
    for (const auto& [name, entry] : reader->entries()) (void)reader->Read(name);
  WriteFile(folder_ + "/module.hlo", "HloModule m\nENTRY e { p = f32[2,3] parameter(0) ROOT r = f32[2,3] add(p, p) }\n");
  WriteFile(folder_ + "/in.npz", zip);
  return Call({"run", "--max_memory=256MB", "--inputs=" + folder_ + "/in.npz", folder_ + "/module.hlo"});
}

std::vector<std::string> Cases::RunFlags(const std::string& path, Random& random) const {
  std::vector<std::string> flags{"run", path, "--max_steps=20000", "--max_seconds=10", "--max_memory=64MB"};
  std::unique_ptr<Module> module = Read(ReadFile(path));
  const bool too_many = module != nullptr && InferDevices(*module).grid.count() > 8;
  if (too_many || random.OneIn(3)) {
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
  auto maybe_json = [&](std::vector<std::string> arguments) {
    if (random.OneIn(3)) arguments.push_back("--json");
    return arguments;
  };
  const std::string printed = folder_ + "/printed.hlo", proto = folder_ + "/printed.pb";
  if (!Call(maybe_json({"check", path}))) return false;
  if (!Call(RunFlags(path, random))) return false;
  if (!Call({"print", path, "-o", printed})) return false;
  if (random.OneIn(3) && !Call({"print", printed, "-o", printed})) return false;
  if (random.OneIn(3) && (!Call({"print", "--format=pb", path, "-o", proto}) || !Call({"check", proto}))) return false;
  if (random.OneIn(8) && !Call({"print", "--format=json", path})) return false;
  if (!Call(maybe_json({"show", path, random.OneIn(2) ? "--op=all" : "--op=communication"}))) return false;
  if (!Call(maybe_json({"comm", path}))) return false;
  if (!Call(maybe_json({"cost", path}))) return false;
  if (!Call(maybe_json(random.OneIn(2) ? std::vector<std::string>{"mem", path} : std::vector<std::string>{"mem", "--run", path})))
    return false;
  if (!origin.empty() && random.OneIn(2) && !Call(maybe_json({"diff", origin, path}))) return false;
  return true;
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
  const int status = Shoal(static_cast<int>(argv.size()) - 1, argv.data());
  std::fflush(stdout);
  std::fflush(stderr);
  note_.since = 0;
  const char* complaint = nullptr;
  if (status < 0 || status > 2) complaint = "an exit status that is none of 0, 1 and 2";
  const std::string messages = ReadFile(folder_ + "/stderr");
  if (complaint == nullptr) complaint = Complaint(messages);
  if (complaint != nullptr) std::snprintf(note_.complaint, sizeof note_.complaint, "%s", complaint);
  return complaint == nullptr;
}

}  // namespace shoal::fuzz
