// shoal: opens the compiled programs of distributed machine learning.
#include "cli/shoal.h"
#include "verbs/interrupt.h"

int main(int argc, char** argv) {
  shoal::HandleSignals();
  return shoal::Shoal(argc, argv);
}
