#include "transform/loops/index.h"

#include <algorithm>

#include "core/base/strings.h"

namespace shoal {
namespace {

using TermKind = IndexTerm::Kind;

int CompareTerms(const IndexTerm& a, const IndexTerm& b) {
  if (a.kind != b.kind) return a.kind < b.kind ? -1 : 1;
  if (a.of != b.of) return a.of < b.of ? -1 : 1;
  if (a.by != b.by) return a.by < b.by ? -1 : 1;
  if (a.inner == b.inner) return 0;
  return Compare(*a.inner, *b.inner);
}

// The terms whose factor `by` divides, and the rest.
struct Parts {
  Index multiples, rest;
};
Parts Split(const Index& a, int64_t by) {
  Parts parts;
  for (const IndexTerm& term : a.terms) (term.factor % by == 0 ? parts.multiples : parts.rest).terms.push_back(term);
  const int64_t remainder = ((a.constant % by) + by) % by;
  parts.multiples.constant = a.constant - remainder;
  parts.rest.constant = remainder;
  return parts;
}

Index Divided(const Index& multiples, int64_t by) {
  Index result = multiples;
  result.constant /= by;
  for (IndexTerm& term : result.terms) term.factor /= by;
  return result;
}

Index Opaque(TermKind kind, const Index& inner, int64_t by, int64_t most) {
  IndexTerm term;
  term.kind = kind;
  term.by = by;
  term.inner = std::make_shared<const Index>(inner);
  term.most = most;
  return {0, {std::move(term)}};
}

}  // namespace

Index Index::Loop(int number, int64_t rounds) {
  if (rounds <= 1) return {};
  IndexTerm term;
  term.of = number;
  term.most = rounds - 1;
  return {0, {term}};
}

Index Index::Data(int node, int64_t most) {
  if (most <= 0) return {};
  IndexTerm term;
  term.kind = TermKind::kData;
  term.of = node;
  term.most = most;
  return {0, {term}};
}

int64_t Index::Least() const {
  int64_t least = constant;
  for (const IndexTerm& term : terms) least += std::min<int64_t>(0, term.factor * term.most);
  return least;
}

int64_t Index::Most() const {
  int64_t most = constant;
  for (const IndexTerm& term : terms) most += std::max<int64_t>(0, term.factor * term.most);
  return most;
}

int Compare(const Index& a, const Index& b) {
  if (a.constant != b.constant) return a.constant < b.constant ? -1 : 1;
  if (a.terms.size() != b.terms.size()) return a.terms.size() < b.terms.size() ? -1 : 1;
  for (size_t i = 0; i < a.terms.size(); ++i) {
    if (a.terms[i].factor != b.terms[i].factor) return a.terms[i].factor < b.terms[i].factor ? -1 : 1;
    if (int order = CompareTerms(a.terms[i], b.terms[i]); order != 0) return order;
  }
  return 0;
}

Index operator+(const Index& a, const Index& b) {
  Index sum;
  sum.constant = a.constant + b.constant;
  size_t i = 0, j = 0;
  while (i < a.terms.size() || j < b.terms.size()) {
    const int order = i == a.terms.size()   ? 1
                      : j == b.terms.size() ? -1
                                            : CompareTerms(a.terms[i], b.terms[j]);
    IndexTerm term = order <= 0 ? a.terms[i] : b.terms[j];
    if (order == 0) term.factor += b.terms[j].factor;
    if (order <= 0) ++i;
    if (order >= 0) ++j;
    if (term.factor != 0) sum.terms.push_back(std::move(term));
  }
  // by * (x / by) + x % by is x again: reshapes that undo each other leave it.
  for (size_t q = 0; q < sum.terms.size(); ++q) {
    if (sum.terms[q].kind != TermKind::kQuotient) continue;
    for (size_t r = 0; r < sum.terms.size(); ++r) {
      const IndexTerm &quotient = sum.terms[q], &remainder = sum.terms[r];
      if (remainder.kind != TermKind::kRemainder || remainder.by != quotient.by ||
          quotient.factor != remainder.factor * quotient.by || Compare(*quotient.inner, *remainder.inner) != 0)
        continue;
      const Index whole = *quotient.inner * remainder.factor;
      sum.terms.erase(sum.terms.begin() + static_cast<int64_t>(std::max(q, r)));
      sum.terms.erase(sum.terms.begin() + static_cast<int64_t>(std::min(q, r)));
      return sum + whole;
    }
  }
  return sum;
}

Index operator*(const Index& a, int64_t factor) {
  if (factor == 0) return {};
  Index product = a;
  product.constant *= factor;
  for (IndexTerm& term : product.terms) term.factor *= factor;
  return product;
}

Index Quotient(const Index& a, int64_t by) {
  if (by == 1) return a;
  const auto [multiples, rest] = Split(a, by);
  const Index whole = Divided(multiples, by);
  if (rest.Least() >= 0 && rest.Most() < by) return whole;
  // (x / c) / by is x / (c * by)
  if (whole.terms.empty() && whole.constant == 0 && a.terms.size() == 1 && a.constant == 0 &&
      a.terms[0].kind == TermKind::kQuotient && a.terms[0].factor == 1)
    return Quotient(*a.terms[0].inner, a.terms[0].by * by);
  if (rest.Least() >= 0) return whole + Opaque(TermKind::kQuotient, rest, by, rest.Most() / by);
  return Opaque(TermKind::kQuotient, a, by, a.Most() / by);
}

Index Remainder(const Index& a, int64_t by) {
  if (by == 1) return {};
  const Index rest = Split(a, by).rest;
  if (rest.Least() >= 0 && rest.Most() < by) return rest;
  return Opaque(TermKind::kRemainder, rest.Least() >= 0 ? rest : a, by, by - 1);
}

std::string ToString(const Index& index) {
  std::string out;
  for (const IndexTerm& term : index.terms) {
    if (!out.empty()) out += " + ";
    if (term.factor != 1) StrAppend(&out, term.factor, "*");
    if (term.kind == TermKind::kLoop) StrAppend(&out, "i", term.of);
    if (term.kind == TermKind::kData) StrAppend(&out, "n", term.of);
    if (term.kind == TermKind::kQuotient) StrAppend(&out, "(", ToString(*term.inner), ")/", term.by);
    if (term.kind == TermKind::kRemainder) StrAppend(&out, "(", ToString(*term.inner), ")%", term.by);
  }
  if (out.empty() || index.constant != 0) StrAppend(&out, out.empty() ? "" : " + ", index.constant);
  return out;
}

}  // namespace shoal
