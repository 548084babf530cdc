"""Times runs of a workflow through the client and through the same requests with httpx, in turns. Prints both in ms."""

import json
import sys
import time
import uuid

import httpx

from durable_workflows import Client

url, workflow, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
POLL_SECONDS = 0.02

client = Client(url)
http = httpx.Client(timeout=30)


def ours() -> str:
    return client.run(workflow, {"ticket": "x"}, wait=True, poll_interval=POLL_SECONDS)["status"]


def bare() -> str:
    started = http.post(
        f"{url}/api/workflows/{workflow}/runs", json={"ticket": "x"}, headers={"idempotency-key": uuid.uuid4().hex}
    )
    run_id = started.json()["id"]
    while True:
        status = http.get(f"{url}/api/runs/{run_id}").json()["status"]
        if status not in ("pending", "running"):
            return status
        time.sleep(POLL_SECONDS)


times = {"ours": [], "baseline": []}
for n in range(count + 5):
    sides = [("ours", ours), ("baseline", bare)]
    for name, side in sides if n % 2 == 0 else reversed(sides):
        begun = time.perf_counter()
        status = side()
        if status != "success":
            sys.exit(f"{name}: the run is {status}")
        # The first ones open connections.
        if n >= 5:
            times[name].append((time.perf_counter() - begun) * 1000)
print(json.dumps(times))
