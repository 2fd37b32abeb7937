#include "cli/commands/outfeeds.h"

#include "core/base/strings.h"
#include "execute/data/leaves.h"
#include "execute/transport/message_buffer.h"
#include "present/reports/run_report.h"

namespace shoal::internal {

void Outfeeds::Add(int64_t device, const Value& value) {
  std::vector<Value> leaves;
  AppendLeaves(value, leaves);
  std::lock_guard lock(mutex_);
  for (const Value& leaf : leaves)
    if (leaf.IsArray()) StrAppend(&texts_[device], "outfeed, device ", device, ": ", LiteralText(leaf.array()), "\n");
}

void Outfeeds::Gather(Job& job) {
  Writer writer;
  for (const auto& [device, text] : texts_) writer.Int(device).String(text);
  for (const std::string& each : job.Gather(writer.Take()))
    for (Reader reader(each); !reader.rest().empty();) {
      const int64_t device = reader.Int();
      texts_[device] = reader.String();
    }
}

std::string Outfeeds::Text() const {
  std::string all;
  for (const auto& [device, text] : texts_) all += text;
  return all;
}

}  // namespace shoal::internal
