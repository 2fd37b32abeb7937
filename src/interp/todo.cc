// Ops without a meaning yet.
#include "interp/evaluate.h"

namespace shoal {

#define TODO(Name)                                                        \
  template <>                                                             \
  Result<Value> Evaluate<Opcode::k##Name>(Call & call) {                  \
    return Stopped(call.hlo, "the interpreter does not know this op yet"); \
  }
TODO(AllGather)
TODO(AllGatherDone)
TODO(AllGatherStart)
TODO(AllReduce)
TODO(AllReduceDone)
TODO(AllReduceStart)
TODO(AllToAll)
TODO(AsyncDone)
TODO(AsyncStart)
TODO(AsyncUpdate)
TODO(CollectiveBroadcast)
TODO(CollectivePermute)
TODO(CollectivePermuteDone)
TODO(CollectivePermuteStart)
TODO(CollectiveReduce)
TODO(CopyDone)
TODO(CopyStart)
TODO(Infeed)
TODO(Outfeed)
TODO(PartitionId)
TODO(RaggedAllToAll)
TODO(Recv)
TODO(RecvDone)
TODO(ReduceScatter)
TODO(ReplicaId)
TODO(Send)
TODO(SendDone)

}  // namespace shoal
