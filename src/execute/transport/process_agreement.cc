#include "execute/transport/process_agreement.h"

#include "core/base/strings.h"
#include "core/base/environment_error.h"
#include "execute/transport/message_buffer.h"

namespace shoal::internal {
namespace {

ProcessInputs ReadProcessInputs(std::string_view bytes) {
  Reader reader(bytes);
  ProcessInputs inputs;
  inputs.version = reader.String();
  inputs.arguments = reader.String();
  inputs.file = reader.String();
  inputs.digest = static_cast<uint64_t>(reader.Int());
  inputs.status = ReadStatus(reader);
  return inputs;
}

// Fails if `other` cannot run together with the first process (rank 0).
Status Compare(const ProcessInputs& first, const ProcessInputs& other, const std::string& name) {
  if (other.version != first.version)
    return EnvironmentError(StrCat(name, " runs ", other.version, ", rank 0 runs ", first.version));
  if (!other.status.ok() && first.status.ok())
    return EnvironmentError(StrCat(name, " cannot use ", other.file, ": ", other.status.diag().message));
  if (other.digest != first.digest)
    return EnvironmentError(StrCat(name, " has a different module: the contents of its ", other.file,
                                   " differ from those of rank 0's ", first.file));
  if (other.arguments != first.arguments)
    return EnvironmentError(StrCat(name, " was called with different options: ", other.arguments,
                                   "; rank 0 was called with: ", first.arguments));
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
  Write(writer, own.status);
  const std::vector<std::string> all = job.Gather(writer.Take());
  Status agreed;
  for (size_t rank = 1; rank < all.size() && agreed.ok(); ++rank)
    agreed = Compare(ReadProcessInputs(all[0]), ReadProcessInputs(all[rank]), job.Describe(static_cast<int>(rank)));
  return job.AgreeOnStatus(agreed);
}

}  // namespace shoal::internal
