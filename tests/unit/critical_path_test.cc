#include "predict/timeline/critical_path.h"

#include <gtest/gtest.h>

namespace shoal::internal {
namespace {

TraceEvent Event(const char* name, uint32_t stream, double start, double duration, const char* category = "memory") {
  TraceEvent event;
  event.name = name;
  event.stream = stream;
  event.start = start;
  event.duration = duration;
  event.category = category;
  return event;
}

std::string PathOf(const Trace& trace) {
  const std::vector<bool> on_path = CriticalPathOf(trace);
  std::string names;
  for (size_t i = 0; i < on_path.size(); ++i)
    if (on_path[i]) names += trace.events[i].name;
  return names;
}

TEST(CriticalPath, NoEvents) { EXPECT_EQ(PathOf({}), ""); }

TEST(CriticalPath, SequentialKernels) {
  Trace trace;
  trace.events = {Event("a", 0, 0, 1), Event("b", 0, 1, 2), Event("c", 0, 3.1, 1)};  // a gap for a kernel launch
  EXPECT_EQ(PathOf(trace), "abc");
}

// a starts s; b runs concurrently; w waits for s; c depends on s. b is not on the path.
TEST(CriticalPath, ExposedCollective) {
  Trace trace;
  trace.events = {Event("a", 0, 0, 1), Event("s", 1, 1, 5, "communication"), Event("b", 0, 1, 2),
                  Event("w", 0, 3, 3, "exposed"), Event("c", 0, 6, 1)};
  trace.flows = {{1, 3}};
  EXPECT_EQ(PathOf(trace), "asc");
}

TEST(CriticalPath, HiddenCollective) {
  Trace trace;
  trace.events = {Event("a", 0, 0, 1), Event("s", 1, 1, 1, "communication"), Event("b", 0, 1, 3), Event("c", 0, 4, 1)};
  EXPECT_EQ(PathOf(trace), "abc");
}

// t waits for s on its stream, although b ends at the same time.
TEST(CriticalPath, PrefersTheSameStream) {
  Trace trace;
  trace.events = {Event("a", 0, 0, 1), Event("s", 1, 1, 2, "communication"), Event("b", 0, 1, 2),
                  Event("t", 1, 3, 4, "communication"), Event("w", 0, 3, 4, "exposed")};
  trace.flows = {{3, 4}};
  EXPECT_EQ(PathOf(trace), "ast");
}

}  // namespace
}  // namespace shoal::internal
