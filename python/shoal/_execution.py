"""Arrays, compiled modules and the results of runs."""
from __future__ import annotations

from . import _core
from ._core import Array

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from types import TracebackType
    from typing import Any

# Types that NumPy knows only through ml_dtypes. They cross as unsigned integers of the same size.
_BITS = {"bf16": "bfloat16", "f8e5m2": "float8_e5m2", "f8e4m3fn": "float8_e4m3fn", "f8e4m3": "float8_e4m3",
         "f8e3m4": "float8_e3m4", "f8e4m3b11fnuz": "float8_e4m3b11fnuz", "f8e4m3fnuz": "float8_e4m3fnuz",
         "f8e5m2fnuz": "float8_e5m2fnuz", "f8e8m0fnu": "float8_e8m0fnu", "s4": "int4", "u4": "uint4", "s2": "int2",
         "u2": "uint2", "f4e2m1fn": "float4_e2m1fn"}
_NUMPY = {"pred": "bool", "s": "int", "u": "uint", "f": "float", "c": "complex"}


def _array(self: Array, dtype: Any = None, copy: bool | None = None) -> Any:
    found = self._bits()
    if self.dtype in _BITS:
        import ml_dtypes
        found = found.view(getattr(ml_dtypes, _BITS[self.dtype]))
    return found.astype(dtype or found.dtype, copy=bool(copy))


def _tolist(self: Array) -> Any:
    try:
        return memoryview(self).tolist()
    except (BufferError, NotImplementedError):
        return _array(self).tolist()


def _len(self: Array) -> int:
    if not self.shape:
        raise TypeError("a scalar has no length")
    return self.shape[0]


def _scalar(self: Array) -> Any:
    value = self.tolist()
    while isinstance(value, list):
        if len(value) != 1:
            raise TypeError(f"only an array of one element is a number, this one is {self!r}")
        value = value[0]
    return value


for _name, _method in {
        "__array__": _array, "numpy": lambda self: _array(self), "tolist": _tolist, "item": _scalar, "__len__": _len,
        "__float__": lambda self: float(_scalar(self)), "__int__": lambda self: int(_scalar(self)),
        "__bool__": lambda self: bool(_scalar(self)),
        "__repr__": lambda self: f"<shoal.Array {self.dtype}[{','.join(map(str, self.shape))}]>"}.items():
    setattr(Array, _name, _method)


def zeros(shape: Sequence[int], dtype: str = "f32") -> Array:
    """An array of zeros.

    >>> zeros((2, 2)).shape
    (2, 2)
    """
    dims = ",".join(str(size) for size in shape)
    zero = "false" if dtype == "pred" else "(0, 0)" if dtype[0] == "c" else "0"
    text = f"HloModule zeros\nENTRY e {{ c = {dtype}[] constant({zero})\n ROOT b = {dtype}[{dims}] broadcast(c), dimensions={{}} }}"
    made: Array = _core.compile(_core.parse(text.encode()), "interp")()
    return made


def _numpy_type(dtype: str) -> Any:
    import numpy
    if dtype in _BITS:
        import ml_dtypes
        return numpy.dtype(getattr(ml_dtypes, _BITS[dtype]))
    return numpy.dtype(_NUMPY.get(dtype) or _NUMPY[dtype[0]] + dtype[1:])


def _plain(value: Any, shape: _core.Shape | None) -> Any:
    """A value that the extension can read. Numbers and lists become arrays, and those of ml_dtypes unsigned integers."""
    if isinstance(value, Array):
        return value
    if isinstance(value, (bool, int, float, complex, list, tuple)) and shape is not None:
        import numpy
        value = numpy.asarray(value, _numpy_type(shape.dtype))
    dtype = getattr(value, "dtype", None)
    if type(value).__module__.partition(".")[0] == "numpy" and dtype is not None and dtype.kind == "V":
        import numpy
        return value.view({1: numpy.uint8, 2: numpy.uint16}[dtype.itemsize])
    return value


class Run:
    """The result of a run. `outputs` are those of device 0; `device(n)` has those of another device."""

    def __init__(self, core: _core.RunResult) -> None:
        self._core = core
        self._outputs = core.outputs

    @property
    def outputs(self) -> list[Array]:
        """The outputs of device 0."""
        return self._outputs[0]

    @property
    def seconds(self) -> float:
        """The time of the run."""
        return self._core.seconds

    @property
    def instructions(self) -> int:
        """The number of executed instructions, on all devices."""
        return self._core.instructions

    @property
    def peak_bytes(self) -> list[int]:
        """Peak memory of the arrays of each device."""
        return self._core.peak_bytes

    def device(self, number: int) -> list[Array]:
        """The outputs of a device."""
        return self._outputs[number]

    def __iter__(self) -> Iterator[Array]:
        return iter(self.outputs)

    def __len__(self) -> int:
        return len(self.outputs)

    def __getitem__(self, index: int) -> Array:
        return self.outputs[index]

    def __str__(self) -> str:
        return self._core.to_text().rstrip("\n")

    __repr__ = __str__

    def to_dict(self) -> dict[str, Any]:
        """The JSON of `shoal run`."""
        import json
        data: dict[str, Any] = json.loads(self._core.to_json())
        return data


class CompiledModule:
    """A module compiled for this machine. Threads may call it at the same time.

    >>> import shoal
    >>> text = "HloModule m\\nENTRY e { p = f32[2] parameter(0)\\n ROOT r = f32[2] negate(p) }"
    >>> compiled = shoal.load(text).compile()
    >>> compiled([1, -2]).tolist()
    [-1.0, 2.0]
    >>> compiled.argument_shapes, compiled.num_devices, compiled.engine
    ([f32[2]{0}], 1, 'jit')
    """

    def __init__(self, core: _core.CompiledModule) -> None:
        self._core = core

    @property
    def num_devices(self) -> int:
        """The number of virtual devices."""
        return self._core.num_devices

    @property
    def argument_shapes(self) -> list[_core.Shape]:
        """The shapes of the arguments of a device. Tuples are flattened."""
        return self._core.argument_shapes

    @property
    def result_shapes(self) -> list[_core.Shape]:
        """The shapes of the outputs of a device."""
        return self._core.result_shapes

    @property
    def compile_seconds(self) -> float:
        """The time of the compilation."""
        return self._core.compile_seconds

    @property
    def engine(self) -> str:
        """The engine in use: jit or interp."""
        return self._core.engine

    @property
    def warnings(self) -> list[str]:
        """Problems from which the compilation recovered."""
        return self._core.warnings

    def __repr__(self) -> str:
        shapes = ", ".join(map(str, self.argument_shapes)), ", ".join(map(str, self.result_shapes))
        devices = f", {self.num_devices} devices" if self.num_devices > 1 else ""
        return f"<shoal.CompiledModule ({shapes[0]}) -> ({shapes[1]}){devices}>"

    def __call__(self, *arrays: Any) -> Any:
        """Runs the module on one device and returns its output, or a list of outputs."""
        try:
            return self._core(*arrays)
        except TypeError:
            return self._core(*self._read(arrays))

    def _read(self, arrays: Sequence[Any]) -> list[Any]:
        shapes = self.argument_shapes
        return [_plain(array, shapes[i] if i < len(shapes) else None) for i, array in enumerate(arrays)]

    def run(self, *arrays: Any, devices: Sequence[Sequence[Any]] | None = None, seed: int = 0, progress: bool = False,
            stub_custom_calls: bool = False, max_seconds: float = 0) -> Run:
        """Runs the module on all its devices.

        `devices` has a list of arrays for each device; `arrays` are the same for all; without both, arguments are
        generated from `seed`. `progress=True` shows a progress bar if tqdm is installed.
        """
        if devices is None:
            devices = [arrays] * self.num_devices if arrays else self._core.generate_arguments(seed)
        devices = [self._read(device) for device in devices]
        with _Progress(progress) as report:
            return Run(self._core.execute(devices, stub_custom_calls, max_seconds, report))

    def explain(self) -> str:
        """The compiled program as text."""
        return self._core.explain()


class _Progress:
    def __init__(self, wanted: bool) -> None:
        self.bar: Any = None
        if wanted:
            from tqdm.auto import tqdm
            self.bar = tqdm(unit=" instructions", unit_scale=True)

    def __enter__(self) -> Callable[[float, float], None] | None:
        return None if self.bar is None else self.update

    def update(self, done: float, expected: float) -> None:
        if expected > 0:
            self.bar.total = expected
        self.bar.update(done - self.bar.n)

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 traceback: TracebackType | None) -> None:
        if self.bar is not None:
            self.bar.close()
