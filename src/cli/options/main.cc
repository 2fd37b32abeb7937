// The shoal executable: a toolkit for XLA HLO modules.
#include "cli/options/shoal.h"
#include "cli/commands/interrupt.h"
#include "cli/commands/output.h"

int main(int argc, char** argv) {
  shoal::internal::ReserveStandardDescriptors();
  shoal::internal::HandleSignals();
  return shoal::internal::Shoal(argc, argv);
}
