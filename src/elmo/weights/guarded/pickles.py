"""State dictionaries in torch's pickle format: looked through first, then `torch.load(weights_only=True)`.

Nothing is ever loaded in another way, whatever fails. The look-through reads the opcodes without running them and lets
pass only what a dictionary of tensors needs: torch itself allows more, enough to ask for any amount of memory.
"""

import io
import pickletools
import zipfile
from pathlib import Path

from elmo.disk.guarded.archives import UNREADABLE, check_directory
from elmo.disk.guarded.plainfiles import one_line, require_file, shortened
from elmo.errors import WeightsError, needing_torch
from elmo.ops.arrays import host
from elmo.weights.guarded.arrayfile import Numbers

PROTOCOL = 2  # what torch.save writes
MOST_PICKLE_BYTES = 4 << 20  # the opcodes alone; numbers lie outside of them
MOST_OPCODES = 200_000
MOST_MEMBERS = 10_000
MOST_FILE_BYTES = 16 << 30
# A file of the old form is five pickles: a magic number, a version, a description of the machine, the dictionary, the
# names of the storages. The numbers follow. [torch.serialization._legacy_save]
LEGACY_PICKLES, LEGACY_DICTIONARY = 5, 3

NAMING = ("GLOBAL", "INST", "STACK_GLOBAL", "EXT1", "EXT2", "EXT4")
ALLOWED = {
    "collections OrderedDict",
    "torch._utils _rebuild_parameter",
    "torch._utils _rebuild_tensor_v2",
    "torch BFloat16Storage",
    "torch DoubleStorage",
    "torch FloatStorage",
    "torch HalfStorage",
}


def read_state_dict(path: Path) -> dict[str, Numbers]:
    """The arrays by name. They may be views with odd strides: compare shapes before anything else. Needs torch."""
    size = require_file(path, most_bytes=MOST_FILE_BYTES)
    with open(path, "rb") as file:
        start = file.read(MOST_PICKLE_BYTES)
    if start.startswith(b"PK"):
        _look_through(_main_pickle(path, size), path, pickles=1, size=size)
    else:
        _look_through(start, path, pickles=LEGACY_PICKLES, size=size)
    with needing_torch(f"{path}: is a pickle of torch's, and reading it"):
        import torch
    try:
        found = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:  # a damaged file makes torch raise almost anything
        raise WeightsError(f"{path}: cannot be loaded as weights ({one_line(error)})") from None
    if not isinstance(found, dict):
        raise WeightsError(f"{path}: found {type(found).__name__}, but a dictionary of tensors is wanted")
    for name, value in found.items():
        if not isinstance(name, str) or not isinstance(value, torch.Tensor) or value.layout != torch.strided:
            raise WeightsError(f"{path}: {shortened(name)}: found {type(value).__name__}, but a tensor is wanted")
    return {name: host(value) for name, value in found.items()}


def _main_pickle(path: Path, size: int) -> bytes:
    """The opcodes of a file of the new form, which is a zip archive of numbers that are stored as they are."""
    check_directory(path, most_members=MOST_MEMBERS, most_bytes=MOST_PICKLE_BYTES)
    try:
        with zipfile.ZipFile(path) as archive:
            members = archive.infolist()
            names = [member.filename for member in members]
            pickles = [member for member in members if member.filename.endswith("/data.pkl")]
            if len(set(names)) != len(names) or len(pickles) != 1:
                raise WeightsError(f"{path}: is not an archive of one dictionary of tensors")
            if any(m.compress_type != zipfile.ZIP_STORED for m in members) or sum(m.file_size for m in members) > size:
                raise WeightsError(f"{path}: is a compressed archive, but torch stores numbers as they are")
            if pickles[0].file_size > MOST_PICKLE_BYTES:
                raise WeightsError(
                    f"{path}: data.pkl has {pickles[0].file_size:,} bytes, but at most {MOST_PICKLE_BYTES:,} are read"
                )
            return archive.read(pickles[0])
    except UNREADABLE as error:
        raise WeightsError(f"{path}: is a damaged archive ({one_line(error)})") from None


def _look_through(content: bytes, path: Path, *, pickles: int, size: int) -> None:
    """Refuse opcodes that call anything but what builds tensors, and sizes that the file cannot hold."""
    stream = io.BytesIO(content)
    count = 0
    try:
        for number in range(pickles):
            for opcode, argument, _ in pickletools.genops(stream):
                count += 1
                if count > MOST_OPCODES:
                    raise WeightsError(f"{path}: has more than {MOST_OPCODES:,} opcodes, too many for weights")
                if opcode.name == "PROTO" and argument != PROTOCOL:
                    raise WeightsError(f"{path}: is a pickle of protocol {argument}, but {PROTOCOL} is wanted")
                if opcode.name in NAMING and argument not in ALLOWED:
                    named = shortened(argument or opcode.name)
                    raise WeightsError(f"{path}: names {named}, which weights do not need; it is not loaded")
                # Those of the old form before the dictionary are a magic number and a version.
                counts = pickles == 1 or number == LEGACY_DICTIONARY
                if counts and isinstance(argument, int) and argument > size:
                    raise WeightsError(f"{path}: asks for {shortened(argument)} numbers in a file of {size:,} bytes")
    except WeightsError:
        raise
    except Exception as error:  # pickletools raises almost anything on bytes that are no pickle
        raise WeightsError(f"{path}: is not a pickle of weights ({one_line(error)})") from None
