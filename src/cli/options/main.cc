// The shoal executable: a toolkit for XLA HLO modules.
#include "cli/options/shoal.h"
#include "cli/commands/interrupt.h"
#include "cli/commands/output.h"

int main(int argc, char** argv) {
  shoal::cli::ReserveStandardDescriptors();
  shoal::cli::HandleSignals();
  return shoal::cli::Shoal(argc, argv);
}
