"""`RefusedError`: a request that is not answered, with its status and a sentence that helps, as OpenAI's API has it."""

from collections.abc import Mapping
from http import HTTPStatus

from starlette.responses import JSONResponse

TYPES = {401: "authentication_error", 404: "not_found_error", 429: "rate_limit_error"}


class RefusedError(Exception):
    """Raised where a request is found to be wrong or too much; the gate answers with it."""

    def __init__(
        self,
        status: int,
        message: str,
        *,
        code: str | None = None,
        param: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.code = code or HTTPStatus(status).phrase.lower().replace(" ", "_")
        self.param = param
        self.headers = dict(headers or {})

    def response(self) -> JSONResponse:
        """What the client gets."""
        error = {
            "message": self.message,
            "type": TYPES.get(self.status, "server_error" if self.status >= 500 else "invalid_request_error"),
            "code": self.code,
            "param": self.param,
        }
        return JSONResponse({"error": error}, status_code=self.status, headers=self.headers)


def wrong_value(param: str, message: str) -> RefusedError:
    """A field of a request that cannot be used; the message says why and what would do."""
    return RefusedError(422, message, code="invalid_value", param=param)
