#include "cli/options/shoal.h"

#include <new>
#include <system_error>

#include "cli/options/commands.h"
#include "cli/commands/input.h"
#include "cli/options/options.h"

namespace shoal::cli {
namespace {

// In the order of --help.
const std::vector<Command> kCommands = {
    {"check", "Read and verify modules, and show the location of each error", AddCheck},
    {"print", "Print a module as XLA would, or as protobuf, JSON or short text", AddPrint},
    {"run", "Execute a module on as many virtual devices as it was compiled for", AddRun},
    {"compare", "Run two modules on the same inputs and compare their results", AddCompare},
    {"show", "Show the execution skeleton: loops, collectives, matmuls, fusions", AddShow},
    {"comm", "Show the traffic of a module's collectives and their device groups", AddComm},
    {"cost", "Count flops and memory traffic, with loops multiplied by trip count", AddCost},
    {"mem", "Show peak memory and the buffers live at the peak", AddMem},
    {"time", "Predict the step time on a machine, with a breakdown", AddTime},
    {"machines", "List the machines known to shoal time, or the parameters of one", AddMachines},
    {"diff", "Show the semantic differences between two modules and their effect on cost", AddDiff},
    {"stats", "Summarize an XLA dump directory", AddStats},
    {"report", "Write an HTML page that shows one or two modules in a browser", AddReport},
    {"lsp", "Serve editors with the Language Server Protocol over standard input and output", AddLsp},
    {"mcp", "Serve agents with the Model Context Protocol over standard input and output", AddMcp},
    {"ops", "List every HLO op with its class, operands and attributes", AddOps},
    {"opt", "Run optimization passes on a module and print the result", AddOpt},
    {"completion", "Print the completion script for bash, zsh or fish", AddCompletion},
    {"man", "Print the man page of shoal, or of one command", AddMan},
};

// Reports an exception that a command did not handle.
int FailOnException(int argc, char** argv, const std::string& sentence) {
  CommonFlags flags;
  flags.json = HasArgument(argc, argv, "--json");
  return FailOnUsage(sentence, flags);
}

}  // namespace

std::span<const Command> AllCommands() { return kCommands; }

int Shoal(int argc, char** argv) {
  try {
    return RunCommandLine(argc, argv, kCommands);
  } catch (const std::bad_alloc&) {
    return FailOnException(argc, argv, "not enough memory");
  } catch (const std::system_error& error) {  // thread creation failed, usually for lack of memory
    const bool memory = error.code() == std::errc::resource_unavailable_try_again;
    return FailOnException(argc, argv, memory ? "not enough memory for another thread" : error.what());
  } catch (const std::exception& error) {
    return FailOnException(argc, argv, error.what());
  }
}

}  // namespace shoal::cli
