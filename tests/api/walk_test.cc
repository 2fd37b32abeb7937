// Every function of the API on every module of tests/, also on invalid and loose ones: none may fail in another way than
// with an Error.
#include <filesystem>
#include <fstream>
#include <sstream>

#include "api/modules.h"
#include "shoal/diff.h"
#include "shoal/predict.h"
#include "shoal/report.h"
#include "shoal/transform.h"

namespace shoal {
namespace {

namespace fs = std::filesystem;

constexpr uintmax_t kMaxBytes = 20000;

size_t WalkShape(const Shape& shape) {
  size_t elements = shape.dims.size() + shape.text.size() + shape.IsArray() + shape.IsTuple();
  for (const Shape& element : shape.elements) elements += WalkShape(element);
  return elements;
}

// Calls every function of a module's views.
size_t Walk(const Module& module) {
  size_t seen = module.warnings().size() + WalkShape(module.result_shape());
  for (const Shape& shape : module.parameter_shapes()) seen += WalkShape(shape);
  for (const Computation& computation : module.computations()) {
    seen += computation.name().size() + computation.is_entry() + static_cast<size_t>(computation.location().line);
    if (const auto root = computation.root()) seen += root->name().size();
    seen += computation.parameters().size();
    for (const Instruction& hlo : computation.instructions()) {
      seen += hlo.name().size() + hlo.opcode().size() + WalkShape(hlo.shape()) + hlo.operands().size();
      seen += hlo.users().size() + hlo.called_computations().size() + hlo.attributes().size() + hlo.metadata().source.size();
      seen += hlo.attribute("dimensions").size() + static_cast<size_t>(hlo.location().column);
      EXPECT_EQ(hlo.computation(), computation);
    }
  }
  return seen;
}

// True if the result is a value or an error with a message.
template <class T>
bool IsSound(const Result<T>& result) {
  return result.ok() || (!result.error().message().empty() && !result.error().ToText().empty());
}
template <class T>
bool HasViews(const Result<T>& result) {
  return IsSound(result) && (!result.ok() || (!result->ToText().empty() && !result->ToJson().empty()));
}

void CallAll(const Module& module, const Machine& machine) {
  EXPECT_GT(Walk(module), 0u);
  for (const Format format : {Format::kHlo, Format::kShort, Format::kProto, Format::kProtoJson, Format::kStablehlo})
    EXPECT_TRUE(IsSound(Print(module, {.format = format})));
  EXPECT_TRUE(IsSound(Verify(module)));
  EXPECT_TRUE(IsSound(Transform(module)));
  const Result<Facts> facts = Facts::Of(module);
  if (!facts.ok()) return;
  EXPECT_GT(facts->devices().count, 0);
  EXPECT_GE(facts->totals().flops, 0);
  for (const Loop& loop : facts->loops()) EXPECT_FALSE(loop.loop.name().empty());
  EXPECT_TRUE(HasViews(facts->collectives({.matrix = true})));
  EXPECT_TRUE(HasViews(facts->cost({.by = "line"})));
  EXPECT_TRUE(HasViews(facts->memory()));
  EXPECT_TRUE(HasViews(facts->outline({.ops = OutlineOptions::Ops::kAll, .names = true})));
  EXPECT_TRUE(HasViews(Diff(*facts, *facts)));
  EXPECT_TRUE(IsSound(Page(*facts)));
  EXPECT_TRUE(HasViews(Predict(*facts, machine)));
}

TEST(Walk, SurvivesEveryModuleOfTheTests) {
  const Machine machine = Must(Machine::Load("h100x8"));
  const fs::path tests = SHOAL_TESTS_FOLDER;
  int modules = 0, refused = 0;
  for (const char* folder : {"analysis", "cli", "fuzz/findings", "interp", "ops", "text", "verify"}) {
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(tests / folder)) {
      if (!entry.is_regular_file() || entry.file_size() > kMaxBytes) continue;
      SCOPED_TRACE(entry.path());
      std::ostringstream bytes;
      bytes << std::ifstream(entry.path(), std::ios::binary).rdbuf();
      const Result<Module> module = Parse(bytes.str(), {}, entry.path().filename());
      EXPECT_TRUE(IsSound(module));
      ++(module.ok() ? modules : refused);
      if (module.ok()) CallAll(*module, machine);
    }
  }
  EXPECT_GT(modules, 500);
  EXPECT_GT(refused, 10);
}

}  // namespace
}  // namespace shoal
