// Module, Computation, Instruction, and the errors.
#include "bindings.h"
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

}  // namespace

void Raise(const shoal::Error& error) {
  if (error.kind() == shoal::ErrorKind::kMemory) throw std::bad_alloc();
  nb::object raised = ErrorClass()(error.ToText(), NameOf(error.kind()), ToList(error.diags()));
  PyErr_SetObject(ErrorClass().ptr(), raised.ptr());
  throw nb::python_error();
}

// "sum = f32[2]{0} add(a, b)", with the attributes if `full`.
std::string TextOf(const Instruction& hlo, bool full) {
  std::string text = std::string(hlo.name()) + " = " + hlo.shape().text + " " + std::string(hlo.opcode()) + "(";
  const char* separator = "";
  for (const Instruction& operand : hlo.operands()) {
    text += separator + std::string(operand.name());
    separator = ", ";
  }
  text += ")";
  if (!full) return text;
  for (const shoal::Attribute& attribute : hlo.attributes()) text += ", " + attribute.name + "=" + attribute.value;
  return text;
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
      .def_prop_ro("source_stack", [](const Instruction& i) {
        nb::list frames;
        for (const shoal::SourceFrame& frame : i.source_stack())
          frames.append(nb::make_tuple(std::string(frame.file), frame.line, std::string(frame.function)));
        return frames;
      })
      .def_prop_ro("line", [](const Instruction& i) { return i.location().line; })
      .def("__str__", [](const Instruction& i) { return TextOf(i, true); })
      .def("__repr__", [](const Instruction& i) { return "<shoal.Instruction " + TextOf(i, false) + ">"; })
      .def("__eq__", [](const Instruction& a, const Instruction& b) { return a == b; })
      .def("__hash__", [](const Instruction& i) { return nb::hash(nb::str(std::string(i.name()).c_str())); });

  nb::class_<Computation>(m, "Computation")
      .def_prop_ro("name", [](const Computation& c) { return std::string(c.name()); })
      .def_prop_ro("is_entry", &Computation::is_entry)
      .def_prop_ro("instructions", &Computation::instructions)
      .def_prop_ro("parameters", &Computation::parameters)
      .def_prop_ro("root", &Computation::root)
      .def_prop_ro("line", [](const Computation& c) { return c.location().line; })
      .def("__repr__", [](const Computation& c) {
        return "<shoal.Computation " + std::string(c.name()) + ": " + std::to_string(c.instructions().size()) + " instructions>";
      })
      .def("__iter__", [](const Computation& c) { return nb::iter(nb::cast(c.instructions())); })
      .def("__len__", [](const Computation& c) { return c.instructions().size(); })
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
        else if (format == "stablehlo") options.format = shoal::Format::kStablehlo;
        else if (format != "hlo") throw nb::value_error("format must be hlo, short, json or stablehlo");
        return Unwrap(shoal::Print(x, options));
      }, "format"_a = "hlo", "elide"_a = false)
      .def("serialize", [](const Module& x) {
        const std::string bytes = Unwrap(shoal::Serialize(x));
        return nb::bytes(bytes.data(), bytes.size());
      });

  m.def("read", [](const std::string& path, bool strict, const std::vector<std::string>& own_packages) {
    nb::gil_scoped_release release;
    shoal::Result<Module> module = shoal::Read(path, {.strict = strict, .own_packages = own_packages});
    nb::gil_scoped_acquire acquire;
    return Unwrap(std::move(module));
  }, "path"_a, "strict"_a = false, "own_packages"_a = std::vector<std::string>());
  m.def("parse", [](nb::bytes bytes, bool strict, const std::string& name, const std::vector<std::string>& own_packages) {
    const std::string_view view(bytes.c_str(), bytes.size());
    auto module = [&] {
      nb::gil_scoped_release release;
      return shoal::Parse(view, {.strict = strict, .own_packages = own_packages}, name);
    }();
    return Unwrap(std::move(module));
  }, "bytes"_a, "strict"_a = false, "name"_a = "<memory>", "own_packages"_a = std::vector<std::string>());
}

NB_MODULE(_core, m) {
  BindModule(m);
  BindBuilder(m);
  BindFacts(m);
  BindBuffers(m);
  BindExecution(m);
}
