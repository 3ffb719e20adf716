"""What a server says of itself: /info, /v1/models, health, readiness, metrics, and its own OpenAPI document."""

import json
from dataclasses import asdict
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

import elmo
from elmo.apps.server.answers import answer_json
from elmo.apps.server.calls import Call
from elmo.apps.server.formats import known_formats
from elmo.apps.server.operations import OBJECT, Operation
from elmo.apps.server.refusals import RefusedError
from elmo.apps.server.schemas import INTEGER, STRING, answer_of, list_of
from elmo.apps.server.service import Service

METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8"


async def info(service: Service, _call: Call, _request: Request) -> Response:
    """The model, the limits, what else is served."""
    embedder, model = service.embedder, service.embedder.model
    return answer_json(
        {
            "model": service.name,
            "sha256": service.sha256,
            "dim": embedder.dim,
            "layers": embedder.layer_count,
            "device": embedder.device_name,
            "precision": embedder.precision,
            "state": embedder.state,
            "tokenizer": model.tokenizer.to_dict(),
            "formats": list(known_formats()),
            "tasks": {name: trained.name for name, trained in service.tasks.items()},
            "index": _index_facts(service),
            "limits": asdict(service.limits),
            "version": elmo.__version__,
        }
    )


def _index_facts(service: Service) -> dict[str, Any] | None:
    index = service.index
    return None if index is None else {"uses": len(index), "words": len(index.words), "layers": list(index.layers)}


async def models(service: Service, _call: Call, _request: Request) -> Response:
    """OpenAI's list of models: this one."""
    own = {"id": service.name, "object": "model", "created": service.created, "owned_by": "elmo"}
    return answer_json({"object": "list", "data": [own]})


async def health(_service: Service, _call: Call, _request: Request) -> Response:
    """The process answers."""
    return answer_json({"status": "ok"})


async def ready(service: Service, _call: Call, _request: Request) -> Response:
    """Whether requests should be sent here."""
    if not service.is_ready:
        why = "is shutting down" if service.is_draining else "is warming up"
        raise RefusedError(503, f"the server {why}", code="not_ready", headers={"Retry-After": "5"})
    return answer_json({"status": "ready"})


async def metrics(service: Service, _call: Call, _request: Request) -> Response:
    """Prometheus' format."""
    return Response(service.metrics.text(), headers={"Content-Type": METRICS_TYPE})


async def openapi(_service: Service, _call: Call, request: Request) -> Response:
    """The document about all of these."""
    return Response(json.dumps(request.app.state.openapi), media_type="application/json")


_STATUS = {"application/json": answer_of({"status": STRING})}
ABOUT = (
    Operation(
        method="GET",
        path="/info",
        summary="The model, its hash and sizes, limits, version.",
        handler=info,
    ),
    Operation(
        method="GET",
        path="/v1/models",
        summary="The one model of this server, as OpenAI's API lists it.",
        handler=models,
        answers={
            "application/json": answer_of(
                {
                    "object": {"const": "list"},
                    "data": list_of(
                        answer_of({"id": STRING, "object": {"const": "model"}, "created": INTEGER, "owned_by": STRING})
                    ),
                }
            )
        },
    ),
    *(
        Operation(
            method="GET",
            path=path,
            summary="Whether the process answers.",
            handler=health,
            answers=_STATUS,
            is_open=True,
        )
        for path in ("/health", "/v2/health/live")
    ),
    *(
        Operation(
            method="GET",
            path=path,
            summary="Whether requests should be sent here: from the warm-up to the shutdown.",
            handler=ready,
            answers=_STATUS,
            refusals=(503,),
            is_open=True,
        )
        for path in ("/ready", "/v2/health/ready")
    ),
    Operation(
        method="GET",
        path="/metrics",
        summary="Counters and histograms for Prometheus.",
        handler=metrics,
        answers={METRICS_TYPE.partition(";")[0]: STRING},
    ),
    Operation(
        method="GET",
        path="/openapi.json",
        summary="This document.",
        handler=openapi,
        answers={"application/json": OBJECT},
    ),
)
