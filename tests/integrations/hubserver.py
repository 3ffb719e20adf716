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
from typing import Any

Files = dict[str, bytes]


@dataclass
class Hub:
    """What it holds: the commits of each repository, the last of which is `main`. `requests` are what it was asked.

    As there, large files come by a way of their own (LFS): first their content by its hash, which the commit names.
    """

    commits: dict[str, dict[str, Files]] = field(default_factory=dict)
    requests: list[str] = field(default_factory=list)
    large: Files = field(default_factory=dict)  # by SHA-256

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


def is_large(name: str) -> bool:
    """Whether a file goes by LFS."""
    return name.endswith(".safetensors")


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
                    return self.refuse_revision(repository)
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
                if commit is None:
                    return self.refuse_revision(repository)
                if name not in hub.commits[repository][commit]:
                    return self.refuse(name, code="EntryNotFound", commit=commit)
                content = hub.commits[repository][commit][name]
                entry = self.entry(name, content)
                headers = {"X-Repo-Commit": commit, "ETag": f'"{entry["oid"]}"'}
                if is_large(name):
                    headers |= {"X-Linked-Etag": f'"{entry["lfs"]["oid"]}"', "X-Linked-Size": str(len(content))}
                return self.send(200, content, {**headers, "Content-Type": "application/octet-stream"})
            if found := re.fullmatch(r"/api/models/([^/]+/[^/]+)/tree/([^/]+)/(.+)", path):
                return self.refuse(found[3], code="EntryNotFound")  # no model has a folder
            return self.refuse(path)

        def do_POST(self) -> None:
            hub.requests.append(f"POST {self.path}")
            body = self.body()
            if self.path == "/api/repos/create":
                values = json.loads(body)
                name = "/".join(filter(None, (values.get("organization"), values["name"])))
                if name not in hub.commits:
                    hub.commit(name, {".gitattributes": b""})  # a repository is never without a commit
                return self.answer({"url": f"http://{self.headers['Host']}/{name}", "name": name, "id": "1"})
            if self.path == "/api/validate-yaml":
                return self.answer({"errors": [], "warnings": []})
            if "/preupload/" in self.path:
                names = [entry["path"] for entry in json.loads(body)["files"]]
                modes = [
                    {"path": name, "uploadMode": "lfs" if is_large(name) else "regular", "shouldIgnore": False}
                    for name in names
                ]
                return self.answer({"files": modes})
            if self.path.endswith(".git/info/lfs/objects/batch"):
                objects = json.loads(body)["objects"]
                for entry in objects:
                    href = f"http://{self.headers['Host']}/lfs/{entry['oid']}"
                    entry["actions"] = {"upload": {"href": href}}
                return self.answer({"transfer": "basic", "objects": objects})
            if found := re.fullmatch(r"/api/models/([^/]+/[^/]+)/commit/main", self.path.partition("?")[0]):
                lines = [json.loads(line) for line in body.splitlines()]
                files = dict(list(hub.commits[found[1]].values())[-1])
                for line in lines:
                    value = line["value"]
                    if line["key"] == "file":
                        files[value["path"]] = base64.b64decode(value["content"])
                    elif line["key"] == "lfsFile":
                        files[value["path"]] = hub.large[value["oid"]]
                commit = hub.commit(found[1], files)
                address = f"http://{self.headers['Host']}/{found[1]}/commit/{commit}"
                return self.answer({"commitUrl": address, "commitOid": commit, "pullRequestUrl": None, "success": True})
            return self.refuse(self.path)

        def do_PUT(self) -> None:
            hub.requests.append(f"PUT {self.path}")
            content = self.body()
            name = hashlib.sha256(content).hexdigest()
            if self.path != f"/lfs/{name}":
                return self.refuse(self.path)
            hub.large[name] = content
            return self.send(200, b"", {})

        def body(self) -> bytes:
            if self.headers.get("Transfer-Encoding") != "chunked":
                return self.rfile.read(int(self.headers.get("Content-Length", 0)))
            parts = []
            while size := int(self.rfile.readline(), 16):
                parts.append(self.rfile.read(size))
                self.rfile.readline()
            self.rfile.readline()
            return b"".join(parts)

        def entry(self, name: str, content: bytes) -> dict[str, Any]:
            oid = hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()
            found: dict[str, Any] = {"type": "file", "path": name, "size": len(content), "oid": oid}
            if is_large(name):
                found["lfs"] = {"oid": hashlib.sha256(content).hexdigest(), "size": len(content), "pointerSize": 130}
            return found

        def answer(self, value: object) -> None:
            self.send(200, json.dumps(value).encode(), {"Content-Type": "application/json"})

        def refuse_revision(self, repository: str) -> None:
            self.refuse(repository, code="RevisionNotFound" if hub.commits.get(repository) else "RepoNotFound")

        def refuse(self, what: str, *, code: str = "RepoNotFound", commit: str | None = None) -> None:
            headers = {"X-Error-Code": code, "X-Error-Message": f"{what} not found"}
            if commit is not None:
                headers["X-Repo-Commit"] = commit
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
