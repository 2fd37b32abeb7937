// Reads JSON text from front to back, without building a tree. Uses memory only for one string, whatever the text is, and
// refuses text that is nested more deeply than any format that shoal reads.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/result.h"

namespace shoal::internal {

inline constexpr int kMaxJsonDepth = 64;

// How to read an object:
//
//     for (reader.EnterObject(); reader.NextKey();) {
//       if (reader.text() == "name") name = reader.TakeString();
//       else reader.Skip();
//     }
//     if (!reader.ok()) …
//
// After an error, every call returns immediately: NextKey and NextElement return false.
class JsonReader {
 public:
  explicit JsonReader(std::string_view text);

  bool ok() const { return error_.empty(); }
  // The error and its location, as a predicate: "is not valid JSON: line 3, column 7: expected a value".
  std::string error() const;

  enum class Kind : uint8_t { kObject, kArray, kString, kNumber, kOther, kNone };
  // The kind of the next value.
  Kind Peek();

  // Enters the next value, which must be an object or an array.
  void EnterObject();
  void EnterArray();
  // Advances to the next member of the object, whose key is text(), or to the next element of the array. Returns false
  // at the end, which leaves the object or the array.
  bool NextKey();
  bool NextElement();

  // Reads the next value; returns nothing, after skipping the value, if it is of another kind.
  std::string TakeString();
  void TakeString(std::string& value);  // into a string with reserved memory
  double TakeNumber();
  void Skip();
  // Fails if there is anything but white space left.
  void ExpectEnd();

  // The key that NextKey read; valid until the next call.
  const std::string& text() const { return text_; }

 private:
  void Fail(std::string_view message);
  void SkipBlanks();
  bool Consume(char c);
  void ReadString(std::string& out);
  void ReadEscape(std::string& out);
  bool ReadHex(uint32_t& code);
  double ReadNumber();
  void ReadWord();
  bool Next(char end);

  std::string_view all_;
  size_t at_ = 0;
  std::string error_, text_;
  int depth_ = 0;
  bool is_first_ = false;  // nothing of the innermost object or array has been read yet
};

// True if the text has brackets or braces that are nested more deeply than kMaxJsonDepth. A reader that builds a tree
// needs much more memory for such a text than it has bytes.
bool IsTooDeepJson(std::string_view text);

}  // namespace shoal::internal
