"""Doing an operation, well or as badly as was asked for."""

import asyncio
import re
import time
from typing import Any

import msgspec
from msgspec.structs import replace

from tradewind_simulator import answers
from tradewind_simulator.answers import Answer, Refused
from tradewind_simulator.calls import Call, Face, Operation, Rejected
from tradewind_simulator.faults import Fault, Mode
from tradewind_simulator.sandbox import Sandbox

_HANG_SECONDS = 300.0
_DIGITS = re.compile(r"-?[1-9]\d{0,17}|0")
_PAGE_500 = "<html><body><h1>500 Internal Server Error</h1></body></html>"
_PAGE_GARBAGE = "<html><head><title>系统繁忙</title></head><body>系统繁忙,请稍后再试</body></html>"


def do(sandbox: Sandbox, face: Face, operation: Operation, call: Call) -> Answer:
    """Do it now, in the world as it is now, and count it."""
    call.at = sandbox.settle()
    call.real = time.time()
    sandbox.world.counters[f"{operation.alias}.done"] += 1
    try:
        value = operation.run(call)
    except Refused as refused:
        sandbox.world.counters[f"{operation.alias}.refused"] += 1
        value = operation.refuse(refused)
    except Rejected as rejected:
        return face.error(rejected.code, rejected.message, 0)
    return face.encode(value)


async def perform(sandbox: Sandbox, face: Face, operation: Operation, call: Call) -> Answer:
    """Do it, unless a fault strikes; a client that leaves meanwhile changes nothing."""
    sandbox.world.counters[f"{operation.alias}.calls"] += 1
    fault = sandbox.faults.strike(operation.name, operation.alias)
    if fault is None:
        return do(sandbox, face, operation, call)
    sandbox.world.counters[f"{operation.alias}.faults"] += 1
    match fault.mode:
        case Mode.HANG:
            return Answer(b"", silence=fault.seconds or _HANG_SECONDS)
        case Mode.LATE:
            await asyncio.sleep(fault.seconds)
        case Mode.HTTP500 | Mode.ERROR | Mode.WRONG_SIGNATURE:
            if fault.after:
                do(sandbox, face, operation, call)
            return _refusal(face, operation, fault)
        case Mode.TWICE:
            do(sandbox, face, operation, call)
        case _:
            pass
    answer = do(sandbox, face, operation, call)
    if fault.mode is Mode.SLOW:
        await asyncio.sleep(fault.seconds)
    return _spoilt(answer, fault)


def _refusal(face: Face, operation: Operation, fault: Fault) -> Answer:
    if fault.mode is Mode.HTTP500:
        return answers.html(_PAGE_500, fault.status or 500)
    if fault.mode is Mode.WRONG_SIGNATURE:
        return face.error(*face.bad_signature, fault.status)
    code = fault.code or "SYSTEM_ERROR"
    message = fault.message or f"asked for: {code}"
    if face.is_gateway_code(code):
        return face.error(code, message, fault.status)
    answer = face.encode(operation.refuse(Refused(code, message)))
    return replace(answer, status=fault.status or answer.status)


def _spoilt(answer: Answer, fault: Fault) -> Answer:
    match fault.mode:
        case Mode.DROP:
            return Answer(b"", silence=fault.seconds)
        case Mode.DOUBLED:
            return replace(answer, body=answer.body * 2)
        case Mode.GARBAGE:
            return answers.html(_PAGE_GARBAGE)
        case Mode.DRIFT:
            return replace(
                answer, body=msgspec.json.encode(drifted(msgspec.json.decode(answer.body)))
            )
        case _:
            return answer


def drifted(value: Any) -> Any:
    """Numbers as strings, and strings of digits as numbers; what is nested, too."""
    match value:
        case bool() | None:
            return value
        case int():
            return str(value)
        case str() if _DIGITS.fullmatch(value):
            return int(value)
        case list():
            return [drifted(one) for one in value]
        case dict():
            return {name: drifted(one) for name, one in value.items()}
        case _:
            return value
