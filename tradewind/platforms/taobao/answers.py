"""Opening an answer: the envelope in its several forms, and the no that may be in it."""

from typing import Any

from tradewind.platforms.failures import UnreadableResponse
from tradewind.platforms.taobao.refusals import TaobaoError
from tradewind.platforms.taobao.values import Json, decode, record, text, truth

_FINE = frozenset({None, "0", "200", "SUCCESS", "success"})


def opened(body: bytes) -> Json:
    answer = decode(body)
    if not isinstance(answer, dict):
        raise UnreadableResponse("not an object")
    return answer


def refusal(answer: Json) -> TaobaoError | None:
    """The gateway's own no, or that of the operation behind it; None when it is a yes."""
    code = text(answer.get("code"))
    if code not in _FINE:
        kind = text(answer.get("type"))
        return TaobaoError(code or "", text(answer.get("message")) or "No message.", kind)
    return _business(_inner(answer)) or _business(record(_inner(answer).get("data")))


def data(answer: Json) -> Any:
    return _inner(answer).get("data")


def _inner(answer: Json) -> Json:
    """Some operations put everything one level deeper, in `result`."""
    return record(answer.get("result")) or answer


def _business(said: Json) -> TaobaoError | None:
    code = text(said.get("error_code")) or text(said.get("biz_error_code"))
    success = truth(said.get("success"))
    if success is True or (success is None and code in _FINE):
        return None
    names = ("error_msg", "error_message", "biz_error_msg", "inner_error_msg")
    message = next((told for name in names if (told := text(said.get(name)))), "No message.")
    return TaobaoError(code or "no_code", message)
