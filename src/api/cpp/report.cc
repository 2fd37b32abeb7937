#include "shoal/report.h"

#include "api/cpp/predict_state.h"
#include "present/page/page.h"

namespace shoal::inline v0_1 {

Result<HtmlPage> Page(const Facts& a, const PageOptions& options, const Facts* b) {
  if (options.devices_per_node < 1 || options.budget.value_or(0) < 0)
    return internal::ArgumentError("devices_per_node must be positive, and the budget must not be negative");
  return internal::Guarded([&]() -> Result<HtmlPage> {
    const auto input = [](const Facts& facts) -> internal::PageInput {
      return {facts.state()->file(), std::shared_ptr<const internal::ModuleFacts>(facts.state(), &facts.state()->facts)};
    };
    internal::PageOptions inner;
    for (const Machine& machine : options.machines) inner.machines.push_back(machine.state()->machine);
    inner.profiles = options.profiles;
    inner.devices_per_node = options.devices_per_node;
    inner.budget = options.budget.value_or(-1);
    const internal::PageInput first = input(a), second = b != nullptr ? input(*b) : internal::PageInput();
    auto page = internal::MakePage(first, b != nullptr ? &second : nullptr, inner);
    if (!page.ok()) return internal::ArgumentError(page.diag().message);
    return HtmlPage{std::move(page->html), std::move(page->directory)};
  });
}

}  // namespace shoal::inline v0_1
