"""The little of ``curl`` that docs/service.md shows, by Python's own HTTP: a machine may have none.

A program of its own, so that the page's lines run in a shell as they stand.
"""

from __future__ import annotations

import argparse
import sys
from http.client import HTTPConnection
from urllib.parse import urlsplit


def asked() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="curl")
    parser.add_argument("url")
    parser.add_argument("-s", action="store_true")
    parser.add_argument("-X", dest="method")
    body = parser.add_mutually_exclusive_group()
    body.add_argument("-d", dest="data")
    body.add_argument("-T", dest="file", choices=["-"])
    return parser.parse_args()


def main() -> None:
    options = asked()
    address = urlsplit(options.url)
    connection = HTTPConnection(address.netloc)
    target = address.path + (f"?{address.query}" if address.query else "")
    data = options.data.encode() if options.data is not None else None
    # A file that is read as it comes has no length, so it is sent in chunks.
    body = iter(sys.stdin.buffer) if options.file else data
    connection.request(options.method or ("POST" if data else "GET"), target, body)
    sys.stdout.buffer.write(connection.getresponse().read())


if __name__ == "__main__":
    main()
