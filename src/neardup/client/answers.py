"""What a service answers, as values and as errors."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from neardup.errors import BusyError, ServiceError


class Answer(NamedTuple):
    """What was decided of a document; of a duplicate, what it is of and why."""

    id: str | None
    decision: str
    kept_id: str | None = None
    score: float | None = None
    reason: str | None = None
    kind: str | None = None
    by: tuple[str, ...] | None = None

    @property
    def duplicate(self) -> bool:
        return self.decision == "duplicate"


def written(body: Any) -> bytes:
    return json.dumps(body, allow_nan=False).encode()


def answer_of(found: dict[str, Any]) -> Answer:
    known = {name: found[name] for name in Answer._fields}
    return Answer(**{**known, "by": None if found["by"] is None else tuple(found["by"])})


def read(status: int, raw: bytes) -> Any:
    try:
        found = json.loads(raw)
    except ValueError:
        raise ServiceError(
            f"The service answered {status} with something that is no JSON.",
            hint="is it a service of neardup?",
            status=status,
        ) from None
    if 200 <= status < 300:
        return found
    raise error_of(status, found)


def error_of(status: int, found: Any) -> ServiceError:
    """The sentence of the service, its hint apart."""
    said = found if isinstance(found, dict) else {}
    hint = said.get("hint")
    message = str(said.get("detail") or f"The service answered {status}.")
    kind = BusyError if status in (429, 503) else ServiceError
    return kind(message.removesuffix(f" Hint: {hint}"), hint=hint, status=status)
