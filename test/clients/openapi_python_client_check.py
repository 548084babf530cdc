"""Uses the packages of openapi-python-client: a run with a gate by the operations API, and a page of the data API."""

import sys
import time

import data_api_client
import operations_api_client
from data_api_client.api.entities import list_entities
from operations_api_client.api.runs import decide_gate, get_run, trigger_run
from operations_api_client.api.workflows import create_workflow, list_workflows
from operations_api_client.models import CreateWorkflowBody, DecideGateBody, Run, TriggerRunBody, Workflow

url, data_key = sys.argv[1:]
client = operations_api_client.Client(base_url=url)

graph = {"nodes": [{"id": "review", "kind": "human_gate", "prompt": "Send it?"}], "edges": []}
body = CreateWorkflowBody.from_dict({"name": "openapi-python-client", "graph": graph})
workflow = create_workflow.sync(client=client, body=body)
assert isinstance(workflow, Workflow), workflow
workflows = list_workflows.sync(client=client)
assert isinstance(workflows, list) and workflow.id in [each.id for each in workflows], workflows


def wait_for(run_id: str, status: str) -> Run:
    for _ in range(300):
        found = get_run.sync(run_id, client=client)
        assert isinstance(found, Run), found
        if found.status == status:
            return found
        time.sleep(0.1)
    raise AssertionError(f"{run_id} is {found.status}, not {status}")


run = trigger_run.sync(workflow.id, client=client, body=TriggerRunBody.from_dict({"ticket": "x"}))
assert isinstance(run, Run), run
gate = wait_for(run.id, "paused").pending_gates[0]
assert gate.prompt == "Send it?", gate
decided = decide_gate.sync(run.id, client=client, body=DecideGateBody(approved=True, step_key=gate.step_key))
assert isinstance(decided, Run), decided
assert wait_for(run.id, "success").steps[0].kind == "human_gate"

data = data_api_client.AuthenticatedClient(base_url=url, token=data_key)
page = list_entities.sync(client=data)
assert [each.canonical_name for each in page.data] == ["Riverside Tower"], page
assert page.data[0].source_evidence[0].url is None, page
