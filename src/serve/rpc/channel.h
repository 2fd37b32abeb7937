// Messages over a pair of file descriptors, with headers as in LSP or one per line as in MCP.
#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

namespace shoal::internal {

enum class Framing : uint8_t {
  kHeaders,  // "Content-Length: N\r\n\r\n" before each message
  kLines,    // one message per line
};

// Upper bound of the bytes of one message.
inline constexpr size_t kMaxMessageBytes = size_t{1} << 30;

class MessageReader {
 public:
  MessageReader(int file, Framing framing) : file_(file), framing_(framing) {}

  struct Message {
    std::string text;
    std::string error;  // not empty: the stream was not a message here; reading continues after the damaged part
  };
  // Blocks until a message is complete; no value at the end of the input.
  std::optional<Message> Next();

 private:
  bool Fill();
  std::optional<Message> NextWithHeaders();
  std::optional<Message> NextLine();
  bool TakeLine(size_t limit, std::string* line, bool* too_long);

  int file_;
  Framing framing_;
  std::string buffer_;
  size_t at_ = 0;
};

// Writes on a thread of its own, so that a peer that does not read blocks no request. The queue is bounded: messages
// that do not fit are dropped.
class MessageWriter {
 public:
  MessageWriter(int file, Framing framing);
  // Waits a short time for queued messages, then gives up on a peer that does not read.
  ~MessageWriter();
  MessageWriter(const MessageWriter&) = delete;
  MessageWriter& operator=(const MessageWriter&) = delete;

  void Send(std::string text);

 private:
  void Run();
  bool WriteAll(std::string_view bytes);

  int file_;
  Framing framing_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::string> queue_;
  size_t queued_bytes_ = 0;
  bool closing_ = false, broken_ = false, idle_ = true;
  std::jthread thread_;
};

}  // namespace shoal::internal
