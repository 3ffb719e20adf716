"""What `kernels.cpp` computes, on tensors: packed weights, the projected LSTM, the character encoder.

A packed matrix holds the numbers of one [K, N] in the order in which a CPU reads them, as float32 or as int8 with a
scale for each column. Sizes as in `lstmp` and `charconv`.
"""

import ctypes
import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from elmo.ops.cpu.library import cpu_library
from elmo.ops.cpu.packed_file import PackedFile
from elmo.ops.cpu.pages import release_pages
from elmo.ops.lstmp.reference import FORGET_BIAS, LSTMPState, LSTMPWeights


class _Matrix(ctypes.Structure):
    _fields_ = (
        ("data", ctypes.c_void_p),
        ("inputs", ctypes.c_int64),
        ("outputs", ctypes.c_int64),
        ("int8", ctypes.c_int64),
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

    data: Tensor  # bytes
    inputs: int
    outputs: int
    int8: bool

    @property
    def _struct(self) -> _Matrix:
        return _Matrix(self.data.data_ptr(), self.inputs, self.outputs, int(self.int8))


def kernels_run() -> bool:
    """Whether the compiled kernels are there."""
    return cpu_library() is not None


def _library() -> ctypes.CDLL:
    library = cpu_library()
    assert library is not None, "ask kernels_run first"
    return library


def _panel() -> int:
    return int(_library().elmo_panel_width())


def pack(weight: Tensor, *, int8: bool, order: Tensor | None = None, file: PackedFile | None = None) -> PackedMatrix:
    """weight: [K, N], float32, rows contiguous. `order`: the columns, -1 for zeros; as they stand without it.

    A `file` that has the matrix spares the work. The weight's own pages are given back where they are mapped.
    """
    library, (K, N) = _library(), weight.shape
    if order is None:
        order = _padded(torch.arange(N))
    assert weight.dtype == torch.float32
    assert weight.stride(1) == 1
    assert len(order) % _panel() == 0
    size = library.elmo_packed_size
    size.restype = ctypes.c_int64
    bytes_ = size(ctypes.c_int64(K), ctypes.c_int64(len(order)), ctypes.c_int64(int8))
    columns = order.long().contiguous()

    def make(data: Tensor) -> None:
        library.elmo_pack(
            ctypes.c_void_p(weight.data_ptr()),
            ctypes.c_int64(K),
            ctypes.c_int64(weight.stride(0)),
            ctypes.c_void_p(columns.data_ptr()),
            ctypes.c_int64(len(columns)),
            ctypes.c_int64(int8),
            ctypes.c_void_p(data.data_ptr()),
            ctypes.c_int64(torch.get_num_threads()),
        )
        release_pages(weight)

    if file is None:
        data = torch.empty(bytes_, dtype=torch.uint8)
        make(data)
    else:
        data = file.take(bytes_, make)
    return PackedMatrix(data, K, len(columns), int8)


def _padded(order: Tensor) -> Tensor:
    """Columns of zeros behind, until the last panel is full."""
    missing = -len(order) % _panel()
    return torch.cat([order, order.new_full((missing,), -1)])


class PackedLSTMP:
    """One layer of `lstmp`, all directions, ready for a CPU. A copy: later changes of the weights do not reach it."""

    def __init__(self, weights: LSTMPWeights, *, int8: bool = False, file: PackedFile | None = None) -> None:
        R, _, H = weights.x.shape[0], weights.x.shape[1], weights.x.shape[2] // 4
        # The four gates of a panel's units stand together, so that a unit is finished while they are in the cache.
        units = _padded(torch.arange(H)).view(-1, 1, _panel())  # [panels, 1, panel]
        order = torch.where(units < 0, -1, units + H * torch.arange(4)[:, None]).flatten()  # [panels * 4 * panel]
        self.cell_dim, self.int8 = H, int8
        self._matrices: list[PackedMatrix] = []
        self._biases: list[Tensor] = []
        self._layers = (_Layer * R)()
        for r in range(R):
            x, h = (pack(w[r].detach(), int8=int8, order=order, file=file) for w in (weights.x, weights.h))
            bias = weights.bias[r].detach().clone()
            bias[2 * H : 3 * H] += FORGET_BIAS
            bias = torch.where(order < 0, 0.0, bias[order])
            projection = _Matrix()
            self._matrices += [x, h]
            if weights.projection is not None:
                self._matrices.append(pack(weights.projection[r].detach(), int8=int8, file=file))
                projection = self._matrices[-1]._struct
            self._biases.append(bias)
            self._layers[r] = _Layer(x._struct, h._struct, projection, bias.data_ptr())

    def __call__(
        self,
        x: Tensor,
        state: LSTMPState,
        *,
        alive: Sequence[int],
        cell_clip: float | None,
        projection_clip: float | None,
    ) -> tuple[Tensor, LSTMPState]:
        """As `lstmp_inference`."""
        R, T, B, D = x.shape
        x = x.contiguous()
        h, c = state.h.contiguous().clone(), state.c.contiguous().clone()
        y = x.new_zeros(R, T, B, h.shape[-1])
        sizes = _Sizes(T, B, D, self.cell_dim, h.shape[-1], cell_clip or math.inf, projection_clip or math.inf)
        rows = (ctypes.c_int64 * T)(*alive)
        failed = _library().elmo_lstmp(
            self._layers,
            ctypes.byref(sizes),
            ctypes.c_int64(R),
            rows,
            *(ctypes.c_void_p(t.data_ptr()) for t in (x, h, c, y)),
            ctypes.c_int64(torch.get_num_threads()),
        )
        if failed:
            raise MemoryError("out of memory in lstmp")
        return y, LSTMPState(h, c)


class PackedHighway:
    """Both products of one highway layer."""

    def __init__(
        self,
        carry: Tensor,
        carry_bias: Tensor,
        transform: Tensor,
        transform_bias: Tensor,
        *,
        int8: bool,
        file: PackedFile | None = None,
    ) -> None:
        self.carry = pack(carry.detach(), int8=int8, file=file)
        self.transform = pack(transform.detach(), int8=int8, file=file)
        self.carry_bias, self.transform_bias = _padded_bias(carry_bias), _padded_bias(transform_bias)


class PackedCharEncoder:
    """Convolutions, maximum, activation, highways and projection, ready for a CPU. A copy of the weights."""

    def __init__(
        self,
        table: Tensor,
        filters: Sequence[Tensor],
        biases: Sequence[Tensor],
        *,
        characters: int,
        padding_id: int,
        activation: str,
        highways: Sequence[PackedHighway],
        projection: tuple[Tensor, Tensor] | None,
        int8: bool,
        file: PackedFile | None = None,
    ) -> None:
        """Weights as `char_convolution` takes them; `projection` is weight [F, D] and bias [D]."""
        self.table = table.detach().contiguous()
        self.bias = torch.cat([bias.detach() for bias in biases])
        # The convolutions stay in float32: a tenth of the work, and the first thing that rounding would spoil.
        self.filters = [pack(weight.detach().flatten(0, 1), int8=False, file=file) for weight in filters]
        F = sum(weight.shape[2] for weight in filters)
        self.highways = list(highways)
        self.carry_bias = torch.cat([h.carry_bias for h in highways]) if highways else torch.empty(0)
        self.transform_bias = torch.cat([h.transform_bias for h in highways]) if highways else torch.empty(0)
        self.projection = None if projection is None else pack(projection[0].detach(), int8=int8, file=file)
        self.projection_bias = torch.empty(0) if projection is None else _padded_bias(projection[1])
        self.output_dim = F if projection is None else projection[0].shape[1]
        self.characters = characters
        self._widths = (ctypes.c_int64 * len(filters))(*(weight.shape[0] for weight in filters))
        self._filters = (_Matrix * len(filters))()
        for n, (matrix, weight) in enumerate(zip(self.filters, filters, strict=True)):
            self._filters[n] = _Matrix(matrix.data.data_ptr(), matrix.inputs, weight.shape[2], 0)
        self._carry = (_Matrix * max(1, len(highways)))(*(h.carry._struct for h in highways))
        self._transform = (_Matrix * max(1, len(highways)))(*(h.transform._struct for h in highways))
        self._encoder = _Encoder(
            self.table.data_ptr(),
            self.table.shape[1],
            characters,
            padding_id,
            len(filters),
            F,
            ctypes.addressof(self._widths),
            ctypes.addressof(self._filters),
            self.bias.data_ptr(),
            int(activation == "tanh"),
            len(highways),
            ctypes.addressof(self._carry),
            ctypes.addressof(self._transform),
            self.carry_bias.data_ptr(),
            self.transform_bias.data_ptr(),
            _Matrix() if self.projection is None else self.projection._struct,
            self.projection_bias.data_ptr(),
            self.output_dim,
        )

    def __call__(self, rows: Tensor) -> Tensor:
        """rows: [W, C] -> [W, D]."""
        if rows.shape[1] != self.characters:
            raise ValueError(f"rows have {rows.shape[1]} characters, but {self.characters} are wanted")
        if rows.numel() and not 0 <= int(rows.min()) <= int(rows.max()) < len(self.table):
            raise IndexError(f"a character id is outside 0..{len(self.table) - 1}")
        rows = rows.long().contiguous()
        out = self.table.new_empty(len(rows), self.output_dim)
        failed = _library().elmo_encode(
            ctypes.byref(self._encoder),
            ctypes.c_void_p(rows.data_ptr()),
            ctypes.c_int64(len(rows)),
            ctypes.c_void_p(out.data_ptr()),
            ctypes.c_int64(torch.get_num_threads()),
        )
        if failed:
            raise MemoryError("out of memory in the character encoder")
        return out


def _padded_bias(bias: Tensor) -> Tensor:
    return torch.nn.functional.pad(bias.detach(), (0, -len(bias) % _panel()))
