#include "core/base/source.h"

#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "core/base/environment_error.h"
#include "core/base/files.h"
#include "core/base/strings.h"

namespace shoal::internal {
namespace {

// Offsets have 32 bits, which limits the size of a text, including a decompressed one.
constexpr size_t kMaxTextBytes = TextSpan::kNowhere - 1;

// Gzip packs at most about a thousandfold. Text that packs better than this is not a module but an attack on the memory.
constexpr size_t kMaxUnpackedRatio = 100, kMaxUnpackedBytes = size_t{256} << 20;

// How long to wait for a process that writes to a named pipe.
constexpr int kMaxWaitForWriter = 5;  // seconds
// A device other than a terminal may have no end.
constexpr size_t kMaxDeviceBytes = size_t{1} << 20;

constexpr char kIsDirectory[] = "is a directory, not an HLO module; shoal stats summarizes an XLA dump directory";

bool IsGzip(std::string_view bytes) { return bytes.size() > 2 && bytes[0] == '\x1f' && bytes[1] == '\x8b'; }

Result<std::string> Decompress(std::string_view packed) {
  z_stream stream{};
  if (inflateInit2(&stream, 16 + MAX_WBITS) != Z_OK) return Fail("cannot start decompression");
  std::string text;
  std::vector<char> buffer(1 << 18);
  const size_t max_bytes = std::min(kMaxTextBytes, std::max(kMaxUnpackedBytes, packed.size() * kMaxUnpackedRatio));
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
  stream.avail_in = static_cast<uInt>(std::min(packed.size(), kMaxTextBytes));
  int code = Z_OK;
  while (code == Z_OK && text.size() <= max_bytes) {
    stream.next_out = reinterpret_cast<Bytef*>(buffer.data());
    stream.avail_out = static_cast<uInt>(buffer.size());
    code = inflate(&stream, Z_NO_FLUSH);
    text.append(buffer.data(), buffer.size() - stream.avail_out);
    // Several members may follow each other in one file.
    if (code == Z_STREAM_END && stream.avail_in > 0) code = inflateReset(&stream);
  }
  inflateEnd(&stream);
  if (text.size() > max_bytes)
    return Fail(StrCat("its ", packed.size(), " bytes decompress to more than ", max_bytes, " bytes"));
  if (code != Z_STREAM_END) return Fail("the gzip data is damaged or truncated");
  return text;
}

// Reads a plain file, of which standard input may have consumed a part, from the current position.
Status ReadPlain(int file, char* out, size_t& size) {
  size_t done = 0;
  while (done < size) {
    const ssize_t got = read(file, out + done, size - done);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return EnvironmentError(std::strerror(errno));
    if (got == 0) break;
    done += static_cast<size_t>(got);
  }
  size = done;
  return {};
}

// Reads a pipe, a terminal or a device to its end.
class StreamReader {
 public:
  StreamReader(int file, const struct stat& info, bool is_named)
      : file_(file), is_device_(S_ISCHR(info.st_mode) && isatty(file) == 0),
        waits_for_writer_(is_named && S_ISFIFO(info.st_mode)), max_bytes_(is_device_ ? kMaxDeviceBytes : kMaxTextBytes) {}

  Result<std::string> Read() {
    std::vector<char> buffer(1 << 18);
    while (true) {
      const ssize_t got = read(file_, buffer.data(), buffer.size());
      if (got > 0) {
        text_.append(buffer.data(), static_cast<size_t>(got));
        if (text_.size() <= max_bytes_) continue;
        if (is_device_) return EnvironmentError("is a device, not an HLO module");
        return Fail("is larger than 4 GiB");
      } else if (got == 0 && (!waits_for_writer_ || !text_.empty())) {
        return std::move(text_);
      } else if (got == 0) {
        SHOAL_TRY(WaitForWriter());
      } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
        waits_for_writer_ = false;  // there is one
        WaitForData(-1);
      } else if (errno != EINTR) {
        return EnvironmentError(std::strerror(errno));
      }
    }
  }

 private:
  // Returns false after `milliseconds` without data and without an end.
  bool WaitForData(int milliseconds) const {
    pollfd wait{file_, POLLIN, 0};
    int ready = 0;
    do ready = poll(&wait, 1, milliseconds);
    while (ready < 0 && errno == EINTR);
    return ready != 0;
  }

  // A read from a pipe that no process has opened for writing yet ends immediately.
  Status WaitForWriter() {
    if (WaitForData(0) || waited_ == kMaxWaitForWriter * 10) {
      waits_for_writer_ = false;
      if (waited_ < kMaxWaitForWriter * 10) return {};
      return EnvironmentError("is a pipe that no process writes to");
    }
    WaitForData(100);
    ++waited_;
    return {};
  }

  const int file_;
  const bool is_device_;
  bool waits_for_writer_;
  const size_t max_bytes_;
  int waited_ = 0;  // in tenths of a second
  std::string text_;
};

}  // namespace

Result<std::unique_ptr<Source>> Source::Read(const std::string& path) {
  std::unique_ptr<Source> source(new Source);
  const bool is_standard_input = path == "-";
  source->name_ = is_standard_input ? "<stdin>" : path;
  OpenedFile opened;
  int file = STDIN_FILENO;
  if (is_standard_input) {
    if (fstat(file, &opened.info) != 0) return EnvironmentError(std::strerror(errno));
  } else {
    struct stat info {};
    if (stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode)) return EnvironmentError(kIsDirectory);
    SHOAL_ASSIGN(named, OpenForReading(path, {.allow_streams = true}));
    opened = std::move(named);
    file = opened.descriptor.number();
  }
  if (S_ISDIR(opened.info.st_mode)) return EnvironmentError(kIsDirectory);
  if (S_ISREG(opened.info.st_mode) && opened.info.st_size > 0) {
    auto size = static_cast<size_t>(opened.info.st_size);
    if (size > kMaxTextBytes) return Fail("is larger than 4 GiB");
    source->read_ = std::make_unique_for_overwrite<char[]>(size);
    const size_t expected = size;
    SHOAL_TRY(ReadPlain(file, source->read_.get(), size));
    if (size < expected && !is_standard_input) return EnvironmentError("was truncated while it was being read");
    source->text_ = {source->read_.get(), size};
  } else {
    SHOAL_ASSIGN(text, StreamReader(file, opened.info, !is_standard_input).Read());
    source->owned_ = std::move(text);
    source->text_ = source->owned_;
  }
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
  read_ = nullptr;
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
