"""datatrove: its MinHash steps in one process, with `str.split` for its spaCy tokeniser, which
makes them several times slower. The clusters are made of the pairs its buckets write.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from datatrove.data import Document
from datatrove.pipeline.dedup import minhash
from loguru import logger

from benchmarks import side
from benchmarks.runner import Pairs, Runner

CONFIG = minhash.MinhashConfig(
    n_grams=side.WORDS, num_buckets=side.BANDS, hashes_per_bucket=side.ROWS, seed=1
)


class Words:
    @staticmethod
    def word_tokenize(text: str) -> list[str]:
        return text.split()


def signer(folder: str) -> Any:
    minhash.load_word_tokenizer = lambda _: Words()
    return minhash.MinhashDedupSignature(output_folder=folder, config=CONFIG)


def sign(texts: list[str]) -> list[Any]:
    with tempfile.TemporaryDirectory() as folder:
        step = signer(folder)
        return [step.get_signature(step.get_shingles(text)) for text in texts]


def pairs(texts: list[str]) -> Pairs:
    documents = (Document(text=text, id=str(number)) for number, text in enumerate(texts))
    with tempfile.TemporaryDirectory() as home:
        signer(f"{home}/signatures").run(documents)
        step = minhash.MinhashDedupBuckets(f"{home}/signatures", f"{home}/buckets", config=CONFIG)
        for bucket in range(CONFIG.num_buckets):
            step.run(rank=bucket, world_size=CONFIG.num_buckets)
        written = [np.fromfile(file, "<u4") for file in Path(home, "buckets").glob("*.dups")]
    quads = np.concatenate(written).reshape(-1, 4)  # file, document, file, document
    return quads[:, [1, 3]].tolist()


if __name__ == "__main__":
    logger.remove()
    Runner("datatrove", "datatrove", sign=sign, pairs=pairs).main()
