"""Versions, licences and the bill of materials agree with what is declared and installed."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tools import supply

ROOT = Path(__file__).parents[2]


def locked() -> dict[str, str]:
    lines = (ROOT / "constraints.txt").read_text("utf-8").splitlines()
    return dict(line.split("==") for line in lines if not line.startswith("#"))


def declared() -> list[Requirement]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    groups = [project["dependencies"], *project["optional-dependencies"].values()]
    needs = [Requirement(line) for group in groups for line in group]
    return [need for need in needs if need.name != "neardup"]


def test_every_declared_package_is_locked_in_its_range() -> None:
    versions = locked()
    for need in declared():
        assert versions[canonicalize_name(need.name)] in need.specifier, need


def test_every_locked_package_has_a_licence_on_the_page() -> None:
    page = (ROOT / "docs" / "licences.md").read_text("utf-8")
    assert [name for name in locked() if f"| {name} |" not in page] == []
    assert "not stated" not in page


def test_the_bill_of_materials_lists_what_users_install() -> None:
    made = supply.sbom()
    assert (made["bomFormat"], made["specVersion"]) == ("CycloneDX", "1.5")
    parts = {part["name"]: part for part in made["components"]}
    assert parts["numpy"]["scope"] == "required"
    assert parts["scikit-learn"]["scope"] == "optional"
    assert "pytest" not in parts
    assert all(part["purl"] == f"pkg:pypi/{n}@{part['version']}" for n, part in parts.items())


def test_checksums_of_a_release(tmp_path: Path) -> None:
    (tmp_path / "neardup.whl").write_bytes(b"wheel")
    supply.sums(tmp_path)
    digest = hashlib.sha256(b"wheel").hexdigest()
    assert (tmp_path / "SHA256SUMS").read_text() == f"{digest}  neardup.whl\n"


@pytest.mark.skipif(not shutil.which("ssh-keygen"), reason="no OpenSSH")
def test_a_release_is_signed_and_a_changed_one_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    keys, dist = tmp_path / "keys", tmp_path / "dist"
    keys.mkdir()
    dist.mkdir()
    for name in ("ours", "theirs"):
        made = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(keys / name)]
        subprocess.run(made, check=True)
    signers = keys / "allowed_signers"
    signers.write_text(f"{supply.SIGNER} {(keys / 'ours.pub').read_text()}")
    (dist / "neardup.whl").write_bytes(b"wheel")
    supply.sums(dist)
    assert supply.sign(dist) == 1  # no key is named
    monkeypatch.setenv("NEARDUP_SIGNING_KEY", str(keys / "ours"))
    assert supply.sign(dist) == 0
    assert supply.check(dist, signers) == 0
    (dist / "neardup.whl").write_bytes(b"other")
    assert supply.check(dist, signers) == 1
    assert "neardup.whl is not the file that was signed" in capfd.readouterr().err
    supply.sums(dist)  # checksums that fit do not help
    assert supply.check(dist, signers) == 1
    monkeypatch.setenv("NEARDUP_SIGNING_KEY", str(keys / "theirs"))
    assert supply.sign(dist) == 0
    assert supply.check(dist, signers) == 1
    assert "is not signed by a key of" in capfd.readouterr().err
