"""A client of ``neardup serve``: the methods of an index, over one connection that stays open.

    with Client("http://127.0.0.1:8765") as client:
        client.check({"text": "…"})
        for answer in client.add_many(documents): ...

What the service refuses is raised with its sentence. Where it is busy (429, 503) the client waits
as long as the service says and asks again, a few times. Asking again never does harm: the same
document under the same id gets the same answer. Needs nothing but Python; one thread at a time.
"""

from neardup.client.answers import Answer
from neardup.client.asking import Client

__all__ = ["Answer", "Client"]
