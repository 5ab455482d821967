"""A server in a process of its own: what goes wrong in it is said on its terminal."""

from __future__ import annotations

import subprocess
import sys

SCRIPT = """
import os, signal, threading, urllib.error, urllib.request
from neardup.web.app import make_app
from neardup.web.doors import Door
from neardup.web.guard import Guard
from neardup.web.server import address_of, bind, run

class Broken:
    links = ()
    def doors(self):
        return [Door("/broken", lambda: {}["shelf 7"])]
    def open(self): pass
    def close(self): pass

def ask(address):
    try:
        urllib.request.urlopen(address + "/broken")
    except urllib.error.HTTPError as error:
        print(error.code, error.read().decode())
    os.kill(os.getpid(), signal.SIGTERM)

with bind("127.0.0.1", 0) as bound:
    asking = threading.Thread(target=ask, args=[address_of(bound)])
    run(make_app([Broken()], Guard()), bound, started=asking.start)
"""


def test_the_log_of_the_server_has_the_traceback() -> None:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], capture_output=True, text=True, timeout=120, check=True
    )
    assert done.stdout.startswith("500 ")
    assert "shelf 7" not in done.stdout
    assert done.stderr.count("KeyError: 'shelf 7'") == 1
    assert "GET /broken failed" in done.stderr
