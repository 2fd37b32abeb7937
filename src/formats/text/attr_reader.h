// Reads attribute values by kind, independent of the op.
#pragma once

#include <array>

#include "formats/text/sharding_reader.h"

namespace shoal::internal {

class AttrReader : public ShardingReader {
 protected:
  using ShardingReader::ShardingReader;

  bool ReadAttrValue(const AttrDef& def, AttrValue* value);
  // Reads an unknown attribute as raw text.
  bool ReadUnknownAttr(std::string_view name, TextSpan at, std::vector<NamedAttr>& attrs);
  bool ReadOriginalArray(OriginalArray* array);

  // Resolve names of computations and instructions, which are defined elsewhere in the text.
  virtual bool ReadCalledComputation(Computation** computation) = 0;
  virtual bool ReadInstructionNames(AttrValue* value) = 0;
  ~AttrReader() = default;

 private:
  // Shardings and metadata repeat within a few instructions: equal texts share one object.
  template <class T>
  struct RecentValues {
    struct Entry {
      std::string_view text;
      const T* value = nullptr;
    };
    std::array<Entry, 8> entries;
    size_t next = 0;  // the entry to replace
  };
  template <class T, class Read>
  bool ReadShared(RecentValues<T>& recent, Read read, AttrValue* value);

  bool ReadEnum(const AttrDef& def, AttrValue* value);
  bool ReadEnumList(const AttrDef& def, AttrValue* value);
  bool ReadIntLists(AttrValue* value);
  bool ReadComputations(AttrValue* value);
  bool ReadStatistics(AttrValue* value);
  bool ReadBoolSpan(AttrValue* value);
  bool ReadWindow(AttrValue* value);
  bool ReadDxD(std::vector<int64_t>* numbers);
  bool ReadPadNumbers(std::vector<std::vector<int64_t>>* dims);
  bool ReadDimLabels(AttrValue* value);
  bool ReadSliceRanges(AttrValue* value);
  bool ReadPadding(AttrValue* value);
  bool ReadDomain(AttrValue* value);
  bool ReadShapes(AttrValue* value);
  bool ReadResultAccuracy(AttrValue* value);
  bool ReadOutputOperandAliasing(AttrValue* value);
  bool ReadOriginalValue(AttrValue* value);
  bool ReadSparsity(AttrValue* value);
  bool ReadTensorSparsity(TensorSparsity* tensor);

  RecentValues<Sharding> shardings_;
  RecentValues<Metadata> metadata_;
};

}  // namespace shoal::internal
