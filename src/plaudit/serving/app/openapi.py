"""The OpenAPI document of a server, generated from the message types of its protocols."""

from typing import Any

import msgspec

from plaudit.serving.protocols import PROTOCOLS
from plaudit.serving.protocols.sandbox_fusion import RunAnswer, RunRequest
from plaudit.version import __version__

OPEN_PAGES = ("/health", "/ready")
"""Pages that need no token."""
PAGES = {
    "/": "The rewards that are served.",
    "/health": "Whether the server runs.",
    "/ready": "Whether requests would be answered.",
    "/metrics": "Counts in the format of Prometheus.",
    "/openapi.json": "This document.",
}
REFUSALS = {
    "400": "The body is not JSON or msgpack.",
    "401": "No valid token.",
    "403": "The Host header is not a name of this server.",
    "405": "Another method is needed.",
    "408": "The body took too long to arrive.",
    "413": "Too large, or too many samples.",
    "415": "Another content type is needed.",
    "422": "The message has another form, or a sample was not scored and the protocol cannot express that.",
    "503": "Too much load (Retry-After says when to try again), or the server is stopping or cannot load the reward.",
    "504": "The time that the client allowed is over.",
}


class Refusal(msgspec.Struct):
    """The reason for refusing a request."""

    error: str


_MESSAGES: dict[str, tuple[str, Any, Any]] = {
    **{path: (each.title, *each.messages) for path, each in PROTOCOLS.items()},
    "run_code": ("SandboxFusion: /run_code", RunRequest, RunAnswer),
}


def describe_api(rewards: dict[str, dict[str, Any]], *, needs_token: bool) -> dict[str, Any]:
    """The document for rewards by name; the first one is also served without its name."""
    used = dict.fromkeys(protocol for described in rewards.values() for protocol in described["protocols"])
    types = [Refusal, *(kind for protocol in used for kind in _MESSAGES[protocol][1:])]
    schemas, components = msgspec.json.schema_components(types, ref_template="#/components/schemas/{name}")
    by_type = dict(zip(map(str, types), schemas, strict=True))
    paths: dict[str, Any] = {path: _page(path, about) for path, about in PAGES.items()}
    for index, (name, described) in enumerate(rewards.items()):
        paths[f"/{name}"] = _page(f"/{name}", str(described.get("about") or f"What {name} is."))
        for protocol in described["protocols"]:
            for prefix in (f"/{name}", *([""] if index == 0 or protocol == "run_code" else [])):
                paths[f"{prefix}/{protocol}"] = _operation(f"{prefix}/{protocol}", protocol, by_type)
    schemes = {"token": {"type": "http", "scheme": "bearer"}, "url": {"type": "http", "scheme": "basic"}}
    required = schemes if needs_token else {}
    return {
        "openapi": "3.1.0",
        "info": {"title": "plaudit", "version": __version__, "description": "Rewards as a service."},
        "paths": paths,
        "components": {"schemas": components, "securitySchemes": required},
        "security": [{name: []} for name in required],
    }


def _page(path: str, about: str) -> dict[str, Any]:
    kind, schema = ("text/plain", "string") if path == "/metrics" else ("application/json", "object")
    answers = {"200": {"description": about, "content": {kind: {"schema": {"type": schema}}}}}
    described = {"operationId": f"get{path.replace('/', '_')}", "summary": about}
    security: dict[str, Any] = {"security": []} if path in OPEN_PAGES else {}
    return {"get": {**described, "responses": {**answers, **_refusals("401", "403", "405", "503")}, **security}}


def _operation(path: str, protocol: str, schemas: dict[str, Any]) -> dict[str, Any]:
    title, request, answer = _MESSAGES[protocol]
    kinds = ["application/json", *(["application/msgpack"] if protocol == "score" else [])]
    return {
        "post": {
            "operationId": f"post{path.replace('/', '_')}",
            "summary": title,
            "requestBody": {"required": True, "content": _content(kinds, schemas[str(request)])},
            "responses": {
                "200": {"description": "Answered.", "content": _content(kinds, schemas[str(answer)])},
                **_refusals(*REFUSALS),
            },
        }
    }


def _content(kinds: list[str], schema: Any) -> dict[str, Any]:
    return {kind: {"schema": schema} for kind in kinds}


def _refusals(*statuses: str) -> dict[str, Any]:
    content = _content(["application/json"], {"$ref": "#/components/schemas/Refusal"})
    return {status: {"description": REFUSALS[status], "content": content} for status in statuses}
