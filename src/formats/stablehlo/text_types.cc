// Types: tensor<2x3xf32>, !stablehlo.token, (tensor<f32>) -> tensor<f32>.
#include <algorithm>
#include <charconv>

#include "formats/stablehlo/element_names.h"
#include "formats/stablehlo/text_reader.h"

namespace shoal::internal {

MlirType* MlirTextReader::NewType(MlirType::Kind kind) {
  MlirType* type = module_.arena.New<MlirType>();
  type->kind = kind;
  return type;
}

// Most types are tensors that were read before, so their text is looked up first.
const MlirType* MlirTextReader::ReadType() {
  if (Peek() != 't' || !At("tensor<")) return ReadUncachedType();
  const char* const start = at_;
  const char* stop = at_ + 7;
  while (stop != end_ && *stop != '<' && *stop != '>' && *stop != '\n') ++stop;
  if (stop == end_ || *stop != '>') return ReadUncachedType();
  const std::string_view text(start, static_cast<size_t>(stop + 1 - start));
  const auto found = types_.find(text);
  if (found != types_.end()) {
    at_ = stop + 1;
    return found->second;
  }
  const MlirType* type = ReadUncachedType();
  if (type != nullptr) types_.emplace(text, type);
  return type;
}

const MlirType* MlirTextReader::ElementTypeOf(std::string_view word) {
  const auto found = types_.find(word);
  if (found != types_.end()) return found->second;
  const std::optional<ElementType> element = ElementTypeFromMlir(word);
  if (!element) return nullptr;
  MlirType* type = NewType(MlirType::Kind::kElement);
  type->element = *element;
  types_.emplace(word, type);
  return type;
}

const MlirType* MlirTextReader::ReadUncachedType() {
  if (++depth_ > kMaxDepth) {
    Error("types are nested too deeply");
    return nullptr;
  }
  struct Leave {
    int& depth;
    ~Leave() { --depth; }
  } leave{depth_};
  const char c = Peek();
  const char* const start = at_;
  if (c == '(') return ReadFunctionType();
  if (c == '!') {
    ++at_;
    const std::string_view name = ReadBareName();
    if (const auto alias = type_aliases_.find(name); alias != type_aliases_.end()) return alias->second;
    if (name == "stablehlo.token" || name == "mhlo.token") return NewType(MlirType::Kind::kToken);
    return ReadOpaqueType(start);
  }
  const std::string_view word = ReadBareName();
  if (word == "tensor") return ReadTensor(/*is_buffer=*/false);
  if (word == "memref") return ReadTensor(/*is_buffer=*/true);
  if (word == "tuple") {
    MlirType* type = NewType(MlirType::Kind::kTuple);
    std::vector<const MlirType*> elements;
    if (!Expect('<') || !ReadTypeList(elements, '>')) return nullptr;
    type->elements = module_.arena.Copy(elements);
    return type;
  }
  if (word == "complex") {
    if (!Expect('<')) return nullptr;
    const MlirType* part = ReadType();
    if (part == nullptr || !Expect('>')) return nullptr;
    const std::optional<ElementType> element = ComplexOf(part->element);
    if (part->kind != MlirType::Kind::kElement || !element) {
      ErrorAt(start, "a complex number consists of f32 or f64");
      return nullptr;
    }
    MlirType* type = NewType(MlirType::Kind::kElement);
    type->element = *element;
    return type;
  }
  if (const MlirType* element = ElementTypeOf(word)) return element;
  if (word == "none" || word == "vector" || word == "tf32" || word == "f80" || word == "f128") return ReadOpaqueType(start);
  ErrorAt(start, word.empty() ? "expected a type" : StrCat("unknown type ", word));
  return nullptr;
}

const MlirType* MlirTextReader::ReadOpaqueType(const char* start) {
  MlirType* type = NewType(MlirType::Kind::kOpaque);
  std::string_view ignored;
  if (at_ != end_ && *at_ == '<' && !ReadBalanced(&ignored)) return nullptr;
  type->text = {start, static_cast<size_t>(at_ - start)};
  return type;
}

// tensor<2x?xf32, #stablehlo.bounds<?, 4>>
const MlirType* MlirTextReader::ReadTensor(bool is_buffer) {
  if (!Expect('<')) return nullptr;
  MlirType* type = NewType(is_buffer ? MlirType::Kind::kBuffer : MlirType::Kind::kTensor);
  std::vector<int64_t> dims;
  if (Eat("*x")) {
    type->kind = MlirType::Kind::kUnranked;
  } else {
    for (;;) {
      const char c = Peek();
      int64_t size = kUnboundedSize;
      if (c == '?') {
        ++at_;
      } else if (c >= '0' && c <= '9') {
        if (!ReadInt(&size)) return nullptr;
      } else {
        break;
      }
      dims.push_back(size);
      if (!Expect('x')) return nullptr;
    }
  }
  const char* const at = at_;
  const MlirType* element = ReadType();
  if (element == nullptr) return nullptr;
  if (element->kind == MlirType::Kind::kOpaque) {
    type->text = element->text;
  } else if (element->kind != MlirType::Kind::kElement) {
    ErrorAt(at, "expected the type of the elements");
    return nullptr;
  }
  type->element = element->element;
  type->dims = module_.arena.Copy(dims);
  if (Eat(',')) {
    if (Eat("#stablehlo.bounds<") || Eat("#stablehlo.type_extensions<bounds = [") ||
        Eat("#mhlo.type_extensions<bounds = [") || Eat("#mhlo.bounds<")) {
      std::vector<int64_t> bounds;
      while (Peek() != '>' && Peek() != ']') {
        int64_t bound = kUnboundedSize;
        if (!Eat('?') && !ReadInt(&bound)) return nullptr;
        bounds.push_back(bound);
        if (!Eat(',')) break;
      }
      Eat(']');
      if (!Expect('>')) return nullptr;
      if (bounds.size() != dims.size()) {
        ErrorAt(at, StrCat("the type has ", dims.size(), " dimensions, but ", bounds.size(), " bounds"));
        return nullptr;
      }
      type->bounds = module_.arena.Copy(bounds);
    } else if (ReadAttr() == nullptr) {  // the encoding of a sparse tensor, …
      return nullptr;
    }
  }
  return Expect('>') ? type : nullptr;
}

// (a, b) -> c or (a, b) -> (c, d)
const MlirType* MlirTextReader::ReadFunctionType() {
  if (!Expect('(')) return nullptr;
  MlirType* type = NewType(MlirType::Kind::kFunction);
  std::vector<const MlirType*> inputs, results;
  if (!ReadTypeList(inputs, ')') || !Expect("->")) return nullptr;
  if (Eat('(')) {
    if (!ReadTypeList(results, ')')) return nullptr;
  } else {
    results.push_back(ReadType());
    if (results.back() == nullptr) return nullptr;
  }
  type->elements = module_.arena.Copy(inputs);
  type->results = module_.arena.Copy(results);
  return type;
}

bool MlirTextReader::ReadTypeList(std::vector<const MlirType*>& types, char close) {
  if (Eat(close)) return true;
  do {
    const MlirType* type = ReadType();
    if (type == nullptr) return false;
    types.push_back(type);
  } while (Eat(','));
  return Expect(close);
}

}  // namespace shoal::internal
