#include <dlfcn.h>
#include <unistd.h>

#include <charconv>
#include <cstdlib>

#include "core/base/loadable_part.h"
#include "core/base/settings.h"
#include "core/base/strings.h"
#include "core/base/environment_error.h"
#include "execute/transport/communicator.h"
#include "execute/transport/load.h"

namespace shoal::internal {
namespace {

// Environment variables in which launchers pass rank and size.
struct Variables {
  const char *rank, *size;
};
constexpr Variables kLaunchers[] = {
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},  // Open MPI
    {"PMI_RANK", "PMI_SIZE"},                          // Hydra (MPICH, Intel MPI), srun --mpi=pmi2
    {"PMIX_RANK", "SLURM_STEP_NUM_TASKS"},             // srun --mpi=pmix
};

std::optional<int> Number(const char* variable) {
  const char* text = std::getenv(variable);
  if (text == nullptr) return std::nullopt;
  const std::string_view view(text);
  int number = 0;
  const auto [end, error] = std::from_chars(view.data(), view.data() + view.size(), number);
  if (view.empty() || error != std::errc() || end != view.data() + view.size()) return std::nullopt;
  return number;
}

}  // namespace

std::optional<LaunchInfo> LaunchedByMpi() {
  for (const Variables& launcher : kLaunchers)
    if (const std::optional<int> rank = Number(launcher.rank))
      return LaunchInfo{*rank, Number(launcher.size).value_or(0)};
  return std::nullopt;
}

Result<std::unique_ptr<Communicator>> LoadMpi() {
  constexpr char kLibrary[] = "libshoal_mpi.so";
  const std::string path = PathOfPart(kLibrary);
  std::string error;
  // RTLD_GLOBAL: MPI's own plugins resolve its symbols in the program's global scope.
  void* library = OpenPart(kLibrary, RTLD_NOW | RTLD_GLOBAL, error);
  if (library == nullptr && access(path.c_str(), R_OK) != 0)
    return EnvironmentError(StrCat("this shoal was built without MPI: ", path,
                                   " does not exist; install libopenmpi-dev and build again (./shoal notices it), or run all devices "
                                   "in this process with ", Setting("transport=threads")));
  if (library == nullptr) return EnvironmentError(StrCat("cannot load MPI: ", error));
  auto* make = reinterpret_cast<Communicator* (*)()>(dlsym(library, "shoal_new_mpi_communicator"));
  if (make == nullptr) return EnvironmentError(StrCat(path, " is not shoal's MPI library; reinstall shoal"));
  std::unique_ptr<Communicator> communicator(make());
  if (communicator == nullptr)
    return EnvironmentError("this MPI library does not support MPI_THREAD_SERIALIZED; use a thread-safe build");
  return communicator;
}

}  // namespace shoal::internal
