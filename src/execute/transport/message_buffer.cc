#include "execute/transport/message_buffer.h"

namespace shoal::internal {

void Write(Writer& writer, const Status& status) {
  writer.Int(status.ok() ? 0 : 1);
  if (status.ok()) return;
  const Diag& diag = status.diag();
  writer.String(diag.rule).String(diag.message).Int(diag.at.offset).Int(diag.at.length);
}

Status ReadStatus(Reader& reader) {
  if (reader.Int() == 0) return {};
  const std::string rule(reader.String());
  std::string message(reader.String());
  const auto offset = static_cast<uint32_t>(reader.Int());
  const auto length = static_cast<uint32_t>(reader.Int());
  return Fail(TextSpan{offset, length}, rule, std::move(message));
}

}  // namespace shoal::internal
