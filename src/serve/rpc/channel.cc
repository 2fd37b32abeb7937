#include "serve/rpc/channel.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <new>
#include <string_view>
#include <utility>

#include "core/base/strings.h"
#include "core/base/threads.h"

namespace shoal::internal {
namespace {

constexpr size_t kMaxHeaderBytes = 4096;
constexpr size_t kChunkBytes = size_t{1} << 16;
constexpr size_t kMaxQueuedBytes = size_t{256} << 20;
constexpr auto kGrace = std::chrono::seconds(1);

bool EqualsIgnoringCase(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return (x | 0x20) == (y | 0x20); });
}

// The value of a "Content-Length: N" header line.
std::optional<size_t> ContentLength(std::string_view line) {
  const size_t colon = line.find(':');
  if (colon == std::string_view::npos || !EqualsIgnoringCase(line.substr(0, colon), "content-length")) return {};
  std::string_view digits = line.substr(colon + 1);
  while (!digits.empty() && digits.front() == ' ') digits.remove_prefix(1);
  while (!digits.empty() && digits.back() == ' ') digits.remove_suffix(1);
  size_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc() || end != digits.data() + digits.size() || value > kMaxMessageBytes) return {};
  return value;
}

}  // namespace

std::optional<MessageReader::Message> MessageReader::Next() {
  return framing_ == Framing::kHeaders ? NextWithHeaders() : NextLine();
}

// Reads more bytes; false at the end of the input.
bool MessageReader::Fill() {
  if (at_ > 0) {
    buffer_.erase(0, at_);
    at_ = 0;
  }
  char chunk[kChunkBytes];
  while (true) {
    const ssize_t got = read(file_, chunk, sizeof(chunk));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    buffer_.append(chunk, static_cast<size_t>(got));
    return true;
  }
}

// Takes the next line without its line break. A line beyond `limit` is dropped and sets `too_long`.
bool MessageReader::TakeLine(size_t limit, std::string* line, bool* too_long) {
  *too_long = false;
  size_t searched = at_;
  while (true) {
    const size_t end = buffer_.find('\n', searched);
    if (end != std::string::npos) {
      line->assign(buffer_, at_, end - at_);
      at_ = end + 1;
      if (!line->empty() && line->back() == '\r') line->pop_back();
      return true;
    }
    if (buffer_.size() - at_ > limit) {
      *too_long = true;
      at_ = buffer_.size();
    }
    searched = buffer_.size() - at_;
    if (!Fill()) {
      line->assign(buffer_, at_);
      at_ = buffer_.size();
      return !line->empty();
    }
  }
}

std::optional<MessageReader::Message> MessageReader::NextWithHeaders() {
  std::optional<size_t> length;
  std::string line, error;
  bool too_long = false;
  while (TakeLine(kMaxHeaderBytes, &line, &too_long)) {
    if (line.empty() && !too_long) {
      if (length) break;
      if (!error.empty()) return Message{"", std::move(error)};
      continue;
    }
    if (const std::optional<size_t> found = ContentLength(line); found && !too_long) {
      length = found;
    } else if (too_long || line.find(':') == std::string::npos || EqualsIgnoringCase(line.substr(0, 14), "content-length")) {
      error = "expected a Content-Length header";
    }
  }
  if (!length) return error.empty() ? std::nullopt : std::optional(Message{"", std::move(error)});
  // A wrong length must not reserve much memory before the bytes arrive.
  constexpr size_t kTrusted = size_t{64} << 20;
  buffer_.reserve(at_ + std::min(*length, kTrusted) + kChunkBytes);
  while (buffer_.size() - at_ < *length) {
    if (buffer_.capacity() - buffer_.size() < kChunkBytes) buffer_.reserve(at_ + *length + kChunkBytes);
    if (!Fill()) return std::nullopt;
  }
  Message message;
  const size_t behind = buffer_.size() - at_ - *length;
  if (behind < *length) {  // the shorter part is copied
    std::string rest = buffer_.substr(at_ + *length);
    buffer_.resize(at_ + *length);
    buffer_.erase(0, at_);
    message.text = std::exchange(buffer_, std::move(rest));
    at_ = 0;
  } else {
    message.text = buffer_.substr(at_, *length);
    at_ += *length;
  }
  return message;
}

std::optional<MessageReader::Message> MessageReader::NextLine() {
  std::string line;
  bool too_long = false;
  while (TakeLine(kMaxMessageBytes, &line, &too_long)) {
    if (too_long) return Message{"", "the message is too long"};
    if (!line.empty()) return Message{std::move(line), ""};
  }
  return std::nullopt;
}

MessageWriter::MessageWriter(int file, Framing framing) : file_(file), framing_(framing) {
  std::optional<std::jthread> thread = StartThread([this] { Run(); });
  if (!thread) throw std::bad_alloc();
  thread_ = std::move(*thread);
}

MessageWriter::~MessageWriter() {
  {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, kGrace, [&] { return (queue_.empty() && idle_) || broken_; });
    closing_ = true;
    changed_.notify_all();
  }
  thread_.join();
}

void MessageWriter::Send(std::string text) {
  std::string framed = framing_ == Framing::kHeaders ? StrCat("Content-Length: ", text.size(), "\r\n\r\n", text)
                                                     : std::move(text.append(1, '\n'));
  std::lock_guard lock(mutex_);
  if (broken_ || queued_bytes_ + framed.size() > kMaxQueuedBytes) return;
  queued_bytes_ += framed.size();
  queue_.push_back(std::move(framed));
  changed_.notify_all();
}

void MessageWriter::Run() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return !queue_.empty() || closing_; });
    if (closing_) return;
    std::string next = std::move(queue_.front());
    queue_.pop_front();
    idle_ = false;
    lock.unlock();
    const bool written = WriteAll(next);
    lock.lock();
    idle_ = true;
    queued_bytes_ -= next.size();
    if (!written) {
      broken_ = true;
      queue_.clear();
    }
    changed_.notify_all();
    if (broken_) return;
  }
}

// Writes only when the pipe has room, so that the thread can end although the peer does not read.
bool MessageWriter::WriteAll(std::string_view bytes) {
  while (!bytes.empty()) {
    pollfd ready{file_, POLLOUT, 0};
    const int found = poll(&ready, 1, 100);
    if (found == 0) {
      std::lock_guard lock(mutex_);
      if (closing_) return false;
      continue;
    }
    if (found < 0 && errno == EINTR) continue;
    // POSIX: a pipe that polls as writable accepts PIPE_BUF bytes without blocking.
    const ssize_t written = write(file_, bytes.data(), std::min<size_t>(bytes.size(), 4096));
    if (written < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (written <= 0) return false;
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return true;
}

}  // namespace shoal::internal
