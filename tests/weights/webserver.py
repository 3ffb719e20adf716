"""A small web server on this machine that can misbehave, for the tests of downloads."""

import contextlib
import http.server
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field


@dataclass
class Behaviour:
    """What the server does. `cuts` are numbers of bytes after which it drops the connection, one for each request."""

    content: bytes
    etag: str | None = '"v1"'
    cuts: list[int] = field(default_factory=list)
    ranges: bool = True
    announced: int | None = None  # a wrong Content-Length
    statuses: list[int] = field(default_factory=list)
    redirect: str | None = None
    requests: list[dict[str, str]] = field(default_factory=list)


@contextlib.contextmanager
def serving(behaviour: Behaviour) -> Iterator[str]:
    """Serve until the block ends; gives the address of a file."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            behaviour.requests.append(dict(self.headers))
            if behaviour.redirect:
                self.send_response(302)
                self.send_header("Location", behaviour.redirect)
                self.end_headers()
                return
            if behaviour.statuses:
                self.send_error(behaviour.statuses.pop(0))
                return
            body, start = behaviour.content, 0
            wanted = self.headers.get("Range")
            if wanted and behaviour.ranges and self.headers.get("If-Range") == behaviour.etag:
                start = int(wanted.removeprefix("bytes=").rstrip("-"))
                if start >= len(body):
                    self.send_error(416)
                    return
                self.send_response(206)
                self.send_header("Content-Range", f"bytes {start}-{len(body) - 1}/{len(body)}")
            else:
                self.send_response(200)
            self.send_header("Content-Length", str(behaviour.announced or len(body) - start))
            if behaviour.etag:
                self.send_header("ETag", behaviour.etag)
            self.end_headers()
            stop = behaviour.cuts.pop(0) if behaviour.cuts else len(body)
            with contextlib.suppress(ConnectionError):
                self.wfile.write(body[start:stop])
            self.close_connection = True

        def log_message(self, *_: object) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}/file.bin"
        finally:
            server.shutdown()
            thread.join()
