"""The OpenAPI document of a server: its pages, and each of its rewards in every protocol."""

from typing import Any

from plaudit.version import __version__

__all__ = ["OPEN_PAGES", "describe_api"]

OPEN_PAGES = ("/health", "/ready")
"""What is shown to those without a token."""

Schema = dict[str, Any]

_TEXT: Schema = {"type": "string"}
_NUMBER: Schema = {"type": "number"}
_OBJECT: Schema = {"type": "object"}
_TEXTS: Schema = {"type": "array", "items": _TEXT}
_MESSAGES: Schema = {
    "type": "array",
    "items": {"type": "object", "required": ["role"], "properties": {"role": _TEXT}},
}
_ITEMS: Schema = {
    "type": "array",
    "items": {"type": "object", "properties": {"role": _TEXT}},
    "description": "Chat messages have a role; what has none is no part of the prompt.",
}
_PROMPT: Schema = {"anyOf": [_TEXT, _MESSAGES], "description": "A text, or chat messages."}
_RESULT: Schema = {
    "type": ["object", "null"],
    "properties": {
        "status": {"enum": ["Finished", "Error", "TimeLimitExceeded"]},
        "execution_time": _NUMBER,
        "return_code": {"type": ["integer", "null"]},
        "stdout": _TEXT,
        "stderr": _TEXT,
    },
}

SCHEMAS: dict[str, Schema] = {
    "Error": {"type": "object", "required": ["error"], "properties": {"error": _TEXT}},
    "Output": {
        "type": "object",
        "required": ["reward", "status"],
        "properties": {
            "reward": {"type": ["number", "null"]},
            "status": {"enum": ["ok", "unparsed", "skipped", "timeout", "memory", "error"]},
            "score": {"type": ["number", "null"], "minimum": 0, "maximum": 1},
            "reason": _TEXT,
            "components": _OBJECT,
            "metadata": _OBJECT,
            "token_rewards": {"type": "array", "items": _NUMBER},
            "latency_s": _NUMBER,
        },
    },
}

REQUESTS: dict[str, Schema] = {
    "score": {
        "type": "object",
        "required": ["trajectories"],
        "properties": {
            "trajectories": {
                "type": "array",
                "items": {
                    "description": "A line of a rollouts file, as an object; anything else gets an output with error."
                },
            },
            "exact": {"type": "boolean", "description": "Take the fields as they are called, and no others for them."},
        },
    },
    "get_reward": {
        "type": "object",
        "required": ["query"],
        "properties": {
            "query": {"anyOf": [_TEXTS, _TEXT]},
            "prompts": {"anyOf": [_TEXTS, _TEXT, {"type": "null"}]},
            "labels": {"description": "One for each query."},
        },
    },
    "remote_rm": {
        "type": "object",
        "required": ["response"],
        "properties": {"prompt": _PROMPT, "response": _TEXT, "label": {}},
    },
    "verify": {
        "type": "object",
        "required": ["responses_create_params", "response"],
        "properties": {
            "responses_create_params": {"type": "object", "properties": {"input": {"anyOf": [_TEXT, _ITEMS]}}},
            "response": {
                "type": "object",
                "required": ["output"],
                "properties": {"output": {"type": "array", "items": _OBJECT}},
            },
        },
    },
    "run_code": {
        "type": "object",
        "required": ["code", "language"],
        "properties": {
            "code": _TEXT,
            "language": _TEXT,
            "stdin": {"type": ["string", "null"]},
            "compile_timeout": _NUMBER,
            "run_timeout": {"type": "number", "exclusiveMinimum": 0},
            "memory_limit_MB": {"type": ["number", "null"]},
            "files": {"type": "object", "additionalProperties": {"type": ["string", "null"]}},
            "fetch_files": _TEXTS,
        },
    },
}

ANSWERS: dict[str, Schema] = {
    "score": {
        "type": "object",
        "required": ["outputs", "reward", "key", "version"],
        "properties": {
            "outputs": {"type": "array", "items": {"$ref": "#/components/schemas/Output"}},
            "reward": _TEXT,
            "key": _TEXT,
            "version": _TEXT,
        },
    },
    "get_reward": {
        "type": "object",
        "required": ["rewards", "scores", "extra_logs"],
        "properties": {
            "rewards": {"type": "array", "items": {"type": ["number", "null"]}},
            "scores": {"type": "array", "items": {"type": ["number", "null"]}},
            "extra_logs": {"type": "object", "additionalProperties": {"type": "array", "items": _NUMBER}},
        },
    },
    "remote_rm": {"type": ["number", "null"]},
    "verify": {"type": "object", "required": ["reward"], "properties": {"reward": {"type": ["number", "null"]}}},
    "run_code": {
        "type": "object",
        "required": ["status", "message"],
        "properties": {
            "status": {"enum": ["Success", "Failed", "SandboxError"]},
            "message": _TEXT,
            "compile_result": _RESULT,
            "run_result": _RESULT,
        },
    },
}

TITLES = {
    "score": "plaudit: trajectories to outputs",
    "get_reward": "OpenRLHF: --remote_rm_url",
    "remote_rm": "slime: --rm-type remote_rm",
    "verify": "NeMo Gym: /verify",
    "run_code": "SandboxFusion: /run_code",
}
REFUSALS = {
    "400": "The body is not what its content type says.",
    "401": "No valid token.",
    "403": "Asked under a name that is not the server's.",
    "405": "Another method.",
    "408": "The request took too long to arrive.",
    "413": "Too large, or too many samples.",
    "415": "Another content type.",
    "422": "The request makes no sense, or a sample was not scored and the protocol cannot express that.",
    "429": "Too much at once; Retry-After says when to come back.",
    "431": "The headers are too long.",
    "503": "The server stops, or the reward cannot be loaded.",
    "504": "The time that the client allowed is over.",
}
PAGES = {
    "/": ("The rewards that are served.", 200),
    "/health": ("Whether the server runs.", 200),
    "/ready": ("Whether requests would be answered.", 200),
    "/metrics": ("Counts, as Prometheus reads them.", 200),
    "/openapi.json": ("This document.", 200),
}


def describe_api(rewards: dict[str, dict[str, Any]], *, needs_token: bool) -> dict[str, Any]:
    """The document, for rewards by their names; the first is also asked without its name."""
    paths: dict[str, Any] = {path: _page(path) for path in PAGES}
    for place, (name, about) in enumerate(rewards.items()):
        paths[f"/{name}"] = _page(f"/{name}", str(about.get("about") or f"What {name} is."))
        for protocol in about["protocols"]:
            paths[f"/{name}/{protocol}"] = _operation(f"{name}_{protocol}", protocol)
            if place == 0 or protocol == "run_code":
                paths[f"/{protocol}"] = _operation(protocol, protocol)
    kinds = {"token": {"type": "http", "scheme": "bearer"}, "url": {"type": "http", "scheme": "basic"}}
    schemes = kinds if needs_token else {}
    return {
        "openapi": "3.1.0",
        "info": {"title": "plaudit", "version": __version__, "description": "Rewards as a service."},
        "paths": paths,
        "components": {"schemas": SCHEMAS, "securitySchemes": schemes},
        "security": [{name: []} for name in schemes],
    }


def _page(path: str, about: str = "") -> dict[str, Any]:
    words = about or PAGES[path][0]
    content = {"text/plain": {"schema": _TEXT}} if path == "/metrics" else {"application/json": {"schema": _OBJECT}}
    answers = {"200": {"description": words, "content": content}, **_refusals("401", "403", "405", "408", "431", "503")}
    described = {"operationId": f"get{path.replace('/', '_')}", "summary": words, "responses": answers}
    return {"get": {**described, "security": []} if path in OPEN_PAGES else described}


def _operation(name: str, protocol: str) -> dict[str, Any]:
    kinds = ["application/json", "application/msgpack"][: 2 if protocol == "score" else 1]
    request, answer = REQUESTS[protocol], ANSWERS[protocol]
    return {
        "post": {
            "operationId": name,
            "summary": TITLES[protocol],
            "requestBody": {"required": True, "content": {kind: {"schema": request} for kind in kinds}},
            "responses": {
                "200": {"description": "Answered.", "content": {kind: {"schema": answer} for kind in kinds}},
                **_refusals(*REFUSALS),
            },
        }
    }


def _refusals(*statuses: str) -> dict[str, Any]:
    content = {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}}
    return {status: {"description": REFUSALS[status], "content": content} for status in statuses}
