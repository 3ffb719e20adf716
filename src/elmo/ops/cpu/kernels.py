"""What `kernels.cpp` computes, on arrays: packed weights, the projected LSTM, the character encoder.

A packed matrix holds the numbers of one [K, N] in the order in which a CPU reads them, as float32, as bfloat16 or as
int8 with a scale for each column. Sizes as in `lstmp` and `charconv`.
"""

import ctypes
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from elmo.ops.cpu.characters import CharWeights, check_rows
from elmo.ops.cpu.library import Library, cpu_library
from elmo.ops.cpu.memory import aligned_bytes, release_pages
from elmo.ops.cpu.packed_file import PackedFile
from elmo.ops.cpu.threads import CPU_THREADS
from elmo.ops.steps import FORGET_BIAS, LSTMPState

Floats = npt.NDArray[np.float32]
Products = Literal["float32", "int8", "bfloat16"]  # what the factors of matrix products are; sums are float32
NUMBERS: dict[Products, int] = {"float32": 0, "int8": 1, "bfloat16": 2}  # as in products.h


class _Matrix(ctypes.Structure):
    _fields_ = (
        ("data", ctypes.c_void_p),
        ("inputs", ctypes.c_int64),
        ("outputs", ctypes.c_int64),
        ("numbers", ctypes.c_int64),
    )


class _Layer(ctypes.Structure):
    _fields_ = (("x", _Matrix), ("h", _Matrix), ("projection", _Matrix), ("bias", ctypes.c_void_p))


class _Sizes(ctypes.Structure):
    _fields_ = (
        *((name, ctypes.c_int64) for name in ("T", "B", "D", "H", "P")),
        ("cell_clip", ctypes.c_float),
        ("projection_clip", ctypes.c_float),
    )


class _Encoder(ctypes.Structure):
    _fields_ = (
        ("table", ctypes.c_void_p),
        *((name, ctypes.c_int64) for name in ("E", "C", "padding", "widths", "F")),
        ("width", ctypes.c_void_p),
        ("filters", ctypes.c_void_p),
        ("bias", ctypes.c_void_p),
        ("tanh_activation", ctypes.c_int64),
        ("highways", ctypes.c_int64),
        ("carry", ctypes.c_void_p),
        ("transform", ctypes.c_void_p),
        ("carry_bias", ctypes.c_void_p),
        ("transform_bias", ctypes.c_void_p),
        ("projection", _Matrix),
        ("projection_bias", ctypes.c_void_p),
        ("D", ctypes.c_int64),
    )


@dataclass(frozen=True)
class PackedMatrix:
    """One matrix in the kernels' layout; `data` owns the memory."""

    data: npt.NDArray[np.uint8]
    inputs: int
    outputs: int
    products: Products

    @property
    def _struct(self) -> _Matrix:
        return _Matrix(self.data.ctypes.data, self.inputs, self.outputs, NUMBERS[self.products])


def kernels_run() -> bool:
    """Whether the compiled kernels are there."""
    return cpu_library() is not None


def kernels_multiply_bfloat16() -> bool:
    """Whether the compiled kernels are there and have instructions for it, which have been proved with them."""
    library = cpu_library()
    return library is not None and bool(library.elmo_multiplies_bfloat16())


def _library() -> Library:
    library = cpu_library()
    assert library is not None, "ask kernels_run first"
    return library


def _panel() -> int:
    return int(_library().elmo_panel_width())


def pack(
    weight: Floats,
    *,
    products: Products,
    order: npt.NDArray[np.int64] | None = None,
    file: PackedFile | None = None,
) -> PackedMatrix:
    """weight: [K, N], rows contiguous. `order`: the columns, -1 for zeros; as they stand without it.

    A `file` that has the matrix spares the work. The weight's own pages are given back where they are mapped.
    """
    library, (K, N) = _library(), weight.shape
    if order is None:
        order = _padded(np.arange(N))
    assert weight.dtype == np.float32
    assert weight.strides[1] == weight.itemsize
    assert len(order) % _panel() == 0
    size = library.elmo_packed_size
    size.restype = ctypes.c_int64
    bytes_ = size(ctypes.c_int64(K), ctypes.c_int64(len(order)), ctypes.c_int64(NUMBERS[products]))
    columns = np.ascontiguousarray(order, dtype=np.int64)

    def make(data: npt.NDArray[np.uint8]) -> None:
        failed = library.elmo_pack(
            ctypes.c_void_p(weight.ctypes.data),
            ctypes.c_int64(K),
            ctypes.c_int64(weight.strides[0] // weight.itemsize),
            ctypes.c_void_p(columns.ctypes.data),
            ctypes.c_int64(len(columns)),
            ctypes.c_int64(NUMBERS[products]),
            ctypes.c_void_p(data.ctypes.data),
            ctypes.c_int64(CPU_THREADS.count),
        )
        if failed:
            raise MemoryError("out of memory where weights are packed")
        release_pages(weight)

    if file is None:
        data = aligned_bytes(bytes_)
        make(data)
    else:
        data = file.take(bytes_, make)
    return PackedMatrix(data, K, len(columns), products)


def _padded(order: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Columns of zeros behind, until the last panel is full."""
    return np.pad(order, (0, -len(order) % _panel()), constant_values=-1)


def _rows(weight: npt.NDArray[Any]) -> Floats:
    """In float32, each row's numbers side by side."""
    return np.ascontiguousarray(weight, dtype=np.float32)


class PackedLSTMP:
    """One layer of `lstmp`, all directions, ready for a CPU. A copy: later changes of the weights do not reach it.

    x: [R, D, 4H], h: [R, P, 4H], bias: [R, 4H], projection: [R, H, P] or None; see `ops.lstmp`.
    """

    def __init__(
        self,
        x: npt.NDArray[Any],
        h: npt.NDArray[Any],
        bias: npt.NDArray[Any],
        projection: npt.NDArray[Any] | None,
        *,
        products: Products = "float32",
        file: PackedFile | None = None,
    ) -> None:
        R, H = x.shape[0], x.shape[2] // 4
        # The four gates of a panel's units stand together, so that a unit is finished while they are in the cache.
        units = _padded(np.arange(H)).reshape(-1, 1, _panel())  # [panels, 1, panel]
        order = np.where(units < 0, -1, units + H * np.arange(4)[:, None]).ravel()  # [panels * 4 * panel]
        self.cell_dim, self.products = H, products
        self._matrices: list[PackedMatrix] = []
        self._biases: list[Floats] = []
        self._layers = (_Layer * R)()
        for r in range(R):
            inputs, outputs = (pack(_rows(w[r]), products=products, order=order, file=file) for w in (x, h))
            whole = bias[r].astype(np.float32)
            whole[2 * H : 3 * H] += FORGET_BIAS
            ordered = np.where(order < 0, np.float32(0), whole[order])
            projected = _Matrix()
            self._matrices += [inputs, outputs]
            if projection is not None:
                self._matrices.append(pack(_rows(projection[r]), products=products, file=file))
                projected = self._matrices[-1]._struct
            self._biases.append(ordered)
            self._layers[r] = _Layer(inputs._struct, outputs._struct, projected, ordered.ctypes.data)

    def __call__(
        self,
        x: Floats,
        state: LSTMPState,
        *,
        alive: Sequence[int],
        cell_clip: float | None,
        projection_clip: float | None,
    ) -> tuple[Floats, LSTMPState]:
        """As `lstmp_inference`."""
        R, T, B, D = x.shape
        x = _rows(x)
        h, c = (np.array(part, dtype=np.float32, order="C") for part in state)
        y = np.zeros((R, T, B, h.shape[-1]), np.float32)
        sizes = _Sizes(T, B, D, self.cell_dim, h.shape[-1], cell_clip or math.inf, projection_clip or math.inf)
        rows = (ctypes.c_int64 * T)(*alive)
        failed = _library().elmo_lstmp(
            self._layers,
            ctypes.byref(sizes),
            ctypes.c_int64(R),
            rows,
            *(ctypes.c_void_p(array.ctypes.data) for array in (x, h, c, y)),
            ctypes.c_int64(CPU_THREADS.count),
        )
        if failed:
            raise MemoryError("out of memory in lstmp")
        return y, LSTMPState(h, c)


class PackedCharEncoder:
    """Convolutions, maximum, activation, highways and projection, ready for a CPU. A copy of the weights."""

    def __init__(self, weights: CharWeights, *, products: Products = "float32", file: PackedFile | None = None) -> None:
        filters, highways = weights.filters, weights.highways
        self.table = _rows(weights.table)
        self.bias = _rows(np.concatenate(weights.biases))
        # The order in which a file keeps them. The convolutions stay in float32: a tenth of the work, and the first
        # thing that rounding would spoil.
        self._carries, self._transforms = [], []
        for layer in highways:
            self._carries.append(pack(_rows(layer.carry), products=products, file=file))
            self._transforms.append(pack(_rows(layer.transform), products=products, file=file))
        self.filters = [pack(_rows(f.reshape(-1, f.shape[2])), products="float32", file=file) for f in filters]
        F = sum(weight.shape[2] for weight in filters)
        self.carry_bias = _padded_biases([layer.carry_bias for layer in highways])
        self.transform_bias = _padded_biases([layer.transform_bias for layer in highways])
        self.projection, projected = None, _Matrix()
        self.projection_bias = _padded_biases([])
        self.output_dim = F
        if weights.projection is not None:
            weight, bias = weights.projection
            self.projection = pack(_rows(weight), products=products, file=file)
            self.projection_bias, projected = _padded_biases([bias]), self.projection._struct
            self.output_dim = weight.shape[1]
        self.characters = weights.characters
        self._widths = (ctypes.c_int64 * len(filters))(*(weight.shape[0] for weight in filters))
        self._filters = (_Matrix * len(filters))()
        for n, (matrix, weight) in enumerate(zip(self.filters, filters, strict=True)):
            self._filters[n] = _Matrix(matrix.data.ctypes.data, matrix.inputs, weight.shape[2], 0)
        self._carry = (_Matrix * max(1, len(highways)))(*(matrix._struct for matrix in self._carries))
        self._transform = (_Matrix * max(1, len(highways)))(*(matrix._struct for matrix in self._transforms))
        self._encoder = _Encoder(
            self.table.ctypes.data,
            self.table.shape[1],
            weights.characters,
            weights.padding_id,
            len(filters),
            F,
            ctypes.addressof(self._widths),
            ctypes.addressof(self._filters),
            self.bias.ctypes.data,
            int(weights.activation == "tanh"),
            len(highways),
            ctypes.addressof(self._carry),
            ctypes.addressof(self._transform),
            self.carry_bias.ctypes.data,
            self.transform_bias.ctypes.data,
            projected,
            self.projection_bias.ctypes.data,
            self.output_dim,
        )

    def __call__(self, rows: npt.NDArray[np.integer[Any]]) -> Floats:
        """rows: [W, C] -> [W, D]."""
        ids = check_rows(rows, characters=self.characters, table=len(self.table))
        out = np.empty((len(rows), self.output_dim), np.float32)
        failed = _library().elmo_encode(
            ctypes.byref(self._encoder),
            ctypes.c_void_p(ids.ctypes.data),
            ctypes.c_int64(len(rows)),
            ctypes.c_void_p(out.ctypes.data),
            ctypes.c_int64(CPU_THREADS.count),
        )
        if failed:
            raise MemoryError("out of memory in the character encoder")
        return out


def _padded_biases(biases: Sequence[npt.NDArray[Any]]) -> Floats:
    """One behind the other, each in whole panels."""
    padded = [np.pad(bias, (0, -len(bias) % _panel())) for bias in biases]
    return _rows(np.concatenate(padded) if padded else np.empty(0))
