"""`elmo serve`: vectors over HTTP."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from elmo.apps.cli import options
from elmo.apps.cli.server_extra import server_extra
from elmo.embed.choices import Precision
from elmo.errors import UserError

if TYPE_CHECKING:
    from starlette.routing import BaseRoute

    from elmo.embed.embedder import Embedder
    from elmo.tasks.training.trained import TrainedTask

LOOPBACK = ("127.0.0.1", "localhost", "::1")
KEY_VARIABLE = "ELMO_API_KEY"


def serve(
    model: options.Model = None,
    host: Annotated[str, typer.Option("--host", help="The address to listen on; 0.0.0.0: all of them.")] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="0: any that is free, which is told.")] = 8400,
    tasks: Annotated[
        list[str] | None,
        typer.Option("--task", help="A directory made by `elmo task train`, or NAME=DIRECTORY; may be given again."),
    ] = None,
    index: Annotated[
        Path | None, typer.Option("--index", help="An index of this model, for /neighbors and /search.")
    ] = None,
    explore: Annotated[bool, typer.Option("--explore", help="Show the page of `elmo explore` at /.")] = False,
    key: Annotated[
        str | None,
        typer.Option("--api-key", help=f"What requests must bring. Better in {KEY_VARIABLE}: others see arguments."),
    ] = None,
    origins: Annotated[
        list[str] | None, typer.Option("--allow-origin", help="A web page that may ask: https://example.org.")
    ] = None,
    hosts: Annotated[
        list[str] | None,
        typer.Option("--allow-host", help="A name that it answers to, besides localhost, where it listens there."),
    ] = None,
    device: options.Device = None,
    precision: Annotated[
        Precision, typer.Option("--precision", help="The type in which vectors are computed; int8 is for CPUs.")
    ] = "float32",
    threads: Annotated[int | None, typer.Option("--threads", min=1, help="CPU threads of the model.")] = None,
    most_bytes: Annotated[int, typer.Option("--most-bytes", min=1, help="Bytes of a request's body.")] = 2_000_000,
    most_inputs: Annotated[int, typer.Option("--most-inputs", min=1, help="Texts of a request.")] = 2048,
    most_tokens: Annotated[int, typer.Option("--most-tokens", min=1, help="Tokens of a request.")] = 300_000,
    most_waiting_tokens: Annotated[
        int, typer.Option("--most-waiting-tokens", min=1, help="Tokens of all requests; more are refused with 429.")
    ] = 200_000,
    batch_tokens: Annotated[
        int | None, typer.Option("--batch-tokens", min=1, help="Tokens of a batch; 4096, on a GPU 65536.")
    ] = None,
    timeout: Annotated[float, typer.Option("--timeout", min=0.1, help="Seconds for a request, then 503.")] = 120.0,
    read_timeout: Annotated[
        float, typer.Option("--read-timeout", min=0.1, help="Seconds for its headers and for its body, then 408.")
    ] = 20.0,
    log_requests: Annotated[
        bool, typer.Option("--log-requests", help="A line in the log for each request; texts are never in it.")
    ] = False,
) -> None:
    """Answer over HTTP: vectors of texts and tokens, OpenAI's embeddings, tokens, similarity, trained tasks.

    Example: elmo serve --port 8400

    It listens on this machine alone unless --host says otherwise. SIGTERM or Ctrl-C: what waits is answered first.
    """
    with server_extra("elmo serve"):
        from elmo.apps.server.app import make_app
        from elmo.apps.server.logs import log_as_json
        from elmo.apps.server.serving import bind
        from elmo.apps.server.serving import serve as run
    from elmo.analysis.index.wordindex import open_index
    from elmo.apps.server.limits import BATCH_TOKENS, BATCH_TOKENS_ON_GPU, Limits
    from elmo.embed.loading import load

    key = os.environ.get(KEY_VARIABLE) if key is None else key
    if key is not None and not key.strip():
        raise UserError(f"the key is empty; give one with --api-key or {KEY_VARIABLE}, or neither for none")
    if explore and key is not None:
        raise UserError("--explore is a page for browsers, which bring no key; leave out the key, or serve it apart")
    listening = bind(host, port)  # before the model: a port that is taken is told at once
    with listening:
        embedder = load(model, device=device, precision=precision, num_threads=threads)
        on_gpu = embedder.device_name != "cpu"
        limits = Limits(
            most_bytes=most_bytes,
            most_inputs=most_inputs,
            most_tokens=most_tokens,
            most_waiting_tokens=most_waiting_tokens,
            batch_tokens=batch_tokens or (BATCH_TOKENS_ON_GPU if on_gpu else BATCH_TOKENS),
            timeout=timeout,
            read_timeout=read_timeout,
        )
        trained = load_tasks(tasks or (), embedder, device)
        app = make_app(
            embedder,
            name=served_name(model),
            limits=limits,
            index=None if index is None else open_index(index),
            tasks=trained,
            extra_routes=_page(embedder, index, model, trained) if explore else (),
            key=key,
            origins=origins or (),
            hosts=(*LOOPBACK, "[::1]", *(hosts or ())) if host in LOOPBACK or hosts else None,
        )
        log_as_json(requests=log_requests)
        where = f"[{host}]" if ":" in host else host
        address = f"http://{where}:{listening.getsockname()[1]}"
        run(app, listening, started=lambda: typer.echo(f"listening on {address}"))


def served_name(model: str | None) -> str:
    """What a model is called in answers: its name, or that of its folder or file."""
    from elmo.weights.published.packaged import DEFAULT

    if model is None:
        return DEFAULT
    return Path(model).name if Path(model).exists() else model


def _page(
    embedder: "Embedder", index: Path | None, model: str | None, trained: "Mapping[str, TrainedTask]"
) -> "list[BaseRoute]":
    from elmo.apps.cli.explore import make_explorer
    from elmo.apps.explore.routes import explore_routes

    kinds = {name: one.name for name, one in trained.items()}
    return explore_routes(make_explorer(embedder, [], index, model=model, tasks=kinds))


def load_tasks(
    given: "list[str] | tuple[str, ...]", embedder: "Embedder", device: str | None
) -> "dict[str, TrainedTask]":
    """Task models by name: the one that is given, or that of the task. They share the server's biLM if it is theirs."""
    if not given:  # without task models a server needs no torch
        return {}
    from elmo.tasks.training.directory import load_trained_task

    found: dict[str, TrainedTask] = {}
    for one in given:
        name, equals, path = one.partition("=")
        trained = load_trained_task(path if equals else one, model=embedder.model, device=device)
        name = name if equals else trained.name
        if name in found:
            raise UserError(f"--task {one}: there is a task {name!r} already; give it a name of its own: NAME={one}")
        found[name] = trained
    return found
