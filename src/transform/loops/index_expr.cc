#include "transform/loops/index_expr.h"

#include <algorithm>

#include "core/base/strings.h"

namespace shoal::internal {
namespace {

using TermKind = IndexExprTerm::Kind;

int CompareTerms(const IndexExprTerm& a, const IndexExprTerm& b) {
  if (a.kind != b.kind) return a.kind < b.kind ? -1 : 1;
  if (a.number != b.number) return a.number < b.number ? -1 : 1;
  if (a.divisor != b.divisor) return a.divisor < b.divisor ? -1 : 1;
  if (a.inner == b.inner) return 0;
  return Compare(*a.inner, *b.inner);
}

// Two summands of an expression: the terms whose factor is a multiple of the divisor, and the other terms.
struct Parts {
  IndexExpr multiples, rest;
};
Parts Split(const IndexExpr& a, int64_t divisor) {
  Parts parts;
  for (const IndexExprTerm& term : a.terms)
    (term.factor % divisor == 0 ? parts.multiples : parts.rest).terms.push_back(term);
  const int64_t remainder = ((a.constant % divisor) + divisor) % divisor;
  parts.multiples.constant = a.constant - remainder;
  parts.rest.constant = remainder;
  return parts;
}

IndexExpr DivideExactly(const IndexExpr& multiples, int64_t divisor) {
  IndexExpr result = multiples;
  result.constant /= divisor;
  for (IndexExprTerm& term : result.terms) term.factor /= divisor;
  return result;
}

IndexExpr Opaque(TermKind kind, const IndexExpr& inner, int64_t divisor, int64_t max) {
  IndexExprTerm term;
  term.kind = kind;
  term.divisor = divisor;
  term.inner = std::make_shared<const IndexExpr>(inner);
  term.max = max;
  return {0, {std::move(term)}};
}

}  // namespace

IndexExpr IndexExpr::Loop(int number, int64_t iterations) {
  if (iterations <= 1) return {};
  IndexExprTerm term;
  term.number = number;
  term.max = iterations - 1;
  return {0, {term}};
}

IndexExpr IndexExpr::Data(int node, int64_t max) {
  if (max <= 0) return {};
  IndexExprTerm term;
  term.kind = TermKind::kData;
  term.number = node;
  term.max = max;
  return {0, {term}};
}

int64_t IndexExpr::Min() const {
  int64_t min = constant;
  for (const IndexExprTerm& term : terms) min += std::min<int64_t>(0, term.factor * term.max);
  return min;
}

int64_t IndexExpr::Max() const {
  int64_t max = constant;
  for (const IndexExprTerm& term : terms) max += std::max<int64_t>(0, term.factor * term.max);
  return max;
}

int Compare(const IndexExpr& a, const IndexExpr& b) {
  if (a.constant != b.constant) return a.constant < b.constant ? -1 : 1;
  if (a.terms.size() != b.terms.size()) return a.terms.size() < b.terms.size() ? -1 : 1;
  for (size_t i = 0; i < a.terms.size(); ++i) {
    if (a.terms[i].factor != b.terms[i].factor) return a.terms[i].factor < b.terms[i].factor ? -1 : 1;
    if (int order = CompareTerms(a.terms[i], b.terms[i]); order != 0) return order;
  }
  return 0;
}

IndexExpr operator+(const IndexExpr& a, const IndexExpr& b) {
  IndexExpr sum;
  sum.constant = a.constant + b.constant;
  size_t i = 0, j = 0;
  while (i < a.terms.size() || j < b.terms.size()) {
    const int order = i == a.terms.size()   ? 1
                      : j == b.terms.size() ? -1
                                            : CompareTerms(a.terms[i], b.terms[j]);
    IndexExprTerm term = order <= 0 ? a.terms[i] : b.terms[j];
    if (order == 0) term.factor += b.terms[j].factor;
    if (order <= 0) ++i;
    if (order >= 0) ++j;
    if (term.factor != 0) sum.terms.push_back(std::move(term));
  }
  // Simplifies d * (x / d) + x % d to x. A reshape and its inverse produce this form.
  for (size_t q = 0; q < sum.terms.size(); ++q) {
    if (sum.terms[q].kind != TermKind::kQuotient) continue;
    for (size_t r = 0; r < sum.terms.size(); ++r) {
      const IndexExprTerm &quotient = sum.terms[q], &remainder = sum.terms[r];
      if (remainder.kind != TermKind::kRemainder || remainder.divisor != quotient.divisor ||
          quotient.factor != remainder.factor * quotient.divisor || Compare(*quotient.inner, *remainder.inner) != 0)
        continue;
      const IndexExpr whole = *quotient.inner * remainder.factor;
      sum.terms.erase(sum.terms.begin() + static_cast<int64_t>(std::max(q, r)));
      sum.terms.erase(sum.terms.begin() + static_cast<int64_t>(std::min(q, r)));
      return sum + whole;
    }
  }
  return sum;
}

IndexExpr operator*(const IndexExpr& a, int64_t factor) {
  if (factor == 0) return {};
  IndexExpr product = a;
  product.constant *= factor;
  for (IndexExprTerm& term : product.terms) term.factor *= factor;
  return product;
}

IndexExpr Quotient(const IndexExpr& a, int64_t divisor) {
  if (divisor == 1) return a;
  const auto [multiples, rest] = Split(a, divisor);
  const IndexExpr whole = DivideExactly(multiples, divisor);
  if (rest.Min() >= 0 && rest.Max() < divisor) return whole;
  // Simplifies (x / c) / divisor to x / (c * divisor).
  if (whole.terms.empty() && whole.constant == 0 && a.terms.size() == 1 && a.constant == 0 &&
      a.terms[0].kind == TermKind::kQuotient && a.terms[0].factor == 1)
    return Quotient(*a.terms[0].inner, a.terms[0].divisor * divisor);
  if (rest.Min() >= 0) return whole + Opaque(TermKind::kQuotient, rest, divisor, rest.Max() / divisor);
  return Opaque(TermKind::kQuotient, a, divisor, a.Max() / divisor);
}

IndexExpr Remainder(const IndexExpr& a, int64_t divisor) {
  if (divisor == 1) return {};
  const IndexExpr rest = Split(a, divisor).rest;
  if (rest.Min() >= 0 && rest.Max() < divisor) return rest;
  return Opaque(TermKind::kRemainder, rest.Min() >= 0 ? rest : a, divisor, divisor - 1);
}

std::string ToString(const IndexExpr& index) {
  std::string out;
  for (const IndexExprTerm& term : index.terms) {
    if (!out.empty()) out += " + ";
    if (term.factor != 1) StrAppend(&out, term.factor, "*");
    if (term.kind == TermKind::kLoop) StrAppend(&out, "i", term.number);
    if (term.kind == TermKind::kData) StrAppend(&out, "n", term.number);
    if (term.kind == TermKind::kQuotient) StrAppend(&out, "(", ToString(*term.inner), ")/", term.divisor);
    if (term.kind == TermKind::kRemainder) StrAppend(&out, "(", ToString(*term.inner), ")%", term.divisor);
  }
  if (out.empty() || index.constant != 0) StrAppend(&out, out.empty() ? "" : " + ", index.constant);
  return out;
}

}  // namespace shoal::internal
