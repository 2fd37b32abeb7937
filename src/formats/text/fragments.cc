#include "formats/text/fragments.h"

#include "formats/text/sharding_reader.h"

namespace shoal::internal {
namespace {

class FragmentReader final : public ShardingReader {
 public:
  FragmentReader(Module& module, std::string_view text, const ParseOptions& options, Diags& diags)
      : ShardingReader(module, text, options, diags) {}

  const Sharding* ReadOnlySharding() {
    Sharding* sharding = module_.arena.New<Sharding>();
    return ReadSharding(sharding) && AtEnd() ? sharding : nullptr;
  }
  const Shape* ReadOnlyShape() {
    const Shape* shape = AtShape() ? ReadShape() : nullptr;
    if (shape == nullptr && diags_.errors() == 0) ErrorHere("expected a shape");
    return shape != nullptr && AtEnd() ? shape : nullptr;
  }

 private:
  bool AtEnd() { return kind() == Tok::kEof || ErrorHere("unexpected text after the value"); }
};

template <class T, class Read>
Result<T> ReadFragment(std::string_view text, Module& module, Read read) {
  Diags diags;
  const ParseOptions options{.strict = true};
  FragmentReader reader(module, text, options, diags);
  if (T value = read(reader)) return value;
  return Fail(diags.found().empty() ? "invalid text" : diags.found()[0].message);
}

}  // namespace

Result<const Sharding*> ParseSharding(std::string_view text, Module& module) {
  return ReadFragment<const Sharding*>(text, module, [](FragmentReader& reader) { return reader.ReadOnlySharding(); });
}

Result<const Shape*> ParseShape(std::string_view text, Module& module) {
  return ReadFragment<const Shape*>(text, module, [](FragmentReader& reader) { return reader.ReadOnlyShape(); });
}

}  // namespace shoal::internal
