#include "api/c/handles.h"
#include "shoal/builder.h"

struct shoal_builder {
  shoal::ModuleBuilder value;
  std::vector<shoal::ComputationBuilder> computations;
};

namespace shoal::internal {
namespace {

// Calls body(computation builder), which returns a value of it.
template <class Body>
shoal_error* AddValue(shoal_builder* builder, int32_t computation, int32_t* out, Body body) {
  if (builder == nullptr || out == nullptr) return Null("the builder and out");
  return GuardedC([&]() -> shoal_error* {
    if (computation < 0 || computation >= std::ssize(builder->computations)) return Wrong("there is no such computation");
    const shoal::Result<shoal::Value> value = body(builder->computations[static_cast<size_t>(computation)]);
    if (!value.ok()) return MakeCError(value.error());
    *out = value->index;
    return nullptr;
  });
}

}  // namespace
}  // namespace shoal::internal

using namespace shoal::internal;  // the functions below are C

extern "C" {

shoal_error* shoal_builder_new(const char* name, int64_t replica_count, int64_t num_partitions, shoal_builder** out) {
  if (name == nullptr || out == nullptr) return Null("name and out");
  return GuardedC([&]() -> shoal_error* {
    *out = new shoal_builder{shoal::ModuleBuilder(name, replica_count, num_partitions), {}};
    return nullptr;
  });
}

shoal_error* shoal_builder_computation(shoal_builder* builder, const char* name, int32_t* out) {
  if (builder == nullptr || name == nullptr || out == nullptr) return Null("the builder, name and out");
  return GuardedC([&]() -> shoal_error* {
    builder->computations.push_back(builder->value.NewComputation(name));
    *out = builder->computations.back().index();
    return nullptr;
  });
}

shoal_error* shoal_builder_parameter(shoal_builder* builder, int32_t computation, const char* shape, const char* name,
                                     int32_t* out) {
  if (shape == nullptr) return Null("the shape");
  return AddValue(builder, computation, out,
                  [&](shoal::ComputationBuilder& to) { return to.Parameter(shape, OrNothing(name)); });
}

shoal_error* shoal_builder_constant(shoal_builder* builder, int32_t computation, const char* shape, const char* value,
                                    const char* name, int32_t* out) {
  if (shape == nullptr || value == nullptr) return Null("the shape and the value");
  return AddValue(builder, computation, out, [&](shoal::ComputationBuilder& to) {
    return to.Constant(std::string_view(shape), std::string_view(value), OrNothing(name));
  });
}

shoal_error* shoal_builder_add(shoal_builder* builder, int32_t computation, const shoal_new_instruction* given,
                               int32_t* out) {
  if (given == nullptr) return Null("the instruction");
  shoal_new_instruction hlo;
  SHOAL_C_TRY(ReadStruct(given, hlo));
  if (hlo.opcode == nullptr || (hlo.operands == nullptr && hlo.operand_count > 0)) return Null("the opcode and the operands");
  return AddValue(builder, computation, out, [&](shoal::ComputationBuilder& to) {
    std::vector<shoal::Value> operands;
    for (size_t i = 0; i < hlo.operand_count; ++i) operands.push_back({computation, hlo.operands[i]});
    return to.Add(hlo.opcode, operands, OrNothing(hlo.attributes), OrNothing(hlo.shape), OrNothing(hlo.name));
  });
}

shoal_error* shoal_builder_finish_computation(shoal_builder* builder, int32_t computation, int32_t root) {
  int32_t unused = 0;
  return AddValue(builder, computation, &unused, [&](shoal::ComputationBuilder& to) -> shoal::Result<shoal::Value> {
    const shoal::Value value{computation, root};
    const shoal::Status finished = to.Finish(value);
    if (!finished.ok()) return finished.error();
    return value;
  });
}

shoal_error* shoal_builder_finish(shoal_builder* builder, int32_t entry, shoal_module** out) {
  if (builder == nullptr || out == nullptr) return Null("the builder and out");
  return GuardedC([&]() -> shoal_error* {
    if (entry < 0 || entry >= std::ssize(builder->computations)) return Wrong("there is no such computation");
    auto module = builder->value.Finish(builder->computations[static_cast<size_t>(entry)]);
    if (!module.ok()) return MakeCError(module.error());
    *out = new shoal_module{std::move(*module)};
    return nullptr;
  });
}

void shoal_builder_free(shoal_builder* builder) { delete builder; }

}  // extern "C"
