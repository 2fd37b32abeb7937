// Serializes numbers and strings into messages. Sender and receiver run the same version of the program, on machines
// with the same byte order.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"

namespace shoal::internal {

class Writer {
 public:
  explicit Writer(size_t expected_bytes = 0) { bytes_.reserve(expected_bytes); }
  Writer& Int(int64_t number) {
    bytes_.append(reinterpret_cast<const char*>(&number), sizeof(number));
    return *this;
  }
  Writer& Real(double number) {
    bytes_.append(reinterpret_cast<const char*>(&number), sizeof(number));
    return *this;
  }
  Writer& String(std::string_view text) {
    Int(static_cast<int64_t>(text.size()));
    bytes_.append(text);
    return *this;
  }
  Writer& Bytes(std::string_view bytes) {
    bytes_.append(bytes);
    return *this;
  }
  template <class Numbers>
  Writer& Ints(const Numbers& numbers) {
    Int(static_cast<int64_t>(numbers.size()));
    for (auto number : numbers) Int(static_cast<int64_t>(number));
    return *this;
  }
  std::string Take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

// Reading past the end returns zeros and makes ok() false.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}

  int64_t Int() { return Number<int64_t>(); }
  double Real() { return Number<double>(); }
  std::string_view String() {
    const auto size = static_cast<uint64_t>(Int());
    if (size > bytes_.size()) return Fail();
    const std::string_view text = bytes_.substr(0, size);
    bytes_.remove_prefix(size);
    return text;
  }
  std::vector<int64_t> Ints() {
    const auto size = static_cast<uint64_t>(Int());
    if (size > bytes_.size() / sizeof(int64_t)) return Fail(), std::vector<int64_t>();
    std::vector<int64_t> numbers(size);
    for (int64_t& number : numbers) number = Int();
    return numbers;
  }
  std::string_view rest() const { return bytes_; }
  bool ok() const { return ok_; }

 private:
  template <class T>
  T Number() {
    T number = 0;
    if (sizeof(T) > bytes_.size()) return Fail(), number;
    std::memcpy(&number, bytes_.data(), sizeof(T));
    bytes_.remove_prefix(sizeof(T));
    return number;
  }
  std::string_view Fail() {
    ok_ = false;
    bytes_ = {};
    return {};
  }

  std::string_view bytes_;
  bool ok_ = true;
};

// Writes a status with its failure, if any. Omits the location in shoal's source code that produced the failure.
void Write(Writer& writer, const Status& status);
Status ReadStatus(Reader& reader);

}  // namespace shoal::internal
