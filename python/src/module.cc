// Module, Computation, Instruction, ModuleBuilder, and the errors.
#include "bindings.h"
#include "shoal/builder.h"
#include "shoal/transform.h"

using namespace nb::literals;
using shoal::Computation;
using shoal::Instruction;
using shoal::Module;

namespace {

// shoal.Error, which python/shoal/_errors.py defines.
nb::object& ErrorClass() {
  static nb::object* error = new nb::object;
  return *error;
}

nb::dict ToDict(const shoal::Diag& diag) {
  nb::dict dict;
  dict["severity"] = diag.severity == shoal::Severity::kError ? "error" : "warning";
  dict["rule"] = diag.rule;
  dict["message"] = diag.message;
  dict["file"] = diag.at.file;
  dict["line"] = diag.at.line;
  dict["column"] = diag.at.column;
  dict["length"] = diag.at.length;
  return dict;
}

nb::list ToList(std::span<const shoal::Diag> diags) {
  nb::list list;
  for (const shoal::Diag& diag : diags) list.append(ToDict(diag));
  return list;
}

const char* NameOf(shoal::ErrorKind kind) {
  constexpr const char* kNames[] = {"module", "argument", "environment", "memory", "cancelled"};
  return kNames[static_cast<size_t>(kind)];
}

void BindBuilder(nb::module_& m) {
  using shoal::ComputationBuilder;
  using shoal::ModuleBuilder;
  nb::class_<shoal::Value>(m, "Value");
  nb::class_<ComputationBuilder>(m, "ComputationBuilder")
      .def_prop_ro("name", [](const ComputationBuilder& c) { return std::string(c.name()); })
      .def("parameter", [](ComputationBuilder& c, const std::string& shape, const std::string& name) {
        return Unwrap(c.Parameter(shape, name));
      }, "shape"_a, "name"_a = "")
      .def("constant", [](ComputationBuilder& c, const std::string& shape, const std::string& value, const std::string& name) {
        return Unwrap(c.Constant(shape, value, name));
      }, "shape"_a, "value"_a, "name"_a = "")
      .def("add", [](ComputationBuilder& c, const std::string& opcode, const std::vector<shoal::Value>& operands,
                     const std::string& attributes, const std::string& shape, const std::string& name) {
        return Unwrap(c.Add(opcode, operands, attributes, shape, name));
      }, "opcode"_a, "operands"_a, "attributes"_a = "", "shape"_a = "", "name"_a = "")
      .def("shape_of", [](const ComputationBuilder& c, shoal::Value value) { return Unwrap(c.ShapeOf(value)).text; })
      .def("finish", [](ComputationBuilder& c, shoal::Value root) { Unwrap(c.Finish(root)); }, "root"_a);
  nb::class_<ModuleBuilder>(m, "ModuleBuilder")
      .def(nb::init<const std::string&, int64_t, int64_t>(), "name"_a, "replica_count"_a = 1, "num_partitions"_a = 1)
      .def("computation", [](ModuleBuilder& b, const std::string& name) { return b.NewComputation(name); }, "name"_a)
      .def("finish", [](ModuleBuilder& b, const ComputationBuilder& entry) { return Unwrap(b.Finish(entry)); }, "entry"_a);
}

}  // namespace

void Raise(const shoal::Error& error) {
  if (error.kind() == shoal::ErrorKind::kMemory) throw std::bad_alloc();
  nb::object raised = ErrorClass()(error.ToText(), NameOf(error.kind()), ToList(error.diags()));
  PyErr_SetObject(ErrorClass().ptr(), raised.ptr());
  throw nb::python_error();
}

void BindModule(nb::module_& m) {
  m.def("set_error_class", [](nb::object error) { ErrorClass() = std::move(error); });
  m.def("version", [] { return std::string(shoal::Version()); });

  nb::class_<shoal::Shape>(m, "Shape")
      .def_prop_ro("dtype", [](const shoal::Shape& s) { return std::string(shoal::Name(s.type)); })
      .def_prop_ro("dims", [](const shoal::Shape& s) { return nb::tuple(nb::cast(s.dims)); })
      .def_ro("elements", &shoal::Shape::elements)
      .def("__str__", [](const shoal::Shape& s) { return s.text; })
      .def("__repr__", [](const shoal::Shape& s) { return s.text; });

  nb::class_<Instruction>(m, "Instruction", nb::is_weak_referenceable())
      .def_prop_ro("name", [](const Instruction& i) { return std::string(i.name()); })
      .def_prop_ro("opcode", [](const Instruction& i) { return std::string(i.opcode()); })
      .def_prop_ro("shape", &Instruction::shape)
      .def_prop_ro("operands", &Instruction::operands)
      .def_prop_ro("users", &Instruction::users)
      .def_prop_ro("called_computations", &Instruction::called_computations)
      .def_prop_ro("computation", &Instruction::computation)
      .def_prop_ro("attributes", [](const Instruction& i) {
        nb::dict dict;
        for (const shoal::Attribute& attribute : i.attributes()) dict[nb::str(attribute.name.c_str())] = attribute.value;
        return dict;
      })
      .def_prop_ro("op_name", [](const Instruction& i) { return std::string(i.metadata().op_name); })
      .def_prop_ro("source", [](const Instruction& i) { return i.metadata().source; })
      .def_prop_ro("line", [](const Instruction& i) { return i.location().line; })
      .def("__eq__", [](const Instruction& a, const Instruction& b) { return a == b; })
      .def("__hash__", [](const Instruction& i) { return nb::hash(nb::str(std::string(i.name()).c_str())); });

  nb::class_<Computation>(m, "Computation")
      .def_prop_ro("name", [](const Computation& c) { return std::string(c.name()); })
      .def_prop_ro("is_entry", &Computation::is_entry)
      .def_prop_ro("instructions", &Computation::instructions)
      .def_prop_ro("parameters", &Computation::parameters)
      .def_prop_ro("root", &Computation::root)
      .def_prop_ro("line", [](const Computation& c) { return c.location().line; })
      .def("__eq__", [](const Computation& a, const Computation& b) { return a == b; })
      .def("__hash__", [](const Computation& c) { return nb::hash(nb::str(std::string(c.name()).c_str())); });

  nb::class_<Module>(m, "Module", nb::dynamic_attr())
      .def_prop_ro("name", [](const Module& x) { return std::string(x.name()); })
      .def_prop_ro("path", [](const Module& x) { return std::string(x.path()); })
      .def_prop_ro("replica_count", &Module::replica_count)
      .def_prop_ro("num_partitions", &Module::num_partitions)
      .def_prop_ro("is_scheduled", &Module::is_scheduled)
      .def_prop_ro("computations", &Module::computations)
      .def_prop_ro("entry", &Module::entry)
      .def_prop_ro("parameter_shapes", &Module::parameter_shapes)
      .def_prop_ro("result_shape", &Module::result_shape)
      .def_prop_ro("warnings", [](const Module& x) { return ToList(x.warnings()); })
      .def("get", [](const Module& x, const std::string& name) { return x.Find(name); }, "name"_a)
      .def("verify", [](const Module& x) { return ToList(Unwrap(shoal::Verify(x))); })
      .def("to_text", [](const Module& x, const std::string& format, bool elide) {
        shoal::PrintOptions options;
        options.elide_large_constants = elide;
        if (format == "short") options.format = shoal::Format::kShort;
        else if (format == "json") options.format = shoal::Format::kProtoJson;
        else if (format != "hlo") throw nb::value_error("format must be hlo, short or json");
        return Unwrap(shoal::Print(x, options));
      }, "format"_a = "hlo", "elide"_a = false)
      .def("serialize", [](const Module& x) {
        const std::string bytes = Unwrap(shoal::Serialize(x));
        return nb::bytes(bytes.data(), bytes.size());
      });

  m.def("read", [](const std::string& path, bool strict) {
    nb::gil_scoped_release release;
    shoal::Result<Module> module = shoal::Read(path, {strict});
    nb::gil_scoped_acquire acquire;
    return Unwrap(std::move(module));
  }, "path"_a, "strict"_a = false);
  m.def("parse", [](nb::bytes bytes, bool strict, const std::string& name) {
    const std::string_view view(bytes.c_str(), bytes.size());
    return Unwrap(shoal::Parse(view, {strict}, name));
  }, "bytes"_a, "strict"_a = false, "name"_a = "<memory>");
  BindBuilder(m);
}

NB_MODULE(_core, m) {
  BindModule(m);
  BindFacts(m);
  BindBuffers(m);
  BindExecution(m);
}
