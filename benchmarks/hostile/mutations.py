"""Changes to the bytes of a valid file: any bytes, JSON, JSON lines, TOML, XML, safetensors, npy, zip archives."""

import copy
import io
import json
import random
import tempfile
import zipfile
from collections.abc import Callable
from typing import Any

Mutation = Callable[[random.Random, bytes], bytes]
ODD_VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, 1, -1, 2, 3, 7, 255, 65536, 2**31, 2**53, 2**63, 10**18, 0.5, -0.0, 1e300),
    *(
        "",
        "relu",
        "x" * 300,
        "\u0000",
        "\ud800",
        "../../etc/passwd",
        [],
        {},
        [[]],
        [[1, 2]],
        [[1, 2, 3]],
        {"kind": "words"},
    ),
)
ODD_BYTES = (0x00, 0x01, 0x7F, 0x80, 0xFF)
# What a text can hold that a reader does not expect: long numbers, deep nesting, other encodings, characters that end
# lines for some and not for others.
ODD_TEXTS = (
    *(b"9" * 5000, b"-1", b"1e999", b"NaN", b"[" * 20_000, b"(" * 20_000, b"{" * 2000, b'{"a":' * 5000, b"a." * 5000),
    *(
        b"\xff\xfe",
        b"\xef\xbb\xbf",
        "\u2028\u0085".encode(),
        b"\r",
        b"\x00",
        b"\t",
        b"\n\n",
        b"%",
        b"&x;",
        b"\xed\xa0\x80",
    ),
)
ENCODINGS = ("utf-16", "utf-32", "utf-7", "latin-1", "cp037", "big5", "euc-jp", "rot13", "idna", "hex", "no such")


def mutate_bytes(chance: random.Random, content: bytes, *, places: list[int] | None = None) -> bytes:
    """Some bytes changed, removed, repeated or cut off."""
    changed = bytearray(content)
    for _ in range(chance.choice((1, 1, 1, 2, 4, 16))):
        if not changed:
            break
        place = min(chance.choice(places) if places else chance.randrange(len(changed)), len(changed) - 1)
        length = chance.choice((1, 2, 4, 8, 64))
        match chance.randrange(12):
            case 0:
                del changed[place : place + length]
            case 1:
                changed[place:place] = changed[place : place + length]
            case 2:
                changed[place : place + length] = chance.randbytes(length)
            case 3:
                del changed[place:]
            case 4:
                changed[place : place + length] = bytes([chance.choice(ODD_BYTES)]) * length
            case 5 | 6 | 7:
                changed[place] ^= 1 << chance.randrange(8)
            case _:
                changed[place] = chance.choice((*ODD_BYTES, chance.randrange(256)))
    return bytes(changed)


def mutate_json(chance: random.Random, content: bytes) -> bytes:
    """A value replaced, removed or moved, or the bytes changed."""
    if chance.random() < 0.3:
        return mutate_bytes(chance, content)
    root = {"": json.loads(content)}
    for _ in range(chance.choice((1, 1, 2, 3))):
        holder: Any = root
        key: Any = ""
        while isinstance(holder[key], dict | list) and holder[key] and chance.random() < 0.8:
            holder = holder[key]
            key = chance.choice(list(holder) if isinstance(holder, dict) else range(len(holder)))
        if chance.random() < 0.15 and isinstance(holder, dict) and key != "":
            del holder[key]
            holder[chance.choice(("kind", "x", "dim"))] = copy.deepcopy(chance.choice(ODD_VALUES))
        else:
            holder[key] = copy.deepcopy(chance.choice(ODD_VALUES))
    return json.dumps(root[""]).encode()


def mutate_safetensors(chance: random.Random, content: bytes) -> bytes:
    """The header changed as JSON with its length put right, or any bytes."""
    length = int.from_bytes(content[:8], "little")
    if chance.random() < 0.5:
        return mutate_bytes(chance, content, places=list(range(8 + length)) if chance.random() < 0.8 else None)
    header = mutate_json(chance, content[8 : 8 + length])
    return len(header).to_bytes(8, "little") + header + content[8 + length :]


def mutate_zip(chance: random.Random, content: bytes) -> bytes:
    """The archive's own bytes, or a member's, packed again."""
    if chance.random() < 0.5:
        directory = content.rfind(b"PK\x01\x02", 0, max(1, len(content) - 200))
        return mutate_bytes(chance, content, places=list(range(directory, len(content))) if directory > 0 else None)
    with tempfile.TemporaryFile() as packed:
        packed.write(content)
        with zipfile.ZipFile(packed) as archive:
            files = {name: archive.read(name) for name in archive.namelist()}
        victim = chance.choice(list(files))
        files[victim] = mutate_bytes(chance, files[victim])
        if chance.random() < 0.2:
            files[chance.choice(("../x", "/x", "a/options.json", "vocab.txt.gz"))] = chance.randbytes(50)
        packed.seek(0)
        packed.truncate()
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, value in files.items():
                archive.writestr(name, value)
        packed.seek(0)
        return packed.read()


def mutate_text(chance: random.Random, content: bytes) -> bytes:
    """A piece put in, lines removed or repeated, another encoding, nothing at all, or the bytes changed."""
    match chance.randrange(8):
        case 0 | 1 | 2:
            place = chance.randrange(len(content) + 1)
            return content[:place] + chance.choice(ODD_TEXTS) + content[place:]
        case 3:
            lines = content.splitlines(keepends=True)
            return b"".join(line for line in lines for _ in range(chance.choice((0, 1, 1, 1, 2))))
        case 4:
            words = content.split(b" ")
            words[chance.randrange(len(words))] = chance.choice(ODD_TEXTS)
            return b" ".join(words)
        case 5:
            return chance.choice((b"", b"\n", content.decode().encode("utf-16"), b"\xef\xbb\xbf" + content))
        case _:
            return mutate_bytes(chance, content)


def mutate_json_text(chance: random.Random, content: bytes) -> bytes:
    """JSON as values, or as a text."""
    return mutate_json(chance, content) if chance.random() < 0.7 else mutate_text(chance, content)


def mutate_json_lines(chance: random.Random, content: bytes) -> bytes:
    """One of the lines changed."""
    lines = content.splitlines(keepends=True)
    victim = chance.randrange(len(lines))
    lines[victim] = mutate_json_text(chance, lines[victim].strip()) + b"\n"
    return b"".join(lines)


def mutate_xml(chance: random.Random, content: bytes) -> bytes:
    """A declaration of another encoding, entities, deep nesting, or the text changed."""
    body = content.partition(b"?>")[2] or content
    match chance.randrange(6):
        case 0:
            return f'<?xml version="1.0" encoding="{chance.choice(ENCODINGS)}"?>'.encode() + body
        case 1:
            entity = b'<!DOCTYPE c [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "' + b"&a;" * 50 + b'">]>'
            return (
                b'<?xml version="1.0"?>' + entity + body.replace(b"</wf>", b"&b;" * chance.choice((1, 999)) + b"</wf>")
            )
        case 2:
            depth = chance.choice((10, 1000, 100_000))
            return body.replace(b"</wf>", b"<wf>" * depth + b"</wf>" * depth + b"</wf>", 1)
        case _:
            return mutate_text(chance, content)


def mutate_npy(chance: random.Random, content: bytes) -> bytes:
    """The header changed as text with its length kept, or any bytes."""
    length = int.from_bytes(content[8:10], "little")
    match chance.randrange(3):
        case 0:
            return mutate_bytes(chance, content, places=list(range(10 + length)))
        case 1:
            header = content[10 : 10 + length].decode("latin-1")
            old = chance.choice(("<f2", "<i8", "<i4", "<f4", "|u1", "(", ",)", "False", "shape"))
            new = (
                "|O",
                "<f8",
                "<U9",
                ">i8",
                "<M8[s]",
                "V0",
                "<i0",
                "(-1,",
                "9" * 5000,
                "(9999999999,",
                "(" * 900,
                "True",
            )
            header = header.replace(old, chance.choice(new), 1).rstrip()
            packed = header.ljust(max(length, len(header) + 1) - 1).encode("latin-1", "replace") + b"\n"
            return content[:8] + len(packed).to_bytes(2, "little") + packed + content[10 + length :]
        case _:
            return mutate_bytes(chance, content)


def mutate_npz(chance: random.Random, content: bytes) -> bytes:
    """The archive, or an array in it."""
    if chance.random() < 0.4:
        return mutate_zip(chance, content)
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    victim = chance.choice(list(files))
    if chance.random() < 0.1:
        del files[victim]
    else:
        files[victim] = mutate_npy(chance, files[victim])
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", chance.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED))) as archive:
        for name, value in files.items():
            archive.writestr(name, value)
    return packed.getvalue()
