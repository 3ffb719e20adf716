"""A stand-in for the Hugging Face Hub on this machine: the routes that a model is sent and fetched by."""

import base64
import contextlib
import hashlib
import http.server
import json
import re
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field

Files = dict[str, bytes]


@dataclass
class Hub:
    """What it holds: the commits of each repository, the last of which is `main`. `requests` are what it was asked."""

    commits: dict[str, dict[str, Files]] = field(default_factory=dict)
    requests: list[str] = field(default_factory=list)

    def commit(self, repository: str, files: Files) -> str:
        known = self.commits.setdefault(repository, {})
        name = hashlib.sha1(f"{repository}{len(known)}".encode()).hexdigest()
        known[name] = files
        return name

    def find(self, repository: str, revision: str) -> str | None:
        known = self.commits.get(repository, {})
        if revision == "main" and known:
            return list(known)[-1]
        return revision if revision in known else None


@contextlib.contextmanager
def serving(hub: Hub) -> Iterator[str]:
    """Serve until the block ends; gives the address (HF_ENDPOINT)."""

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_HEAD(self) -> None:
            self.do_GET()

        def do_GET(self) -> None:
            hub.requests.append(f"{self.command} {self.path}")
            path = self.path.partition("?")[0]
            if found := re.fullmatch(r"/api/models/([^/]+/[^/]+)/(revision|tree)/([^/]+)", path):
                repository, kind, revision = found.groups()
                commit = hub.find(repository, revision)
                if commit is None:
                    return self.refuse(repository)
                files = hub.commits[repository][commit]
                if kind == "tree":
                    return self.answer([self.entry(name, files[name]) for name in files])
                siblings = [{"rfilename": name} for name in files]
                return self.answer(
                    {"id": repository, "sha": commit, "siblings": siblings, "tags": [], "private": False}
                )
            if found := re.fullmatch(r"/([^/]+/[^/]+)/resolve/([^/]+)/(.+)", path):
                repository, revision, name = found.groups()
                commit = hub.find(repository, revision)
                if commit is None or name not in hub.commits[repository][commit]:
                    return self.refuse(repository)
                content = hub.commits[repository][commit][name]
                headers = {"X-Repo-Commit": commit, "ETag": f'"{self.entry(name, content)["oid"]}"'}
                return self.send(200, content, {**headers, "Content-Type": "application/octet-stream"})
            return self.refuse(path)

        def do_POST(self) -> None:
            hub.requests.append(f"POST {self.path}")
            body = self.body()
            if self.path == "/api/repos/create":
                values = json.loads(body)
                name = "/".join(filter(None, (values.get("organization"), values["name"])))
                hub.commits.setdefault(name, {})
                return self.answer({"url": f"http://{self.headers['Host']}/{name}", "name": name, "id": "1"})
            if self.path == "/api/validate-yaml":
                return self.answer({"errors": [], "warnings": []})
            if "/preupload/" in self.path:
                names = [entry["path"] for entry in json.loads(body)["files"]]
                modes = [{"path": name, "uploadMode": "regular", "shouldIgnore": False} for name in names]
                return self.answer({"files": modes})
            if found := re.fullmatch(r"/api/models/([^/]+/[^/]+)/commit/main", self.path.partition("?")[0]):
                lines = [json.loads(line) for line in body.splitlines()]
                values = [line["value"] for line in lines if line["key"] == "file"]
                files = {value["path"]: base64.b64decode(value["content"]) for value in values}
                commit = hub.commit(found[1], files)
                address = f"http://{self.headers['Host']}/{found[1]}/commit/{commit}"
                return self.answer({"commitUrl": address, "commitOid": commit, "pullRequestUrl": None, "success": True})
            return self.refuse(self.path)

        def body(self) -> bytes:
            if self.headers.get("Transfer-Encoding") != "chunked":
                return self.rfile.read(int(self.headers.get("Content-Length", 0)))
            parts = []
            while size := int(self.rfile.readline(), 16):
                parts.append(self.rfile.read(size))
                self.rfile.readline()
            self.rfile.readline()
            return b"".join(parts)

        def entry(self, name: str, content: bytes) -> dict[str, object]:
            oid = hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()
            return {"type": "file", "path": name, "size": len(content), "oid": oid}

        def answer(self, value: object) -> None:
            self.send(200, json.dumps(value).encode(), {"Content-Type": "application/json"})

        def refuse(self, what: str) -> None:
            headers = {"X-Error-Code": "RepoNotFound", "X-Error-Message": "Repository not found"}
            self.send(404, json.dumps({"error": f"{what} not found"}).encode(), headers)

        def send(self, status: int, content: bytes, headers: dict[str, str]) -> None:
            self.send_response(status)
            for key, value in {**headers, "Content-Length": str(len(content))}.items():
                self.send_header(key, value)
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
