#include "cli/input.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "base/strings.h"
#include "nlohmann/json.hpp"
#include "proto/detect.h"
#include "proto/read.h"

namespace shoal {

void CommonFlags::AddTo(CLI::App& verb) {
  verb.add_flag("--strict", strict, "Accept exactly what XLA's parser accepts; each liberty of the text is an error");
  verb.add_flag("--verbose", verbose, "With each message, the place in shoal's own code that made it");
}

namespace {

// A byte that no text has, early in the file.
bool LooksBinary(std::string_view bytes) { return bytes.substr(0, 4096).find('\0') != std::string_view::npos; }

}  // namespace

Input ReadInput(const std::string& path, const ParseOptions& options) {
  Input input;
  input.path = path;
  Result<std::unique_ptr<Source>> source = Source::Read(path);
  if (!source.ok()) {
    input.diags.Add(std::move(source.diag()));
    return input;
  }
  input.source = std::move(*source);
  std::string_view bytes = input.source->text();
  if (bytes.empty()) {
    input.diags.Add(Fail("the file is empty"));
  } else if (LooksLikeProto(bytes)) {
    ProtoInput read = ReadProtoWithValues(input.source, options.strict, input.diags);
    input.module = std::move(read.module);
    input.arguments = std::move(read.arguments);
    input.result = read.result;
  } else if (LooksBinary(bytes)) {
    input.diags.Add(Fail("the file is neither HLO text nor an HLO protobuf"));
  } else {
    input.module = ParseModule(input.source, options, input.diags);
  }
  return input;
}

void Report(const Input& input, const CommonFlags& flags) {
  DiagStyle style;
  style.color = isatty(STDERR_FILENO) != 0 && std::getenv("NO_COLOR") == nullptr;
  style.verbose = flags.verbose;
  std::unique_ptr<Source> named;
  const Source* text = input.text();
  if (text == nullptr) {
    named = Source::FromString(input.path, "");
    text = named.get();
  }
  std::fputs(Render(input.diags, *text, style).c_str(), stderr);
}

std::string DiagsAsJson(const Input& input) {
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const Diag& diag : input.diags.found()) {
    nlohmann::ordered_json one;
    one["severity"] = diag.severity == Severity::kError ? "error" : "warning";
    one["message"] = diag.message;
    if (!diag.rule.empty()) one["rule"] = diag.rule;
    if (diag.at.known() && input.text() != nullptr) {
      LineColumn place = input.text()->Locate(diag.at.offset);
      one["line"] = place.line;
      one["column"] = place.column;
      one["length"] = diag.at.length;
    }
    all.push_back(std::move(one));
  }
  // Names come from files: bytes that are no UTF-8 are replaced, not refused.
  return all.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

Status WriteOutput(const std::string& path, std::string_view bytes) {
  const bool to_stdout = path.empty() || path == "-";
  // A device or a pipe is written as it is: it must not be replaced by a file.
  std::error_code none;
  const auto kind = std::filesystem::status(path, none).type();
  const bool whole = !to_stdout && (kind == std::filesystem::file_type::not_found || kind == std::filesystem::file_type::regular);
  const std::string temporary = whole ? path + ".partial" : path;
  std::FILE* file = to_stdout ? stdout : std::fopen(temporary.c_str(), "wb");
  if (file == nullptr) return Fail(StrCat("cannot write ", path, ": ", std::strerror(errno)));
  bool good = std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size() && std::fflush(file) == 0;
  int error = errno;
  if (!to_stdout) {
    good = std::fclose(file) == 0 && good;
    if (good && whole) good = std::rename(temporary.c_str(), path.c_str()) == 0;
    if (!good && whole) std::remove(temporary.c_str());
  }
  if (good || (to_stdout && error == EPIPE)) return {};  // a reader that has seen enough is no fault
  return Fail(StrCat("cannot write ", to_stdout ? "standard output" : path, ": ", std::strerror(error)));
}

}  // namespace shoal
