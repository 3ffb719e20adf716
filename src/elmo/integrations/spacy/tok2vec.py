"""The layer `elmo.Tok2Vec.v1`: a learned mix of ELMo's layers, on which a pipeline's components are trained.

A pipeline is one folder that can be carried elsewhere: where the biLM is not found again by its name, the layer's bytes
hold it, as the files of a native model. D size of a vector, L layers with the tokens.
"""

import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import safetensors.torch
import srsly
import torch
from spacy.tokens import Doc
from thinc.api import ArgsKwargs, Model, PyTorchWrapper_v3, torch2xp, xp2torch
from torch import Tensor, nn

import elmo
from elmo.errors import ConfigError, ElmoError
from elmo.integrations.spacy.sentences import read_sentences
from elmo.weights.formats import read_model, write_model


class MixedLayers(nn.Module):
    """A biLM and the learned mix of its layers: sentences of tokens to the vectors of all tokens [tokens, D].

    thinc's optimizers take no parameter without dimensions, so gamma has one here, unlike `ScalarMix`'s. `bilm` is the
    error that says why there is none: it may yet come with the layer's bytes.
    """

    def __init__(self, bilm: elmo.Elmo | ElmoError, *, train_bilm: bool, dropout: float, save_bilm: bool) -> None:
        super().__init__()
        self.train_bilm, self.save_bilm = train_bilm, save_bilm
        self.dropout = nn.Dropout(dropout)
        self.absent: ElmoError | None = None
        if isinstance(bilm, ElmoError):
            self.absent = bilm
        else:
            self.hold(bilm)

    def hold(self, bilm: elmo.Elmo) -> None:
        """Take this biLM, and a mix that has learned nothing."""
        self.absent = None
        self.elmo = bilm
        self.elmo.mixes.requires_grad_(False)
        self.weights = nn.Parameter(torch.zeros(bilm.layer_count))
        self.gamma = nn.Parameter(torch.ones(1))

    def forward(self, sentences: list[list[str]]) -> Tensor:
        """Token lists -> [tokens of all, D]."""
        if self.absent is not None:
            raise self.absent
        layers, mask = self.elmo.layers(sentences)  # [L, N, T, D]
        shares = torch.softmax(self.weights, dim=0)
        return self.dropout(self.gamma * torch.einsum("l,lkd->kd", shares, layers[:, mask]))


def build_tok2vec(
    model: str | None = None, train_bilm: bool = False, dropout: float = 0.0, save_bilm: bool | None = None
) -> Model:
    """`elmo.Tok2Vec.v1`: texts to a learned mix of ELMo's layers, which the components of a pipeline share.

    `save_bilm`: whether the biLM's weights go into the pipeline's folder; if None, when they learn or lie in a folder
    of the user's. The packaged and published models can be had again by their names.
    """
    if train_bilm and save_bilm is False:
        raise ConfigError("save_bilm=False would lose the biLM that train_bilm=True trains; leave one of them out")
    if save_bilm is None:
        save_bilm = train_bilm or (model is not None and Path(model).exists())
    bilm: elmo.Elmo | ElmoError
    try:
        bilm = elmo.Elmo.from_pretrained(model, dropout=0.0, train_bilm=train_bilm)
    except (
        ElmoError
    ) as error:  # of a pipeline that was trained elsewhere, its bytes bring one; else the first use says it
        bilm = error
    wrapped = PyTorchWrapper_v3(
        MixedLayers(bilm, train_bilm=train_bilm, dropout=dropout, save_bilm=save_bilm),
        convert_inputs=_convert_inputs,
        convert_outputs=_convert_outputs,
        serialize_model=_to_bytes,
        deserialize_model=_from_bytes,
    )
    if isinstance(bilm, elmo.Elmo):
        wrapped.set_dim("nO", bilm.dim)
    return wrapped


def _to_bytes(layer: MixedLayers) -> bytes:
    """The mix, and the biLM if it is to be kept."""
    if layer.absent is not None:
        raise layer.absent
    mix = {"weights": layer.weights.detach().cpu(), "gamma": layer.gamma.detach().cpu()}
    files = _files_of(layer.elmo) if layer.save_bilm else {}
    return bytes(srsly.msgpack_dumps({"mix": safetensors.torch.save(mix), "bilm": files}))


def _from_bytes(layer: MixedLayers, data: bytes, device: torch.device) -> MixedLayers:
    saved = srsly.msgpack_loads(data)
    if saved["bilm"]:
        layer.hold(_of_files(saved["bilm"], train_bilm=layer.train_bilm))
        layer.save_bilm = True
    elif layer.absent is not None:
        raise layer.absent
    with torch.no_grad():
        for name, numbers in safetensors.torch.load(saved["mix"]).items():
            getattr(layer, name).copy_(numbers)
    return layer.to(device)


def _files_of(bilm: elmo.Elmo) -> dict[str, bytes]:
    """The files of a native model of it, without a softmax and the words of one."""
    model = bilm.model.replace(softmax=None)
    if not model.config.tokens.reads_words:
        model = model.replace(vocabulary=None)
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "model"
        write_model(model, folder)
        return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def _of_files(files: dict[str, bytes], *, train_bilm: bool) -> elmo.Elmo:
    with tempfile.TemporaryDirectory() as place:
        for name, content in files.items():
            (Path(place) / Path(name).name).write_bytes(content)
        # As one that learns it has numbers of its own, and none of the files is needed any longer.
        bilm = elmo.Elmo(read_model(Path(place)), dropout=0.0, train_bilm=True)
    bilm.bilm.requires_grad_(train_bilm)
    return bilm


def _convert_inputs(_: Model, docs: Sequence[Doc], is_train: bool) -> tuple[Any, Callable[[Any], list[Any]]]:  # noqa: ARG001
    return ArgsKwargs(args=(read_sentences(docs).words,), kwargs={}), lambda _: []


def _convert_outputs(model: Model, pair: tuple[Sequence[Doc], Tensor], is_train: bool) -> Any:  # noqa: ARG001
    docs, flat = pair
    of_docs = [[i for sentence in sentences for i in sentence] for sentences in read_sentences(docs).places]
    xp = model.ops.xp
    rows, start, vectors = torch2xp(flat), 0, []
    for doc, places in zip(docs, of_docs, strict=True):
        whole = model.ops.alloc2f(len(doc), flat.shape[1])
        whole[places] = rows[start : start + len(places)]
        vectors.append(whole)
        start += len(places)

    def backprop(gradients: list[Any]) -> Any:
        parts = [gradient[places] for gradient, places in zip(gradients, of_docs, strict=True)]
        return ArgsKwargs(args=((flat,),), kwargs={"grad_tensors": (xp2torch(xp.concatenate(parts)),)})

    return vectors, backprop
