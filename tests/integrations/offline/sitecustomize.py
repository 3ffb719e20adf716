"""Python reads this first of all where its folder is on PYTHONPATH: no connection leaves the machine from then on."""

import socket
from typing import Any

HERE = ("127.0.0.1", "::1", "localhost")
_connect, _connect_ex, _getaddrinfo = socket.socket.connect, socket.socket.connect_ex, socket.getaddrinfo


def _refuse_others(address: Any) -> None:
    if isinstance(address, tuple) and address[0] not in HERE:
        raise PermissionError(f"this process may not connect to {address[0]}")


def connect(self: socket.socket, address: Any) -> None:
    _refuse_others(address)
    _connect(self, address)


def connect_ex(self: socket.socket, address: Any) -> int:
    _refuse_others(address)
    return _connect_ex(self, address)


def getaddrinfo(host: Any, *arguments: Any, **options: Any) -> Any:
    if host is not None:
        _refuse_others((host,))
    return _getaddrinfo(host, *arguments, **options)


socket.socket.connect, socket.socket.connect_ex = connect, connect_ex  # type: ignore[method-assign]
socket.getaddrinfo = getaddrinfo
