"""ZIP and TAR archives as folders of documents: what is hostile or broken is rejected by name."""

from __future__ import annotations

import io
import tarfile
import zipfile
from pathlib import Path

import pytest

import neardup as nd

TEXT = "The council decided on Monday to rebuild the old bridge over the river in stone."
FILES = {"a.txt": TEXT, "sub/b.md": TEXT, "sub/c.txt": "Gardens need water.", ".hidden": TEXT}


def write_zip(path: Path, files: dict[str, str]) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files.items():
            archive.writestr(name, text)


def write_tar(path: Path, files: dict[str, str], mode: str = "w") -> None:
    with tarfile.open(path, mode) as archive:  # type: ignore[call-overload]
        for name, text in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(text)
            archive.addfile(info, io.BytesIO(text.encode()))


def reasons(result: nd.Result) -> dict[str, str]:
    rows = result.decisions.to_pylist()
    return {row["id"]: row["reason"] for row in rows if row["decision"] == "rejected"}


@pytest.mark.parametrize("name", ["x.zip", "x.tar", "x.tar.gz", "x.tgz", "x.tar.xz"])
def test_files_of_an_archive_are_documents(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    if name.endswith(".zip"):
        write_zip(path, FILES)
    else:
        write_tar(path, FILES, {"gz": "w:gz", "gzip": "w:gz", "xz": "w:xz"}.get(name[-2:], "w"))
    result = nd.dedup(path, method="exact")
    counts = result.counts
    assert (counts.kept, counts.duplicates, counts.rejected) == (2, 1, 0)
    result.save(tmp_path / "out")
    kept = tmp_path / "out" / "kept"
    assert sorted(p.relative_to(kept).as_posix() for p in kept.rglob("*.*")) == [
        "a.txt",
        "sub/c.txt",
    ]
    assert nd.Result.load(tmp_path / "out").explain("sub/b.md").comparison is not None


def test_hostile_members_are_rejected_and_nothing_leaves_the_archive(tmp_path: Path) -> None:
    hostile = {"../out.txt": TEXT, "/etc/x.txt": TEXT, "C:/y.txt": TEXT, "big.txt": "a" * 2_000_000}
    write_zip(tmp_path / "x.zip", {**FILES, **hostile})
    result = nd.dedup(tmp_path / "x.zip", method="exact", max_document="1MB")
    assert result.counts.documents == 7
    found = reasons(result)
    assert found.keys() == hostile.keys()
    assert all("leads out of the archive" in found[name] for name in hostile if name != "big.txt")
    assert "max_document" in found["big.txt"]
    result.save(tmp_path / "deep" / "out")
    assert not list(tmp_path.rglob("out.txt"))


def test_a_header_that_lies_and_an_encrypted_member(tmp_path: Path) -> None:
    path = tmp_path / "x.zip"
    write_zip(path, {"a.txt": TEXT, "locked.txt": TEXT, "liar.txt": "b" * 3000})
    data = bytearray(path.read_bytes())
    entry = data.index(b"PK\x01\x02", data.index(b"PK\x01\x02") + 1)
    data[entry + 8] |= 1  # encrypted, in the directory
    liar = data.index(b"PK\x01\x02", entry + 1)
    data[liar + 24 : liar + 28] = (10).to_bytes(4, "little")  # its size
    path.write_bytes(data)
    result = nd.dedup(path, method="exact")
    assert (result.counts.kept, result.counts.rejected) == (1, 2)
    assert reasons(result)["locked.txt"] == "member is encrypted"


def test_links_in_a_tar_archive_are_not_followed(tmp_path: Path) -> None:
    write_tar(tmp_path / "x.tar", FILES)
    with tarfile.open(tmp_path / "x.tar", "a") as archive:
        link = tarfile.TarInfo("passwd.txt")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(link)
    result = nd.dedup(tmp_path / "x.tar", method="exact")
    assert (result.counts.documents, result.counts.rejected) == (4, 1)
    assert "is a link" in reasons(result)["passwd.txt"]


def test_a_broken_archive(tmp_path: Path) -> None:
    write_tar(tmp_path / "x.tar", {f"{n}.txt": TEXT * 20 for n in range(9)})
    data = (tmp_path / "x.tar").read_bytes()
    (tmp_path / "x.tar").write_bytes(data[: len(data) // 3])
    counts = nd.dedup(tmp_path / "x.tar", method="exact").counts
    assert (counts.rejected >= 1, counts.kept) == (True, 1)
    (tmp_path / "x.zip").write_bytes(b"PK no archive")
    with pytest.raises(nd.NeardupError, match=r"x\.zip"):
        nd.dedup(tmp_path / "x.zip")
    (tmp_path / "empty.zip").write_bytes(b"PK\x05\x06" + bytes(18))
    with pytest.raises(nd.NeardupError, match="no files"):
        nd.dedup(tmp_path / "empty.zip")
