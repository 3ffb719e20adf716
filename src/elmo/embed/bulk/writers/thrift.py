"""Thrift's compact protocol, as far as the metadata of Parquet files needs it: bytes to a tree of numbers, and back.

A struct is a dict from a field's number to its type and value; a list is the type of its elements and their values.
[thrift, doc/specs/thrift-compact-protocol.md]
"""

from typing import Any, Final

TRUE, FALSE, BYTE, I16, I32, I64, DOUBLE, BINARY, LIST, SET, MAP, STRUCT = range(1, 13)
_INTEGERS: Final = (I16, I32, I64)

Struct = dict[int, tuple[int, Any]]


def parse_struct(data: bytes) -> Struct:
    """The struct that `data` begins with."""
    return _Reader(data).struct()


def dump_struct(struct: Struct) -> bytes:
    """A struct as bytes."""
    out = bytearray()
    _write_struct(out, struct)
    return bytes(out)


def varint(number: int) -> bytes:
    """A number from 0 on, seven bits a byte, the lowest first."""
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


class _Reader:
    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def struct(self) -> Struct:
        found: Struct = {}
        field = 0
        while head := self._byte():
            kind = head & 0x0F
            field = field + (head >> 4) if head >> 4 else self._integer()
            found[field] = (kind, kind == TRUE if kind in (TRUE, FALSE) else self._value(kind))
        return found

    def _value(self, kind: int) -> Any:
        if kind in _INTEGERS:
            return self._integer()
        if kind == BINARY:
            return self._take(self._varint())
        if kind in (LIST, SET):
            head = self._byte()
            size = head >> 4 if head >> 4 < 15 else self._varint()
            return head & 0x0F, [self._value(head & 0x0F) for _ in range(size)]
        if kind == STRUCT:
            return self.struct()
        if kind in (TRUE, FALSE, BYTE):
            return self._byte()
        if kind == DOUBLE:
            return self._take(8)
        raise ValueError(f"a value of Thrift type {kind}, which Parquet's metadata does not have")

    def _integer(self) -> int:
        number = self._varint()
        return number >> 1 ^ -(number & 1)

    def _varint(self) -> int:
        number = shift = 0
        while True:
            byte = self._byte()
            number |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return number

    def _byte(self) -> int:
        self._at += 1
        return self._data[self._at - 1]

    def _take(self, size: int) -> bytes:
        self._at += size
        return self._data[self._at - size : self._at]


def _write_struct(out: bytearray, struct: Struct) -> None:
    before = 0
    for field, (kind, value) in sorted(struct.items()):
        if kind in (TRUE, FALSE):
            kind = TRUE if value else FALSE
        if field - before < 16:
            out.append(field - before << 4 | kind)
        else:
            out.append(kind)
            out += _zigzag(field)
        before = field
        if kind not in (TRUE, FALSE):
            _write_value(out, kind, value)
    out.append(0)


def _write_value(out: bytearray, kind: int, value: Any) -> None:
    if kind in _INTEGERS:
        out += _zigzag(value)
    elif kind == BINARY:
        out += varint(len(value))
        out += value
    elif kind in (LIST, SET):
        element, values = value
        out += bytes([len(values) << 4 | element]) if len(values) < 15 else bytes([0xF0 | element])
        out += b"" if len(values) < 15 else varint(len(values))
        for item in values:
            _write_value(out, element, item)
    elif kind == STRUCT:
        _write_struct(out, value)
    elif kind in (TRUE, FALSE, BYTE):
        out.append(value)
    else:
        out += value


def _zigzag(number: int) -> bytes:
    return varint(number << 1 if number >= 0 else (-number << 1) - 1)
