// The format of messages between the ProcessLinks of two processes.
#pragma once

#include "execute/collectives/process_link.h"

namespace shoal::internal {

void WriteTypes(Writer& writer, const ArrayTypes& types);
ArrayTypes ReadTypes(Reader& reader);
void SkipTypes(Reader& reader);

// The beginning of a message.
struct ProcessLink::Header {
  static constexpr size_t kNumberOffset = 3 * sizeof(int64_t);
  int64_t run = 0, kind = 0;
  Key key;
  int tag = 0;  // 0: the blocks are part of the message
};

// A message with a part of a collective, or with a delivery. The blocks are in the message or in a transfer with a tag.
struct ProcessLink::Message {
  explicit Message(std::string_view bytes) : whole(bytes) {
    Reader reader(bytes);
    reader.Int();
    kind = reader.Int();
    key.rendezvous = static_cast<uint64_t>(reader.Int());
    key.number = reader.Int();
    tag = static_cast<int>(reader.Int());
    sizes = reader.String();
    body = reader.String();
    inlined = reader.rest();
  }
  std::string_view whole;
  int64_t kind = 0;
  Key key;
  int tag = 0;  // 0: the blocks are in `inlined`
  std::string_view sizes;  // sizes of the blocks, as integers
  std::string_view body, inlined;
};

}  // namespace shoal::internal
