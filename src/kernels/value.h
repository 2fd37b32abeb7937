// Value: what an instruction gives: an array, a tuple of values, or a token.
#pragma once

#include <memory>
#include <variant>
#include <vector>

#include "kernels/array.h"

namespace shoal {

class Value {
 public:
  Value() = default;  // a token
  Value(Array array) : rep_(std::move(array)) {}
  static Value Tuple(std::vector<Value> elements) {
    Value tuple;
    tuple.rep_ = std::make_shared<std::vector<Value>>(std::move(elements));
    return tuple;
  }

  bool IsArray() const { return std::holds_alternative<Array>(rep_); }
  bool IsTuple() const { return std::holds_alternative<std::shared_ptr<std::vector<Value>>>(rep_); }
  bool IsToken() const { return std::holds_alternative<std::monostate>(rep_); }

  const Array& array() const { return std::get<Array>(rep_); }
  Array& array() { return std::get<Array>(rep_); }
  const std::vector<Value>& elements() const { return *std::get<std::shared_ptr<std::vector<Value>>>(rep_); }
  const Value& element(int64_t i) const { return elements()[static_cast<size_t>(i)]; }
  // Takes an element out and leaves a token in its place if nobody else holds the tuple; else a reference to it.
  Value TakeElement(int64_t i);

 private:
  std::variant<std::monostate, Array, std::shared_ptr<std::vector<Value>>> rep_;
};

// The arrays and tokens in it, depth first.
void AppendLeaves(const Value& value, std::vector<Value>& leaves);
// A value of `shape` from its leaves; `next` counts those that were used.
Value FromLeaves(const Shape& shape, std::span<const Value> leaves, size_t& next);
// Every array zero.
Value ZeroValue(const Shape& shape);

}  // namespace shoal
