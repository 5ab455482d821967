"""Labels out and in: downloads, and judged copies of a sample that are sent back.

What is sent is read in memory and checked as ``neardup label import`` does; if a row is wrong,
nothing is stored.
"""

from __future__ import annotations

import json
from typing import Annotated

from fastapi import APIRouter, Depends, Request
from fastapi.responses import JSONResponse, Response

from neardup.errors import InputError
from neardup.evaluation.agreement import verdicts
from neardup.evaluation.samples import read_judged_text
from neardup.evaluation.turns import ARBITER, ASSESSOR, check_assessor
from neardup.web.judging.desk import Desk
from neardup.web.judging.posted import read_bytes
from neardup.web.pages import Pages
from neardup.web.problems import not_found

MOST = 64 << 20  # bytes of a file that is sent
SENT = "the file"


async def _sent(request: Request) -> bytes:
    return await read_bytes(request, MOST)


class Exchange:
    def __init__(self, desk: Desk) -> None:
        self.desk = desk

    def add(self, router: APIRouter, _: Pages) -> None:
        router.add_api_route("/judge/export", self.export, include_in_schema=False)
        router.add_api_route("/judge/import", self.taken, methods=["POST"], include_in_schema=False)

    def export(self, what: str = "labels", sample: str = "") -> Response:
        """``labels``: the store as it is; ``gold``: one label a pair; ``sample``: to judge it."""
        folder = self.desk.folder
        if what == "sample":
            return _download(folder.sample(sample).read_bytes(), f"{sample}.jsonl")
        if what == "gold":
            return _download(self._gold(), "gold.jsonl")
        if what != "labels":
            raise not_found(f"There is no {what!r} to export.", hint="labels, gold or sample.")
        path = folder.labels_path
        return _download(path.read_bytes() if path.exists() else b"", "labels.jsonl")

    def _gold(self) -> bytes:
        rows = []
        for pair, label in sorted(verdicts(self.desk.folder.labels()).settled.items()):
            kind = {"kind": label.kind} if label.kind else {}
            rows.append({"a": pair.a, "b": pair.b, "label": label.label, **kind})
        return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()

    def taken(
        self,
        data: Annotated[bytes, Depends(_sent)],
        sample: str,
        assessor: str = "",
        role: str = ASSESSOR,
    ) -> Response:
        """Without ``assessor`` each row has to name its own."""
        folder = self.desk.folder
        pairs = folder.key(sample).pairs
        if assessor.strip():
            check_assessor(folder.labels(), assessor.strip(), role)
        try:
            text = data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise InputError(f"{SENT} is not UTF-8.", hint="send a JSON Lines file.") from error
        judged = read_judged_text(
            text, SENT, pairs, assessor.strip() or None, arbiter=role == ARBITER, sample=sample
        )
        for who, arbiter in {(label.assessor, label.arbiter) for label in judged.labels}:
            check_assessor(folder.labels(), who, ARBITER if arbiter else ASSESSOR)
        new = folder.store.add_all(judged.labels, together=True)
        return JSONResponse(
            {"read": len(judged.labels), "new": new, "without_label": judged.open},
        )


def _download(data: bytes, name: str) -> Response:
    return Response(
        data,
        media_type="application/x-ndjson",
        headers={"Content-Disposition": f'attachment; filename="{name}"'},
    )
