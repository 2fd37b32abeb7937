// What goes from the Link of one process to that of another.
#pragma once

#include "execute/collectives/process_link.h"

namespace shoal::internal {

void WriteTypes(Writer& writer, const ArrayTypes& types);
ArrayTypes ReadTypes(Reader& reader);
void SkipTypes(Reader& reader);

// How such a message begins.
struct ProcessLink::Header {
  static constexpr size_t kNumberAt = 3 * sizeof(int64_t);
  int64_t run = 0, kind = 0;
  Key key;
  int tag = 0;  // 0: the bytes are here
};

// A part of a collective or a delivery: which one, how large its blocks are and whether they follow by themselves.
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
  int tag = 0;  // 0: the bytes are here
  std::string_view sizes;  // of the blocks, as numbers
  std::string_view body, inlined;
};

}  // namespace shoal::internal
