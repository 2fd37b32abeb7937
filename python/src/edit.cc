// ModuleBuilder and ModuleEditor.
#include "bindings.h"
#include "shoal/edit.h"

using namespace nb::literals;
using shoal::ComputationBuilder;
using shoal::Instruction;
using shoal::ModuleBuilder;
using shoal::ModuleEditor;

void BindBuilder(nb::module_& m) {
  nb::class_<shoal::Value>(m, "Value");
  nb::class_<ComputationBuilder>(m, "ComputationBuilder")
      .def_prop_ro("name", [](const ComputationBuilder& c) { return std::string(c.name()); })
      .def("parameter", [](ComputationBuilder& c, const std::string& shape, const std::string& name) {
        return Unwrap(c.Parameter(shape, name));
      }, "shape"_a, "name"_a = "", "Adds the next parameter; `shape` is HLO text: \"f32[2,3]\".")
      .def("constant", [](ComputationBuilder& c, const std::string& shape, const std::string& value, const std::string& name) {
        return Unwrap(c.Constant(shape, value, name));
      }, "shape"_a, "value"_a, "name"_a = "", "Adds a constant; `value` is HLO text: \"1\", \"{1, 2}\".")
      .def("add", [](ComputationBuilder& c, const std::string& opcode, const std::vector<shoal::Value>& operands,
                     const std::string& attributes, const std::string& shape, const std::string& name) {
        return Unwrap(c.Add(opcode, operands, attributes, shape, name));
      }, "opcode"_a, "operands"_a, "attributes"_a = "", "shape"_a = "", "name"_a = "",
         "Adds any other op. `attributes` is HLO text; without `shape`, the shape is inferred.")
      .def("shape_of", [](const ComputationBuilder& c, shoal::Value value) { return Unwrap(c.ShapeOf(value)).text; },
           "value"_a, "The shape of a value as HLO text.")
      .def("finish", [](ComputationBuilder& c, shoal::Value root) { Unwrap(c.Finish(root)); }, "root"_a,
           "Sets the root. Nothing can be added afterwards.");
  nb::class_<ModuleBuilder>(m, "ModuleBuilder")
      .def(nb::init<const std::string&, int64_t, int64_t>(), "name"_a, "replica_count"_a = 1, "num_partitions"_a = 1)
      .def("computation", [](ModuleBuilder& b, const std::string& name) { return b.NewComputation(name); }, "name"_a)
      .def("finish", [](ModuleBuilder& b, const ComputationBuilder& entry) { return Unwrap(b.Finish(entry)); }, "entry"_a);
  nb::class_<ModuleEditor>(m, "ModuleEditor")
      .def("__init__", [](ModuleEditor* self, const shoal::Module& module) { new (self) ModuleEditor(Unwrap(ModuleEditor::Of(module))); },
           "module"_a)
      .def("computations", &ModuleEditor::computations)
      .def("entry", &ModuleEditor::entry)
      .def("get", [](const ModuleEditor& e, const std::string& name) { return e.Find(name); }, "name"_a)
      .def("add", [](ModuleEditor& e, const std::string& opcode, const std::vector<Instruction>& operands,
                     const std::string& attributes, const std::string& shape, const std::string& name,
                     const std::optional<Instruction>& at) {
        return Unwrap(e.Add(opcode, operands, attributes, shape, name, at));
      }, "opcode"_a, "operands"_a, "attributes"_a, "shape"_a, "name"_a, "at"_a.none())
      .def("constant", [](ModuleEditor& e, const std::string& shape, const std::string& value, const Instruction& at,
                          const std::string& name) { return Unwrap(e.Constant(shape, value, at, name)); },
           "shape"_a, "value"_a, "at"_a, "name"_a)
      .def("computation", [](ModuleEditor& e, const std::string& name) { return Unwrap(e.NewComputation(name)); }, "name"_a)
      .def("replace", [](ModuleEditor& e, const Instruction& hlo, const Instruction& by) { Unwrap(e.Replace(hlo, by)); },
           "hlo"_a, "by"_a)
      .def("set_operand", [](ModuleEditor& e, const Instruction& hlo, int64_t index, const Instruction& operand) {
        Unwrap(e.SetOperand(hlo, index, operand));
      }, "hlo"_a, "index"_a, "operand"_a)
      .def("set_attributes", [](ModuleEditor& e, const Instruction& hlo, const std::string& attributes) {
        Unwrap(e.SetAttributes(hlo, attributes));
      }, "hlo"_a, "attributes"_a)
      .def("set_root", [](ModuleEditor& e, const Instruction& hlo) { Unwrap(e.SetRoot(hlo)); }, "hlo"_a)
      .def("remove", [](ModuleEditor& e, const Instruction& hlo) { Unwrap(e.Remove(hlo)); }, "hlo"_a)
      .def("finish", [](ModuleEditor& e) { return Unwrap(e.Finish()); });
}
