"""Performs an operation, with the faults that were requested."""

import asyncio
import re
import time
from typing import Any

import msgspec
from msgspec.structs import replace

from tradewind_simulator import responses
from tradewind_simulator.calls import Call, DialectFormat, GatewayError, Operation
from tradewind_simulator.faults import Fault, Mode
from tradewind_simulator.responses import BusinessError, Response
from tradewind_simulator.sandbox import Sandbox

_HANG_SECONDS = 300.0
_DIGITS = re.compile(r"-?[1-9]\d{0,17}|0")
_PAGE_500 = "<html><body><h1>500 Internal Server Error</h1></body></html>"
_PAGE_GARBAGE = "<html><head><title>系统繁忙</title></head><body>系统繁忙,请稍后再试</body></html>"


def do(
    sandbox: Sandbox, dialect_format: DialectFormat, operation: Operation, call: Call
) -> Response:
    """Perform an operation on the current state, and count it."""
    call.at = sandbox.settle()
    call.real = time.time()
    sandbox.world.counters[f"{operation.alias}.done"] += 1
    try:
        value = operation.run(call)
    except BusinessError as error:
        sandbox.world.counters[f"{operation.alias}.refused"] += 1
        value = operation.error_body(error)
    except GatewayError as error:
        return dialect_format.error(error.code, error.message, 0)
    return dialect_format.encode(value)


async def perform(
    sandbox: Sandbox, dialect_format: DialectFormat, operation: Operation, call: Call
) -> Response:
    """Perform an operation, or apply its fault; a client that disconnects changes nothing."""
    sandbox.world.counters[f"{operation.alias}.calls"] += 1
    fault = sandbox.faults.strike(operation.name, operation.alias)
    if fault is None:
        return do(sandbox, dialect_format, operation, call)
    sandbox.world.counters[f"{operation.alias}.faults"] += 1
    match fault.mode:
        case Mode.HANG:
            return Response(b"", silence=fault.seconds or _HANG_SECONDS)
        case Mode.LATE:
            sandbox.world.counters[f"{operation.alias}.waiting"] += 1
            await asyncio.sleep(fault.seconds)
            sandbox.world.counters[f"{operation.alias}.waiting"] -= 1
        case Mode.HTTP500 | Mode.ERROR | Mode.WRONG_SIGNATURE:
            if fault.after:
                do(sandbox, dialect_format, operation, call)
            return _fault_response(dialect_format, operation, fault)
        case Mode.TWICE:
            do(sandbox, dialect_format, operation, call)
        case _:
            pass
    response = do(sandbox, dialect_format, operation, call)
    if fault.mode is Mode.SLOW:
        await asyncio.sleep(fault.seconds)
    return _spoilt(response, fault)


def _fault_response(dialect_format: DialectFormat, operation: Operation, fault: Fault) -> Response:
    if fault.mode is Mode.HTTP500:
        return responses.html(_PAGE_500, fault.status or 500)
    if fault.mode is Mode.WRONG_SIGNATURE:
        return dialect_format.error(*dialect_format.bad_signature, fault.status)
    code = fault.code or "SYSTEM_ERROR"
    message = fault.message or f"asked for: {code}"
    if dialect_format.is_gateway_code(code):
        return dialect_format.error(code, message, fault.status)
    response = dialect_format.encode(operation.error_body(BusinessError(code, message)))
    return replace(response, status=fault.status or response.status)


def _spoilt(response: Response, fault: Fault) -> Response:
    match fault.mode:
        case Mode.DROP:
            return Response(b"", silence=fault.seconds)
        case Mode.DOUBLED:
            return replace(response, body=response.body * 2)
        case Mode.GARBAGE:
            return responses.html(_PAGE_GARBAGE)
        case Mode.DRIFT:
            return replace(
                response, body=msgspec.json.encode(drifted(msgspec.json.decode(response.body)))
            )
        case _:
            return response


def drifted(value: Any) -> Any:
    """Swap numbers and texts of digits, also in nested values."""
    match value:
        case bool() | None:
            return value
        case int():
            return str(value)
        case str() if _DIGITS.fullmatch(value):
            return int(value)
        case list():
            return [drifted(element) for element in value]
        case dict():
            return {name: drifted(element) for name, element in value.items()}
        case _:
            return value
