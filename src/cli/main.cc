// shoal: opens the compiled programs of distributed machine learning.
#include <csignal>

#include "cli/shoal.h"

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);  // `shoal print x | head` ends quietly
  return shoal::Shoal(argc, argv);
}
