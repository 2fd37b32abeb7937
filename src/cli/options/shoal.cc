#include "cli/options/shoal.h"

#include <new>
#include <system_error>

#include "cli/options/commands.h"
#include "cli/commands/output.h"

namespace shoal::internal {
namespace {

// In the order in which --help lists them.
const std::vector<Verb> kVerbs = {
    {"check", "Read and verify modules; each error with its place and a caret", AddCheck},
    {"print", "Print a module as XLA would, or as .pb, JSON or short text", AddPrint},
    {"run", "Execute a module on as many virtual devices as it was compiled for", AddRun},
    {"compare", "Run two modules on the same inputs and compare their results", AddCompare},
    {"show", "Show what a module does: loops, collectives, products, fusions", AddShow},
    {"comm", "Say what a module's collectives move, between whom and over what", AddComm},
    {"cost", "Say what a module computes and moves, with loops counted as they run", AddCost},
    {"mem", "Say how much memory a module needs, and what is there when it needs most", AddMem},
    {"time", "Predict how long a step takes on a machine, and where the time goes", AddTime},
    {"machines", "List the machines that time knows, or the figures of one", AddMachines},
    {"diff", "Say what changed in meaning between two modules, and in cost", AddDiff},
    {"stats", "Give an overview of a folder that XLA dumped into", AddStats},
    {"report", "Write a page that shows a module, or two, in any browser", AddReport},
    {"ops", "List every HLO op with its class, operands and attributes", AddOps},
    {"opt", "Run the engine's passes over a module and print the result", AddOpt},
};

}  // namespace

int Shoal(int argc, char** argv) {
  try {
    return RunCommand(argc, argv, kVerbs);
  } catch (const std::bad_alloc&) {
    return PrintError("not enough memory");
  } catch (const std::system_error& error) {  // a thread needs memory too
    const bool memory = error.code() == std::errc::resource_unavailable_try_again;
    return PrintError(memory ? "not enough memory for another thread" : error.what());
  } catch (const std::exception& error) {
    return PrintError(error.what());
  }
}

}  // namespace shoal::internal
