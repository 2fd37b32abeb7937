// Transfers between two devices, and arrivals at collectives with members in other processes.
#include "execute/collectives/process_link.h"
#include "execute/collectives/rendezvous.h"
#include "execute/collectives/unmetered.h"

namespace shoal::internal {

void CollectiveRuntime::Deliver(const Instruction& hlo, const Route& route, Arrays contribution) {
  std::unique_lock lock(mutex_);
  const std::shared_ptr<Operation> operation = JoinOperation(hlo, *route.rendezvous, 0);
  if (route.rendezvous->layout != nullptr) {
    lock.unlock();
    return link_->Deliver(hlo, *route.rendezvous, operation->number, std::move(contribution));
  }
  operation->results.resize(2);
  operation->results[1] = std::move(contribution);
  operation->is_complete = true;
  Wake(*operation);
}

Handle CollectiveRuntime::Expect(const Instruction& hlo, const Route& route) {
  std::unique_lock lock(mutex_);
  std::shared_ptr<Operation> operation = JoinOperation(hlo, *route.rendezvous, 1);
  lock.unlock();
  if (route.rendezvous->layout != nullptr) {
    const ScopedUnmeteredThread unmetered;
    link_->Expect(operation);
  }
  return {std::move(operation), 1};
}

// Completes a transfer that comes from another process.
void CollectiveRuntime::CompleteTransfer(Operation& operation, const Instruction& source, Arrays arrays) {
  std::lock_guard lock(mutex_);
  operation.instructions[0] = &source;
  operation.results.resize(2);
  operation.results[1] = std::move(arrays);
  operation.is_complete = true;
  Wake(operation);
}

const GroupLayout* CollectiveRuntime::LayoutOf(const Rendezvous& rendezvous) const { return rendezvous.layout.get(); }

Handle CollectiveRuntime::Arrive(const Instruction& hlo, Rendezvous& rendezvous, int64_t rank, Arrays contribution,
                                 const MakeExchange& exchange) {
  const auto at = static_cast<size_t>(rank);
  bool complete = false;
  std::shared_ptr<Operation> operation = Contribute(hlo, rendezvous, at, std::move(contribution), complete);
  if (complete) {
    const ScopedUnmeteredThread unmetered;
    link_->Begin(operation, exchange());
  }
  return {std::move(operation), at};
}

}  // namespace shoal::internal
