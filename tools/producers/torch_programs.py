"""Programs in the style of PyTorch/XLA's users. Run by run.py, which sets XLA_FLAGS: XLA dumps every graph, before and
after optimization, as text and protobuf. A graph's parameters are in an order of its own, so there are no values.

    torch_programs.py FOLDER train | spmd | replicas      # spmd and replicas with CPU_NUM_DEVICES devices
"""
import os
import sys

os.environ.setdefault("PJRT_DEVICE", "CPU")
import numpy as np
import torch
import torch_xla
import torch_xla.core.xla_model as xm
import torch_xla.runtime as xr
from torch.nn import functional as F

import torch_models as models


def train(model, optimizer_of, inputs, targets, loss, steps=2, shard=lambda model, inputs: None):
    device = xm.xla_device()
    model, inputs, targets = model.to(device), inputs.to(device), targets.to(device)
    shard(model, inputs)
    optimizer = optimizer_of(model.parameters())
    xm.mark_step()
    for _ in range(steps):
        optimizer.zero_grad()
        loss(model(inputs), targets).backward()
        xm.optimizer_step(optimizer)
        xm.mark_step()
    print(type(model).__name__, sum(float(p.float().abs().sum().cpu()) for p in model.parameters()))


def language_loss(logits, ids):
    return F.cross_entropy(logits[:, :-1].flatten(0, 1), ids[:, 1:].flatten())


def adam(parameters):
    return torch.optim.AdamW(parameters, lr=1e-3)


def momentum(parameters):
    return torch.optim.SGD(parameters, lr=0.1, momentum=0.9)


def singles():
    ids = torch.randint(1, 11, (2, 6))
    for model in (models.Llama, models.Gpt2, models.Bert, models.T5):
        yield model.__name__, lambda: train(model(), adam, ids, ids, language_loss)
    yield "Convnet", lambda: train(models.Convnet(), momentum, torch.randn(4, 3, 8, 8), torch.randint(0, 5, (4,)), F.cross_entropy)
    yield "Mlp", lambda: train(models.Mlp(8, 16, 4), momentum, torch.randn(6, 8), torch.randn(6, 4), F.mse_loss)
    for batch in (3, 5):  # recompilations
        yield f"Mlp {batch}", lambda: train(models.Mlp(8, 4), momentum, torch.randn(batch, 8), torch.randn(batch, 4), F.mse_loss)
    yield "ops", ops
    yield "autocast", autocast


def ops():
    device = xm.xla_device()
    x = torch.randn(6, 8).to(device)
    results = [models.rope(x, torch.tensor(10000.0).to(device)), x.sort(0)[0], x.topk(3)[0], x.cumsum(1), torch.linalg.qr(x)[1].abs(),
               torch.nn.functional.one_hot((x[:, 0] > 0).long(), 3), x.index_add(0, torch.tensor([1, 1]).to(device), x[:2]),
               x.scatter(1, x.argsort(1)[:, :2], 0.0), F.interpolate(x[None, None], scale_factor=2), torch.bernoulli(x.sigmoid())]
    xm.mark_step()
    print(sum(float(r.float().sum().cpu()) for r in results))


def autocast():
    x = torch.randn(6, 8).to(xm.xla_device())
    model = models.Mlp(8, 16, 4).to(x.device)
    with torch.autocast("xla", dtype=torch.bfloat16):
        model(x).float().sum().backward()
    xm.mark_step()


def sharded():
    """On a mesh of all devices: data, tensor and uneven parallelism."""
    import torch_xla.distributed.spmd as xs
    count = xr.global_runtime_device_count()
    data = xs.Mesh(np.arange(count), (count,), ("data",))
    both = xs.Mesh(np.arange(count), (2, count // 2), ("data", "model"))
    ids = torch.randint(1, 11, (count, 6))

    def tensor_parallel(model, inputs):
        xs.mark_sharding(inputs, both, ("data", None))
        for name, weight in model.named_parameters():
            if weight.dim() == 2 and "embed" not in name and "token" not in name:
                xs.mark_sharding(weight, both, (None, "model") if "down" in name or "out" in name else ("model", None))

    rows = lambda model, inputs: xs.mark_sharding(inputs, data, ("data",) + (None,) * (inputs.dim() - 1))
    yield "Mlp", lambda: train(models.Mlp(8, 16, 4), momentum, torch.randn(16, 8), torch.randn(16, 4), F.mse_loss, shard=rows)
    yield "uneven Mlp", lambda: train(models.Mlp(8, 16, 4), momentum, torch.randn(count + 3, 8), torch.randn(count + 3, 4), F.mse_loss, shard=rows)
    yield "Convnet", lambda: train(models.Convnet(), momentum, torch.randn(count, 3, 8, 8), torch.randint(0, 5, (count,)), F.cross_entropy, shard=rows)
    yield "Llama", lambda: train(models.Llama(), adam, ids, ids, language_loss, shard=tensor_parallel)
    yield "Gpt2", lambda: train(models.Gpt2(), adam, ids, ids, language_loss, shard=tensor_parallel)

    def gather():
        x = torch.randn(3, 8).to(xm.xla_device())
        xs.mark_sharding(x, data, ("data", None))
        rows = x.sort(0)[0][torch.tensor([2, 0]).to(x.device)]
        xs.mark_sharding(rows, data, (None, "data"))
        xm.mark_step()
        print(float(rows.sum().cpu()))
    yield "uneven gather", gather


def replica(index):
    """A process or thread of its own for each device."""
    torch.manual_seed(index)
    train(models.Mlp(8, 16, 4), momentum, torch.randn(6, 8), torch.randn(6, 4), F.mse_loss)
    x = torch.randn(4, 4).to(xm.xla_device())
    every = xm.all_gather(x), xm.reduce_scatter(xm.REDUCE_SUM, x, 1.0, 0, xr.world_size()), xm.all_to_all(x, 0, 0, xr.world_size())
    xm.mark_step()
    print(index, [float(e.sum().cpu()) for e in every])


def main(mode):
    torch.manual_seed(0)
    if mode == "replicas":
        import torch_xla.distributed.xla_multiprocessing as xmp
        return xmp.spawn(replica, args=())
    if mode == "spmd":
        xr.use_spmd()
    for name, program in sharded() if mode == "spmd" else singles():
        try:
            program()
        except Exception as error:
            print(f"{name}: not produced: {str(error).splitlines()[0]}")


if __name__ == "__main__":
    main(sys.argv[2])
