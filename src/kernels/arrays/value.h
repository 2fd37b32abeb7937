// Value: the result of an instruction: an array, a tuple of values, a token, or a pending operation. A start op returns
// a pending operation; its done op turns that into an array or a tuple.
#pragma once

#include <memory>
#include <variant>
#include <vector>

#include "kernels/arrays/array.h"

namespace shoal::internal {

class Value {
 public:
  Value() = default;  // a token
  Value(Array array) : rep_(std::move(array)) {}
  static Value Tuple(std::vector<Value> elements) {
    Value tuple;
    tuple.rep_ = std::make_shared<std::vector<Value>>(std::move(elements));
    return tuple;
  }
  // A pending operation, whose type only its creator knows.
  static Value Pending(std::shared_ptr<void> operation) {
    Value value;
    value.rep_ = std::move(operation);
    return value;
  }

  bool IsArray() const { return std::holds_alternative<Array>(rep_); }
  bool IsTuple() const { return std::holds_alternative<std::shared_ptr<std::vector<Value>>>(rep_); }
  bool IsPending() const { return std::holds_alternative<std::shared_ptr<void>>(rep_); }
  bool IsToken() const { return std::holds_alternative<std::monostate>(rep_); }

  const Array& array() const { return std::get<Array>(rep_); }
  Array& array() { return std::get<Array>(rep_); }
  const std::vector<Value>& elements() const { return *std::get<std::shared_ptr<std::vector<Value>>>(rep_); }
  const Value& element(int64_t i) const { return elements()[static_cast<size_t>(i)]; }
  const std::shared_ptr<void>& pending() const { return std::get<std::shared_ptr<void>>(rep_); }
  // If the tuple has no other owner, moves the element out and leaves a token. Otherwise shares the element.
  Value TakeElement(int64_t i);

 private:
  std::variant<std::monostate, Array, std::shared_ptr<std::vector<Value>>, std::shared_ptr<void>> rep_;
};

// Appends the arrays, tokens and pending operations of a value, depth first.
void AppendLeaves(const Value& value, std::vector<Value>& leaves);
// A value of `shape` built from the leaves that begin at leaves[next]; advances `next` past them.
Value FromLeaves(const Shape& shape, std::span<const Value> leaves, size_t& next);
// A value of `shape` in which every array is zero.
Value ZeroValue(const Shape& shape);

}  // namespace shoal::internal
