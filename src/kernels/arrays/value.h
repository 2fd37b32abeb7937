// Value: what an instruction gives: an array, a tuple of values, a token, or something under way, which a start gives
// and only its done can make an array or a tuple of.
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
  // Only who made it knows what it is.
  static Value Pending(std::shared_ptr<void> what) {
    Value value;
    value.rep_ = std::move(what);
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
  // Takes an element out and leaves a token in its place if nobody else holds the tuple; else a reference to it.
  Value TakeElement(int64_t i);

 private:
  std::variant<std::monostate, Array, std::shared_ptr<std::vector<Value>>, std::shared_ptr<void>> rep_;
};

// The arrays, tokens and things under way in it, depth first.
void AppendLeaves(const Value& value, std::vector<Value>& leaves);
// A value of `shape` from its leaves; `next` counts those that were used.
Value FromLeaves(const Shape& shape, std::span<const Value> leaves, size_t& next);
// Every array zero.
Value ZeroValue(const Shape& shape);

}  // namespace shoal::internal
