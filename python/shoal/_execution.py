"""Arrays, compiled modules and the results of runs."""
from . import _core

# Types that NumPy knows only through ml_dtypes. They cross as unsigned integers of the same size.
_BITS = {"bf16": "bfloat16", "f8e5m2": "float8_e5m2", "f8e4m3fn": "float8_e4m3fn", "f8e4m3": "float8_e4m3",
         "f8e3m4": "float8_e3m4", "f8e4m3b11fnuz": "float8_e4m3b11fnuz", "f8e4m3fnuz": "float8_e4m3fnuz",
         "f8e5m2fnuz": "float8_e5m2fnuz", "f8e8m0fnu": "float8_e8m0fnu", "s4": "int4", "u4": "uint4", "s2": "int2",
         "u2": "uint2", "f4e2m1fn": "float4_e2m1fn"}

Array = _core.Array


def _array(self, dtype=None, copy=None):
    """The array as a NumPy array that shares its memory and cannot be written."""
    found = self._bits()
    if self.dtype in _BITS:
        import ml_dtypes
        found = found.view(getattr(ml_dtypes, _BITS[self.dtype]))
    return found.astype(dtype or found.dtype, copy=bool(copy))


Array.__array__ = _array
Array.numpy = lambda self: self.__array__()
Array.tolist = lambda self: self.__array__().tolist()
Array.__repr__ = lambda self: f"<shoal.Array {self.dtype}[{','.join(map(str, self.shape))}]>"


def zeros(shape, dtype="f32"):
    """An array of zeros.

    >>> zeros((2, 2)).shape
    (2, 2)
    """
    dims = ",".join(str(size) for size in shape)
    text = f"HloModule zeros\nENTRY e {{ c = {dtype}[] constant(0)\n ROOT b = {dtype}[{dims}] broadcast(c), dimensions={{}} }}"
    return _core.compile(_core.parse(text.encode()))()


def _plain(array):
    """An array that the extension can read: arrays of ml_dtypes become unsigned integers."""
    dtype = getattr(array, "dtype", None)
    if isinstance(array, Array) or dtype is None:
        return array
    if type(array).__module__.partition(".")[0] == "numpy" and dtype.kind == "V":
        import numpy
        return array.view({1: numpy.uint8, 2: numpy.uint16}[dtype.itemsize])
    return array


class Run:
    """The result of a run. `outputs` are those of device 0; `device(n)` has those of another device."""

    def __init__(self, core):
        self._core = core
        self._outputs = core.outputs

    outputs = property(lambda self: self._outputs[0])
    seconds = property(lambda self: self._core.seconds)
    instructions = property(lambda self: self._core.instructions)
    peak_bytes = property(lambda self: self._core.peak_bytes, doc="Peak memory of the arrays of each device.")

    def device(self, number):
        """The outputs of a device."""
        return self._outputs[number]

    def __iter__(self):
        return iter(self.outputs)

    def __len__(self):
        return len(self.outputs)

    def __getitem__(self, index):
        return self.outputs[index]

    def __str__(self):
        return self._core.to_text().rstrip("\n")

    __repr__ = __str__

    def to_dict(self):
        """The JSON of `shoal run`."""
        import json
        return json.loads(self._core.to_json())


class CompiledModule:
    """A module compiled for this machine. Threads may call it at the same time."""

    def __init__(self, core):
        self._core = core

    num_devices = property(lambda self: self._core.num_devices)
    argument_shapes = property(lambda self: self._core.argument_shapes)
    result_shapes = property(lambda self: self._core.result_shapes)
    compile_seconds = property(lambda self: self._core.compile_seconds)

    def __call__(self, *arrays):
        """Runs the module on one device and returns its output, or a list of outputs."""
        try:
            return self._core(*arrays)
        except TypeError:
            return self._core(*map(_plain, arrays))

    def run(self, *arrays, devices=None, seed=0, progress=False, stub_custom_calls=False, max_seconds=0):
        """Runs the module on all its devices.

        `devices` has a list of arrays for each device; `arrays` are the same for all; without both, arguments are
        generated from `seed`. `progress=True` shows a progress bar if tqdm is installed.
        """
        if devices is None:
            devices = [arrays] * self.num_devices if arrays else self._core.generate_arguments(seed)
        devices = [[_plain(array) for array in device] for device in devices]
        with _Progress(progress) as report:
            return Run(self._core.execute(devices, stub_custom_calls, max_seconds, report))

    def explain(self):
        """The compiled program as text."""
        return self._core.explain()


class _Progress:
    def __init__(self, wanted):
        self.bar = None
        if wanted:
            from tqdm.auto import tqdm
            self.bar = tqdm(unit=" instructions", unit_scale=True)

    def __enter__(self):
        return None if self.bar is None else self.update

    def update(self, done, expected):
        if expected > 0:
            self.bar.total = expected
        self.bar.update(done - self.bar.n)

    def __exit__(self, *_):
        if self.bar is not None:
            self.bar.close()
