#include "execute/transport/process_agreement.h"

#include "core/base/strings.h"
#include "core/base/environment_error.h"
#include "execute/transport/message_buffer.h"

namespace shoal::internal {
namespace {

ProcessInputs ReadGiven(std::string_view bytes) {
  Reader reader(bytes);
  ProcessInputs given;
  given.version = reader.String();
  given.arguments = reader.String();
  given.file = reader.String();
  given.digest = static_cast<uint64_t>(reader.Int());
  given.fault = ReadStatus(reader);
  return given;
}

// Why two processes cannot run together.
Status Differ(const ProcessInputs& first, const ProcessInputs& other, const std::string& who) {
  if (other.version != first.version)
    return EnvironmentError(StrCat(who, " is ", other.version, ", rank 0 is ", first.version));
  if (!other.fault.ok() && first.fault.ok())
    return EnvironmentError(StrCat(who, " cannot use ", other.file, ": ", other.fault.diag().message));
  if (other.digest != first.digest)
    return EnvironmentError(StrCat(who, " has another module: its ", other.file, " is not what ", first.file,
                              " is for rank 0"));
  if (other.arguments != first.arguments)
    return EnvironmentError(StrCat(who, " was called with other options: ", other.arguments, "; rank 0 with ",
                              first.arguments));
  return {};
}

}  // namespace

uint64_t DigestOf(std::string_view bytes) {
  uint64_t digest = 0xcbf29ce484222325u;
  for (const char c : bytes) {
    digest = (digest ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
    digest ^= digest >> 31;
  }
  return digest;
}

Status CheckProcessesAgree(Job& job, const ProcessInputs& own) {
  Writer writer;
  writer.String(own.version).String(own.arguments).String(own.file).Int(static_cast<int64_t>(own.digest));
  Write(writer, own.fault);
  const std::vector<std::string> all = job.Gather(writer.Take());
  Status agreed;
  for (size_t rank = 1; rank < all.size() && agreed.ok(); ++rank)
    agreed = Differ(ReadGiven(all[0]), ReadGiven(all[rank]), job.Describe(static_cast<int>(rank)));
  return job.AgreeOnStatus(agreed);
}

}  // namespace shoal::internal
