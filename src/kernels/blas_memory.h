// A turn to call OpenBLAS. As many threads as the machine has cores take it at once: more would only push each other's
// blocks out of the caches, and OpenBLAS has a work buffer for some hundred callers at most.
#pragma once

namespace shoal {

class BlasTurn {
 public:
  // Throws std::bad_alloc where there is no memory for a work buffer: OpenBLAS itself would try for ever.
  BlasTurn();
  ~BlasTurn();
  BlasTurn(const BlasTurn&) = delete;
  BlasTurn& operator=(const BlasTurn&) = delete;
};

}  // namespace shoal
