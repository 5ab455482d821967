"""Both commands of the README in a new Debian that has nothing but the packages the README lists,
and the steps of the Dockerfile.

``make fresh``, as root, on Linux with debootstrap: a minimal system is made in a folder, the
committed state of this repository is put into it, and the two commands run there; the stages of the
Dockerfile get systems of their own (``tools/image.py``). Mounts and
processes are in namespaces of their own, so none is left behind, whatever happens. Only the names
of the package registries (and of a proxy) can be looked up inside. Settings are environment
variables: ``docs/fresh.md`` lists them.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from itertools import filterfalse
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))
from tools import image  # noqa: E402

README, PAGE, DOCKERFILE = ROOT / "README.md", ROOT / "docs" / "fresh.md", ROOT / "Dockerfile"
SUITE = os.environ.get("FRESH_SUITE", "bookworm")
MIRROR = os.environ.get("FRESH_MIRROR")  # None: the one that debootstrap takes
COMMANDS = re.compile(r"^```sh\n(.*)\n```$", re.MULTILINE)
PACKAGES = re.compile(r"`apt-get install ([^`]+)`")
# By what was run: the place of its record in the page.
RECORDS = {
    name: re.compile(rf"(?<=<!-- last run: {name} -->\n).*?(?=<!-- end -->)", re.DOTALL)
    for name in ("readme", "image")
}
EXAMPLE = "dedup news.jsonl -o out"
MADE = "etc/neardup-fresh"  # a system is complete, and ours to write into
CLONE, DATA, CERTIFICATES = "/root/neardup", "/data", "/etc/fresh-certificates.crt"
# What a registry needs to be reached; files that these name are given by FRESH_BIND.
PASSED = re.compile(r"CI|PIP_\w+|(https?|no|all)_proxy", re.IGNORECASE)


class Done(NamedTuple):
    command: str
    code: int
    seconds: float
    told: str

    def row(self) -> str:
        parts = [f"**exit code {self.code}**"] * (self.code != 0) + [self.told] * bool(self.told)
        result = "; ".join(parts) or "done"
        minutes, seconds = divmod(round(self.seconds), 60)
        return f"| `{self.command}` | {minutes} min {seconds:02} s | {result} |"


def packages(page: str) -> list[str]:
    """Those that the README tells a user of Debian to install."""
    listed = PACKAGES.search(page)
    if listed is None:
        raise SystemExit(f"{README} has no `apt-get install …`, from which packages are taken.")
    return listed[1].split()


def commands(page: str) -> tuple[str, str]:
    first, second, *_ = COMMANDS.findall(page)
    return first, second


def check() -> None:
    """Everything that the host must have, said at once."""
    wrong = [] if os.geteuid() == 0 else ["It must run as root: chroot and mount need it."]
    tools = {"debootstrap": "debootstrap", "unshare": "util-linux", "git": "git"}
    absent = filterfalse(shutil.which, tools)
    wrong += [f"It needs {tool}. Hint: apt-get install {tools[tool]}." for tool in absent]
    if wrong:
        raise SystemExit(f"`make fresh` cannot run. {' '.join(wrong)}")


def bootstrap(root: Path, suite: str, listed: list[str]) -> None:
    if root.exists() and any(root.iterdir()):
        raise SystemExit(f"{root} (FRESH_ROOT) is no system of `make fresh`, and is not empty.")
    say(f"debootstrap {suite}: {' '.join(listed)}")
    included = [f"--include={','.join(listed)}"] if listed else []
    command = ["debootstrap", "--variant=minbase", *included]
    command += [suite, str(root), *([MIRROR] if MIRROR else [])]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    (root / MADE).touch()


@contextmanager
def system(listed: list[str]) -> Iterator[Path]:
    """A root folder: a new one that is removed at the end, or the one that FRESH_ROOT keeps."""
    kept = os.environ.get("FRESH_ROOT")
    with tempfile.TemporaryDirectory(prefix="neardup-fresh-") as made:
        root = Path(kept or f"{made}/root").resolve()
        if not (root / MADE).exists():
            bootstrap(root, SUITE, listed)
        yield root


def registries(root: Path) -> list[str]:
    """Addresses of the mirror that the system was made from, and of PyPI as pip itself knows it."""
    code = "from pip._internal.models.index import PyPI as p; print(p.url, p.file_storage_domain)"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    index, files = told.stdout.split()
    sources = (root / "etc/apt/sources.list").read_text("utf-8")
    return [*re.findall(r"https?://\S+", sources), index, f"https://{files}"]


def unpack(commit: str, folder: Path) -> None:
    """The repository as it was committed."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    subprocess.run(["tar", "-x", "-C", str(folder)], input=_git("archive", commit), check=True)


def connect(root: Path) -> None:
    """The names of the registries, and certificates."""
    (root / "etc" / "hosts").write_text("".join(f"{one}\n" for one in addresses(root)), "utf-8")
    (root / "etc" / "resolv.conf").write_text("", "utf-8")
    if certificates := os.environ.get("PIP_CERT"):
        shutil.copyfile(certificates, root / CERTIFICATES[1:])


def _git(*arguments: str) -> bytes:
    command = ["git", "-C", str(ROOT), *arguments]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout


def addresses(root: Path) -> Iterator[str]:
    """Lines of /etc/hosts. No name server is known inside: other names lead nowhere."""
    yield "127.0.0.1 localhost fresh"
    settings = os.environ.items()
    urls = [value for name, value in settings if PASSED.fullmatch(name) and "://" in value]
    hosts = {urlsplit(url).hostname for url in [*registries(root), *" ".join(urls).split()]}
    for host in sorted(filter(None, hosts)):
        found = {one[4][0] for one in socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)}
        yield from (f"{address} {host}" for address in sorted(map(str, found)))


def environment() -> dict[str, str]:
    """Nothing of the host's but how registries are reached, and whether a skip is a failure."""
    passed = {name: value for name, value in os.environ.items() if PASSED.fullmatch(name)}
    if "PIP_CERT" in passed:
        passed["PIP_CERT"] = CERTIFICATES
    if "NEARDUP_DATA" in os.environ:
        passed["NEARDUP_DATA"] = DATA
    return {
        **passed,
        "HOME": "/root",
        "LANG": "C.UTF-8",
        "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    }


def binds() -> Iterator[tuple[str, str]]:
    """Folders of the host that are seen inside, to be read only."""
    if data := os.environ.get("NEARDUP_DATA"):
        yield str(Path(data).resolve()), DATA
    for folder in os.environ.get("FRESH_BIND", "").split():
        yield folder, folder


def mounts(root: Path) -> Iterator[str]:
    """Lines of a shell. Devices are the host's, but memory and terminals are the root's own."""
    at = shlex.quote(str(root))
    yield f"mount -t proc proc {at}/proc"
    yield f"mount -t sysfs -o ro sysfs {at}/sys"
    yield f"mount -t tmpfs -o mode=755 dev {at}/dev && mkdir {at}/dev/pts {at}/dev/shm"
    for name in ("null", "zero", "full", "random", "urandom", "tty"):
        yield f"touch {at}/dev/{name} && mount --bind /dev/{name} {at}/dev/{name}"
    yield f"mount -t devpts -o newinstance,ptmxmode=0666 devpts {at}/dev/pts"
    yield f"ln -s pts/ptmx {at}/dev/ptmx && ln -s /proc/self/fd {at}/dev/fd"
    yield f"ln -s /proc/self/fd/0 {at}/dev/stdin && ln -s /proc/self/fd/1 {at}/dev/stdout"
    yield f"mount -t tmpfs -o mode=1777 shm {at}/dev/shm"
    for host, inside in binds():
        there = f"{at}{shlex.quote(inside)}"
        yield f"mkdir -p {there} && mount --bind {shlex.quote(host)} {there}"
        yield f"mount -o remount,bind,ro {there}"


def run(root: Path, command: str, shown: str, user: str = "root") -> Done:
    """In namespaces that end with it; what it prints is shown as it comes."""
    say(f"$ {shown}")
    script = "\n".join(["set -e", *mounts(root), f'exec chroot --userspec={user} "$0" sh -ec "$1"'])
    apart = ["unshare", "--mount", "--uts", "--ipc", "--pid", "--fork", "--kill-child"]
    began, told = time.monotonic(), ""
    with subprocess.Popen(
        [*apart, "sh", "-c", f"hostname fresh\n{script}", str(root), command],
        env=environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        errors="replace",
    ) as process:
        try:
            for line in process.stdout or ():
                print(line, end="", flush=True)
                told = conclusion(line) or told
        except BaseException:
            process.kill()  # and with it all that runs inside
            raise
    return Done(shown, process.returncode, time.monotonic() - began, told)


def conclusion(line: str) -> str | None:
    """The last of the lines in which neardup or pytest counts."""
    found = re.search(r"\d+ documents = .*|\d+ (?:passed|failed|error).*(?= in )", line)
    return found[0].rstrip(".") if found else None


def record(about: str, done: list[Done]) -> str:
    begun = f"On {datetime.now(UTC):%-d %B %Y}, {about}, {os.cpu_count()} cores:"
    rows = [begun, "", "| command | time | result |", "|---|---|---|", *(one.row() for one in done)]
    return "\n".join(["", *rows, "", ""])


def say(line: str) -> None:
    print(f"fresh: {line}", flush=True)


def readme(commit: str) -> tuple[str, list[Done]]:
    page = README.read_text("utf-8")
    listed, (install, test) = packages(page), commands(page)
    with system(listed) as root:
        unpack(commit, root / CLONE[1:])
        connect(root)
        venv = "rm -rf /root/venv && python3 -m venv /root/venv && . /root/venv/bin/activate"
        test = os.environ.get("FRESH_TEST", test)
        done = [
            run(root, f"cd {CLONE} && {venv} && {install}", install),
            run(root, f"cd {CLONE} && {test}", test),
        ]
    given = "with" if "NEARDUP_DATA" in os.environ else "without"
    strict = ", `CI` set" if os.environ.get("CI") else ""
    has = " ".join(f"`{one}`" for one in listed)
    about = f"commit {commit}, Debian {SUITE} with {has}, {given} the real collections{strict}"
    return about, done


def dockerfile(commit: str) -> tuple[str, list[Done]]:
    """Every RUN of every stage, and then the example by the last stage's user."""
    text = DOCKERFILE.read_text("utf-8")
    suite = image.suite(text)
    with tempfile.TemporaryDirectory(prefix="neardup-image-") as made:
        base, context = Path(made, "base"), Path(made, "context")
        unpack(commit, context)
        bootstrap(base, suite, [])
        connect(base)

        def new() -> Path:
            root = Path(tempfile.mkdtemp(dir=made)) / "root"
            subprocess.run(["cp", "-a", str(base), str(root)], check=True)
            return root

        done = []
        for step in image.built(text, context, new):
            if isinstance(step, image.Stage):
                shutil.copy2(context / "examples" / "news.jsonl", step.inside("news.jsonl"))
                shown = " ".join([*step.entry, EXAMPLE])
                step = step.run(shown)
            else:
                shown = step.script.splitlines()[-1]
            done.append(run(step.root, step.script, shown, step.user))
            if done[-1].code:
                break
    return f"commit {commit}, systems of debootstrap for `debian:{suite}-slim`", done


def main() -> int:
    check()
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # as Ctrl-C: clean up, then end
    commit = _git("rev-parse", "--short", "HEAD").decode().strip()
    code = 0
    for name, play in (("readme", readme), ("image", dockerfile)):
        if os.environ.get("FRESH_ONLY", name) != name:
            continue
        about, done = play(commit)
        text = record(about, done)
        print(text)
        if os.environ.get("NEARDUP_UPDATE_DOCS"):
            before, after = RECORDS[name].split(PAGE.read_text("utf-8"), maxsplit=1)
            PAGE.write_text(f"{before}{text}{after}", "utf-8")
        code = max(code, *(one.code for one in done))
    return code


if __name__ == "__main__":
    sys.exit(main())
