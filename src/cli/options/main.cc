// shoal: opens the compiled programs of distributed machine learning.
#include "cli/options/shoal.h"
#include "cli/commands/interrupt.h"

int main(int argc, char** argv) {
  shoal::internal::HandleSignals();
  return shoal::internal::Shoal(argc, argv);
}
