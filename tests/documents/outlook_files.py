"""Messages of Outlook for tests: compound files (MS-CFB) with the properties of a message."""

from __future__ import annotations

import struct
from datetime import UTC, datetime
from typing import Any

from neardup.documents.outlook import MAGIC

Tree = dict[str, Any]  # streams are bytes, storages are trees
FREE, END, FAT = 0xFFFFFFFF, 0xFFFFFFFE, 0xFFFFFFFD
SECTOR, MINI, CUTOFF = 512, 64, 4096


def compound(tree: Tree) -> bytes:
    sectors: list[bytes] = []
    chains: list[int] = []  # the sector after each
    entries: list[list[Any]] = [["Root Entry", 5, FREE, FREE, END, 0]]
    mini, mini_chains = bytearray(), list[int]()

    def large(data: bytes) -> int:
        if not data:
            return END
        first = len(sectors)
        for at in range(0, len(data), SECTOR):
            sectors.append(data[at : at + SECTOR].ljust(SECTOR, b"\0"))
            chains.append(len(sectors))
        chains[-1] = END
        return first

    def small(data: bytes) -> int:
        first = len(mini_chains)
        for at in range(0, len(data), MINI):
            mini.extend(data[at : at + MINI].ljust(MINI, b"\0"))
            mini_chains.append(len(mini_chains) + 1)
        if data:
            mini_chains[-1] = END
        return first if data else END

    def add(parent: int, below: Tree) -> None:
        last = None
        for name in sorted(below, key=lambda name: (len(name), name.upper())):
            number, content = len(entries), below[name]
            if isinstance(content, dict):
                entries.append([name, 1, FREE, FREE, 0, 0])
                add(number, content)
            else:
                place = large(content) if len(content) >= CUTOFF else small(content)
                entries.append([name, 2, FREE, FREE, place, len(content)])
            if last is None:
                entries[parent][3] = number  # its first child
            else:
                entries[last][2] = number
            last = number

    add(0, tree)
    entries[0][4:] = [large(bytes(mini)), len(mini)]
    mini_fat = large(b"".join(struct.pack("<I", n) for n in mini_chains))
    directory = large(b"".join(_entry(*entry) for entry in entries))
    tables = 1
    while (len(chains) + tables) * 4 > tables * SECTOR:
        tables += 1
    numbers = range(len(sectors), len(sectors) + tables)
    chains += [FAT] * tables
    table = b"".join(struct.pack("<I", n) for n in chains)
    table = table.ljust(tables * SECTOR, b"\xff")
    head = MAGIC + bytes(16) + struct.pack("<5H", 0x3E, 3, 0xFFFE, 9, 6) + bytes(6)
    head += struct.pack("<8I", 0, tables, directory, 0, CUTOFF, mini_fat, 1, END)
    head += struct.pack("<I", 0) + b"".join(struct.pack("<I", n) for n in numbers)
    return head.ljust(SECTOR, b"\xff") + b"".join(sectors) + table


def _entry(name: str, type_: int, right: int, child: int, start: int, size: int) -> bytes:
    text = name.encode("utf-16-le") + b"\0\0"
    head = text.ljust(64, b"\0") + struct.pack("<HBB", len(text), type_, 1)
    return (
        head + struct.pack("<3I", FREE, right, child) + bytes(36) + struct.pack("<IQ", start, size)
    )


def outlook(
    subject: str,
    body: str | None = None,
    *,
    sent: datetime | None = None,
    nested: Tree | None = None,
    attachments: dict[str, bytes] | None = None,
    top: bool = True,
    **more: bytes | str,
) -> Tree:
    """The tree of a message. ``more``: properties by hexadecimal number, such as ``x1013=b…``."""
    tree: Tree = {_name(0x0037): subject.encode("utf-16-le")}
    if body is not None:
        tree[_name(0x1000)] = body.encode("utf-16-le")
    for number, value in more.items():
        text = isinstance(value, str)
        data = value.encode("utf-16-le") if isinstance(value, str) else value
        tree[_name(int(number[1:], 16), 0x001F if text else 0x0102)] = data
    ticks = int((sent - datetime(1601, 1, 1, tzinfo=UTC)).total_seconds()) * 10**7 if sent else 0
    fixed = struct.pack("<HHIQ", 0x0040, 0x0039, 6, ticks)
    tree["__properties_version1.0"] = bytes(32 if top else 24) + fixed
    for number, (name, data) in enumerate((attachments or {}).items()):
        tree[f"__attach_version1.0_#{number:08X}"] = {
            _name(0x3707): name.encode("utf-16-le"),
            _name(0x3701, 0x0102): data,
            "__properties_version1.0": bytes(8),
        }
    if nested is not None:
        tree["__attach_version1.0_#000000FF"] = {
            _name(0x3707): "inner".encode("utf-16-le"),
            _name(0x3701, 0x000D): nested,
            "__properties_version1.0": bytes(8),
        }
    return tree


def _name(number: int, type_: int = 0x001F) -> str:
    return f"__substg1.0_{number:04X}{type_:04X}"
