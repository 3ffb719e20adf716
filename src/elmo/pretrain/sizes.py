"""The published architectures by name, one that a CPU trains in an hour, and a tiny one for demonstrations."""

from elmo.model.architecture import BiLMConfig
from elmo.model.characters import CharCNNConfig
from elmo.model.stacks import BiLSTMConfig
from elmo.pretrain.choices import Size

FILTERS = ((1, 32), (2, 32), (3, 64), (4, 128), (5, 256), (6, 512), (7, 1024))
MINI_FILTERS = FILTERS[:5]
TINY_FILTERS = ((1, 16), (2, 16), (3, 32), (4, 32))


def model_of_size(size: Size) -> BiLMConfig:
    """The architecture. [bilm-tf bin/train_elmo.py; options files of the published models]"""
    match size:
        case "tiny":
            return _model(cell=128, output=32, highways=1, filters=TINY_FILTERS, characters=8)
        case "mini":
            return _model(cell=512, output=128, highways=1, filters=MINI_FILTERS)
        case "small":
            return _model(cell=1024, output=128, highways=1)
        case "medium":
            return _model(cell=2048, output=256, highways=1)
        case "original":
            return _model(cell=4096, output=512, highways=2)


def _model(
    *,
    cell: int,
    output: int,
    highways: int,
    filters: tuple[tuple[int, int], ...] = FILTERS,
    characters: int = 16,
) -> BiLMConfig:
    return BiLMConfig(
        tokens=CharCNNConfig(embedding_dim=characters, filters=filters, highways=highways, output_dim=output),
        lstm=BiLSTMConfig(input_dim=output, cell_dim=cell, projection_dim=output, cell_clip=3.0, projection_clip=3.0),
    )
