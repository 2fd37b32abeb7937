// SHOAL_CHECK is for bugs in shoal only. An error in the user's module becomes a Diag, never an abort.
#pragma once

#include <cstdio>
#include <cstdlib>

#define SHOAL_CHECK(condition, message)                                                                  \
  do {                                                                                                   \
    if (!(condition)) [[unlikely]] {                                                                     \
      std::fprintf(stderr, "%s:%d: internal error: %s (%s)\n", __FILE__, __LINE__, message, #condition); \
      std::abort();                                                                                      \
    }                                                                                                    \
  } while (false)
