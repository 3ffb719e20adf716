"""ONNX: the forward pass of a biLM as one graph, for runtimes without Python or torch. Needs the extra `onnx`.

Inputs: `characters` int64 [N, T, C], each sentence with its begin-sentence and end-sentence rows and zeros behind
(`elmo.text.chars`), and `lengths` int64 [N], boundaries counted. Output: `layers` float32 [L + 1, N, T, R * D], zeros
behind each sentence. N and T are free. Every sentence starts from the settled state, which is in the file; no state is
kept between runs. Sizes as in `model.bilm`.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from elmo.disk.writing import errors_naming, write_file
from elmo.errors import MissingExtraError, WeightsError
from elmo.model.characters import CharCNNConfig
from elmo.model.kinds import Tensors
from elmo.model.stacks import BiLSTMConfig
from elmo.ops.steps import FORGET_BIAS
from elmo.weights.loaded import LoadedModel

OPSET = 17
IR_VERSION = 9
TENSOR_FLOAT, TENSOR_INT64, TENSOR_BOOL = 1, 7, 9


def write_onnx(model: LoadedModel, path: Path, *, overwrite: bool = False) -> None:
    """Write the graph; refuses models that it cannot hold."""
    try:
        import onnx
    except ImportError as error:
        raise MissingExtraError("ONNX needs onnx; install it with: pip install onnx onnxruntime") from error
    if path.exists() and not overwrite:
        raise WeightsError(f"{path}: exists already; choose another name or add --overwrite")
    tokens, lstm = model.config.tokens, model.config.lstm
    if not isinstance(tokens, CharCNNConfig) or not isinstance(lstm, BiLSTMConfig):
        raise WeightsError(
            f"{model.source or 'model'}: is not a character model with a biLSTM; only those are written as ONNX"
        )
    graph = _Graph(onnx.helper)
    _fill(graph, model, tokens, lstm)
    made = graph.finish(tokens.characters)
    with errors_naming(path):
        write_file(path, made.SerializeToString())


def _fill(g: "_Graph", model: LoadedModel, tokens: CharCNNConfig, lstm: BiLSTMConfig) -> None:
    arrays = model.arrays
    x = _words(g, tokens, arrays.weights)  # [N * T, D]
    shape = g("Shape", "characters")
    rows = g("Concat", g("Slice", shape, g.ints(0), g.ints(2)), g.ints(-1), axis=0)
    x = g("Reshape", x, rows)  # [N, T, D]
    N, T = (g("Slice", shape, g.ints(k), g.ints(k + 1)) for k in (0, 1))  # [1] each
    steps = g("Range", g.scalar(0), g("Squeeze", T), g.scalar(1))  # [T]
    alive = g("Less", steps, g("Unsqueeze", "lengths", g.ints(1)))  # [N, T]
    x = g("Where", g("Unsqueeze", alive, g.ints(2)), x, g.floats(np.zeros(1)))
    alive = g("Unsqueeze", g("Transpose", alive, perm=[1, 0]), g.ints(2))  # [T, N, 1]
    R = lstm.directions
    layers = [g("Concat", *[x] * R, axis=2) if R > 1 else x]
    x = g("Transpose", x, perm=[1, 0, 2])  # [T, N, D]
    reading = [x, g("ReverseSequence", x, "lengths", time_axis=0, batch_axis=1)][:R]
    names = ("weight_x", "weight_h", "bias", "weight_projection")[: 3 if lstm.projection_dim is None else 4]
    for n in range(lstm.layers):
        layer = {name: arrays.weights[f"lstm.layers.{n}.{name}"] for name in names}
        outputs = []
        for r in range(R):
            settled = (arrays.settled.h[n, r], arrays.settled.c[n, r])
            start = [g("Expand", g.floats(s[None]), g("Concat", N, g.ints(len(s)), axis=0)) for s in settled]
            y = _run(g, reading[r], alive, start, {name: array[r] for name, array in layer.items()}, lstm)  # [T, N, P]
            if lstm.skip_connections and n > 0:
                y = g("Add", y, reading[r])
            reading[r] = y
            if r == 1:
                y = g("ReverseSequence", y, "lengths", time_axis=0, batch_axis=1)
            outputs.append(y)
        joined = g("Concat", *outputs, axis=2) if R > 1 else outputs[0]
        layers.append(g("Transpose", joined, perm=[1, 0, 2]))
    stacked = [g("Unsqueeze", layer, g.ints(0)) for layer in layers]
    g("Concat", *stacked, axis=0, to="layers")


def _words(g: "_Graph", config: CharCNNConfig, weights: Tensors) -> str:
    """`CharCNN.forward`: [N * T, D]."""

    def floats(name: str) -> str:
        return g.floats(weights[f"tokens.{name}"])

    rows = g("Reshape", "characters", g.ints(-1, config.characters))
    embedded = g("Transpose", g("Gather", floats("characters"), rows), perm=[0, 2, 1])  # [N * T, E, C]
    pooled = []
    for n in range(len(config.filters)):
        weight = g.floats(weights[f"tokens.filters.{n}"].transpose(2, 1, 0))
        scores = g("Conv", embedded, weight, floats(f"filter_biases.{n}"))
        pooled.append(g("ReduceMax", scores, axes=[2], keepdims=0))
    x = g("Relu" if config.activation == "relu" else "Tanh", g("Concat", *pooled, axis=1))
    for k in range(config.highways):
        of = f"highways.{k}"
        carry = g("Sigmoid", g("Gemm", x, floats(f"{of}.weight_carry"), floats(f"{of}.bias_carry")))
        fresh = g("Relu", g("Gemm", x, floats(f"{of}.weight_transform"), floats(f"{of}.bias_transform")))
        kept = g("Mul", g("Sub", g.floats(np.ones(1)), carry), x)
        x = g("Add", g("Mul", carry, fresh), kept)
    if config.projected:
        x = g("Gemm", x, floats("weight_projection"), floats("bias_projection"))
    return x


def _run(g: "_Graph", x: str, alive: str, start: list[str], layer: Tensors, config: BiLSTMConfig) -> str:
    """`lstmp_reference` for one direction, with its weights: the steps are the body of a Scan; [T, N, P]."""
    H = config.cell_dim
    bias = layer["bias"].copy()
    bias[2 * H : 3 * H] += FORGET_BIAS
    products = g("Add", g("MatMul", x, g.floats(layer["weight_x"])), g.floats(bias))  # [T, N, 4H]
    weight = g.floats(layer["weight_h"])
    projection = g.floats(layer["weight_projection"]) if "weight_projection" in layer else None
    clips = {
        name: None if value is None else (g.floats(np.float32(-value)), g.floats(np.float32(value)))
        for name, value in (("cell", config.cell_clip), ("projection", config.projection_clip))
    }
    body = g.inner()
    gates = body("Add", "products", body("MatMul", "h", weight))
    i, j, f, o = body.several("Split", gates, count=4, axis=1)
    kept = body("Mul", body("Sigmoid", f), "c")
    c = body("Add", kept, body("Mul", body("Sigmoid", i), body("Tanh", j)))
    if clips["cell"] is not None:
        c = body("Clip", c, *clips["cell"])
    h = body("Mul", body("Sigmoid", o), body("Tanh", c))
    if projection is not None:
        h = body("MatMul", h, projection)
        if clips["projection"] is not None:
            h = body("Clip", h, *clips["projection"])
    body("Where", "alive", h, "h", to="h_after")
    body("Where", "alive", c, "c", to="c_after")
    body("Where", "alive", h, g.floats(np.zeros(1)), to="y")
    names = [body.renamed(name) for name in ("h", "c", "products", "alive")]
    results = [body.renamed(name) for name in ("h_after", "c_after", "y")]
    kinds = [(names[0], TENSOR_FLOAT), (names[1], TENSOR_FLOAT), (names[2], TENSOR_FLOAT), (names[3], TENSOR_BOOL)]
    made = g.helper.make_graph(
        body.nodes,
        body.renamed("step"),
        [g.helper.make_tensor_value_info(name, kind, None) for name, kind in kinds],
        [g.helper.make_tensor_value_info(name, TENSOR_FLOAT, None) for name in results],
    )
    return g.several("Scan", *start, products, alive, count=3, body=made, num_scan_inputs=2)[2]


class _Graph:
    """Nodes and constants with names of their own. Calling it adds a node and gives its output's name."""

    def __init__(self, helper: Any, *, prefix: str = "") -> None:
        self.helper = helper
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self._prefix = prefix
        self._count = 0

    def inner(self) -> "_Body":
        """The graph of a loop's body, whose names differ from all others."""
        return _Body(self.helper, prefix=self._name("body") + ".")

    def renamed(self, name: str) -> str:
        return name

    def __call__(self, operation: str, *inputs: str, to: str | None = None, **attributes: Any) -> str:
        output = self._name(operation.lower()) if to is None else self.renamed(to)
        self._add(operation, inputs, [output], attributes)
        return output

    def several(self, operation: str, *inputs: str, count: int, **attributes: Any) -> list[str]:
        """A node with `count` outputs."""
        outputs = [self._name(operation.lower()) for _ in range(count)]
        self._add(operation, inputs, outputs, attributes)
        return outputs

    def _add(self, operation: str, inputs: Sequence[str], outputs: list[str], attributes: dict[str, Any]) -> None:
        given = [self.renamed(name) for name in inputs]
        self.nodes.append(self.helper.make_node(operation, given, outputs, **attributes))

    def ints(self, *values: int) -> str:
        return self._constant(np.array(values, dtype=np.int64), TENSOR_INT64)

    def scalar(self, value: int) -> str:
        return self._constant(np.array(value, dtype=np.int64), TENSOR_INT64)

    def floats(self, values: npt.NDArray[Any] | np.floating[Any]) -> str:
        return self._constant(np.asarray(values, dtype=np.float32), TENSOR_FLOAT)

    def finish(self, characters: int) -> Any:
        """The whole model."""
        value = self.helper.make_tensor_value_info
        graph = self.helper.make_graph(
            self.nodes,
            "bilm",
            [
                value("characters", TENSOR_INT64, ["sentences", "positions", characters]),
                value("lengths", TENSOR_INT64, ["sentences"]),
            ],
            [value("layers", TENSOR_FLOAT, ["layers", "sentences", "positions", "size"])],
            self.constants,
        )
        opset = self.helper.make_opsetid("", OPSET)
        return self.helper.make_model(graph, opset_imports=[opset], ir_version=IR_VERSION, producer_name="elmo")

    def _constant(self, array: npt.NDArray[Any], kind: int) -> str:
        name = self._name("constant")
        self.constants.append(self.helper.make_tensor(name, kind, array.shape, array.tobytes(), raw=True))
        return name

    def _name(self, stem: str) -> str:
        self._count += 1
        return f"{self._prefix}{stem}.{self._count}"


class _Body(_Graph):
    OWN = ("h", "c", "products", "alive", "h_after", "c_after", "y", "step")

    def renamed(self, name: str) -> str:
        return self._prefix + name if name in self.OWN else name
