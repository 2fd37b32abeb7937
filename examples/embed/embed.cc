// Reads, runs, costs and predicts a module through the C++ API: embed_cpp FILE
#include <cstdio>

#include "shoal/execute.h"
#include "shoal/predict.h"

int Fail(const shoal::Error& error) { return std::fputs(error.ToText().c_str(), stderr), 1; }

int main(int argc, char** argv) {
  const auto module = shoal::Read(argc > 1 ? argv[1] : "module.hlo");
  if (!module) return Fail(module.error());

  const auto executable = shoal::Compile(*module);
  if (!executable) return Fail(executable.error());
  auto arguments = executable->GenerateArguments();
  if (!arguments) return Fail(arguments.error());
  const auto run = executable->Execute(std::move(*arguments));
  if (!run) return Fail(run.error());
  std::fputs(run->ToText().c_str(), stdout);

  const auto facts = shoal::Facts::Of(*module);
  if (!facts) return Fail(facts.error());
  const shoal::Totals totals = facts->totals();
  std::printf("%g flops, %g bytes received from other devices\n", totals.flops, totals.wire_bytes);

  const auto machine = shoal::Machine::Load("h100x8");
  if (!machine) return Fail(machine.error());
  const auto prediction = shoal::Predict(*facts, *machine);
  if (!prediction) return Fail(prediction.error());
  std::printf("%s: %.2f us per step\n", prediction->machine.c_str(), prediction->step_seconds * 1e6);
}
