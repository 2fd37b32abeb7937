// shoal: opens the compiled programs of distributed machine learning.
#include "cli/interrupt.h"
#include "cli/shoal.h"

int main(int argc, char** argv) {
  shoal::HandleSignals();
  return shoal::Shoal(argc, argv);
}
