"""Malformed requests, as bytes for a connection: a function of a seed alone.

Headers, bodies, JSON, types, numbers, half characters, nesting, sizes; requests cut short, and slow ones.
"""

import json
import random
from collections.abc import Callable
from typing import Any, NamedTuple

PATHS = ("/v1/embeddings", "/embed_tokens", "/tokenize", "/similar", "/neighbors", "/search", "/predict")
BELONGS = {
    "/v1/embeddings": {"input"},
    "/embed_tokens": {"inputs"},
    "/tokenize": {"inputs"},
    "/similar": {"first"},
    "/neighbors": {"sentence"},
    "/search": {"word", "count"},
    "/predict": {"inputs"},
}  # which of a request's fields say where it goes
FIELDS = (
    "input", "inputs", "model", "encoding_format", "dimensions", "layers", "layer", "split_sentences", "normalize",
    "dtype", "word", "with", "first", "second", "sentence", "occurrence", "texts", "count", "words", "vector", "task",
    "centred", "ignore_case", "user",
)  # fmt: skip
TYPES = ("application/json", "application/x-npz", "application/x-ndjson", "application/vnd.safetensors", "*/*", "")
START = b"POST /tokenize HTTP/1.1\r\nHost: localhost"
METHODS = (b"GET", b"POST", b"PUT", b"DELETE", b"PATCH", b"HEAD", b"OPTIONS", b"TRACE", b"CONNECT", b"get", b"B\x00D")
TEXTS = (
    "", " ", "\0", "\r\n", "The bank.", "\ud800", "a\udfffb", "\U0010ffff", "\ufeffbank", "é" * 300, "w" * 5000,
    "bank " * 300, "\u202e\u200d\N{GRINNING FACE}", "'; DROP TABLE words; --", "<script>", "%s%n%x", "../../etc/passwd",
)  # fmt: skip
NUMBERS = (
    "0",
    "-1",
    "1e999",
    "-1e999",
    "1e-999",
    "9" * 400,
    "9" * 5000,
    "0.1",
    "-0",
    "NaN",
    "Infinity",
    "01",
    "1.",
    "2147483648",
)


class Malformed(NamedTuple):
    """What is sent, in pieces between which a moment passes; `cut`: the connection is then closed without waiting."""

    kind: str
    pieces: list[bytes]
    cut: bool = False


def malformed(seed: int) -> Malformed:
    """The request of a number."""
    chance = random.Random(seed)
    make = chance.choice(MAKERS)
    return make(chance)


def _message(chance: random.Random, body: bytes, *, headers: dict[str, str] | None = None, path: str = "") -> bytes:
    path = path or chance.choice(PATHS)
    own = {"Host": "localhost", "Content-Type": "application/json", "Accept": chance.choice(TYPES)}
    own |= {"Content-Length": str(len(body))} | (headers or {})
    lines = "".join(f"{name}: {value}\r\n" for name, value in own.items())
    return f"POST {path} HTTP/1.1\r\n{lines}\r\n".encode("utf-8", "surrogatepass") + body


def _value(chance: random.Random, depth: int = 0) -> str:
    """A value of JSON as text, which may be none."""
    kind = chance.randrange(8 if depth < 4 else 5)
    if kind == 0:
        return chance.choice(NUMBERS)
    if kind in (1, 2):
        return json.dumps(chance.choice(TEXTS))
    if kind == 3:
        return chance.choice(("null", "true", "false", "[]", "{}", "undefined", "'a'"))
    if kind == 4:
        return json.dumps(chance.choice(TEXTS), ensure_ascii=False)
    if kind == 5:
        return (
            "{" + ", ".join(f"{json.dumps(chance.choice(FIELDS))}: {_value(chance, depth + 1)}" for _ in range(3)) + "}"
        )
    return "[" + ", ".join(_value(chance, depth + 1) for _ in range(chance.randrange(6))) + "]"


def _fields(chance: random.Random) -> Malformed:
    """Known fields with values of any kind."""
    chosen = chance.sample(FIELDS, chance.randrange(1, 8))
    body = "{" + ", ".join(f'"{name}": {_value(chance)}' for name in chosen) + "}"
    return Malformed("fields", [_message(chance, body.encode("utf-8", "surrogatepass"))])


def _near(chance: random.Random) -> Malformed:
    """A right request with one field of another kind."""
    right: dict[str, Any] = chance.choice(
        (
            {"input": ["The bank."], "model": "elmo", "encoding_format": "base64"},
            {"inputs": ["The bank."], "layers": "all", "dtype": "float16", "normalize": True},
            {"word": "bank", "first": "The bank.", "second": "A bank."},
            {"word": "bank", "sentence": "The bank.", "texts": ["A bank."], "count": 2},
            {"word": "bank", "sentence": "The bank.", "layer": 1, "centred": True, "words": "same"},
            {"vector": [0.5] * 16, "word": "bank", "words": "other", "count": 3},
            {"word": "bank", "count": 2, "first": 1, "ignore_case": True},
            {"inputs": ["Anna came. Tom slept."], "task": "ner"},
        )
    )
    path = chance.choice([path for path, names in BELONGS.items() if names <= set(right)] or PATHS)
    name = chance.choice(list(right))
    body = json.dumps(right | {name: "@"}).replace('"@"', _value(chance))
    return Malformed("near", [_message(chance, body.encode("utf-8", "surrogatepass"), path=path)])


def _bytes(chance: random.Random) -> Malformed:
    """A right body with some bytes changed."""
    body = bytearray(json.dumps({"inputs": ["The bank is closed."], "input": "a", "layers": 1}).encode())
    for _ in range(chance.randrange(1, 6)):
        body[chance.randrange(len(body))] = chance.randrange(256)
    return Malformed("bytes", [_message(chance, bytes(body))])


def _deep(chance: random.Random) -> Malformed:
    depth = chance.choice((60, 65, 1000, 100_000))
    opening, closing = chance.choice((("[", "]"), ('{"a":', "}")))
    body = '{"inputs": ' + opening * depth + "1" + closing * chance.choice((depth, depth - 1, 0)) + "}"
    return Malformed("deep", [_message(chance, body.encode())])


def _sizes(chance: random.Random) -> Malformed:
    """Lengths that are not those of the body, and bodies that are too long."""
    body = json.dumps({"inputs": "a " * chance.choice((1, 1000, 200_000))}).encode()
    length = chance.choice(("-1", "0", "1", "99999999999", "9" * 30, "abc", "", "1, 2", str(len(body) + 5), "1e3"))
    return Malformed("sizes", [_message(chance, body, headers={"Content-Length": length})], cut=chance.random() < 0.9)


def _chunked(chance: random.Random) -> Malformed:
    sizes = (
        b'5\r\n{"a":\r\n0\r\n\r\n',
        b"zz\r\n",
        b"-5\r\n",
        b"ffffffffffffffffffff\r\n",
        b"3\r\n{}",
        b"0\r\n\r\n",
        b"2\r\n{}\r\n0\r\nA: b\r\n\r\n",
    )
    head = START + b"\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
    return Malformed("chunked", [head, chance.choice(sizes)], cut=chance.random() < 0.9)


def _headers(chance: random.Random) -> Malformed:
    """Header lines that are none, too many, too long, or that disagree."""
    lines = (
        b"\x00: a", b": a", b"A", b"A b: c", b" folded", b"A: " + b"x" * 70_000, b"Host: b", b"Content-Length: 5",
        b"Transfer-Encoding: gzip", b"Transfer-Encoding: chunked", b"Expect: 100-continue", b"Expect: 200-maybe",
        b"Connection: close", b"Connection: upgrade\r\nUpgrade: websocket", b"Upgrade: h2c", b"Accept: \xff\xfe;q=x",
        b"Accept: " + b"a/b," * 2000, b"Content-Type: \xc3\xa9", b"Content-Encoding: gzip", b"Authorization: \xff",
        b"Range: bytes=0-1", b"Cookie: " + b"a=b;" * 500, *(b"X-%d: 1" % n for n in range(3)),
    )  # fmt: skip
    body = b'{"inputs": "a"}'
    own = [chance.choice(lines) for _ in range(chance.randrange(1, 8))]
    head = [
        START,
        b"Content-Type: application/json",
        *own,
        b"Content-Length: 15",
    ]
    return Malformed("headers", [b"\r\n".join(head) + b"\r\n\r\n" + body], cut=chance.random() < 0.8)


def _lines(chance: random.Random) -> Malformed:
    """Request lines: methods, targets, versions, or no HTTP at all."""
    targets = (
        b"/",
        b"*",
        b"//",
        b"/%",
        b"/%00",
        b"/%ff%fe",
        b"/health?" + b"a" * 9000,
        b"http://other/health",
        b"/../..",
        b"/v1/embeddings/",
        b"/\xc3\xa9",
        b"/a b",
    )
    versions = (b"HTTP/1.1", b"HTTP/1.0", b"HTTP/2.0", b"HTTP/0.9", b"HTTP/1.1.1", b"", b"HTTPS/1.1")
    if chance.random() < 0.2:
        return Malformed("lines", [chance.randbytes(chance.randrange(1, 300)) + b"\r\n\r\n"], cut=chance.random() < 0.9)
    line = b" ".join((chance.choice(METHODS), chance.choice(targets), chance.choice(versions)))
    end = chance.choice((b"\r\n", b"\n", b"\r"))
    return Malformed("lines", [line + end + b"Host: localhost" + end * 2], cut=chance.random() < 0.9)


def _cut_short(chance: random.Random) -> Malformed:
    """A right request that ends somewhere."""
    whole = _message(chance, json.dumps({"inputs": ["The bank."] * 5, "input": "a"}).encode())
    return Malformed("cut", [whole[: chance.randrange(len(whole))]], cut=True)


def _slow(chance: random.Random) -> Malformed:
    """A request in pieces; it may stop in the middle and wait."""
    whole = _message(chance, json.dumps({"inputs": "The bank."}).encode())
    places = sorted(chance.sample(range(1, len(whole)), chance.randrange(1, 5)))
    pieces = [whole[a:b] for a, b in zip([0, *places], [*places, len(whole)], strict=True)]
    return Malformed("slow", pieces[: chance.randrange(1, len(pieces) + 1)])


def _pipelined(chance: random.Random) -> Malformed:
    """Several at once, of which some are wrong."""
    many = [chance.choice((_near, _lines, _bytes))(chance).pieces[0] for _ in range(chance.randrange(2, 5))]
    return Malformed("pipelined", [b"".join(many)], cut=chance.random() < 0.9)


Maker = Callable[[random.Random], Malformed]
MAKERS: tuple[Maker, ...] = (
    *(_fields, _fields, _fields, _near, _near, _near, _bytes, _bytes),
    *(_deep, _sizes, _chunked, _headers, _headers, _lines, _cut_short, _slow, _pipelined),
)  # fmt: skip
