"""A server for custom tools.

from durable_workflows.tools import Tools

tools = Tools(secret="...")

@tools.tool
def refund(order: str, amount: float) -> dict[str, object]:
    \"\"\"Refunds an order.\"\"\"
    return {"order": order, "refunded": amount}

app = tools.asgi()
"""

from ._server import Tools
from ._shape import ArgumentError
from ._tool import Tool, ToolCall, ToolError, tool

__all__ = ["ArgumentError", "Tool", "ToolCall", "ToolError", "Tools", "tool"]
