// Index: where an element lies, as a function of the loops around it: a constant plus multiples of loop variables, of
// quotients and remainders of such sums (from reshapes), and of values that are data (a dynamic-slice's start). Sums are
// kept sorted and simplified by the ranges of the loops, so that equal indices are equal and what is linear is seen to be.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace shoal::internal {

struct IndexExpr;

struct IndexExprTerm {
  enum class Kind : uint8_t {
    kLoop,       // the variable of loop number `of`
    kQuotient,   // *inner / by, rounded down
    kRemainder,  // *inner - by * (*inner / by)
    kData,       // the value of node number `of` of the kernel's body
  };
  Kind kind = Kind::kLoop;
  int of = 0;
  int64_t by = 1;
  std::shared_ptr<const IndexExpr> inner;
  int64_t factor = 1;
  int64_t most = 0;  // its largest value, before the factor; the smallest is 0
};

struct IndexExpr {
  int64_t constant = 0;
  std::vector<IndexExprTerm> terms;

  static IndexExpr Constant(int64_t value) { return {value, {}}; }
  // The variable of a loop with so many rounds; that of a loop with one round is 0.
  static IndexExpr Loop(int number, int64_t rounds);
  static IndexExpr Data(int node, int64_t most);

  bool IsConstant() const { return terms.empty(); }
  int64_t Min() const;
  int64_t Max() const;
};

IndexExpr operator+(const IndexExpr& a, const IndexExpr& b);
IndexExpr operator*(const IndexExpr& a, int64_t factor);
// Rounded down; of what is not negative. `by` is positive.
IndexExpr Quotient(const IndexExpr& a, int64_t by);
IndexExpr Remainder(const IndexExpr& a, int64_t by);

int Compare(const IndexExpr& a, const IndexExpr& b);
inline bool operator==(const IndexExpr& a, const IndexExpr& b) { return Compare(a, b) == 0; }

// The multiple of loop variable `loop` that is in it; nothing if it is in a quotient, a remainder or not at all linear.
// `varies(node)` says whether data depends on the loop.
struct LinearPart {
  bool is_linear = true;
  int64_t factor = 0;
};
template <class Varies>
LinearPart LinearIn(const IndexExpr& index, int loop, const Varies& varies) {
  LinearPart part;
  for (const IndexExprTerm& term : index.terms) {
    if (term.kind == IndexExprTerm::Kind::kLoop) {
      if (term.of == loop) part.factor = term.factor;
    } else if (term.kind == IndexExprTerm::Kind::kData) {
      if (varies(term.of)) part.is_linear = false;
    } else {
      const LinearPart inside = LinearIn(*term.inner, loop, varies);
      if (!inside.is_linear || inside.factor != 0) part.is_linear = false;
    }
  }
  return part;
}

// "4*i0 + i1 / 3 + n7"
std::string ToString(const IndexExpr& index);

}  // namespace shoal::internal
