"""Programs in the style of PyTorch/XLA's users. Run by run.py, which sets XLA_FLAGS: XLA dumps every graph, before and
after optimization, as text and protobuf. A graph's parameters are in an order of its own, so there are no values."""
import os
import pathlib
import sys

os.environ.setdefault("PJRT_DEVICE", "CPU")
import torch
import torch_xla
import torch_xla.core.xla_model as xm


class Block(torch.nn.Module):
    def __init__(self, width=16, heads=2):
        super().__init__()
        self.heads = heads
        self.norm = torch.nn.LayerNorm(width)
        self.qkv = torch.nn.Linear(width, 3 * width)
        self.out = torch.nn.Linear(width, width)
        self.mlp = torch.nn.Sequential(torch.nn.Linear(width, 4 * width), torch.nn.GELU(), torch.nn.Linear(4 * width, width))

    def forward(self, x):
        b, t, c = x.shape
        q, k, v = self.qkv(self.norm(x)).reshape(b, t, 3, self.heads, c // self.heads).permute(2, 0, 3, 1, 4)
        scores = (q @ k.transpose(-1, -2)) / (c // self.heads) ** 0.5
        x = x + self.out((scores.softmax(-1) @ v).transpose(1, 2).reshape(b, t, c))
        return x + self.mlp(x)


class Convnet(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3, padding=1), torch.nn.BatchNorm2d(4), torch.nn.ReLU(),
                                          torch.nn.MaxPool2d(2), torch.nn.Flatten(), torch.nn.Linear(64, 5))

    def forward(self, x):
        return self.layers(x)


def train(model, optimizer_of, inputs, targets, loss):
    device = xm.xla_device()
    model = model.to(device)
    optimizer = optimizer_of(model.parameters())
    for _ in range(2):
        optimizer.zero_grad()
        loss(model(inputs.to(device)), targets.to(device)).backward()
        optimizer.step()
        xm.mark_step()


def rope(x, base):
    frequencies = base ** (-torch.arange(0, x.shape[-1], 2, device=x.device) / x.shape[-1])
    angles = torch.arange(x.shape[0], device=x.device)[:, None] * frequencies
    return torch.cat([x[:, ::2] * angles.cos() - x[:, 1::2] * angles.sin(), x[:, 1::2] * angles.cos()], -1)


def main(folder):
    torch.manual_seed(0)
    train(Block(), lambda p: torch.optim.AdamW(p, lr=1e-3), torch.randn(2, 5, 16), torch.randn(2, 5, 16),
          torch.nn.functional.mse_loss)
    train(Convnet(), lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9), torch.randn(4, 3, 8, 8), torch.randint(0, 5, (4,)),
          torch.nn.functional.cross_entropy)
    device = xm.xla_device()
    x = torch.randn(6, 8).to(device)
    rope(x, torch.tensor(10000.0).to(device))
    results = [rope(x, torch.tensor(10000.0).to(device)), x.sort(0)[0], x.topk(3)[0], x.cumsum(1), torch.linalg.qr(x)[1].abs()]
    with torch.autocast("xla", dtype=torch.bfloat16):
        results.append(x @ x.t())
    xm.mark_step()
    print(sum(float(r.float().sum().cpu()) for r in results))


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
