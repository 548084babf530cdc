"""Uses the packages of openapi-generator: a run with a gate by the operations API, and a page of the data API."""

import sys
import time

import data_api
import ops_api

url, data_key = sys.argv[1:]
client = ops_api.ApiClient(ops_api.Configuration(host=url))
workflows = ops_api.WorkflowsApi(client)
runs = ops_api.RunsApi(client)

graph = {"nodes": [{"id": "review", "kind": "human_gate", "prompt": "Send it?"}], "edges": []}
body = ops_api.CreateWorkflowBody.from_dict({"name": "openapi-generator", "graph": graph})
workflow = workflows.create_workflow(body)
assert workflow.id in [each.id for each in workflows.list_workflows()]


def wait_for(run_id: str, status: str):
    for _ in range(300):
        found = runs.get_run(run_id)
        if found.status == status:
            return found
        time.sleep(0.1)
    raise AssertionError(f"{run_id} is {found.status}, not {status}")


run = runs.trigger_run(workflow.id, request_body={"ticket": "x"})
gate = wait_for(run.id, "paused").pending_gates[0]
assert gate.prompt == "Send it?", gate
runs.decide_gate(run.id, ops_api.DecideGateBody(approved=True, step_key=gate.step_key))
assert wait_for(run.id, "success").steps[0].kind == "human_gate"

data = data_api.ApiClient(data_api.Configuration(host=url, access_token=data_key))
page = data_api.EntitiesApi(data).list_entities()
assert [each.canonical_name for each in page.data] == ["Riverside Tower"], page
assert page.data[0].source_evidence[0].url is None, page
