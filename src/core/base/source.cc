#include "core/base/source.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "core/base/environment_error.h"

namespace shoal::internal {
namespace {

// Offsets have 32 bits, which limits the size of a text, including a decompressed one.
constexpr size_t kMaxTextBytes = TextSpan::kNowhere - 1;

bool IsGzip(std::string_view bytes) { return bytes.size() > 2 && bytes[0] == '\x1f' && bytes[1] == '\x8b'; }

Result<std::string> Decompress(std::string_view packed) {
  z_stream stream{};
  if (inflateInit2(&stream, 16 + MAX_WBITS) != Z_OK) return Fail("cannot start decompression");
  std::string text;
  std::vector<char> buffer(1 << 18);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
  stream.avail_in = static_cast<uInt>(std::min(packed.size(), kMaxTextBytes));
  int code = Z_OK;
  while (code == Z_OK && text.size() <= kMaxTextBytes) {
    stream.next_out = reinterpret_cast<Bytef*>(buffer.data());
    stream.avail_out = static_cast<uInt>(buffer.size());
    code = inflate(&stream, Z_NO_FLUSH);
    text.append(buffer.data(), buffer.size() - stream.avail_out);
    // Several members may follow each other in one file.
    if (code == Z_STREAM_END && stream.avail_in > 0) code = inflateReset(&stream);
  }
  inflateEnd(&stream);
  if (text.size() > kMaxTextBytes) return Fail("decompresses to more than 4 GiB");
  if (code != Z_STREAM_END) return Fail("the gzip data is damaged or truncated");
  return text;
}

Result<std::string> ReadStream(int file) {
  std::string text;
  std::vector<char> buffer(1 << 18);
  while (true) {
    ssize_t got = read(file, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return EnvironmentError(std::strerror(errno));
    if (got == 0) return text;
    text.append(buffer.data(), static_cast<size_t>(got));
    if (text.size() > kMaxTextBytes) return Fail("is larger than 4 GiB");
  }
}

}  // namespace

Result<std::unique_ptr<Source>> Source::Read(const std::string& path) {
  std::unique_ptr<Source> source(new Source);
  source->name_ = path == "-" ? "<stdin>" : path;
  int file = path == "-" ? STDIN_FILENO : open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return EnvironmentError(std::strerror(errno));

  struct stat info {};
  fstat(file, &info);
  Status failure;
  if (S_ISDIR(info.st_mode)) {
    failure = EnvironmentError("is a directory, not an HLO module; shoal stats summarizes an XLA dump directory");
  } else if (S_ISREG(info.st_mode) && info.st_size > 0 && static_cast<size_t>(info.st_size) <= kMaxTextBytes) {
    source->mapped_size_ = static_cast<size_t>(info.st_size);
    void* mapped = mmap(nullptr, source->mapped_size_, PROT_READ, MAP_PRIVATE | MAP_POPULATE, file, 0);
    if (mapped == MAP_FAILED) {
      failure = EnvironmentError(std::strerror(errno));
    } else {
      source->mapped_ = mapped;
      source->text_ = {static_cast<const char*>(mapped), source->mapped_size_};
    }
  } else {
    Result<std::string> text = ReadStream(file);
    if (text.ok()) {
      source->owned_ = std::move(*text);
      source->text_ = source->owned_;
    } else {
      failure = std::move(text.diag());
    }
  }
  if (path != "-") close(file);
  if (!failure.ok()) return std::move(failure.diag());

  SHOAL_TRY(source->UnpackGzip());
  return source;
}

Result<std::unique_ptr<Source>> Source::FromBytes(std::string name, std::string bytes) {
  if (bytes.size() > kMaxTextBytes) return Fail("is larger than 4 GiB");
  std::unique_ptr<Source> source = FromString(std::move(name), std::move(bytes));
  SHOAL_TRY(source->UnpackGzip());
  return source;
}

Status Source::UnpackGzip() {
  if (!IsGzip(text_)) return {};
  SHOAL_ASSIGN(unpacked, Decompress(text_));
  owned_ = std::move(unpacked);
  text_ = owned_;
  return {};
}

std::unique_ptr<Source> Source::FromString(std::string name, std::string text) {
  std::unique_ptr<Source> source(new Source);
  source->name_ = std::move(name);
  source->owned_ = std::move(text);
  source->text_ = source->owned_;
  return source;
}

std::unique_ptr<Source> Source::Share(std::string name, std::shared_ptr<const std::string> text) {
  std::unique_ptr<Source> source(new Source);
  source->name_ = std::move(name);
  source->shared_ = std::move(text);
  source->text_ = *source->shared_;
  return source;
}

Source::~Source() {
  if (mapped_ != nullptr) munmap(mapped_, mapped_size_);
}

LineColumn Source::Locate(uint32_t offset) const {
  std::call_once(has_line_starts_, [this] {
    line_starts_.push_back(0);
    for (size_t i = text_.find('\n'); i != std::string_view::npos; i = text_.find('\n', i + 1))
      line_starts_.push_back(static_cast<uint32_t>(i + 1));
  });
  auto next = std::upper_bound(line_starts_.begin(), line_starts_.end(), offset);
  auto line = static_cast<uint32_t>(next - line_starts_.begin());
  return {line, offset - line_starts_[line - 1] + 1};
}

std::string_view Source::LineAt(uint32_t offset) const {
  size_t start = offset - (Locate(offset).column - 1);
  size_t end = text_.find('\n', start);
  std::string_view line = text_.substr(start, end == std::string_view::npos ? end : end - start);
  if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  return line;
}

}  // namespace shoal::internal
