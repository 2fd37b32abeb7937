// shoal: opens the compiled programs of distributed machine learning.
#include "cli/options/shoal.h"
#include "cli/verbs/interrupt.h"

int main(int argc, char** argv) {
  shoal::HandleSignals();
  return shoal::Shoal(argc, argv);
}
