"""A program that mypy checks: a comment that no longer hides an error fails the check. It is not executed."""

from __future__ import annotations

from typing_extensions import assert_type

from durable_workflows import AsyncClient, Client, WorkflowError
from durable_workflows import models as m
from durable_workflows.tools import Tool, Tools

client = Client(api_key="ops_1")


def statuses() -> list[str]:
    return [run["status"] for run in client.runs(status="failed")]


async def later(other: AsyncClient) -> m.Run:
    async for run in other.runs(status=["failed", "paused"], limit=5):
        return await other.get_run(run["id"])
    return await other.run("wf_1", {"ticket": "x"}, wait=True)


assert_type(client.get_run("run_1"), m.Run)
assert_type(client.get_run("run_1")["status"] == "paused", bool)
assert_type(client.delete_workflow("wf_1"), None)
assert_type(client.data.list_feeds()["pagination"]["next_cursor"], str | None)
assert_type(WorkflowError(404, "No").status, int)

client.create_workflow(
    name="Typed",
    graph={
        "nodes": [
            {"id": "a", "kind": "tool", "tool_name": "json_transform", "params": {"expression": "1"}},
            {"id": "b", "kind": "human_gate", "prompt": "Go on?"},
        ],
        "edges": [{"source": "a", "target": "b"}],
    },
)
client.update_budget("bud_1", limit_usd=5, if_match="*")

client.list_runs(status="finished")  # type: ignore[arg-type]
client.create_workflow()  # type: ignore[call-arg]
client.create_workflow(name="x", colour="red")  # type: ignore[call-arg]
client.get_run("run_1")["colour"]  # type: ignore[typeddict-item]
client.get_run("run_1", if_match="1")  # type: ignore[call-arg]

tools = Tools(secret="s")


@tools.tool
def add(a: int, b: int = 1) -> int:
    return a + b


@tools.tool(name="other", read_only=True)
async def other_tool(a: int) -> str:
    return str(a)


added: Tool[..., int] = add
assert_type(add(1), int)
add("1")  # type: ignore[arg-type]
