// IndexExpr: an element's index as a function of the enclosing loop variables (MLIR: AffineExpr, XLA: IndexingMap). It
// is a sum of a constant and multiples of loop variables, of runtime values (a dynamic-slice's start), and of quotients
// and remainders of sums (from reshapes). Sums are sorted and simplified, so that equal indices compare equal.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace shoal::internal {

struct IndexExpr;

struct IndexExprTerm {
  enum class Kind : uint8_t {
    kLoop,       // the variable of loop `number`
    kQuotient,   // *inner / divisor, rounded down
    kRemainder,  // *inner - divisor * (*inner / divisor)
    kData,       // the value of node `number` of the kernel body
  };
  Kind kind = Kind::kLoop;
  int number = 0;
  int64_t divisor = 1;
  std::shared_ptr<const IndexExpr> inner;
  int64_t factor = 1;
  int64_t max = 0;  // maximum value before multiplying by `factor`; the minimum is 0
};

struct IndexExpr {
  int64_t constant = 0;
  std::vector<IndexExprTerm> terms;

  static IndexExpr Constant(int64_t value) { return {value, {}}; }
  // The variable of a loop with this many iterations. If there is only one iteration, this is the constant 0.
  static IndexExpr Loop(int number, int64_t iterations);
  static IndexExpr Data(int node, int64_t max);

  bool IsConstant() const { return terms.empty(); }
  int64_t Min() const;
  int64_t Max() const;
};

IndexExpr operator+(const IndexExpr& a, const IndexExpr& b);
IndexExpr operator*(const IndexExpr& a, int64_t factor);
// Floor division and remainder. `a` must not be negative, `divisor` must be positive.
IndexExpr Quotient(const IndexExpr& a, int64_t divisor);
IndexExpr Remainder(const IndexExpr& a, int64_t divisor);

int Compare(const IndexExpr& a, const IndexExpr& b);
inline bool operator==(const IndexExpr& a, const IndexExpr& b) { return Compare(a, b) == 0; }

// The factor of the variable of `loop` in an index. The index is not linear if the variable occurs in a quotient or
// remainder, or if the index contains data that depends on the loop (`varies(node)` is true).
struct LinearPart {
  bool is_linear = true;
  int64_t factor = 0;
};
template <class Varies>
LinearPart LinearIn(const IndexExpr& index, int loop, const Varies& varies) {
  LinearPart part;
  for (const IndexExprTerm& term : index.terms) {
    if (term.kind == IndexExprTerm::Kind::kLoop) {
      if (term.number == loop) part.factor = term.factor;
    } else if (term.kind == IndexExprTerm::Kind::kData) {
      if (varies(term.number)) part.is_linear = false;
    } else {
      const LinearPart inside = LinearIn(*term.inner, loop, varies);
      if (!inside.is_linear || inside.factor != 0) part.is_linear = false;
    }
  }
  return part;
}

// The index as text, such as "4*i0 + i1 / 3 + n7".
std::string ToString(const IndexExpr& index);

}  // namespace shoal::internal
