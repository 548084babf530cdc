"""A method for each operation of the operations API, to await. Generated: see CONTRIBUTING.md."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from ._call import NOT_GIVEN, Call, NotGiven
from ._sender import AsyncSender

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence
    from datetime import datetime

    from . import models as m


class AsyncOperations(AsyncSender):
    """A method for each operation of the operations API, to await.

    `timeout` is in seconds, for the whole call including its retries. Requests with the same
    `idempotency_key` act once; by default, each call has a new one. `if_match` is the `etag` of
    a record as you read it: if the record has changed since, the call fails with status 412.
    """

    async def get_health(
        self,
        *,
        timeout: float | None = None,
    ) -> m.Health:
        """Read the state of the service, always with 200.

        ``GET /api/health``
        """
        answer: m.Health = await self._send(
            Call(
                "GET",
                "/api/health",
                timeout=timeout,
            ),
        )
        return answer

    async def get_readiness(
        self,
        *,
        timeout: float | None = None,
    ) -> m.Health:
        """Read whether the service can accept and execute runs; 503 until it can.

        ``GET /api/ready``
        """
        answer: m.Health = await self._send(
            Call(
                "GET",
                "/api/ready",
                timeout=timeout,
            ),
        )
        return answer

    async def login(
        self,
        email: str,
        password: str,
        *,
        timeout: float | None = None,
    ) -> m.Session:
        """Sign in with email and password.

        Returns the same 401 for an unknown email and a wrong password, 403 while the account waits
        for approval, 429 after too many failures of the account or the address.

        ``POST /api/auth/login``
        """
        answer: m.Session = await self._send(
            Call(
                "POST",
                "/api/auth/login",
                fields={"email": email, "password": password},
                timeout=timeout,
            ),
        )
        return answer

    async def signup(
        self,
        *,
        name: str,
        email: str,
        password: str,
        timeout: float | None = None,
    ) -> m.Member:
        """Request membership; an administrator approves it.

        The response and its time are the same for an address that already has an account: then
        nothing changes.

        ``POST /api/auth/signup``
        """
        answer: m.Member = await self._send(
            Call(
                "POST",
                "/api/auth/signup",
                fields={"name": name, "email": email, "password": password},
                timeout=timeout,
            ),
        )
        return answer

    async def accept_invite(
        self,
        *,
        invite_code: str,
        password: str,
        name: str | NotGiven = NOT_GIVEN,
        timeout: float | None = None,
    ) -> m.Session:
        """Become a member with an invite code, which works once.

        ``POST /api/auth/accept-invite``
        """
        answer: m.Session = await self._send(
            Call(
                "POST",
                "/api/auth/accept-invite",
                fields={"invite_code": invite_code, "password": password, "name": name},
                timeout=timeout,
            ),
        )
        return answer

    async def change_password(
        self,
        *,
        current_password: str,
        new_password: str,
        timeout: float | None = None,
    ) -> m.Session:
        """Change your own password; all sessions end, and the response has a new one.

        ``POST /api/auth/password``
        """
        answer: m.Session = await self._send(
            Call(
                "POST",
                "/api/auth/password",
                fields={"current_password": current_password, "new_password": new_password},
                timeout=timeout,
            ),
        )
        return answer

    async def get_identity(
        self,
        *,
        timeout: float | None = None,
    ) -> m.Identity:
        """Read the credential's actor and capabilities.

        ``GET /api/auth/me``
        """
        answer: m.Identity = await self._send(
            Call(
                "GET",
                "/api/auth/me",
                timeout=timeout,
            ),
        )
        return answer

    async def list_members(
        self,
        *,
        limit: int | None = None,
        offset: int | None = None,
        timeout: float | None = None,
    ) -> list[m.Member]:
        """List members by when they joined.

        Args:
            limit: Maximum number of rows
            offset: Rows to skip

        ``GET /api/members``
        """
        answer: list[m.Member] = await self._all(
            Call(
                "GET",
                "/api/members",
                query={"limit": limit, "offset": offset},
                timeout=timeout,
            ),
        )
        return answer

    async def invite_member(
        self,
        *,
        name: str,
        email: str,
        role: Literal["admin", "editor", "viewer"],
        timeout: float | None = None,
    ) -> m.Member:
        """Invite a member.

        Anyone with the invite code becomes the member, once, until `invite_expires_at`. It is
        emailed where email delivery is configured, and shown in the listing until then. Nobody can
        invite to more than they hold. A pending sign-up in another workspace with the same address
        is dropped.

        ``POST /api/members/invite``
        """
        answer: m.Member = await self._send(
            Call(
                "POST",
                "/api/members/invite",
                fields={"name": name, "email": email, "role": role},
                timeout=timeout,
            ),
        )
        return answer

    async def get_member(
        self,
        member_id: str,
        *,
        timeout: float | None = None,
    ) -> m.MemberDetail:
        """Read a member and their permissions.

        ``GET /api/members/{id}``
        """
        answer: m.MemberDetail = await self._send(
            Call(
                "GET",
                "/api/members/{id}",
                (member_id,),
                timeout=timeout,
            ),
        )
        return answer

    async def change_role(
        self,
        member_id: str,
        *,
        role: Literal["admin", "editor", "viewer"],
        keep_keys: bool | NotGiven = NOT_GIVEN,
        if_match: str | None = None,
        timeout: float | None = None,
    ) -> m.MemberDetail:
        """Change a member's role, effective at once.

        Requires everything that the member holds before and after. When the member gains something,
        an invitation gets a new code, and linked keys whose makers lack the gained permissions are
        revoked, unless `keep_keys` is true.

        Args:
            keep_keys: Keep keys linked to the member whose makers lack the gained permissions.
                Without it they are revoked, since the maker of a key knows its secret.

        ``PATCH /api/members/{id}``
        """
        answer: m.MemberDetail = await self._send(
            Call(
                "PATCH",
                "/api/members/{id}",
                (member_id,),
                fields={"role": role, "keep_keys": keep_keys},
                if_match=if_match,
                timeout=timeout,
            ),
        )
        return answer

    async def set_role(
        self,
        member_id: str,
        *,
        role: Literal["admin", "editor", "viewer"],
        keep_keys: bool | NotGiven = NOT_GIVEN,
        if_match: str | None = None,
        timeout: float | None = None,
    ) -> m.MemberDetail:
        """Change a member's role, effective at once.

        Requires everything that the member holds before and after. When the member gains something,
        an invitation gets a new code, and linked keys whose makers lack the gained permissions are
        revoked, unless `keep_keys` is true.

        Args:
            keep_keys: Keep keys linked to the member whose makers lack the gained permissions.
                Without it they are revoked, since the maker of a key knows its secret.

        ``PUT /api/members/{id}``
        """
        answer: m.MemberDetail = await self._send(
            Call(
                "PUT",
                "/api/members/{id}",
                (member_id,),
                fields={"role": role, "keep_keys": keep_keys},
                if_match=if_match,
                timeout=timeout,
            ),
        )
        return answer

    async def remove_member(
        self,
        member_id: str,
        *,
        if_match: str | None = None,
        timeout: float | None = None,
    ) -> None:
        """Remove a member; their sessions end and their keys are revoked.

        Also withdraws an invitation, and rejects a sign-up.

        ``DELETE /api/members/{id}``
        """
        await self._send(
            Call(
                "DELETE",
                "/api/members/{id}",
                (member_id,),
                if_match=if_match,
                timeout=timeout,
            ),
        )

    async def get_member_stats(
        self,
        member_id: str,
        *,
        timeout: float | None = None,
    ) -> m.MemberStats:
        """Read a member's activity.

        The totals do not decrease when retention removes runs and audit entries.

        ``GET /api/members/{id}/stats``
        """
        answer: m.MemberStats = await self._send(
            Call(
                "GET",
                "/api/members/{id}/stats",
                (member_id,),
                timeout=timeout,
            ),
        )
        return answer

    async def set_permissions(
        self,
        member_id: str,
        *,
        overrides: m.CapabilityOverrides,
        keep_keys: bool | NotGiven = NOT_GIVEN,
        if_match: str | None = None,
        timeout: float | None = None,
    ) -> m.MemberDetail:
        """Override capabilities of a member's role, effective at once.

        Requires everything that the member holds before and after. When the member gains something,
        an invitation gets a new code, and linked keys whose makers lack the gained permissions are
        revoked, unless `keep_keys` is true.

        Args:
            keep_keys: Keep keys linked to the member whose makers lack the gained permissions.
                Without it they are revoked, since the maker of a key knows its secret.

        ``PUT /api/members/{id}/permissions``
        """
        answer: m.MemberDetail = await self._send(
            Call(
                "PUT",
                "/api/members/{id}/permissions",
                (member_id,),
                fields={"overrides": overrides, "keep_keys": keep_keys},
                if_match=if_match,
                timeout=timeout,
            ),
        )
        return answer

    async def change_permissions(
        self,
        member_id: str,
        *,
        overrides: m.CapabilityOverrides,
        keep_keys: bool | NotGiven = NOT_GIVEN,
        if_match: str | None = None,
        timeout: float | None = None,
    ) -> m.MemberDetail:
        """Override capabilities of a member's role, effective at once.

        Requires everything that the member holds before and after. When the member gains something,
        an invitation gets a new code, and linked keys whose makers lack the gained permissions are
        revoked, unless `keep_keys` is true.

        Args:
            keep_keys: Keep keys linked to the member whose makers lack the gained permissions.
                Without it they are revoked, since the maker of a key knows its secret.

        ``PATCH /api/members/{id}/permissions``
        """
        answer: m.MemberDetail = await self._send(
            Call(
                "PATCH",
                "/api/members/{id}/permissions",
                (member_id,),
                fields={"overrides": overrides, "keep_keys": keep_keys},
                if_match=if_match,
                timeout=timeout,
            ),
        )
        return answer

    async def renew_invite(
        self,
        member_id: str,
        *,
        timeout: float | None = None,
    ) -> m.MemberDetail:
        """Replace the invite code of an invited member.

        The previous code is invalid at once. The new one is emailed where email delivery is
        configured. For an approved sign-up that has not chosen a password yet, it is only emailed.

        ``POST /api/members/{id}/invite``
        """
        answer: m.MemberDetail = await self._send(
            Call(
                "POST",
                "/api/members/{id}/invite",
                (member_id,),
                timeout=timeout,
            ),
        )
        return answer

    async def approve_member(
        self,
        member_id: str,
        *,
        timeout: float | None = None,
    ) -> m.MemberDetail:
        """Approve a member who has signed up.

        The email address is not verified yet. Where email delivery is configured, the password of
        the sign-up is dropped and a code is sent to the address, to choose a password with
        `accept-invite`. Otherwise the password of the sign-up is valid: only approve people whom
        you expect.

        ``POST /api/members/{id}/approve``
        """
        answer: m.MemberDetail = await self._send(
            Call(
                "POST",
                "/api/members/{id}/approve",
                (member_id,),
                timeout=timeout,
            ),
        )
        return answer

    async def list_workflows(
        self,
        *,
        limit: int | None = None,
        offset: int | None = None,
        include: Literal["limits"] | None = None,
        timeout: float | None = None,
    ) -> list[m.ListedWorkflow]:
        """List workflows, newest first.

        Args:
            limit: Maximum number of rows
            offset: Rows to skip
            include: `limits`: include the limits

        ``GET /api/workflows``
        """
        answer: list[m.ListedWorkflow] = await self._all(
            Call(
                "GET",
                "/api/workflows",
                query={"limit": limit, "offset": offset, "include": include},
                timeout=timeout,
            ),
        )
        return answer

    async def create_workflow(
        self,
        *,
        name: str,
        description: str | NotGiven = NOT_GIVEN,
        graph: m.GraphDraft | NotGiven = NOT_GIVEN,
        input_schema: dict[str, Any] | NotGiven | None = NOT_GIVEN,
        run_cap_usd: float | NotGiven | None = NOT_GIVEN,
        overrun: Literal["none", "one_step"] | NotGiven = NOT_GIVEN,
        requires_experiment: bool | NotGiven = NOT_GIVEN,
        timeout: float | None = None,
    ) -> m.Workflow:
        """Create a workflow.

        The graph is saved as drawn, even if it cannot run yet. A name by which a graph in use calls
        a workflow also requires the permissions to change that graph.

        Args:
            input_schema: JSON Schema, draft 2020-12 or 7, that the input of every run must fit;
                null accepts any object. Patterns are RE2; `format` is not checked; external
                references are not loaded. At most 65,536 characters and 40 levels
            run_cap_usd: The cost limit of one run; null removes it
            overrun: `none`: a request begins only if all that it may cost fits, beside the
                requests in progress. `one_step`: a request begins while something is left, so
                that the limit is exceeded by less than one step
            requires_experiment: It is published only after an experiment of exactly this graph
                and input schema that lost no check and failed no run

        ``POST /api/workflows``
        """
        answer: m.Workflow = await self._send(
            Call(
                "POST",
                "/api/workflows",
                fields={"name": name, "description": description, "graph": graph, "input_schema": input_schema, "run_cap_usd": run_cap_usd, "overrun": overrun, "requires_experiment": requires_experiment},
                timeout=timeout,
            ),
        )
        return answer

    async def get_workflow(
        self,
        workflow_id: str,
        *,
        include: Literal["draft"] | None = None,
        timeout: float | None = None,
    ) -> m.WorkflowDetail:
        """Read a workflow.

        With `include=draft`, also its draft as it is at the same moment.

        Args:
            include: `draft`: include the draft

        ``GET /api/workflows/{id}``
        """
        answer: m.WorkflowDetail = await self._send(
            Call(
                "GET",
                "/api/workflows/{id}",
                (workflow_id,),
                query={"include": include},
                timeout=timeout,
            ),
        )
        return answer

    async def update_workflow(
        self,
        workflow_id: str,
        *,
        name: str | NotGiven = NOT_GIVEN,
        description: str | NotGiven = NOT_GIVEN,
        graph: m.GraphDraft | NotGiven = NOT_GIVEN,
        input_schema: dict[str, Any] | NotGiven | None = NOT_GIVEN,
        run_cap_usd: float | NotGiven | None = NOT_GIVEN,
        overrun: Literal["none", "one_step"] | NotGiven = NOT_GIVEN,
        requires_experiment: bool | NotGiven = NOT_GIVEN,
        note: str | NotGiven = NOT_GIVEN,
        if_match: str | None = None,
        timeout: float | None = None,
    ) -> m.Workflow:
        """Change a workflow.

        Changes the fields in the body. A changed graph or input schema becomes a new version; runs
        keep the version they started with. Such a change also requires `publish_workflows` where a
        published workflow is changed or calls this one, at any distance, and `run_workflows` where
        one with a webhook or an enabled schedule does. So does another name where it is called by
        its name.

        Args:
            input_schema: JSON Schema, draft 2020-12 or 7, that the input of every run must fit;
                null accepts any object. Patterns are RE2; `format` is not checked; external
                references are not loaded. At most 65,536 characters and 40 levels
            run_cap_usd: The cost limit of one run; null removes it
            overrun: `none`: a request begins only if all that it may cost fits, beside the
                requests in progress. `one_step`: a request begins while something is left, so
                that the limit is exceeded by less than one step
            requires_experiment: It is published only after an experiment of exactly this graph
                and input schema that lost no check and failed no run
            note: What the new version changes; only with `graph` or `input_schema`

        ``PUT /api/workflows/{id}``
        """
        answer: m.Workflow = await self._send(
            Call(
                "PUT",
                "/api/workflows/{id}",
                (workflow_id,),
                fields={"name": name, "description": description, "graph": graph, "input_schema": input_schema, "run_cap_usd": run_cap_usd, "overrun": overrun, "requires_experiment": requires_experiment, "note": note},
                if_match=if_match,
                timeout=timeout,
            ),
        )
        return answer

    async def delete_workflow(
        self,
        workflow_id: str,
        *,
        if_match: str | None = None,
        timeout: float | None = None,
    ) -> None:
        """Delete a workflow with its versions, runs and schedules.

        Active runs are cancelled. Where a graph in use calls the workflow, also requires the
        permissions to change that graph.

        ``DELETE /api/workflows/{id}``
        """
        await self._send(
            Call(
                "DELETE",
                "/api/workflows/{id}",
                (workflow_id,),
                if_match=if_match,
                timeout=timeout,
            ),
        )

    async def validate(
        self,
        workflow_id: str,
        *,
        graph: m.GraphDraft | NotGiven = NOT_GIVEN,
        input_schema: dict[str, Any] | NotGiven | None = NOT_GIVEN,
        timeout: float | None = None,
    ) -> m.GraphReport:
        """Check whether a graph can run.

        Reports every error and warning at once, about the saved graph, or about the one in the
        body. It is the check that publishing a draft makes. Nothing is saved.

        Args:
            input_schema: Taken instead of that of the current version

        ``POST /api/workflows/{id}/validate``
        """
        answer: m.GraphReport = await self._send(
            Call(
                "POST",
                "/api/workflows/{id}/validate",
                (workflow_id,),
                fields={"graph": graph, "input_schema": input_schema},
                timeout=timeout,
            ),
        )
        return answer

    async def set_checks(
        self,
        workflow_id: str,
        checks: list[m.EvaluationCheck],
        *,
        if_match: str | None = None,
        timeout: float | None = None,
    ) -> m.Workflow:
        """Set the checks that score successful runs.

        ``PUT /api/workflows/{id}/checks``
        """
        answer: m.Workflow = await self._send(
            Call(
                "PUT",
                "/api/workflows/{id}/checks",
                (workflow_id,),
                body=checks,
                if_match=if_match,
                timeout=timeout,
            ),
        )
        return answer

    async def list_workflow_runs(
        self,
        workflow_id: str,
        *,
        q: str | None = None,
        version: int | None = None,
        status: Literal["pending", "running", "paused", "success", "failed"] | Sequence[Literal["pending", "running", "paused", "success", "failed"]] | None = None,
        failure_kind: Literal["node", "budget", "cancelled", "rejected", "crash", "unrecorded"] | None = None,
        trigger: Literal["manual", "webhook", "mcp", "schedule", "workflow", "event"] | None = None,
        parent_run_id: str | None = None,
        forked_from: str | None = None,
        mode: Literal["live", "recorded"] | None = None,
        since: str | datetime | None = None,
        until: str | datetime | None = None,
        min_cost_usd: float | None = None,
        max_cost_usd: float | None = None,
        min_duration_ms: int | None = None,
        max_duration_ms: int | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        timeout: float | None = None,
    ) -> m.RunList:
        """List the runs of a workflow, newest first.

        Args:
            q: Only runs with all of these words, or starts of words, in their id, input, output
                or error. It reads the first 8,000 characters of input and output, and finds a
                run a moment after it has started or ended
            version: Only runs of this version, without those of drafts
            status: One status, or several separated by commas
            parent_run_id: Only the runs that this run started
            forked_from: Only the runs that were started from this one again
            mode: Only ordinary runs, or only rehearsals; by default both
            since: Created at or after
            until: Created before
            min_cost_usd: Cost of at least this
            max_cost_usd: Cost of at most this
            min_duration_ms: Active time of at least this
            max_duration_ms: Active time of at most this
            limit: Rows per page
            cursor: `next_cursor` of the previous page

        ``GET /api/workflows/{id}/runs``
        """
        answer: m.RunList = await self._send(
            Call(
                "GET",
                "/api/workflows/{id}/runs",
                (workflow_id,),
                query={"q": q, "version": version, "status": status, "failure_kind": failure_kind, "trigger": trigger, "parent_run_id": parent_run_id, "forked_from": forked_from, "mode": mode, "since": since, "until": until, "min_cost_usd": min_cost_usd, "max_cost_usd": max_cost_usd, "min_duration_ms": min_duration_ms, "max_duration_ms": max_duration_ms, "limit": limit, "cursor": cursor},
                timeout=timeout,
            ),
        )
        return answer

    def workflow_runs(
        self,
        workflow_id: str,
        *,
        q: str | None = None,
        version: int | None = None,
        status: Literal["pending", "running", "paused", "success", "failed"] | Sequence[Literal["pending", "running", "paused", "success", "failed"]] | None = None,
        failure_kind: Literal["node", "budget", "cancelled", "rejected", "crash", "unrecorded"] | None = None,
        trigger: Literal["manual", "webhook", "mcp", "schedule", "workflow", "event"] | None = None,
        parent_run_id: str | None = None,
        forked_from: str | None = None,
        mode: Literal["live", "recorded"] | None = None,
        since: str | datetime | None = None,
        until: str | datetime | None = None,
        min_cost_usd: float | None = None,
        max_cost_usd: float | None = None,
        min_duration_ms: int | None = None,
        max_duration_ms: int | None = None,
        limit: int | None = None,
        timeout: float | None = None,
    ) -> AsyncIterator[m.ListedRun]:
        """List the runs of a workflow, newest first.

        Iterates over all pages of ``list_workflow_runs``, one page at a time.
        """
        return self._rows(
            Call(
                "GET",
                "/api/workflows/{id}/runs",
                (workflow_id,),
                query={"q": q, "version": version, "status": status, "failure_kind": failure_kind, "trigger": trigger, "parent_run_id": parent_run_id, "forked_from": forked_from, "mode": mode, "since": since, "until": until, "min_cost_usd": min_cost_usd, "max_cost_usd": max_cost_usd, "min_duration_ms": min_duration_ms, "max_duration_ms": max_duration_ms, "limit": limit},
                timeout=timeout,
            ),
            "runs",
            "cursor",
        )

    async def list_versions(
        self,
        workflow_id: str,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        timeout: float | None = None,
    ) -> m.WorkflowVersionList:
        """List the versions of a workflow, newest first.

        Args:
            limit: Rows per page
            cursor: `next_cursor` of the previous page

        ``GET /api/workflows/{id}/versions``
        """
        answer: m.WorkflowVersionList = await self._send(
            Call(
                "GET",
                "/api/workflows/{id}/versions",
                (workflow_id,),
                query={"limit": limit, "cursor": cursor},
                timeout=timeout,
            ),
        )
        return answer

    def versions(
        self,
        workflow_id: str,
        *,
        limit: int | None = None,
        timeout: float | None = None,
    ) -> AsyncIterator[m.WorkflowVersionSummary]:
        """List the versions of a workflow, newest first.

        Iterates over all pages of ``list_versions``, one page at a time.
        """
        return self._rows(
            Call(
                "GET",
                "/api/workflows/{id}/versions",
                (workflow_id,),
                query={"limit": limit},
                timeout=timeout,
            ),
            "versions",
            "cursor",
        )

    async def get_version(
        self,
        workflow_id: str,
        version: int,
        *,
        timeout: float | None = None,
    ) -> m.WorkflowVersion:
        """Read one version of a workflow.

        ``GET /api/workflows/{id}/versions/{version}``
        """
        answer: m.WorkflowVersion = await self._send(
            Call(
                "GET",
                "/api/workflows/{id}/versions/{version}",
                (workflow_id, version,),
                timeout=timeout,
            ),
        )
        return answer

    async def diff_versions(
        self,
        workflow_id: str,
        *,
        from_: int,
        to: int,
        timeout: float | None = None,
    ) -> m.GraphDiff:
        """Compare two versions of a workflow.

        Nodes and edges that were added, removed and changed between the two versions, and the
        change of the input schema.

        ``GET /api/workflows/{id}/versions/diff``
        """
        answer: m.GraphDiff = await self._send(
            Call(
                "GET",
                "/api/workflows/{id}/versions/diff",
                (workflow_id,),
                query={"from": from_, "to": to},
                timeout=timeout,
            ),
        )
        return answer

    async def get_draft(
        self,
        workflow_id: str,
        *,
        timeout: float | None = None,
    ) -> m.WorkflowDraft:
        """Read the draft of a workflow.

        What is being edited beside the current version. Only requests that ask for the draft run
        it.

        ``GET /api/workflows/{id}/draft``
        """
        answer: m.WorkflowDraft = await self._send(
            Call(
                "GET",
                "/api/workflows/{id}/draft",
                (workflow_id,),
                timeout=timeout,
            ),
        )
        return answer

    async def save_draft(
        self,
        workflow_id: str,
        *,
        graph: m.GraphDraft | NotGiven = NOT_GIVEN,
        input_schema: dict[str, Any] | NotGiven | None = NOT_GIVEN,
        base_version: int | NotGiven = NOT_GIVEN,
        if_match: str | None = None,
        timeout: float | None = None,
    ) -> m.WorkflowDraft:
        """Save the draft of a workflow.

        Saved as drawn, even if it cannot run yet; omitted fields are unchanged. The first save
        creates the draft, on the content of its base version, and answers 201. To change a draft
        that exists, send its `ETag` as `If-Match`: without it the answer is 428, and 412 when
        someone else has saved meanwhile. A save without a change keeps the revision.

        Args:
            input_schema: JSON Schema, draft 2020-12 or 7, that the input of every run must fit;
                null accepts any object. Patterns are RE2; `format` is not checked; external
                references are not loaded. At most 65,536 characters and 40 levels
            base_version: The version that the work began at; by default that of the draft, or
                the current one for a new draft

        ``PUT /api/workflows/{id}/draft``
        """
        answer: m.WorkflowDraft = await self._send(
            Call(
                "PUT",
                "/api/workflows/{id}/draft",
                (workflow_id,),
                fields={"graph": graph, "input_schema": input_schema, "base_version": base_version},
                if_match=if_match,
                timeout=timeout,
            ),
        )
        return answer

    async def discard_draft(
        self,
        workflow_id: str,
        *,
        if_match: str | None = None,
        timeout: float | None = None,
    ) -> None:
        """Discard the draft of a workflow.

        Requires `If-Match`. The current version is unchanged.

        ``DELETE /api/workflows/{id}/draft``
        """
        await self._send(
            Call(
                "DELETE",
                "/api/workflows/{id}/draft",
                (workflow_id,),
                if_match=if_match,
                timeout=timeout,
            ),
        )

    async def publish_workflow(
        self,
        workflow_id: str,
        *,
        from_draft: Literal[True] | NotGiven = NOT_GIVEN,
        note: str | NotGiven = NOT_GIVEN,
        if_match: str | None = None,
        timeout: float | None = None,
    ) -> m.Workflow:
        """Publish a workflow.

        Without a body, publishes the current version. With `from_draft`, makes the draft the
        current version in one step: requires the `ETag` of the draft as `If-Match`, and a draft
        that can run and began at the current version. The author of the version is the member who
        saved the draft last. Also requires `run_workflows` where the workflow has a webhook or an
        enabled schedule.

        Args:
            from_draft: Makes the draft the current version; without it the current version is
                published
            note: What the version changes; only with `from_draft`

        ``POST /api/workflows/{id}/publish``
        """
        answer: m.Workflow = await self._send(
            Call(
                "POST",
                "/api/workflows/{id}/publish",
                (workflow_id,),
                fields={"from_draft": from_draft, "note": note},
                if_match=if_match,
                timeout=timeout,
            ),
        )
        return answer

    async def get_limits(
        self,
        workflow_id: str,
        *,
        timeout: float | None = None,
    ) -> m.WorkflowLimits:
        """Read the limits of a workflow.

        ``GET /api/workflows/{id}/limits``
        """
        answer: m.WorkflowLimits = await self._send(
            Call(
                "GET",
                "/api/workflows/{id}/limits",
                (workflow_id,),
                timeout=timeout,
            ),
        )
        return answer

    async def set_limits(
        self,
        workflow_id: str,
        *,
        concurrency: m.ConcurrencyLimitInput | NotGiven | None = NOT_GIVEN,
        rate: m.RateLimitInput | NotGiven | None = NOT_GIVEN,
        debounce: m.DebounceInput | NotGiven | None = NOT_GIVEN,
        priority: str | NotGiven | None = NOT_GIVEN,
        cancel_on: list[m.CancelEventInput] | NotGiven = NOT_GIVEN,
        if_match: str | None = None,
        timeout: float | None = None,
    ) -> m.WorkflowLimits:
        """Replace the limits of a workflow.

        They count for all versions and drafts, and for whatever starts a run: callers, webhooks,
        schedules, events, other workflows, reruns and forks. Rehearsals, tests of nodes and
        experiments have no limits. Runs in flight keep their slots, and queued ones their place;
        with a higher limit, the next ones start.

        Args:
            priority: An expression over the input of a run: a number from -100 to 100, to which
                others are set. Of the runs that wait with the same key, the one with the
                highest starts first. By default 0
            cancel_on: Events that cancel open runs: those that were created before the event,
                and for which `match` is true. A run keeps those of its trigger

        ``PUT /api/workflows/{id}/limits``
        """
        answer: m.WorkflowLimits = await self._send(
            Call(
                "PUT",
                "/api/workflows/{id}/limits",
                (workflow_id,),
                fields={"concurrency": concurrency, "rate": rate, "debounce": debounce, "priority": priority, "cancel_on": cancel_on},
                if_match=if_match,
                timeout=timeout,
            ),
        )
        return answer

    async def list_queues(
        self,
        *,
        limit: int | None = None,
        offset: int | None = None,
        workflow_id: str | None = None,
        timeout: float | None = None,
    ) -> list[m.RunQueue]:
        """List who holds the slots of the limits, and who waits.

        Args:
            limit: Maximum number of rows
            offset: Rows to skip

        ``GET /api/queues``
        """
        answer: list[m.RunQueue] = await self._all(
            Call(
                "GET",
                "/api/queues",
                query={"limit": limit, "offset": offset, "workflow_id": workflow_id},
                timeout=timeout,
            ),
        )
        return answer

    async def list_templates(
        self,
        *,
        limit: int | None = None,
        offset: int | None = None,
        timeout: float | None = None,
    ) -> list[m.Template]:
        """List templates: the built-in ones, then your own, newest first.

        Args:
            limit: Maximum number of rows
            offset: Rows to skip

        ``GET /api/templates``
        """
        answer: list[m.Template] = await self._all(
            Call(
                "GET",
                "/api/templates",
                query={"limit": limit, "offset": offset},
                timeout=timeout,
            ),
        )
        return answer

    async def create_template(
        self,
        template: m.TemplateFromGraph | m.TemplateFromWorkflow,
        *,
        timeout: float | None = None,
    ) -> m.Template:
        """Save a graph or a workflow as a template.

        ``POST /api/templates``
        """
        answer: m.Template = await self._send(
            Call(
                "POST",
                "/api/templates",
                body=template,
                timeout=timeout,
            ),
        )
        return answer

    async def get_template(
        self,
        template_id: str,
        *,
        timeout: float | None = None,
    ) -> m.Template:
        """Read a template.

        ``GET /api/templates/{id}``
        """
        answer: m.Template = await self._send(
            Call(
                "GET",
                "/api/templates/{id}",
                (template_id,),
                timeout=timeout,
            ),
        )
        return answer

    async def update_template(
        self,
        template_id: str,
        *,
        name: str | NotGiven = NOT_GIVEN,
        description: str | NotGiven = NOT_GIVEN,
        graph: m.GraphDraft | NotGiven = NOT_GIVEN,
        input_schema: dict[str, Any] | NotGiven | None = NOT_GIVEN,
        checks: list[m.EvaluationCheck] | NotGiven = NOT_GIVEN,
        limits: m.UpdateTemplateBodyLimits | NotGiven | None = NOT_GIVEN,
        sample_input: dict[str, Any] | NotGiven = NOT_GIVEN,
        if_match: str | None = None,
        timeout: float | None = None,
    ) -> m.Template:
        """Change a template of your own.

        Changes the fields in the body. Workflows created from it do not change. Built-in ones
        cannot be changed.

        Args:
            input_schema: JSON Schema, draft 2020-12 or 7, that the input of every run must fit;
                null accepts any object. Patterns are RE2; `format` is not checked; external
                references are not loaded. At most 65,536 characters and 40 levels
            limits: As in `PUT /api/workflows/{id}/limits`; null: none
            sample_input: An example input

        ``PUT /api/templates/{id}``
        """
        answer: m.Template = await self._send(
            Call(
                "PUT",
                "/api/templates/{id}",
                (template_id,),
                fields={"name": name, "description": description, "graph": graph, "input_schema": input_schema, "checks": checks, "limits": limits, "sample_input": sample_input},
                if_match=if_match,
                timeout=timeout,
            ),
        )
        return answer

    async def delete_template(
        self,
        template_id: str,
        *,
        if_match: str | None = None,
        timeout: float | None = None,
    ) -> None:
        """Delete a template of your own.

        ``DELETE /api/templates/{id}``
        """
        await self._send(
            Call(
                "DELETE",
                "/api/templates/{id}",
                (template_id,),
                if_match=if_match,
                timeout=timeout,
            ),
        )

    async def instantiate_template(
        self,
        template_id: str,
        *,
        name: str | NotGiven = NOT_GIVEN,
        description: str | NotGiven = NOT_GIVEN,
        timeout: float | None = None,
    ) -> m.Workflow:
        """Create a draft workflow from a template, with its checks and limits.

        Args:
            name: The template's name by default

        ``POST /api/templates/{id}/instantiate``
        """
        answer: m.Workflow = await self._send(
            Call(
                "POST",
                "/api/templates/{id}/instantiate",
                (template_id,),
                fields={"name": name, "description": description},
                timeout=timeout,
            ),
        )
        return answer

    async def list_runs(
        self,
        *,
        q: str | None = None,
        workflow_id: str | None = None,
        version: int | None = None,
        status: Literal["pending", "running", "paused", "success", "failed"] | Sequence[Literal["pending", "running", "paused", "success", "failed"]] | None = None,
        failure_kind: Literal["node", "budget", "cancelled", "rejected", "crash", "unrecorded"] | None = None,
        trigger: Literal["manual", "webhook", "mcp", "schedule", "workflow", "event"] | None = None,
        parent_run_id: str | None = None,
        forked_from: str | None = None,
        mode: Literal["live", "recorded"] | None = None,
        since: str | datetime | None = None,
        until: str | datetime | None = None,
        min_cost_usd: float | None = None,
        max_cost_usd: float | None = None,
        min_duration_ms: int | None = None,
        max_duration_ms: int | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        timeout: float | None = None,
    ) -> m.RunList:
        """List runs, newest first.

        Args:
            q: Only runs with all of these words, or starts of words, in their id, input, output
                or error. It reads the first 8,000 characters of input and output, and finds a
                run a moment after it has started or ended
            version: Only runs of this version, without those of drafts
            status: One status, or several separated by commas
            parent_run_id: Only the runs that this run started
            forked_from: Only the runs that were started from this one again
            mode: Only ordinary runs, or only rehearsals; by default both
            since: Created at or after
            until: Created before
            min_cost_usd: Cost of at least this
            max_cost_usd: Cost of at most this
            min_duration_ms: Active time of at least this
            max_duration_ms: Active time of at most this
            limit: Rows per page
            cursor: `next_cursor` of the previous page

        ``GET /api/runs``
        """
        answer: m.RunList = await self._send(
            Call(
                "GET",
                "/api/runs",
                query={"q": q, "workflow_id": workflow_id, "version": version, "status": status, "failure_kind": failure_kind, "trigger": trigger, "parent_run_id": parent_run_id, "forked_from": forked_from, "mode": mode, "since": since, "until": until, "min_cost_usd": min_cost_usd, "max_cost_usd": max_cost_usd, "min_duration_ms": min_duration_ms, "max_duration_ms": max_duration_ms, "limit": limit, "cursor": cursor},
                timeout=timeout,
            ),
        )
        return answer

    def runs(
        self,
        *,
        q: str | None = None,
        workflow_id: str | None = None,
        version: int | None = None,
        status: Literal["pending", "running", "paused", "success", "failed"] | Sequence[Literal["pending", "running", "paused", "success", "failed"]] | None = None,
        failure_kind: Literal["node", "budget", "cancelled", "rejected", "crash", "unrecorded"] | None = None,
        trigger: Literal["manual", "webhook", "mcp", "schedule", "workflow", "event"] | None = None,
        parent_run_id: str | None = None,
        forked_from: str | None = None,
        mode: Literal["live", "recorded"] | None = None,
        since: str | datetime | None = None,
        until: str | datetime | None = None,
        min_cost_usd: float | None = None,
        max_cost_usd: float | None = None,
        min_duration_ms: int | None = None,
        max_duration_ms: int | None = None,
        limit: int | None = None,
        timeout: float | None = None,
    ) -> AsyncIterator[m.ListedRun]:
        """List runs, newest first.

        Iterates over all pages of ``list_runs``, one page at a time.
        """
        return self._rows(
            Call(
                "GET",
                "/api/runs",
                query={"q": q, "workflow_id": workflow_id, "version": version, "status": status, "failure_kind": failure_kind, "trigger": trigger, "parent_run_id": parent_run_id, "forked_from": forked_from, "mode": mode, "since": since, "until": until, "min_cost_usd": min_cost_usd, "max_cost_usd": max_cost_usd, "min_duration_ms": min_duration_ms, "max_duration_ms": max_duration_ms, "limit": limit},
                timeout=timeout,
            ),
            "runs",
            "cursor",
        )

    async def get_run(
        self,
        run_id: str,
        *,
        timeout: float | None = None,
    ) -> m.Run:
        """Read a run with its steps, cost, output and open gates.

        ``GET /api/runs/{id}``
        """
        answer: m.Run = await self._send(
            Call(
                "GET",
                "/api/runs/{id}",
                (run_id,),
                timeout=timeout,
            ),
        )
        return answer

    async def list_run_steps(
        self,
        run_id: str,
        *,
        node_id: str | None = None,
        step_key: str | None = None,
        status: Literal["running", "success", "failed", "paused", "skipped", "cancelled", "unrecorded"] | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        timeout: float | None = None,
    ) -> m.StepList:
        """List the steps of a run.

        First those outside of loops and maps, then those in them, each in the order of their
        starts. `GET /api/runs/{id}` has the first 1000, and the cursor of the others.

        Args:
            limit: Rows per page
            cursor: `next_cursor` of the previous page

        ``GET /api/runs/{id}/steps``
        """
        answer: m.StepList = await self._send(
            Call(
                "GET",
                "/api/runs/{id}/steps",
                (run_id,),
                query={"node_id": node_id, "step_key": step_key, "status": status, "limit": limit, "cursor": cursor},
                timeout=timeout,
            ),
        )
        return answer

    def run_steps(
        self,
        run_id: str,
        *,
        node_id: str | None = None,
        step_key: str | None = None,
        status: Literal["running", "success", "failed", "paused", "skipped", "cancelled", "unrecorded"] | None = None,
        limit: int | None = None,
        timeout: float | None = None,
    ) -> AsyncIterator[m.Step]:
        """List the steps of a run.

        Iterates over all pages of ``list_run_steps``, one page at a time.
        """
        return self._rows(
            Call(
                "GET",
                "/api/runs/{id}/steps",
                (run_id,),
                query={"node_id": node_id, "step_key": step_key, "status": status, "limit": limit},
                timeout=timeout,
            ),
            "steps",
            "cursor",
        )

    async def list_run_events(
        self,
        run_id: str,
        *,
        after: int | None = None,
        limit: int | None = None,
        timeout: float | None = None,
    ) -> m.RunEventList:
        """List the frames of a run's stream, oldest first.

        The frames as they were emitted, each with its number and time. To follow a run without a
        stream, poll with the highest `seq` seen as `after`.

        Args:
            after: Events with a greater `seq` only
            limit: Events per page

        ``GET /api/runs/{id}/events``
        """
        answer: m.RunEventList = await self._send(
            Call(
                "GET",
                "/api/runs/{id}/events",
                (run_id,),
                query={"after": after, "limit": limit},
                timeout=timeout,
            ),
        )
        return answer

    def run_events(
        self,
        run_id: str,
        *,
        after: int | None = None,
        limit: int | None = None,
        timeout: float | None = None,
    ) -> AsyncIterator[m.RunEvent]:
        """List the frames of a run's stream, oldest first.

        Iterates over all pages of ``list_run_events``, one page at a time.
        """
        return self._rows(
            Call(
                "GET",
                "/api/runs/{id}/events",
                (run_id,),
                query={"after": after, "limit": limit},
                timeout=timeout,
            ),
            "events",
            "after",
        )

    async def list_step_messages(
        self,
        run_id: str,
        step_key: str,
        *,
        timeout: float | None = None,
    ) -> m.MessageList:
        """Read the conversation of an agent with tools.

        Everything the model received and said so far, in order. Results are as the model received
        them: redacted, and cut after 100,000 characters. The arguments of calls that need approval
        are null for a caller without the capability approve_gates.

        ``GET /api/runs/{id}/steps/{step_key}/messages``
        """
        answer: m.MessageList = await self._send(
            Call(
                "GET",
                "/api/runs/{id}/steps/{step_key}/messages",
                (run_id, step_key,),
                timeout=timeout,
            ),
        )
        return answer

    async def approve(
        self,
        run_id: str,
        approved: bool = True,
        input: dict[str, Any] | NotGiven = NOT_GIVEN,
        *,
        reason: str | NotGiven = NOT_GIVEN,
        node_id: str | NotGiven = NOT_GIVEN,
        step_key: str | NotGiven = NOT_GIVEN,
        digest: str | NotGiven = NOT_GIVEN,
        arguments: dict[str, Any] | NotGiven = NOT_GIVEN,
        accept_changes: bool | NotGiven = NOT_GIVEN,
        only_check: bool | NotGiven = NOT_GIVEN,
        timeout: float | None = None,
    ) -> m.CheckedRun:
        """Approve or reject an open gate.

        A gate can be decided whenever it is open, also while other branches of its run are in
        progress. Without a body the oldest open gate is approved: name the gate where a run may
        have several. A tool call needs its `digest`. A gate with rules can refuse the caller with
        403, and counts the approvals that it requires: then it stays open until the last one. 409
        says what was decided before, or that the tool has changed; for an older `digest` of a gate,
        `current` is what the gate shows now. No one can approve a step that waits for a sign-in,
        but a rejection that names it fails the step. With `only_check` nothing is decided: the
        response is the run as it is, with what the decision would set in motion, or the refusal
        that it would get. An approval of a gate with `recheck` first repeats its reads, which can
        take 20 seconds; if they differ, 409 has the code `changed`.

        Args:
            input: Merged into the run state. It must fit the `input_schema` of the gate
            reason: The reason: stored with the decision, and shown in the error of a run that
                it fails
            node_id: The gate, when several are open; by default the oldest
            step_key: The gate's round, from `pending_gates`: a gate in a loop opens once per
                iteration
            digest: The `digest` of the gate, so that the decision counts only for what was
                shown. Required for one of kind `tool_call`
            arguments: Of an approved tool call: the arguments to send instead. They must fit
                the schema of the tool
            accept_changes: For a gate that shows `stale`: approves anyway. What was shown is
                sent; the differences are stored with the decision
            only_check: True: refuses what could not be decided like this, and decides nothing

        ``POST /api/runs/{id}/approve``
        """
        answer: m.CheckedRun = await self._send(
            Call(
                "POST",
                "/api/runs/{id}/approve",
                (run_id,),
                fields={"approved": approved, "input": input, "reason": reason, "node_id": node_id, "step_key": step_key, "digest": digest, "arguments": arguments, "accept_changes": accept_changes, "only_check": only_check},
                timeout=timeout,
            ),
        )
        return answer

    async def assign_gate(
        self,
        run_id: str,
        member_id: str | None,
        *,
        node_id: str | NotGiven = NOT_GIVEN,
        step_key: str | NotGiven = NOT_GIVEN,
        timeout: float | None = None,
    ) -> m.Run:
        """Assign an open gate to a member, or pass it on.

        Says who is expected to decide. Others who can decide the gate still can. Without `node_id`
        and `step_key` the oldest open gate is assigned. 409: the gate is not open, or the member
        cannot decide it.

        Args:
            member_id: One of the `eligible_members` of the gate; null takes the assignment back
            node_id: The gate, when several are open; by default the oldest
            step_key: The gate's round, from `pending_gates`: a gate in a loop opens once per
                iteration

        ``POST /api/runs/{id}/assign``
        """
        answer: m.Run = await self._send(
            Call(
                "POST",
                "/api/runs/{id}/assign",
                (run_id,),
                fields={"node_id": node_id, "step_key": step_key, "member_id": member_id},
                timeout=timeout,
            ),
        )
        return answer

    async def resume(
        self,
        run_id: str,
        *,
        timeout: float | None = None,
    ) -> m.Run:
        """Resume a failed run from its last checkpoint.

        ``POST /api/runs/{id}/resume``
        """
        answer: m.Run = await self._send(
            Call(
                "POST",
                "/api/runs/{id}/resume",
                (run_id,),
                timeout=timeout,
            ),
        )
        return answer

    async def override_budget(
        self,
        run_id: str,
        *,
        approved: Literal[True],
        cap_usd: float | NotGiven = NOT_GIVEN,
        reason: str | NotGiven = NOT_GIVEN,
        timeout: float | None = None,
    ) -> m.Run:
        """Resume a run that a budget stopped, with its own optional cap.

        The run is then exempt from block budgets; its cost still counts in them. `cap_usd` becomes
        its cap, without one it has none.

        Args:
            cap_usd: What the run may cost in total. Without it there is no cap.

        ``POST /api/runs/{id}/budget-override``
        """
        answer: m.Run = await self._send(
            Call(
                "POST",
                "/api/runs/{id}/budget-override",
                (run_id,),
                fields={"approved": approved, "cap_usd": cap_usd, "reason": reason},
                timeout=timeout,
            ),
        )
        return answer

    async def cancel(
        self,
        run_id: str,
        *,
        timeout: float | None = None,
    ) -> m.Run:
        """End a pending, running or paused run.

        ``POST /api/runs/{id}/cancel``
        """
        answer: m.Run = await self._send(
            Call(
                "POST",
                "/api/runs/{id}/cancel",
                (run_id,),
                timeout=timeout,
            ),
        )
        return answer

    async def export_runs(
        self,
        *,
        q: str | None = None,
        workflow_id: str | None = None,
        version: int | None = None,
        status: Literal["pending", "running", "paused", "success", "failed"] | Sequence[Literal["pending", "running", "paused", "success", "failed"]] | None = None,
        failure_kind: Literal["node", "budget", "cancelled", "rejected", "crash", "unrecorded"] | None = None,
        trigger: Literal["manual", "webhook", "mcp", "schedule", "workflow", "event"] | None = None,
        parent_run_id: str | None = None,
        forked_from: str | None = None,
        mode: Literal["live", "recorded"] | None = None,
        since: str | datetime | None = None,
        until: str | datetime | None = None,
        min_cost_usd: float | None = None,
        max_cost_usd: float | None = None,
        min_duration_ms: int | None = None,
        max_duration_ms: int | None = None,
        format: Literal["csv", "ndjson"] | None = None,
        timeout: float | None = None,
    ) -> str:
        """Export a list of runs as CSV or NDJSON.

        All runs that the filters match, newest first, without payloads, as an attachment. CSV has
        nested values as JSON, and a `'` before anything a spreadsheet would read as a formula. The
        connection is closed after two minutes, or when reading fails: a file without its end.
        Narrow a longer list with `since` and `until`.

        Args:
            q: Only runs with all of these words, or starts of words, in their id, input, output
                or error. It reads the first 8,000 characters of input and output, and finds a
                run a moment after it has started or ended
            version: Only runs of this version, without those of drafts
            status: One status, or several separated by commas
            parent_run_id: Only the runs that this run started
            forked_from: Only the runs that were started from this one again
            mode: Only ordinary runs, or only rehearsals; by default both
            since: Created at or after
            until: Created before
            min_cost_usd: Cost of at least this
            max_cost_usd: Cost of at most this
            min_duration_ms: Active time of at least this
            max_duration_ms: Active time of at most this
            format: `csv`: a header row and a row per run (RFC 4180); `ndjson`: a JSON object
                per line

        ``GET /api/runs/export``
        """
        answer: str = await self._send(
            Call(
                "GET",
                "/api/runs/export",
                query={"q": q, "workflow_id": workflow_id, "version": version, "status": status, "failure_kind": failure_kind, "trigger": trigger, "parent_run_id": parent_run_id, "forked_from": forked_from, "mode": mode, "since": since, "until": until, "min_cost_usd": min_cost_usd, "max_cost_usd": max_cost_usd, "min_duration_ms": min_duration_ms, "max_duration_ms": max_duration_ms, "format": format},
                timeout=timeout,
            ),
        )
        return answer

    async def export_evidence(
        self,
        run_id: str,
        *,
        contents: bool | None = None,
        timeout: float | None = None,
    ) -> str:
        """Export the evidence of a run, which can be verified without the service.

        One JSON object per line, as of one moment: the run, its graph, its steps with digests of
        their inputs and outputs, gates with what they showed and who decided, verdicts of policies,
        and the entries of the audit log about it with their seals. `ops evidence verify` verifies
        it. A run that has not ended has evidence, too: of what has happened so far. The connection
        is closed after two minutes, or when reading fails: then the last line is missing. Arguments
        at gates are null for a caller without the capability approve_gates.

        Args:
            contents: Whether inputs, outputs and the state are whole, and not only digests

        ``GET /api/runs/{id}/evidence``
        """
        answer: str = await self._send(
            Call(
                "GET",
                "/api/runs/{id}/evidence",
                (run_id,),
                query={"contents": contents},
                timeout=timeout,
            ),
        )
        return answer

    async def list_run_views(
        self,
        *,
        timeout: float | None = None,
    ) -> m.RunViewList:
        """List your saved views of the list of runs.

        At most 50, by name. Each member has their own.

        ``GET /api/run-views``
        """
        answer: m.RunViewList = await self._send(
            Call(
                "GET",
                "/api/run-views",
                timeout=timeout,
            ),
        )
        return answer

    async def save_run_view(
        self,
        name: str,
        filter: str,
        *,
        timeout: float | None = None,
    ) -> m.RunView:
        """Save filters of the list of runs under a name.

        Instead of your view with this name. A link to the list shows the same to others.

        Args:
            name: 1 to 60 characters
            filter: The query of `GET /api/runs`, without `limit` and `cursor`

        ``PUT /api/run-views/{name}``
        """
        answer: m.RunView = await self._send(
            Call(
                "PUT",
                "/api/run-views/{name}",
                (name,),
                fields={"filter": filter},
                timeout=timeout,
            ),
        )
        return answer

    async def remove_run_view(
        self,
        name: str,
        *,
        timeout: float | None = None,
    ) -> None:
        """Remove a saved view.

        Args:
            name: 1 to 60 characters

        ``DELETE /api/run-views/{name}``
        """
        await self._send(
            Call(
                "DELETE",
                "/api/run-views/{name}",
                (name,),
                timeout=timeout,
            ),
        )

    async def dry_run(
        self,
        workflow_id: str,
        input: dict[str, Any] | NotGiven = NOT_GIVEN,
        *,
        version: int | NotGiven = NOT_GIVEN,
        draft: bool | NotGiven = NOT_GIVEN,
        timeout: float | None = None,
    ) -> m.DryRun:
        """What a run would cost, take, need and be refused, without running it.

        Executes, reserves and records nothing. The bounds hold for every run with this input, or
        without one for every run: failures, retries, loops, maps and the runs that it starts are
        counted; resumes and the time that steps wait for a worker are not. `unbounded` names the
        nodes without a bound. The input is checked as for a run.

        Args:
            input: As for a run. Without it, the bounds hold for every input
            version: The version to examine; the default is the current one
            draft: Examines the workflow's draft, and not a version

        ``POST /api/workflows/{id}/dry-run``
        """
        answer: m.DryRun = await self._send(
            Call(
                "POST",
                "/api/workflows/{id}/dry-run",
                (workflow_id,),
                fields={"input": input, "version": version, "draft": draft},
                timeout=timeout,
            ),
        )
        return answer

    async def rerun(
        self,
        run_id: str,
        *,
        input: dict[str, Any] | NotGiven = NOT_GIVEN,
        version: int | NotGiven = NOT_GIVEN,
        draft: bool | NotGiven = NOT_GIVEN,
        mode: Literal["recorded"] | NotGiven = NOT_GIVEN,
        allow: list[str] | NotGiven = NOT_GIVEN,
        failures: Literal["recorded", "execute"] | NotGiven = NOT_GIVEN,
        decisions: dict[str, m.RerunRunBodyDecisionsValue] | NotGiven = NOT_GIVEN,
        pins: bool | NotGiven = NOT_GIVEN,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> m.Fork:
        """Run again, with the same input and version or with others.

        Starts a new run, and executes everything again. Its `forked_from` is this one. The other
        run can have any status, and does not change. With mode `recorded` it is a rehearsal: steps
        take their results from the record, and nothing has an effect. Returns 200 where the
        `Idempotency-Key` has started a run before.

        Args:
            input: The default is the input of that run
            version: The version to run; the default is that of the other run
            draft: Runs the workflow's draft, and not a version
            mode: Rehearses the run: steps take their results from the record of the other run,
                and nothing has an effect
            allow: These are executed where there is no record: `agent`, `workflow`,
                `custom:<name>`, `http_request:<METHOD>` or the name of a tool. By default only
                what computes
            failures: Whether a step that had failed fails again, or counts as one without a
                record. The default is `recorded`
            decisions: Decisions at gates, by step key or node id. They come before those of the
                record
            pins: For mode `recorded`: nodes have the outputs that you have pinned, and not
                those of the record

        ``POST /api/runs/{id}/rerun``
        """
        answer: m.Fork = await self._send(
            Call(
                "POST",
                "/api/runs/{id}/rerun",
                (run_id,),
                fields={"input": input, "version": version, "draft": draft, "mode": mode, "allow": allow, "failures": failures, "decisions": decisions, "pins": pins},
                once=True,
                idempotency_key=idempotency_key,
                timeout=timeout,
            ),
        )
        return answer

    async def fork(
        self,
        run_id: str,
        from_step: str,
        *,
        state: dict[str, Any] | NotGiven = NOT_GIVEN,
        input: dict[str, Any] | NotGiven = NOT_GIVEN,
        version: int | NotGiven = NOT_GIVEN,
        draft: bool | NotGiven = NOT_GIVEN,
        mode: Literal["recorded"] | NotGiven = NOT_GIVEN,
        allow: list[str] | NotGiven = NOT_GIVEN,
        failures: Literal["recorded", "execute"] | NotGiven = NOT_GIVEN,
        decisions: dict[str, m.ForkRunBodyDecisionsValue] | NotGiven = NOT_GIVEN,
        pins: bool | NotGiven = NOT_GIVEN,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> m.Fork:
        """Run again from a step, and reuse what was finished before.

        Starts a new run with copies of all steps that were finished and do not depend on
        `from_step`: they have `reused_from`, and cost nothing. That step and what follows it are
        executed. With another graph or input, only steps whose node and input are the same are
        reused; `not_reused` names the others, which are executed again. With mode `recorded` it is
        a rehearsal, which takes also what follows from the record.

        Args:
            from_step: The key of the step to execute first. The key of a turn or call of an
                agent with tools means that turn
            state: Laid over the state as that step begins: its templates and those that follow
                read it
            input: The default is the input of that run
            version: The version to run; the default is that of the other run
            draft: Runs the workflow's draft, and not a version
            mode: Rehearses the run: steps take their results from the record of the other run,
                and nothing has an effect
            allow: These are executed where there is no record: `agent`, `workflow`,
                `custom:<name>`, `http_request:<METHOD>` or the name of a tool. By default only
                what computes
            failures: Whether a step that had failed fails again, or counts as one without a
                record. The default is `recorded`
            decisions: Decisions at gates, by step key or node id. They come before those of the
                record
            pins: For mode `recorded`: nodes have the outputs that you have pinned, and not
                those of the record

        ``POST /api/runs/{id}/fork``
        """
        answer: m.Fork = await self._send(
            Call(
                "POST",
                "/api/runs/{id}/fork",
                (run_id,),
                fields={"from_step": from_step, "state": state, "input": input, "version": version, "draft": draft, "mode": mode, "allow": allow, "failures": failures, "decisions": decisions, "pins": pins},
                once=True,
                idempotency_key=idempotency_key,
                timeout=timeout,
            ),
        )
        return answer

    async def create_stream_token(
        self,
        run_id: str,
        *,
        expires_in: int | NotGiven = NOT_GIVEN,
        timeout: float | None = None,
    ) -> m.StreamToken:
        """Create a token that only reads this run's stream.

        For a page that follows one run: `GET /api/runs/{id}/stream?token=`, as a WebSocket or as
        server-sent events. All other routes refuse it. It is not stored. It ends when it expires,
        or when its creator loses access: the member is removed, signs out everywhere or can no
        longer view runs, or the API key is revoked.

        Args:
            expires_in: Seconds until the token expires

        ``POST /api/runs/{id}/stream-token``
        """
        answer: m.StreamToken = await self._send(
            Call(
                "POST",
                "/api/runs/{id}/stream-token",
                (run_id,),
                fields={"expires_in": expires_in},
                timeout=timeout,
            ),
        )
        return answer

    async def send_workspace_event(
        self,
        *,
        name: str,
        data: Any | NotGiven = NOT_GIVEN,
        id: str | NotGiven = NOT_GIVEN,
        timeout: float | None = None,
    ) -> m.Event:
        """Send an event.

        Ends every `wait` of an open run that waits for it, also one that is reached later: an event
        counts for all runs that were created before it. 201 means that the event is stored, and
        waits end right after. With an `id`, the same event is stored once, and 200 returns it.

        Args:
            name: Such as `invoice.paid`
            data: What waits and their `match` read as `event.data`
            id: Makes the event idempotent: the same id stores one event

        ``POST /api/events``
        """
        answer: m.Event = await self._send(
            Call(
                "POST",
                "/api/events",
                fields={"name": name, "data": data, "id": id},
                timeout=timeout,
            ),
        )
        return answer

    async def list_workspace_events(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        name: str | None = None,
        timeout: float | None = None,
    ) -> m.ListWorkspaceEventsResponse:
        """List events, newest first.

        Args:
            limit: Rows per page
            cursor: `next_cursor` of the previous page
            name: Such as `invoice.paid`

        ``GET /api/events``
        """
        answer: m.ListWorkspaceEventsResponse = await self._send(
            Call(
                "GET",
                "/api/events",
                query={"limit": limit, "cursor": cursor, "name": name},
                timeout=timeout,
            ),
        )
        return answer

    def workspace_events(
        self,
        *,
        limit: int | None = None,
        name: str | None = None,
        timeout: float | None = None,
    ) -> AsyncIterator[m.Event]:
        """List events, newest first.

        Iterates over all pages of ``list_workspace_events``, one page at a time.
        """
        return self._rows(
            Call(
                "GET",
                "/api/events",
                query={"limit": limit, "name": name},
                timeout=timeout,
            ),
            "events",
            "cursor",
        )

    async def get_workspace_event(
        self,
        event_id: str,
        *,
        timeout: float | None = None,
    ) -> m.EventDetail:
        """Read an event, with the waits that it has ended.

        ``GET /api/events/{id}``
        """
        answer: m.EventDetail = await self._send(
            Call(
                "GET",
                "/api/events/{id}",
                (event_id,),
                timeout=timeout,
            ),
        )
        return answer

    async def list_event_triggers(
        self,
        workflow_id: str,
        *,
        limit: int | None = None,
        offset: int | None = None,
        timeout: float | None = None,
    ) -> list[m.EventTrigger]:
        """List the event triggers of a workflow, newest first.

        Args:
            limit: Maximum number of rows
            offset: Rows to skip

        ``GET /api/workflows/{id}/triggers``
        """
        answer: list[m.EventTrigger] = await self._all(
            Call(
                "GET",
                "/api/workflows/{id}/triggers",
                (workflow_id,),
                query={"limit": limit, "offset": offset},
                timeout=timeout,
            ),
        )
        return answer

    async def create_event_trigger(
        self,
        workflow_id: str,
        *,
        event: str,
        match: str | NotGiven | None = NOT_GIVEN,
        input: dict[str, Any] | NotGiven | None = NOT_GIVEN,
        enabled: bool | NotGiven = NOT_GIVEN,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> m.EventTrigger:
        """Start a run of a workflow for each event that matches.

        Each later event of this name for which `match` is true starts one run. An event whose run
        is refused (quota, budget, an invalid graph, an input that does not fit), or for which
        `match` fails, is shown as `last_skip`. An enabled trigger also requires `run_workflows`.

        Args:
            event: Such as `invoice.paid`
            match: An expression over `event`. By default, every event of that name starts a run
            input: The input of each run, with templates over `event`. By default, the data of
                the event

        ``POST /api/workflows/{id}/triggers``
        """
        answer: m.EventTrigger = await self._send(
            Call(
                "POST",
                "/api/workflows/{id}/triggers",
                (workflow_id,),
                fields={"event": event, "match": match, "input": input, "enabled": enabled},
                once=True,
                idempotency_key=idempotency_key,
                timeout=timeout,
            ),
        )
        return answer

    async def get_event_trigger(
        self,
        trigger_id: str,
        *,
        timeout: float | None = None,
    ) -> m.EventTrigger:
        """Read an event trigger.

        ``GET /api/triggers/{id}``
        """
        answer: m.EventTrigger = await self._send(
            Call(
                "GET",
                "/api/triggers/{id}",
                (trigger_id,),
                timeout=timeout,
            ),
        )
        return answer

    async def update_event_trigger(
        self,
        trigger_id: str,
        *,
        event: str | NotGiven = NOT_GIVEN,
        match: str | NotGiven | None = NOT_GIVEN,
        input: dict[str, Any] | NotGiven | None = NOT_GIVEN,
        enabled: bool | NotGiven = NOT_GIVEN,
        if_match: str | None = None,
        timeout: float | None = None,
    ) -> m.EventTrigger:
        """Change, enable or disable an event trigger.

        Absent fields do not change. After it was enabled, or got another event, it starts runs for
        later events only. A change that leaves it enabled also requires `run_workflows`.

        Args:
            event: Such as `invoice.paid`
            match: An expression over `event`. By default, every event of that name starts a run
            input: The input of each run, with templates over `event`. By default, the data of
                the event

        ``PUT /api/triggers/{id}``
        """
        answer: m.EventTrigger = await self._send(
            Call(
                "PUT",
                "/api/triggers/{id}",
                (trigger_id,),
                fields={"event": event, "match": match, "input": input, "enabled": enabled},
                if_match=if_match,
                timeout=timeout,
            ),
        )
        return answer

    async def delete_event_trigger(
        self,
        trigger_id: str,
        *,
        if_match: str | None = None,
        timeout: float | None = None,
    ) -> None:
        """Delete an event trigger; runs it has started continue.

        ``DELETE /api/triggers/{id}``
        """
        await self._send(
            Call(
                "DELETE",
                "/api/triggers/{id}",
                (trigger_id,),
                if_match=if_match,
                timeout=timeout,
            ),
        )

    async def list_waits(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        for_: Literal["time", "event", "callback", "limit", "connection"] | None = None,
        member_id: str | None = None,
        timeout: float | None = None,
    ) -> m.ListWaitsResponse:
        """List what open runs wait for, newest first.

        Args:
            limit: Rows per page
            cursor: `next_cursor` of the previous page
            member_id: Only steps that wait for a sign-in of this member

        ``GET /api/waits``
        """
        answer: m.ListWaitsResponse = await self._send(
            Call(
                "GET",
                "/api/waits",
                query={"limit": limit, "cursor": cursor, "for": for_, "member_id": member_id},
                timeout=timeout,
            ),
        )
        return answer

    def waits(
        self,
        *,
        limit: int | None = None,
        for_: Literal["time", "event", "callback", "limit", "connection"] | None = None,
        member_id: str | None = None,
        timeout: float | None = None,
    ) -> AsyncIterator[m.OpenWait]:
        """List what open runs wait for, newest first.

        Iterates over all pages of ``list_waits``, one page at a time.
        """
        return self._rows(
            Call(
                "GET",
                "/api/waits",
                query={"limit": limit, "for": for_, "member_id": member_id},
                timeout=timeout,
            ),
            "waits",
            "cursor",
        )

    async def start_experiment(
        self,
        workflow_id: str,
        *,
        candidate: Literal["draft"] | m.StartExperimentBodyCandidate,
        runs: m.StartExperimentBodyRuns | list[str],
        mode: Literal["recorded"] | NotGiven = NOT_GIVEN,
        allow: list[str] | NotGiven = NOT_GIVEN,
        failures: Literal["recorded", "execute"] | NotGiven = NOT_GIVEN,
        decisions: dict[str, m.StartExperimentBodyDecisionsValue] | NotGiven = NOT_GIVEN,
        pins: bool | NotGiven = NOT_GIVEN,
        budget_usd: float | NotGiven = NOT_GIVEN,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> m.StartedJob:
        """Try a draft or a version on past runs.

        Rehearses each of the runs with the candidate, in the background: steps take their results
        from the record of the run, and nothing has an effect. What has no record is executed only
        if `allow` names it. What the draft contains now is what is tried.

        Args:
            candidate: What to try: the workflow's draft as it is now, or one of its versions
            runs: The runs to rehearse: the newest ones that have ended, or those with these
                ids. All of this workflow; rehearsals are no runs to rehearse
            mode: Rehearses the run: steps take their results from the record of the other run,
                and nothing has an effect
            allow: These are executed where there is no record: `agent`, `workflow`,
                `custom:<name>`, `http_request:<METHOD>` or the name of a tool. By default only
                what computes
            failures: Whether a step that had failed fails again, or counts as one without a
                record. The default is `recorded`
            decisions: Decisions at gates, by step key or node id. They come before those of the
                record
            pins: For mode `recorded`: nodes have the outputs that you have pinned, and not
                those of the record
            budget_usd: What all rehearsals together may spend, with `allow`. What does not fit
                is not executed, and its run is `refused`

        ``POST /api/workflows/{id}/experiments``
        """
        answer: m.StartedJob = await self._send(
            Call(
                "POST",
                "/api/workflows/{id}/experiments",
                (workflow_id,),
                fields={"candidate": candidate, "runs": runs, "mode": mode, "allow": allow, "failures": failures, "decisions": decisions, "pins": pins, "budget_usd": budget_usd},
                once=True,
                idempotency_key=idempotency_key,
                timeout=timeout,
            ),
        )
        return answer

    async def list_experiments(
        self,
        workflow_id: str,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        timeout: float | None = None,
    ) -> m.ExperimentList:
        """List the experiments of a workflow, newest first.

        Args:
            limit: Rows per page
            cursor: `next_cursor` of the previous page

        ``GET /api/workflows/{id}/experiments``
        """
        answer: m.ExperimentList = await self._send(
            Call(
                "GET",
                "/api/workflows/{id}/experiments",
                (workflow_id,),
                query={"limit": limit, "cursor": cursor},
                timeout=timeout,
            ),
        )
        return answer

    def experiments(
        self,
        workflow_id: str,
        *,
        limit: int | None = None,
        timeout: float | None = None,
    ) -> AsyncIterator[m.ListedExperiment]:
        """List the experiments of a workflow, newest first.

        Iterates over all pages of ``list_experiments``, one page at a time.
        """
        return self._rows(
            Call(
                "GET",
                "/api/workflows/{id}/experiments",
                (workflow_id,),
                query={"limit": limit},
                timeout=timeout,
            ),
            "experiments",
            "cursor",
        )

    async def get_experiment(
        self,
        experiment_id: str,
        *,
        outcome: Literal["equal", "changed", "failed", "unrecorded", "refused"] | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        timeout: float | None = None,
    ) -> m.Experiment:
        """Read an experiment, with its runs, the worst first.

        While it runs, `runs` has those that are done, and a next page may miss runs that were done
        meanwhile. With `format=csv`, all runs as CSV (RFC 4180).

        Args:
            outcome: Only these
            limit: Rows per page
            cursor: `next_cursor` of the previous page

        ``GET /api/experiments/{id}``
        """
        answer: m.Experiment = await self._send(
            Call(
                "GET",
                "/api/experiments/{id}",
                (experiment_id,),
                query={"outcome": outcome, "limit": limit, "cursor": cursor, "format": "json"},
                timeout=timeout,
            ),
        )
        return answer

    def experiment_runs(
        self,
        experiment_id: str,
        *,
        outcome: Literal["equal", "changed", "failed", "unrecorded", "refused"] | None = None,
        limit: int | None = None,
        timeout: float | None = None,
    ) -> AsyncIterator[m.ComparedRun]:
        """Read an experiment, with its runs, the worst first.

        Iterates over all pages of ``get_experiment``, one page at a time.
        """
        return self._rows(
            Call(
                "GET",
                "/api/experiments/{id}",
                (experiment_id,),
                query={"outcome": outcome, "limit": limit, "format": "json"},
                timeout=timeout,
            ),
            "runs",
            "cursor",
        )

    async def experiment_csv(
        self,
        experiment_id: str,
        *,
        outcome: Literal["equal", "changed", "failed", "unrecorded", "refused"] | None = None,
        timeout: float | None = None,
    ) -> str:
        """Read all runs of an experiment that are done, worst first, as CSV with a header row.

        While it runs, `runs` has those that are done, and a next page may miss runs that were done
        meanwhile. With `format=csv`, all runs as CSV (RFC 4180).

        Args:
            outcome: Only these

        ``GET /api/experiments/{id}``
        """
        answer: str = await self._send(
            Call(
                "GET",
                "/api/experiments/{id}",
                (experiment_id,),
                query={"outcome": outcome, "format": "csv"},
                timeout=timeout,
            ),
        )
        return answer

    async def cancel_experiment(
        self,
        experiment_id: str,
        *,
        timeout: float | None = None,
    ) -> m.ListedExperiment:
        """Cancel a running experiment.

        Cancels its open rehearsals, too. What is done stays.

        ``POST /api/experiments/{id}/cancel``
        """
        answer: m.ListedExperiment = await self._send(
            Call(
                "POST",
                "/api/experiments/{id}/cancel",
                (experiment_id,),
                timeout=timeout,
            ),
        )
        return answer

    async def test_node(
        self,
        workflow_id: str,
        node_id: str,
        *,
        run_id: str | NotGiven = NOT_GIVEN,
        step_key: str | NotGiven = NOT_GIVEN,
        state: dict[str, Any] | NotGiven = NOT_GIVEN,
        version: int | NotGiven = NOT_GIVEN,
        draft: bool | NotGiven = NOT_GIVEN,
        allow: list[str] | NotGiven = NOT_GIVEN,
        pins: bool | NotGiven = NOT_GIVEN,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> m.NodeTest:
        """Test one node with the state of a past run.

        Rehearses this node alone, with the state that it had in a run or with the given one, and
        answers with its step. It is executed if it only computes or `allow` names it; conditions,
        loops and maps evaluate their expression. Nothing follows it, it counts against no quota,
        and the run of the test has mode `recorded`. Answers 202 where the test has not ended within
        10 seconds: read its run.

        Args:
            run_id: A run of this workflow: the node begins with the state that it had there
            step_key: The step of that run, for a node in a loop or a map. The default is the
                last one of this node
            state: Laid over the state of the run; without a run, the whole state
            version: The version that has the node; the default is the current one
            draft: Tests the node of the workflow's draft
            allow: What the test may execute: `agent`, `workflow`, `custom:<name>`,
                `http_request:<METHOD>` or the name of a tool. By default only what computes
            pins: Replaces the outputs of other nodes by the caller's pinned ones

        ``POST /api/workflows/{id}/nodes/{node_id}/test``
        """
        answer: m.NodeTest = await self._send(
            Call(
                "POST",
                "/api/workflows/{id}/nodes/{node_id}/test",
                (workflow_id, node_id,),
                fields={"run_id": run_id, "step_key": step_key, "state": state, "version": version, "draft": draft, "allow": allow, "pins": pins},
                once=True,
                idempotency_key=idempotency_key,
                timeout=timeout,
            ),
        )
        return answer

    async def list_pins(
        self,
        workflow_id: str,
        *,
        node_id: str | None = None,
        timeout: float | None = None,
    ) -> m.PinList:
        """List your pinned outputs of a workflow.

        At most 100, by node. Each member has their own.

        Args:
            node_id: Only the pin of this node, with its `output`

        ``GET /api/workflows/{id}/pins``
        """
        answer: m.PinList = await self._send(
            Call(
                "GET",
                "/api/workflows/{id}/pins",
                (workflow_id,),
                query={"node_id": node_id},
                timeout=timeout,
            ),
        )
        return answer

    async def save_pin(
        self,
        workflow_id: str,
        node_id: str,
        *,
        run_id: str,
        step_key: str | NotGiven = NOT_GIVEN,
        output: Any | NotGiven = NOT_GIVEN,
        timeout: float | None = None,
    ) -> m.Pin:
        """Pin the output of a node from a past run.

        Keeps a copy of the output, or the given `output`, for your node tests with `pins`, instead
        of the one pinned before. Runs do not use it.

        Args:
            run_id: A run of this workflow
            step_key: Its step; the default is the last step of the node that has an output
            output: Pinned instead of the output of that step. It must fit the `response_schema`
                that the node has in the draft, or else in the current version

        ``PUT /api/workflows/{id}/pins/{node_id}``
        """
        answer: m.Pin = await self._send(
            Call(
                "PUT",
                "/api/workflows/{id}/pins/{node_id}",
                (workflow_id, node_id,),
                fields={"run_id": run_id, "step_key": step_key, "output": output},
                timeout=timeout,
            ),
        )
        return answer

    async def remove_pin(
        self,
        workflow_id: str,
        node_id: str,
        *,
        timeout: float | None = None,
    ) -> None:
        """Remove your pinned output of a node.

        ``DELETE /api/workflows/{id}/pins/{node_id}``
        """
        await self._send(
            Call(
                "DELETE",
                "/api/workflows/{id}/pins/{node_id}",
                (workflow_id, node_id,),
                timeout=timeout,
            ),
        )

    async def enable_webhook(
        self,
        workflow_id: str,
        *,
        timeout: float | None = None,
    ) -> m.EnabledWebhook:
        """Enable the inbound webhook, or give it a new URL.

        Each call creates a new secret; the previous URL then returns 404. Also requires
        `run_workflows`, since anyone with the URL can start runs.

        ``POST /api/workflows/{id}/webhook``
        """
        answer: m.EnabledWebhook = await self._send(
            Call(
                "POST",
                "/api/workflows/{id}/webhook",
                (workflow_id,),
                timeout=timeout,
            ),
        )
        return answer

    async def get_webhook(
        self,
        workflow_id: str,
        *,
        timeout: float | None = None,
    ) -> m.Webhook:
        """Read the inbound webhook and its settings.

        The secret in `url` is shown to members who can edit and run workflows; others see
        asterisks.

        ``GET /api/workflows/{id}/webhook``
        """
        answer: m.Webhook = await self._send(
            Call(
                "GET",
                "/api/workflows/{id}/webhook",
                (workflow_id,),
                timeout=timeout,
            ),
        )
        return answer

    async def disable_webhook(
        self,
        workflow_id: str,
        *,
        if_match: str | None = None,
        timeout: float | None = None,
    ) -> None:
        """Disable the inbound webhook.

        Its URL then returns 404 permanently; its settings are kept.

        ``DELETE /api/workflows/{id}/webhook``
        """
        await self._send(
            Call(
                "DELETE",
                "/api/workflows/{id}/webhook",
                (workflow_id,),
                if_match=if_match,
                timeout=timeout,
            ),
        )

    async def configure_webhook(
        self,
        workflow_id: str,
        *,
        require_signature: bool | NotGiven = NOT_GIVEN,
        timestamp_tolerance_seconds: int | NotGiven = NOT_GIVEN,
        dedup_window_seconds: int | NotGiven = NOT_GIVEN,
        event_id_field: str | NotGiven = NOT_GIVEN,
        event_id_header: str | NotGiven | None = NOT_GIVEN,
        accept_forms: bool | NotGiven = NOT_GIVEN,
        event: str | NotGiven | None = NOT_GIVEN,
        answer_challenges: bool | NotGiven = NOT_GIVEN,
        if_match: str | None = None,
        timeout: float | None = None,
    ) -> m.Webhook:
        """Change settings of the inbound webhook; absent ones do not change.

        A change of `event` also requires `run_workflows`, since events start runs.

        Args:
            require_signature: Refuse requests without a valid `X-Service-Timestamp` and
                `X-Service-Signature`
            timestamp_tolerance_seconds: How far the time of a signature may be from now, before
                or after
            dedup_window_seconds: How long a known event starts no second run; 0: every request
                starts one
            event_id_field: The body field with the event id, without an `X-Service-Event-Id`
            event_id_header: The header with the event id; it decides alone. Null:
                `X-Service-Event-Id`, then the body
            accept_forms: Take the fields of a form, by its content type, as the input
            event: Send each request as an event of this name, with the body as its data,
                instead of starting a run. Null: start a run
            answer_challenges: Answer the challenges by which senders check an address, without
                a run: `{"type": "url_verification", "challenge": ...}` and
                `?validationToken=...`

        ``PUT /api/workflows/{id}/webhook/config``
        """
        answer: m.Webhook = await self._send(
            Call(
                "PUT",
                "/api/workflows/{id}/webhook/config",
                (workflow_id,),
                fields={"require_signature": require_signature, "timestamp_tolerance_seconds": timestamp_tolerance_seconds, "dedup_window_seconds": dedup_window_seconds, "event_id_field": event_id_field, "event_id_header": event_id_header, "accept_forms": accept_forms, "event": event, "answer_challenges": answer_challenges},
                if_match=if_match,
                timeout=timeout,
            ),
        )
        return answer

    async def list_inbound_events(
        self,
        workflow_id: str,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        outcome: Literal["run", "event", "duplicate", "refused"] | None = None,
        since: str | datetime | None = None,
        until: str | datetime | None = None,
        timeout: float | None = None,
    ) -> m.InboundEventList:
        """List the events that the inbound webhook received, newest first.

        Each with its outcome: a run, a duplicate of an earlier event, or a refusal with its reason.
        Events that start no run appear after up to a second.

        Args:
            limit: Rows per page
            cursor: `next_cursor` of the previous page
            since: Received at or after
            until: Received before

        ``GET /api/workflows/{id}/inbound-events``
        """
        answer: m.InboundEventList = await self._send(
            Call(
                "GET",
                "/api/workflows/{id}/inbound-events",
                (workflow_id,),
                query={"limit": limit, "cursor": cursor, "outcome": outcome, "since": since, "until": until},
                timeout=timeout,
            ),
        )
        return answer

    def inbound_events(
        self,
        workflow_id: str,
        *,
        limit: int | None = None,
        outcome: Literal["run", "event", "duplicate", "refused"] | None = None,
        since: str | datetime | None = None,
        until: str | datetime | None = None,
        timeout: float | None = None,
    ) -> AsyncIterator[m.ListedInboundEvent]:
        """List the events that the inbound webhook received, newest first.

        Iterates over all pages of ``list_inbound_events``, one page at a time.
        """
        return self._rows(
            Call(
                "GET",
                "/api/workflows/{id}/inbound-events",
                (workflow_id,),
                query={"limit": limit, "outcome": outcome, "since": since, "until": until},
                timeout=timeout,
            ),
            "events",
            "cursor",
        )

    async def get_inbound_event(
        self,
        inbound_event_id: str,
        *,
        timeout: float | None = None,
    ) -> m.InboundEvent:
        """Read an inbound event, with its headers and its body.

        ``GET /api/inbound-events/{id}``
        """
        answer: m.InboundEvent = await self._send(
            Call(
                "GET",
                "/api/inbound-events/{id}",
                (inbound_event_id,),
                timeout=timeout,
            ),
        )
        return answer

    async def replay_inbound_event(
        self,
        inbound_event_id: str,
        *,
        deduplicate: bool | NotGiven = NOT_GIVEN,
        allow_unverified: bool | NotGiven = NOT_GIVEN,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> m.Run | m.HookEvent:
        """Start a run with the input of an inbound event again, or send it again.

        Budgets, quota, policies and the `input_schema` apply as they are now. The run has the
        trigger `webhook`, the member who replays it, and the event in `inbound_event_id`. Returns
        200 with the earlier run where the `Idempotency-Key`, or with `deduplicate` the event, has
        started one before. If the webhook sends events now, the event is sent instead, and the
        response is 202 with its `event_id`.

        Args:
            deduplicate: Start no run for an event whose id has started one within the window of
                the webhook, or send no event whose id was sent. By default each replay starts a
                run or sends an event
            allow_unverified: Replay events whose signature was missing, wrong or too old:
                anyone can have sent them

        ``POST /api/inbound-events/{id}/replay``
        """
        answer: m.Run | m.HookEvent = await self._send(
            Call(
                "POST",
                "/api/inbound-events/{id}/replay",
                (inbound_event_id,),
                fields={"deduplicate": deduplicate, "allow_unverified": allow_unverified},
                once=True,
                idempotency_key=idempotency_key,
                timeout=timeout,
            ),
        )
        return answer

    async def replay_inbound_events(
        self,
        workflow_id: str,
        *,
        since: str,
        until: str | NotGiven = NOT_GIVEN,
        outcome: Literal["refused", "all"] | NotGiven = NOT_GIVEN,
        limit: int | NotGiven = NOT_GIVEN,
        deduplicate: bool | NotGiven = NOT_GIVEN,
        allow_unverified: bool | NotGiven = NOT_GIVEN,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> m.StartedJob:
        """Replay the inbound events of a range.

        In the background, one after another, the oldest first. Events whose body was not read or
        not kept in full are left out.

        Args:
            since: Received at or after
            until: Received before; by default until now
            outcome: `refused`: those that were refused and not replayed since. `all`: runs,
                events and duplicates, too
            limit: At most so many, the oldest first
            deduplicate: Start no run for an event whose id has started one within the window of
                the webhook, or send no event whose id was sent. By default each replay starts a
                run or sends an event
            allow_unverified: Replay events whose signature was missing, wrong or too old:
                anyone can have sent them

        ``POST /api/workflows/{id}/inbound-events/replay``
        """
        answer: m.StartedJob = await self._send(
            Call(
                "POST",
                "/api/workflows/{id}/inbound-events/replay",
                (workflow_id,),
                fields={"since": since, "until": until, "outcome": outcome, "limit": limit, "deduplicate": deduplicate, "allow_unverified": allow_unverified},
                once=True,
                idempotency_key=idempotency_key,
                timeout=timeout,
            ),
        )
        return answer

    async def list_event_replays(
        self,
        workflow_id: str,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        timeout: float | None = None,
    ) -> m.EventReplayList:
        """List the replays of inbound events of a workflow, newest first.

        Args:
            limit: Rows per page
            cursor: `next_cursor` of the previous page

        ``GET /api/workflows/{id}/event-replays``
        """
        answer: m.EventReplayList = await self._send(
            Call(
                "GET",
                "/api/workflows/{id}/event-replays",
                (workflow_id,),
                query={"limit": limit, "cursor": cursor},
                timeout=timeout,
            ),
        )
        return answer

    def event_replays(
        self,
        workflow_id: str,
        *,
        limit: int | None = None,
        timeout: float | None = None,
    ) -> AsyncIterator[m.EventReplay]:
        """List the replays of inbound events of a workflow, newest first.

        Iterates over all pages of ``list_event_replays``, one page at a time.
        """
        return self._rows(
            Call(
                "GET",
                "/api/workflows/{id}/event-replays",
                (workflow_id,),
                query={"limit": limit},
                timeout=timeout,
            ),
            "replays",
            "cursor",
        )

    async def get_event_replay(
        self,
        event_replay_id: str,
        *,
        timeout: float | None = None,
    ) -> m.EventReplay:
        """Read the progress of a replay of inbound events.

        ``GET /api/event-replays/{id}``
        """
        answer: m.EventReplay = await self._send(
            Call(
                "GET",
                "/api/event-replays/{id}",
                (event_replay_id,),
                timeout=timeout,
            ),
        )
        return answer

    async def cancel_event_replay(
        self,
        event_replay_id: str,
        *,
        timeout: float | None = None,
    ) -> m.EventReplay:
        """Cancel a running replay of inbound events.

        It starts no further run. Those that it has started continue.

        ``POST /api/event-replays/{id}/cancel``
        """
        answer: m.EventReplay = await self._send(
            Call(
                "POST",
                "/api/event-replays/{id}/cancel",
                (event_replay_id,),
                timeout=timeout,
            ),
        )
        return answer

    async def list_approvals(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        assigned_to: str | None = None,
        timeout: float | None = None,
    ) -> m.ApprovalList:
        """List open gates, oldest first.

        Args:
            limit: Rows per page
            cursor: `next_cursor` of the previous page
            assigned_to: Only gates that this member is expected to decide: a member id, or `me`

        ``GET /api/approvals``
        """
        answer: m.ApprovalList = await self._send(
            Call(
                "GET",
                "/api/approvals",
                query={"limit": limit, "cursor": cursor, "assigned_to": assigned_to},
                timeout=timeout,
            ),
        )
        return answer

    def approvals(
        self,
        *,
        limit: int | None = None,
        assigned_to: str | None = None,
        timeout: float | None = None,
    ) -> AsyncIterator[m.Approval]:
        """List open gates, oldest first.

        Iterates over all pages of ``list_approvals``, one page at a time.
        """
        return self._rows(
            Call(
                "GET",
                "/api/approvals",
                query={"limit": limit, "assigned_to": assigned_to},
                timeout=timeout,
            ),
            "approvals",
            "cursor",
        )

    async def list_decided_gates(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        timeout: float | None = None,
    ) -> m.DecidedGateList:
        """List decisions at gates of the last 30 days, newest first.

        Args:
            limit: Rows per page
            cursor: `next_cursor` of the previous page

        ``GET /api/approvals/decided``
        """
        answer: m.DecidedGateList = await self._send(
            Call(
                "GET",
                "/api/approvals/decided",
                query={"limit": limit, "cursor": cursor},
                timeout=timeout,
            ),
        )
        return answer

    def decided_gates(
        self,
        *,
        limit: int | None = None,
        timeout: float | None = None,
    ) -> AsyncIterator[m.DecidedGate]:
        """List decisions at gates of the last 30 days, newest first.

        Iterates over all pages of ``list_decided_gates``, one page at a time.
        """
        return self._rows(
            Call(
                "GET",
                "/api/approvals/decided",
                query={"limit": limit},
                timeout=timeout,
            ),
            "decided",
            "cursor",
        )

    async def get_gate(
        self,
        run_id: str,
        step_key: str,
        *,
        timeout: float | None = None,
    ) -> m.Gate:
        """Read a gate, open or decided, with what it asked before.

        What an approver needs to know: whether the caller can decide it, the schema of the
        arguments of a tool call, and the earlier decisions of the same node in this run.

        ``GET /api/runs/{id}/gates/{step_key}``
        """
        answer: m.Gate = await self._send(
            Call(
                "GET",
                "/api/runs/{id}/gates/{step_key}",
                (run_id, step_key,),
                timeout=timeout,
            ),
        )
        return answer

    async def open_decide_link(
        self,
        *,
        token: str,
        timeout: float | None = None,
    ) -> m.OpenedLink:
        """Read the gate of a link in an email.

        The token is the credential. Changes nothing. 404 for every unknown token; 410 if the link
        has expired, or the workspace has turned links off; 403 if the member has left or can no
        longer decide; 409 if the gate is not open.

        Args:
            token: The part of the link after `#`

        ``POST /api/decide/open``
        """
        answer: m.OpenedLink = await self._send(
            Call(
                "POST",
                "/api/decide/open",
                fields={"token": token},
                timeout=timeout,
            ),
        )
        return answer

    async def decide_by_link(
        self,
        *,
        token: str,
        decision: Literal["approve", "reject"],
        digest: str | NotGiven = NOT_GIVEN,
        reason: str | NotGiven = NOT_GIVEN,
        input: dict[str, Any] | NotGiven = NOT_GIVEN,
        arguments: dict[str, Any] | NotGiven = NOT_GIVEN,
        accept_changes: bool | NotGiven = NOT_GIVEN,
        timeout: float | None = None,
    ) -> m.LinkDecision:
        """Decide a gate with the link of an email.

        Decides as the member who got the email, by the rules of `approve` at that moment, and is
        recorded as `by_link`. A link works once; the same decision again is 200. A refused form or
        an older `digest` does not use it up: 409 has `current`, what the gate shows now, or after a
        recheck `stale`, which `accept_changes` accepts.

        Args:
            token: The part of the link after `#`
            digest: Of what the person has read; required for a gate that has one
            input: What the form of the gate asks for
            arguments: For a step that needs approval: the arguments, as changed by the approver
            accept_changes: For a gate that shows `stale`: approves anyway. What was shown is
                sent; the differences are stored with the decision

        ``POST /api/decide``
        """
        answer: m.LinkDecision = await self._send(
            Call(
                "POST",
                "/api/decide",
                fields={"token": token, "decision": decision, "digest": digest, "reason": reason, "input": input, "arguments": arguments, "accept_changes": accept_changes},
                timeout=timeout,
            ),
        )
        return answer

    async def list_tools(
        self,
        *,
        limit: int | None = None,
        offset: int | None = None,
        timeout: float | None = None,
    ) -> list[m.CustomTool]:
        """List custom tools, by name.

        Args:
            limit: Maximum number of rows
            offset: Rows to skip

        ``GET /api/tools``
        """
        answer: list[m.CustomTool] = await self._all(
            Call(
                "GET",
                "/api/tools",
                query={"limit": limit, "offset": offset},
                timeout=timeout,
            ),
        )
        return answer

    async def register_tool(
        self,
        *,
        name: str,
        label: str | NotGiven = NOT_GIVEN,
        description: str | NotGiven = NOT_GIVEN,
        kind: Literal["http", "mcp", "code"] | NotGiven = NOT_GIVEN,
        endpoint_url: str | NotGiven = NOT_GIVEN,
        source: str | NotGiven | None = NOT_GIVEN,
        language: Literal["javascript", "typescript"] | NotGiven = NOT_GIVEN,
        method: Literal["POST", "GET", "HEAD", "PUT", "PATCH", "DELETE"] | NotGiven = NOT_GIVEN,
        headers: dict[str, str] | NotGiven = NOT_GIVEN,
        mcp_tool: str | NotGiven | None = NOT_GIVEN,
        input_schema: dict[str, Any] | NotGiven | None = NOT_GIVEN,
        timeout_seconds: int | NotGiven = NOT_GIVEN,
        retry_count: int | NotGiven = NOT_GIVEN,
        read_only: bool | NotGiven = NOT_GIVEN,
        timeout: float | None = None,
    ) -> m.CustomTool:
        """Register a custom tool.

        Workflows call it as `custom:<name>`: an HTTP endpoint that receives the arguments as JSON,
        or a tool of an MCP server. Its target is checked with each call. Registering one under a
        name that a graph already calls also requires `publish_workflows` where a published workflow
        calls the tool, and `run_workflows` where one does that has a webhook or an enabled
        schedule.

        Args:
            name: Workflows call the tool as `custom:<name>`
            endpoint_url: Called unchanged: no part of it comes from a workflow. Empty for kind
                `code`
            source: For kind `code`: a module whose `export default` is a function of the
                arguments. It runs in a sandbox, for at most 10 s of processor time
            language: Of the `source`
            method: For kind `http`. GET and HEAD send the arguments in the query
            headers: Sent with each call. Values are stored sealed and shown as `***`
            mcp_tool: The tool of the MCP server, for kind `mcp`
            input_schema: JSON Schema, draft 2020-12 or 7, that validates the arguments before
                each call. Patterns are RE2; `format` is not checked; external references are
                not loaded.
            timeout_seconds: For one call. By default 60. For kind `code`, it is processor time:
                by default and at most 10
            retry_count: Retries after the first try; a node's own `retry` replaces it
            read_only: Whether a call changes nothing, so that the recheck of a gate can repeat
                it. To set it needs the capability publish_workflows; a change of what is called
                takes it back

        ``POST /api/tools``
        """
        answer: m.CustomTool = await self._send(
            Call(
                "POST",
                "/api/tools",
                fields={"name": name, "label": label, "description": description, "kind": kind, "endpoint_url": endpoint_url, "source": source, "language": language, "method": method, "headers": headers, "mcp_tool": mcp_tool, "input_schema": input_schema, "timeout_seconds": timeout_seconds, "retry_count": retry_count, "read_only": read_only},
                timeout=timeout,
            ),
        )
        return answer

    async def get_tool(
        self,
        tool_id: str,
        *,
        timeout: float | None = None,
    ) -> m.CustomTool:
        """Read a custom tool.

        ``GET /api/tools/{id}``
        """
        answer: m.CustomTool = await self._send(
            Call(
                "GET",
                "/api/tools/{id}",
                (tool_id,),
                timeout=timeout,
            ),
        )
        return answer

    async def update_tool(
        self,
        tool_id: str,
        *,
        name: str | NotGiven = NOT_GIVEN,
        label: str | NotGiven = NOT_GIVEN,
        description: str | NotGiven = NOT_GIVEN,
        kind: Literal["http", "mcp", "code"] | NotGiven = NOT_GIVEN,
        endpoint_url: str | NotGiven = NOT_GIVEN,
        method: Literal["POST", "GET", "HEAD", "PUT", "PATCH", "DELETE"] | NotGiven = NOT_GIVEN,
        headers: dict[str, str] | NotGiven = NOT_GIVEN,
        mcp_tool: str | NotGiven | None = NOT_GIVEN,
        source: str | NotGiven | None = NOT_GIVEN,
        language: Literal["javascript", "typescript"] | NotGiven = NOT_GIVEN,
        input_schema: dict[str, Any] | NotGiven | None = NOT_GIVEN,
        timeout_seconds: int | NotGiven = NOT_GIVEN,
        retry_count: int | NotGiven = NOT_GIVEN,
        auth: m.ToolAuthInput | NotGiven | None = NOT_GIVEN,
        read_only: bool | NotGiven = NOT_GIVEN,
        if_match: str | None = None,
        timeout: float | None = None,
    ) -> m.CustomTool:
        """Change a custom tool.

        Changes the fields in the body, for the next step that calls the tool. `headers` is replaced
        as a whole; a header given as `***` keeps its value. Values belong to the origin (scheme,
        host, port) of `endpoint_url`: a change to another origin is refused until every header is
        given in full or left out.A change of any other field than `label` and `description` also
        requires `publish_workflows` where a published workflow calls the tool, and `run_workflows`
        where one does that has a webhook or an enabled schedule.

        Args:
            name: Workflows call the tool as `custom:<name>`
            endpoint_url: Called unchanged: no part of it comes from a workflow. Empty for kind
                `code`
            method: For kind `http`. GET and HEAD send the arguments in the query
            headers: Sent with each call. Values are stored sealed and shown as `***`
            mcp_tool: The tool of the MCP server, for kind `mcp`
            source: For kind `code`: a module whose `export default` is a function of the
                arguments. It runs in a sandbox, for at most 10 s of processor time
            language: Of the `source`
            input_schema: JSON Schema, draft 2020-12 or 7, that validates the arguments before
                each call. Patterns are RE2; `format` is not checked; external references are
                not loaded.
            timeout_seconds: For one call. For kind `code`, it is processor time, and at most 10
            retry_count: Retries after the first try; a node's own `retry` replaces it
            auth: What calls authenticate with; only for a tool that was imported from an API
                document, or of an MCP server
            read_only: Whether a call changes nothing, so that the recheck of a gate can repeat
                it. To set it needs the capability publish_workflows; a change of what is called
                takes it back

        ``PUT /api/tools/{id}``
        """
        answer: m.CustomTool = await self._send(
            Call(
                "PUT",
                "/api/tools/{id}",
                (tool_id,),
                fields={"name": name, "label": label, "description": description, "kind": kind, "endpoint_url": endpoint_url, "method": method, "headers": headers, "mcp_tool": mcp_tool, "source": source, "language": language, "input_schema": input_schema, "timeout_seconds": timeout_seconds, "retry_count": retry_count, "auth": auth, "read_only": read_only},
                if_match=if_match,
                timeout=timeout,
            ),
        )
        return answer

    async def delete_tool(
        self,
        tool_id: str,
        *,
        if_match: str | None = None,
        timeout: float | None = None,
    ) -> None:
        """Remove a custom tool.

        Workflows that call it can no longer be triggered, and steps that reach it fail.This also
        requires `publish_workflows` where a published workflow calls the tool, and `run_workflows`
        where one does that has a webhook or an enabled schedule.

        ``DELETE /api/tools/{id}``
        """
        await self._send(
            Call(
                "DELETE",
                "/api/tools/{id}",
                (tool_id,),
                if_match=if_match,
                timeout=timeout,
            ),
        )

    async def test_tool(
        self,
        tool_id: str,
        arguments: dict[str, Any] | NotGiven = NOT_GIVEN,
        *,
        timeout: float | None = None,
    ) -> m.ToolTest:
        """Call a custom tool once.

        A real call, with the stored headers, without retries and for at most 25 seconds. Arguments
        that do not fit the `input_schema` are refused; a failing tool returns `ok: false`. For a
        caller without the capability `run_workflows` no stored header is sent, and so no secret:
        `omitted_headers` names them.

        ``POST /api/tools/{id}/test``
        """
        answer: m.ToolTest = await self._send(
            Call(
                "POST",
                "/api/tools/{id}/test",
                (tool_id,),
                fields={"arguments": arguments},
                timeout=timeout,
            ),
        )
        return answer

    async def list_secrets(
        self,
        *,
        limit: int | None = None,
        offset: int | None = None,
        timeout: float | None = None,
    ) -> list[m.Secret]:
        """List secrets, by name, without their values.

        Args:
            limit: Maximum number of rows
            offset: Rows to skip

        ``GET /api/secrets``
        """
        answer: list[m.Secret] = await self._all(
            Call(
                "GET",
                "/api/secrets",
                query={"limit": limit, "offset": offset},
                timeout=timeout,
            ),
        )
        return answer

    async def get_secret(
        self,
        name: str,
        *,
        timeout: float | None = None,
    ) -> m.Secret:
        """Read a secret, without its value.

        ``GET /api/secrets/{name}``
        """
        answer: m.Secret = await self._send(
            Call(
                "GET",
                "/api/secrets/{name}",
                (name,),
                timeout=timeout,
            ),
        )
        return answer

    async def put_secret(
        self,
        name: str,
        *,
        value: str,
        allowed_hosts: list[str],
        description: str | NotGiven = NOT_GIVEN,
        if_match: str | None = None,
        timeout: float | None = None,
    ) -> m.Secret:
        """Create or replace a secret.

        Workflows refer to it as `{secrets.NAME}` in headers, query and body of `http_request`, in
        headers of `mcp` and in headers of custom tools. The value is put in when a request to one
        of its hosts is sent, and cut out of what comes back. No response contains it. A replaced
        value counts for the next call.

        Args:
            name: Workflows refer to it as `{secrets.NAME}`
            value: Stored sealed. No response contains it

        ``PUT /api/secrets/{name}``
        """
        answer: m.Secret = await self._send(
            Call(
                "PUT",
                "/api/secrets/{name}",
                (name,),
                fields={"value": value, "allowed_hosts": allowed_hosts, "description": description},
                if_match=if_match,
                timeout=timeout,
            ),
        )
        return answer

    async def delete_secret(
        self,
        name: str,
        *,
        if_match: str | None = None,
        timeout: float | None = None,
    ) -> None:
        """Delete a secret.

        Workflows that refer to it can no longer be triggered, and steps that need it fail.

        ``DELETE /api/secrets/{name}``
        """
        await self._send(
            Call(
                "DELETE",
                "/api/secrets/{name}",
                (name,),
                if_match=if_match,
                timeout=timeout,
            ),
        )

    async def list_connection_presets(
        self,
        *,
        limit: int | None = None,
        offset: int | None = None,
        timeout: float | None = None,
    ) -> list[m.ConnectionPreset]:
        """List well-known services, with their addresses and usual scopes.

        Args:
            limit: Maximum number of rows
            offset: Rows to skip

        ``GET /api/connection-presets``
        """
        answer: list[m.ConnectionPreset] = await self._all(
            Call(
                "GET",
                "/api/connection-presets",
                query={"limit": limit, "offset": offset},
                timeout=timeout,
            ),
        )
        return answer

    async def list_connections(
        self,
        *,
        limit: int | None = None,
        offset: int | None = None,
        timeout: float | None = None,
    ) -> list[m.Connection]:
        """List connections, by name, without secrets and tokens.

        Args:
            limit: Maximum number of rows
            offset: Rows to skip

        ``GET /api/connections``
        """
        answer: list[m.Connection] = await self._all(
            Call(
                "GET",
                "/api/connections",
                query={"limit": limit, "offset": offset},
                timeout=timeout,
            ),
        )
        return answer

    async def create_connection(
        self,
        *,
        name: str,
        client_id: str | NotGiven = NOT_GIVEN,
        client_secret: str | NotGiven = NOT_GIVEN,
        client_auth: Literal["basic", "post", "none"] | NotGiven = NOT_GIVEN,
        issuer: str | NotGiven = NOT_GIVEN,
        authorization_url: str | NotGiven = NOT_GIVEN,
        token_url: str | NotGiven = NOT_GIVEN,
        scopes: list[str] | NotGiven = NOT_GIVEN,
        authorization_params: dict[str, str] | NotGiven = NOT_GIVEN,
        allowed_hosts: list[str] | NotGiven = NOT_GIVEN,
        preset: Literal["atlassian", "github", "google", "hubspot", "linear", "microsoft", "notion", "salesforce", "slack", "stripe"] | NotGiven = NOT_GIVEN,
        grant: Literal["authorization_code", "client_credentials"] | NotGiven = NOT_GIVEN,
        owner: Literal["workspace", "member"] | NotGiven = NOT_GIVEN,
        mcp_server_url: str | NotGiven = NOT_GIVEN,
        timeout: float | None = None,
    ) -> m.Connection:
        """Create a connection.

        Workflows refer to its access token as `{connections.NAME}` wherever a secret may stand.
        Register the `callback_url` of the response with the service. With an `issuer`, the
        addresses come from its metadata.

        Args:
            name: Workflows refer to it as `{connections.NAME}`
            client_secret: Stored sealed. No response contains it. Absent for a public client
            client_auth: How the client proves who it is: in the header, in the body, or not at
                all (a public client without a secret)
            issuer: The issuer of the authorization server. Its metadata (OpenID Connect
                Discovery or RFC 8414) gives the other addresses
            authorization_url: Where members sign in
            token_url: Where codes and refresh tokens become tokens
            scopes: What to ask for; it counts from the next sign-in
            authorization_params: Further parameters of the address where members sign in
            preset: A well-known service, which gives what is not given
            grant: `authorization_code`: someone signs in. `client_credentials`: the client
                itself, as the workspace
            owner: `workspace`: one account for all runs. `member`: each run uses the account of
                the member who started it
            mcp_server_url: An MCP server that requires sign-in. Its metadata gives the
                addresses, the scopes and `allowed_hosts`, and without a `client_id` the service
                gets itself a client: by the document about itself, or by registration. `issuer`
                chooses one of several authorization servers

        ``POST /api/connections``
        """
        answer: m.Connection = await self._send(
            Call(
                "POST",
                "/api/connections",
                fields={"client_id": client_id, "client_secret": client_secret, "client_auth": client_auth, "issuer": issuer, "authorization_url": authorization_url, "token_url": token_url, "scopes": scopes, "authorization_params": authorization_params, "allowed_hosts": allowed_hosts, "name": name, "preset": preset, "grant": grant, "owner": owner, "mcp_server_url": mcp_server_url},
                timeout=timeout,
            ),
        )
        return answer

    async def get_connection(
        self,
        connection_id: str,
        *,
        timeout: float | None = None,
    ) -> m.Connection:
        """Read a connection, without secrets and tokens.

        ``GET /api/connections/{id}``
        """
        answer: m.Connection = await self._send(
            Call(
                "GET",
                "/api/connections/{id}",
                (connection_id,),
                timeout=timeout,
            ),
        )
        return answer

    async def update_connection(
        self,
        connection_id: str,
        *,
        client_id: str | NotGiven = NOT_GIVEN,
        client_secret: str | NotGiven = NOT_GIVEN,
        client_auth: Literal["basic", "post", "none"] | NotGiven = NOT_GIVEN,
        issuer: str | NotGiven = NOT_GIVEN,
        authorization_url: str | NotGiven = NOT_GIVEN,
        token_url: str | NotGiven = NOT_GIVEN,
        scopes: list[str] | NotGiven = NOT_GIVEN,
        authorization_params: dict[str, str] | NotGiven = NOT_GIVEN,
        allowed_hosts: list[str] | NotGiven = NOT_GIVEN,
        if_match: str | None = None,
        timeout: float | None = None,
    ) -> m.Connection:
        """Change a connection.

        Fields that are not given stay. Another issuer, address, client, or a further host needs the
        client secret again, and deletes all tokens.

        Args:
            client_secret: Stored sealed. No response contains it. Absent for a public client
            client_auth: How the client proves who it is: in the header, in the body, or not at
                all (a public client without a secret)
            issuer: The issuer of the authorization server. Its metadata (OpenID Connect
                Discovery or RFC 8414) gives the other addresses
            authorization_url: Where members sign in
            token_url: Where codes and refresh tokens become tokens
            scopes: What to ask for; it counts from the next sign-in
            authorization_params: Further parameters of the address where members sign in

        ``PUT /api/connections/{id}``
        """
        answer: m.Connection = await self._send(
            Call(
                "PUT",
                "/api/connections/{id}",
                (connection_id,),
                fields={"client_id": client_id, "client_secret": client_secret, "client_auth": client_auth, "issuer": issuer, "authorization_url": authorization_url, "token_url": token_url, "scopes": scopes, "authorization_params": authorization_params, "allowed_hosts": allowed_hosts},
                if_match=if_match,
                timeout=timeout,
            ),
        )
        return answer

    async def delete_connection(
        self,
        connection_id: str,
        *,
        if_match: str | None = None,
        timeout: float | None = None,
    ) -> None:
        """Delete a connection, with all its tokens.

        Workflows that refer to it can no longer be triggered, and steps that need it fail.

        ``DELETE /api/connections/{id}``
        """
        await self._send(
            Call(
                "DELETE",
                "/api/connections/{id}",
                (connection_id,),
                if_match=if_match,
                timeout=timeout,
            ),
        )

    async def authorize_connection(
        self,
        connection_id: str,
        *,
        timeout: float | None = None,
    ) -> m.ConnectionAuthorization:
        """Begin to sign in to a connection.

        Sets a cookie; the browser that has it opens the address of the response and comes back to
        the service. A member signs in for themself, and to the workspace's account with
        `manage_workspace`. API keys cannot.

        ``POST /api/connections/{id}/authorize``
        """
        answer: m.ConnectionAuthorization = await self._send(
            Call(
                "POST",
                "/api/connections/{id}/authorize",
                (connection_id,),
                timeout=timeout,
            ),
        )
        return answer

    async def disconnect_connection(
        self,
        connection_id: str,
        *,
        timeout: float | None = None,
    ) -> m.Connection:
        """Sign out of a connection.

        Deletes the tokens of the caller's own account, or with `manage_workspace` those of the
        workspace's. The service that issued them may accept them until they end.

        ``POST /api/connections/{id}/disconnect``
        """
        answer: m.Connection = await self._send(
            Call(
                "POST",
                "/api/connections/{id}/disconnect",
                (connection_id,),
                timeout=timeout,
            ),
        )
        return answer

    async def list_schedules(
        self,
        *,
        limit: int | None = None,
        offset: int | None = None,
        timeout: float | None = None,
    ) -> list[m.Schedule]:
        """List schedules, newest first.

        Args:
            limit: Maximum number of rows
            offset: Rows to skip

        ``GET /api/schedules``
        """
        answer: list[m.Schedule] = await self._all(
            Call(
                "GET",
                "/api/schedules",
                query={"limit": limit, "offset": offset},
                timeout=timeout,
            ),
        )
        return answer

    async def create_schedule(
        self,
        *,
        workflow_id: str,
        cron: str,
        name: str | NotGiven | None = NOT_GIVEN,
        timezone: str | NotGiven = NOT_GIVEN,
        input: dict[str, Any] | NotGiven = NOT_GIVEN,
        enabled: bool | NotGiven = NOT_GIVEN,
        overlap: Literal["skip", "allow"] | NotGiven = NOT_GIVEN,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> m.Schedule:
        """Create a schedule for a workflow.

        A time whose run is refused (quota, budget, an invalid graph, an input that does not fit, an
        active earlier run) is skipped and shown as `last_skip`. The input must fit the current
        version of the workflow. An enabled schedule also requires `run_workflows`.

        Args:
            cron: Minute, hour, day of month, month, day of week; or `@hourly`, `@daily`,
                `@weekly`, `@monthly`, `@yearly`
            timezone: IANA time zone of the cron expression
            overlap: `skip`: no run starts while an earlier one of the schedule is active

        ``POST /api/schedules``
        """
        answer: m.Schedule = await self._send(
            Call(
                "POST",
                "/api/schedules",
                fields={"workflow_id": workflow_id, "name": name, "cron": cron, "timezone": timezone, "input": input, "enabled": enabled, "overlap": overlap},
                once=True,
                idempotency_key=idempotency_key,
                timeout=timeout,
            ),
        )
        return answer

    async def get_schedule(
        self,
        schedule_id: str,
        *,
        timeout: float | None = None,
    ) -> m.Schedule:
        """Read a schedule.

        ``GET /api/schedules/{id}``
        """
        answer: m.Schedule = await self._send(
            Call(
                "GET",
                "/api/schedules/{id}",
                (schedule_id,),
                timeout=timeout,
            ),
        )
        return answer

    async def update_schedule(
        self,
        schedule_id: str,
        *,
        workflow_id: str | NotGiven = NOT_GIVEN,
        name: str | NotGiven | None = NOT_GIVEN,
        cron: str | NotGiven = NOT_GIVEN,
        timezone: str | NotGiven = NOT_GIVEN,
        input: dict[str, Any] | NotGiven = NOT_GIVEN,
        enabled: bool | NotGiven = NOT_GIVEN,
        overlap: Literal["skip", "allow"] | NotGiven = NOT_GIVEN,
        if_match: str | None = None,
        timeout: float | None = None,
    ) -> m.Schedule:
        """Change, enable or disable a schedule.

        Absent fields do not change. Times before a change are not caught up. A change that leaves
        it enabled also requires `run_workflows`, unless only the name changes.

        Args:
            cron: Minute, hour, day of month, month, day of week; or `@hourly`, `@daily`,
                `@weekly`, `@monthly`, `@yearly`
            timezone: IANA time zone of the cron expression
            overlap: `skip`: no run starts while an earlier one of the schedule is active

        ``PUT /api/schedules/{id}``
        """
        answer: m.Schedule = await self._send(
            Call(
                "PUT",
                "/api/schedules/{id}",
                (schedule_id,),
                fields={"workflow_id": workflow_id, "name": name, "cron": cron, "timezone": timezone, "input": input, "enabled": enabled, "overlap": overlap},
                if_match=if_match,
                timeout=timeout,
            ),
        )
        return answer

    async def delete_schedule(
        self,
        schedule_id: str,
        *,
        if_match: str | None = None,
        timeout: float | None = None,
    ) -> None:
        """Delete a schedule; runs it has started continue.

        ``DELETE /api/schedules/{id}``
        """
        await self._send(
            Call(
                "DELETE",
                "/api/schedules/{id}",
                (schedule_id,),
                if_match=if_match,
                timeout=timeout,
            ),
        )

    async def trigger_schedule(
        self,
        schedule_id: str,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> m.Run:
        """Start a run of a schedule now.

        With its input, also while it is disabled. Also requires `run_workflows`. 409 while an
        earlier run of it is active, unless its overlap is `allow`.

        ``POST /api/schedules/{id}/trigger``
        """
        answer: m.Run = await self._send(
            Call(
                "POST",
                "/api/schedules/{id}/trigger",
                (schedule_id,),
                once=True,
                idempotency_key=idempotency_key,
                timeout=timeout,
            ),
        )
        return answer

    async def list_api_keys(
        self,
        *,
        limit: int | None = None,
        offset: int | None = None,
        timeout: float | None = None,
    ) -> list[m.ApiKey]:
        """List API keys, newest first, including revoked ones.

        Args:
            limit: Maximum number of rows
            offset: Rows to skip

        ``GET /api/keys``
        """
        answer: list[m.ApiKey] = await self._all(
            Call(
                "GET",
                "/api/keys",
                query={"limit": limit, "offset": offset},
                timeout=timeout,
            ),
        )
        return answer

    async def create_api_key(
        self,
        *,
        name: str,
        role: Literal["admin", "editor", "viewer"] | NotGiven = NOT_GIVEN,
        member_id: str | NotGiven | None = NOT_GIVEN,
        decide: bool | NotGiven = NOT_GIVEN,
        timeout: float | None = None,
    ) -> m.CreatedApiKey:
        """Create an API key; its secret is shown only this once.

        A key linked to a member has the member's current permissions; without `member_id` it has
        the defaults of its `role`. With `member_id`, `role` is ignored. Nobody can create a key
        with more permissions than their own.

        Args:
            role: Required unless the key is linked; a linked key has its member's role
            member_id: Links the key to a member: it has the member's current permissions
            decide: False: the key never has `approve_gates` and `publish_workflows`, so it
                decides no gate and takes none away

        ``POST /api/keys``
        """
        answer: m.CreatedApiKey = await self._send(
            Call(
                "POST",
                "/api/keys",
                fields={"name": name, "role": role, "member_id": member_id, "decide": decide},
                timeout=timeout,
            ),
        )
        return answer

    async def get_api_key(
        self,
        key_id: str,
        *,
        timeout: float | None = None,
    ) -> m.ApiKey:
        """Read an API key.

        ``GET /api/keys/{id}``
        """
        answer: m.ApiKey = await self._send(
            Call(
                "GET",
                "/api/keys/{id}",
                (key_id,),
                timeout=timeout,
            ),
        )
        return answer

    async def revoke_api_key(
        self,
        key_id: str,
        *,
        if_match: str | None = None,
        timeout: float | None = None,
    ) -> None:
        """Revoke an API key; it stays in the list.

        Effective for the next request. Has no effect on a revoked key. Nobody can revoke a key with
        more permissions than their own.

        ``DELETE /api/keys/{id}``
        """
        await self._send(
            Call(
                "DELETE",
                "/api/keys/{id}",
                (key_id,),
                if_match=if_match,
                timeout=timeout,
            ),
        )

    async def list_authorizations(
        self,
        *,
        limit: int | None = None,
        offset: int | None = None,
        of: Literal["me", "workspace"] | None = None,
        timeout: float | None = None,
    ) -> list[m.Authorization]:
        """List the clients that can use /api/mcp for you, or for all members, newest first.

        Args:
            limit: Maximum number of rows
            offset: Rows to skip
            of: Yours, or with `manage_api_keys` those of all the workspace's members

        ``GET /api/authorizations``
        """
        answer: list[m.Authorization] = await self._all(
            Call(
                "GET",
                "/api/authorizations",
                query={"limit": limit, "offset": offset, "of": of},
                timeout=timeout,
            ),
        )
        return answer

    async def authorize_client(
        self,
        *,
        request: m.AuthorizationParameters,
        scopes: list[Literal["view", "run", "edit", "manage", "decide"]],
        timeout: float | None = None,
    ) -> m.GrantedAuthorization:
        """Let a client use /api/mcp for you.

        Grants at most what the client asks for and you can do, and returns where the browser takes
        the code. Only for a member who is signed in: a key cannot make further credentials of its
        member.

        Args:
            scopes: What the client gets, of what it asks for; always with `view`

        ``POST /api/authorizations``
        """
        answer: m.GrantedAuthorization = await self._send(
            Call(
                "POST",
                "/api/authorizations",
                fields={"request": request, "scopes": scopes},
                timeout=timeout,
            ),
        )
        return answer

    async def preview_authorization(
        self,
        *,
        request: m.AuthorizationParameters,
        timeout: float | None = None,
    ) -> m.AuthorizationPreview:
        """Read who asks for access, and for what.

        For the page `/authorize`, with the parameters of its address. Changes nothing. Only for a
        member who is signed in.

        ``POST /api/authorizations/preview``
        """
        answer: m.AuthorizationPreview = await self._send(
            Call(
                "POST",
                "/api/authorizations/preview",
                fields={"request": request},
                timeout=timeout,
            ),
        )
        return answer

    async def revoke_authorization(
        self,
        authorization_id: str,
        *,
        timeout: float | None = None,
    ) -> None:
        """Revoke what a client has, effective for the next request.

        Yours or, with `manage_api_keys`, that of another member. Nobody can revoke one with more
        permissions than their own.

        ``DELETE /api/authorizations/{id}``
        """
        await self._send(
            Call(
                "DELETE",
                "/api/authorizations/{id}",
                (authorization_id,),
                timeout=timeout,
            ),
        )

    async def list_data_keys(
        self,
        *,
        limit: int | None = None,
        offset: int | None = None,
        timeout: float | None = None,
    ) -> list[m.DataKey]:
        """List keys of the data API, newest first, including revoked ones.

        Args:
            limit: Maximum number of rows
            offset: Rows to skip

        ``GET /api/data/keys``
        """
        answer: list[m.DataKey] = await self._all(
            Call(
                "GET",
                "/api/data/keys",
                query={"limit": limit, "offset": offset},
                timeout=timeout,
            ),
        )
        return answer

    async def create_data_key(
        self,
        *,
        name: str,
        mode: Literal["live", "test"],
        scopes: list[Literal["feeds:read", "entities:read", "events:read", "sources:read", "usage:read", "exports:create", "webhooks:read", "webhooks:write"]],
        expires_at: str | NotGiven | None = NOT_GIVEN,
        ip_allowlist: list[str] | NotGiven = NOT_GIVEN,
        monthly_request_allowance: int | NotGiven | None = NOT_GIVEN,
        monthly_credit_allowance: int | NotGiven | None = NOT_GIVEN,
        timeout: float | None = None,
    ) -> m.CreatedDataKey:
        """Create a key of the data API; its secret is shown only this once.

        For `/v1` alone, where it can do what its scopes permit. Its allowances apply in addition to
        the plan's. Scopes that read or export also require `view`, `webhooks:write` requires
        `manage_workspace`.

        Args:
            mode: Live keys read live records, test keys read demo records
            expires_at: The key is invalid from then on
            ip_allowlist: Addresses and CIDRs that can use it; empty: any
            monthly_request_allowance: In addition to the limit of the plan; null: only the
                limit of the plan
            monthly_credit_allowance: In addition to the limit of the plan; null: only the limit
                of the plan

        ``POST /api/data/keys``
        """
        answer: m.CreatedDataKey = await self._send(
            Call(
                "POST",
                "/api/data/keys",
                fields={"name": name, "mode": mode, "scopes": scopes, "expires_at": expires_at, "ip_allowlist": ip_allowlist, "monthly_request_allowance": monthly_request_allowance, "monthly_credit_allowance": monthly_credit_allowance},
                timeout=timeout,
            ),
        )
        return answer

    async def get_data_key(
        self,
        key_id: str,
        *,
        timeout: float | None = None,
    ) -> m.DataKey:
        """Read a key of the data API.

        ``GET /api/data/keys/{id}``
        """
        answer: m.DataKey = await self._send(
            Call(
                "GET",
                "/api/data/keys/{id}",
                (key_id,),
                timeout=timeout,
            ),
        )
        return answer

    async def revoke_data_key(
        self,
        key_id: str,
        *,
        if_match: str | None = None,
        timeout: float | None = None,
    ) -> None:
        """Revoke a key of the data API; it stays in the list.

        Effective for the next request. Has no effect on a revoked key.

        ``DELETE /api/data/keys/{id}``
        """
        await self._send(
            Call(
                "DELETE",
                "/api/data/keys/{id}",
                (key_id,),
                if_match=if_match,
                timeout=timeout,
            ),
        )

    async def get_data_usage(
        self,
        *,
        timeout: float | None = None,
    ) -> m.WorkspaceDataUsage:
        """Read the use of the data API this month, in total and by key.

        ``GET /api/data/usage``
        """
        answer: m.WorkspaceDataUsage = await self._send(
            Call(
                "GET",
                "/api/data/usage",
                timeout=timeout,
            ),
        )
        return answer

    async def get_workspace(
        self,
        *,
        timeout: float | None = None,
    ) -> m.Workspace:
        """Read the workspace.

        ``GET /api/workspace``
        """
        answer: m.Workspace = await self._send(
            Call(
                "GET",
                "/api/workspace",
                timeout=timeout,
            ),
        )
        return answer

    async def update_workspace(
        self,
        *,
        name: str,
        if_match: str | None = None,
        timeout: float | None = None,
    ) -> m.Workspace:
        """Rename the workspace.

        ``PUT /api/workspace``
        """
        answer: m.Workspace = await self._send(
            Call(
                "PUT",
                "/api/workspace",
                fields={"name": name},
                if_match=if_match,
                timeout=timeout,
            ),
        )
        return answer

    async def set_plan(
        self,
        plan: Literal["free", "starter", "pro", "enterprise"],
        *,
        if_match: str | None = None,
        timeout: float | None = None,
    ) -> m.Workspace:
        """Change the plan, effective at once.

        ``PUT /api/workspace/plan``
        """
        answer: m.Workspace = await self._send(
            Call(
                "PUT",
                "/api/workspace/plan",
                fields={"plan": plan},
                if_match=if_match,
                timeout=timeout,
            ),
        )
        return answer

    async def change_plan(
        self,
        plan: Literal["free", "starter", "pro", "enterprise"],
        *,
        if_match: str | None = None,
        timeout: float | None = None,
    ) -> m.Workspace:
        """Change the plan, effective at once.

        ``POST /api/workspace/plan``
        """
        answer: m.Workspace = await self._send(
            Call(
                "POST",
                "/api/workspace/plan",
                fields={"plan": plan},
                if_match=if_match,
                timeout=timeout,
            ),
        )
        return answer

    async def get_alerts(
        self,
        *,
        timeout: float | None = None,
    ) -> m.AlertSettings:
        """Read the alerts of the workspace.

        ``GET /api/workspace/alerts``
        """
        answer: m.AlertSettings = await self._send(
            Call(
                "GET",
                "/api/workspace/alerts",
                timeout=timeout,
            ),
        )
        return answer

    async def set_alerts(
        self,
        *,
        chat_webhook_url: str | NotGiven | None = NOT_GIVEN,
        email: list[str] | NotGiven = NOT_GIVEN,
        slack: m.SlackInput | NotGiven | None = NOT_GIVEN,
        on: list[Literal["failed", "paused", "waiting", "budget", "connection"]] | NotGiven = NOT_GIVEN,
        workflows: dict[str, m.SetAlertsBodyWorkflowsValue] | NotGiven = NOT_GIVEN,
        decide_by_link: bool | NotGiven = NOT_GIVEN,
        accept_link_risk: Literal[True] | NotGiven = NOT_GIVEN,
        if_match: str | None = None,
        timeout: float | None = None,
    ) -> m.AlertSettings:
        """Replace the alerts of the workspace.

        Replaces all settings; absent ones have their default. In the first workspace, a channel
        without an address of its own uses the settings of the service. Applies to alerts that are
        sent after the response.

        Args:
            email: Get each alert in one email
            slack: Asks for each decision in a channel of Slack, where members can make it. Null
                turns it off
            on: What it sends alerts for
            workflows: What differs for the runs of a workflow, by its id
            decide_by_link: Whether emails to members have a link that decides the gate as that
                member, without signing in. Turning it off ends all links
            accept_link_risk: Required to turn `decide_by_link` on: anyone who has the email can
                decide as the member

        ``PUT /api/workspace/alerts``
        """
        answer: m.AlertSettings = await self._send(
            Call(
                "PUT",
                "/api/workspace/alerts",
                fields={"chat_webhook_url": chat_webhook_url, "email": email, "slack": slack, "on": on, "workflows": workflows, "decide_by_link": decide_by_link, "accept_link_risk": accept_link_risk},
                if_match=if_match,
                timeout=timeout,
            ),
        )
        return answer

    async def test_alerts(
        self,
        *,
        timeout: float | None = None,
    ) -> m.AlertTest:
        """Send a test over every channel of the workspace.

        Sent like every alert, so it arrives within seconds and is retried.

        ``POST /api/workspace/alerts/test``
        """
        answer: m.AlertTest = await self._send(
            Call(
                "POST",
                "/api/workspace/alerts/test",
                timeout=timeout,
            ),
        )
        return answer

    async def get_slack_account(
        self,
        *,
        timeout: float | None = None,
    ) -> m.OwnSlackAccount:
        """Read which account of Slack decides as you, and which one wants to.

        ``GET /api/slack/account``
        """
        answer: m.OwnSlackAccount = await self._send(
            Call(
                "GET",
                "/api/slack/account",
                timeout=timeout,
            ),
        )
        return answer

    async def confirm_slack_account(
        self,
        *,
        team_id: str,
        user_id: str,
        timeout: float | None = None,
    ) -> m.OwnSlackAccount:
        """Confirm that an account of Slack is yours.

        It must have clicked a button of the workspace in Slack in the last 24 hours, and have your
        email there. From then on it decides as you; it replaces the account that did. Only for a
        member who is signed in.

        ``POST /api/slack/account``
        """
        answer: m.OwnSlackAccount = await self._send(
            Call(
                "POST",
                "/api/slack/account",
                fields={"team_id": team_id, "user_id": user_id},
                timeout=timeout,
            ),
        )
        return answer

    async def remove_slack_account(
        self,
        *,
        timeout: float | None = None,
    ) -> None:
        """Forget your account of Slack: nothing decides as you there any longer.

        ``DELETE /api/slack/account``
        """
        await self._send(
            Call(
                "DELETE",
                "/api/slack/account",
                timeout=timeout,
            ),
        )

    async def get_usage(
        self,
        *,
        timeout: float | None = None,
    ) -> m.Usage:
        """Read the use of the plan this month.

        ``GET /api/usage``
        """
        answer: m.Usage = await self._send(
            Call(
                "GET",
                "/api/usage",
                timeout=timeout,
            ),
        )
        return answer

    async def get_usage_breakdown(
        self,
        *,
        days: int | None = None,
        timeout: float | None = None,
    ) -> m.UsageBreakdown:
        """Read the cost of runs, by workflow, by model and by day.

        Args:
            days: How many days, UTC, including today

        ``GET /api/usage/breakdown``
        """
        answer: m.UsageBreakdown = await self._send(
            Call(
                "GET",
                "/api/usage/breakdown",
                query={"days": days},
                timeout=timeout,
            ),
        )
        return answer

    async def get_metrics_overview(
        self,
        *,
        timeout: float | None = None,
    ) -> m.MetricsOverview:
        """Read the results of runs, in total and by day.

        ``GET /api/metrics/overview``
        """
        answer: m.MetricsOverview = await self._send(
            Call(
                "GET",
                "/api/metrics/overview",
                timeout=timeout,
            ),
        )
        return answer

    async def list_audit(
        self,
        *,
        action: str | None = None,
        actor_id: str | None = None,
        target_type: str | None = None,
        target_id: str | None = None,
        since: str | datetime | None = None,
        until: str | datetime | None = None,
        limit: int | None = None,
        offset: int | None = None,
        timeout: float | None = None,
    ) -> m.AuditList:
        """List audit entries, newest first.

        An entry is listed when it matches all filters.

        Args:
            action: What was done
            actor_id: The member who did it
            target_type: The type of the target
            since: Written at or after
            until: Written before
            limit: Entries per page
            offset: How many of the newest entries to skip

        ``GET /api/audit``
        """
        answer: m.AuditList = await self._send(
            Call(
                "GET",
                "/api/audit",
                query={"action": action, "actor_id": actor_id, "target_type": target_type, "target_id": target_id, "since": since, "until": until, "limit": limit, "offset": offset},
                timeout=timeout,
            ),
        )
        return answer

    def audit_entries(
        self,
        *,
        action: str | None = None,
        actor_id: str | None = None,
        target_type: str | None = None,
        target_id: str | None = None,
        since: str | datetime | None = None,
        until: str | datetime | None = None,
        timeout: float | None = None,
    ) -> AsyncIterator[m.AuditEntry]:
        """List audit entries, newest first.

        Iterates over all pages of ``list_audit``, one page at a time.
        """
        return self._rows(
            Call(
                "GET",
                "/api/audit",
                query={"action": action, "actor_id": actor_id, "target_type": target_type, "target_id": target_id, "since": since, "until": until},
                timeout=timeout,
            ),
            "logs",
            "offset",
        )

    async def verify_audit(
        self,
        *,
        timeout: float | None = None,
    ) -> m.AuditVerification:
        """Verify the audit log.

        Compares every entry with its seal and every seal with the previous one, and every tool call
        that needed approval with its decision, as of one moment.

        ``GET /api/audit/verify``
        """
        answer: m.AuditVerification = await self._send(
            Call(
                "GET",
                "/api/audit/verify",
                timeout=timeout,
            ),
        )
        return answer

    async def get_prices(
        self,
        *,
        timeout: float | None = None,
    ) -> m.PriceList:
        """Read the workspace's own prices.

        ``GET /api/workspace/prices``
        """
        answer: m.PriceList = await self._send(
            Call(
                "GET",
                "/api/workspace/prices",
                timeout=timeout,
            ),
        )
        return answer

    async def set_prices(
        self,
        *,
        prices: list[m.Price],
        if_match: str | None = None,
        timeout: float | None = None,
    ) -> m.PriceList:
        """Replace the workspace's own prices.

        Models without a price here use the built-in table.

        ``PUT /api/workspace/prices``
        """
        answer: m.PriceList = await self._send(
            Call(
                "PUT",
                "/api/workspace/prices",
                fields={"prices": prices},
                if_match=if_match,
                timeout=timeout,
            ),
        )
        return answer

    async def list_budgets(
        self,
        *,
        limit: int | None = None,
        offset: int | None = None,
        timeout: float | None = None,
    ) -> list[m.Budget]:
        """List budgets with their status, oldest first.

        Args:
            limit: Maximum number of rows
            offset: Rows to skip

        ``GET /api/budgets``
        """
        answer: list[m.Budget] = await self._all(
            Call(
                "GET",
                "/api/budgets",
                query={"limit": limit, "offset": offset},
                timeout=timeout,
            ),
        )
        return answer

    async def create_budget(
        self,
        *,
        name: str,
        limit_usd: float,
        reservation_estimate_usd: float | NotGiven | None = NOT_GIVEN,
        overrun: Literal["none", "one_step"] | NotGiven = NOT_GIVEN,
        alerts: bool | NotGiven = NOT_GIVEN,
        scope: Literal["workspace", "workflow"] | NotGiven = NOT_GIVEN,
        workflow_id: str | NotGiven | None = NOT_GIVEN,
        window: Literal["day", "week", "month", "total"] | NotGiven = NOT_GIVEN,
        timeout: float | None = None,
    ) -> m.Budget:
        """Cap what runs may cost in a window.

        A trigger that does not fit is refused with 402. With `reservation_estimate_usd` each
        trigger reserves that much until its run ends; without it only settled spend counts. Past
        spend of the current window counts too.

        Args:
            reservation_estimate_usd: What each trigger reserves. Without it only the cost of
                ended runs counts, and a run that has started can exceed the limit.
            overrun: `none`: a request begins only if all that it may cost fits, beside the
                requests in progress. `one_step`: a request begins while something is left, so
                that the limit is exceeded by less than one step
            alerts: Whether alerts are sent when 80% and when 100% of the limit is spent, each
                once in a window; true by default
            workflow_id: The workflow, for scope `workflow`
            window: UTC; weeks start on Monday

        ``POST /api/budgets``
        """
        answer: m.Budget = await self._send(
            Call(
                "POST",
                "/api/budgets",
                fields={"name": name, "limit_usd": limit_usd, "reservation_estimate_usd": reservation_estimate_usd, "overrun": overrun, "alerts": alerts, "scope": scope, "workflow_id": workflow_id, "window": window},
                timeout=timeout,
            ),
        )
        return answer

    async def get_budget(
        self,
        budget_id: str,
        *,
        timeout: float | None = None,
    ) -> m.Budget:
        """Read a budget.

        ``GET /api/budgets/{id}``
        """
        answer: m.Budget = await self._send(
            Call(
                "GET",
                "/api/budgets/{id}",
                (budget_id,),
                timeout=timeout,
            ),
        )
        return answer

    async def update_budget(
        self,
        budget_id: str,
        *,
        name: str | NotGiven = NOT_GIVEN,
        limit_usd: float | NotGiven = NOT_GIVEN,
        reservation_estimate_usd: float | NotGiven | None = NOT_GIVEN,
        overrun: Literal["none", "one_step"] | NotGiven = NOT_GIVEN,
        alerts: bool | NotGiven = NOT_GIVEN,
        scope: Literal["workspace", "workflow"] | NotGiven = NOT_GIVEN,
        workflow_id: str | NotGiven | None = NOT_GIVEN,
        window: Literal["day", "week", "month", "total"] | NotGiven = NOT_GIVEN,
        if_match: str | None = None,
        timeout: float | None = None,
    ) -> m.Budget:
        """Change the name, limit or estimate of a budget.

        Effective for the next trigger and the next step. Existing holds do not change.

        Args:
            reservation_estimate_usd: What each trigger reserves. Without it only the cost of
                ended runs counts, and a run that has started can exceed the limit.
            overrun: `none`: a request begins only if all that it may cost fits, beside the
                requests in progress. `one_step`: a request begins while something is left, so
                that the limit is exceeded by less than one step
            alerts: Whether alerts are sent when 80% and when 100% of the limit is spent, each
                once in a window; true by default
            workflow_id: The workflow, for scope `workflow`

        ``PUT /api/budgets/{id}``
        """
        answer: m.Budget = await self._send(
            Call(
                "PUT",
                "/api/budgets/{id}",
                (budget_id,),
                fields={"name": name, "limit_usd": limit_usd, "reservation_estimate_usd": reservation_estimate_usd, "overrun": overrun, "alerts": alerts, "scope": scope, "workflow_id": workflow_id, "window": window},
                if_match=if_match,
                timeout=timeout,
            ),
        )
        return answer

    async def delete_budget(
        self,
        budget_id: str,
        *,
        if_match: str | None = None,
        timeout: float | None = None,
    ) -> None:
        """Delete a budget; runs that hold it continue without.

        ``DELETE /api/budgets/{id}``
        """
        await self._send(
            Call(
                "DELETE",
                "/api/budgets/{id}",
                (budget_id,),
                if_match=if_match,
                timeout=timeout,
            ),
        )

    async def get_budget_status(
        self,
        budget_id: str,
        *,
        timeout: float | None = None,
    ) -> m.BudgetStatus:
        """Read a budget's ledger for the current window.

        ``GET /api/budgets/{id}/status``
        """
        answer: m.BudgetStatus = await self._send(
            Call(
                "GET",
                "/api/budgets/{id}/status",
                (budget_id,),
                timeout=timeout,
            ),
        )
        return answer

    async def get_budget_history(
        self,
        budget_id: str,
        *,
        timeout: float | None = None,
    ) -> m.BudgetHistory:
        """Read the spend of a budget's current window, by day.

        ``GET /api/budgets/{id}/history``
        """
        answer: m.BudgetHistory = await self._send(
            Call(
                "GET",
                "/api/budgets/{id}/history",
                (budget_id,),
                timeout=timeout,
            ),
        )
        return answer

    async def list_governance_events(
        self,
        *,
        run_id: str | None = None,
        workflow_id: str | None = None,
        event_type: Literal["policy_denied", "tool_argument_blocked", "data_redacted", "budget_blocked", "model_fallback_blocked", "approval_override_granted", "approval_mismatch"] | None = None,
        decision: Literal["blocked", "denied", "redacted", "granted"] | None = None,
        limit: int | None = None,
        offset: int | None = None,
        timeout: float | None = None,
    ) -> list[m.GovernanceEvent]:
        """List decisions of policies, budgets and overrides, newest first.

        Args:
            limit: Maximum number of rows
            offset: Rows to skip

        ``GET /api/governance/events``
        """
        answer: list[m.GovernanceEvent] = await self._send(
            Call(
                "GET",
                "/api/governance/events",
                query={"run_id": run_id, "workflow_id": workflow_id, "event_type": event_type, "decision": decision, "limit": limit, "offset": offset},
                timeout=timeout,
            ),
        )
        return answer

    def governance_events(
        self,
        *,
        run_id: str | None = None,
        workflow_id: str | None = None,
        event_type: Literal["policy_denied", "tool_argument_blocked", "data_redacted", "budget_blocked", "model_fallback_blocked", "approval_override_granted", "approval_mismatch"] | None = None,
        decision: Literal["blocked", "denied", "redacted", "granted"] | None = None,
        timeout: float | None = None,
    ) -> AsyncIterator[m.GovernanceEvent]:
        """List decisions of policies, budgets and overrides, newest first.

        Iterates over all pages of ``list_governance_events``, one page at a time.
        """
        return self._rows(
            Call(
                "GET",
                "/api/governance/events",
                query={"run_id": run_id, "workflow_id": workflow_id, "event_type": event_type, "decision": decision},
                timeout=timeout,
            ),
            "",
            "offset",
        )

    async def get_policies(
        self,
        *,
        timeout: float | None = None,
    ) -> m.Policies:
        """Read the policies for agents and tools.

        ``GET /api/workspace/policies``
        """
        answer: m.Policies = await self._send(
            Call(
                "GET",
                "/api/workspace/policies",
                timeout=timeout,
            ),
        )
        return answer

    async def set_policies(
        self,
        *,
        model_allowlist: list[str] | NotGiven | None = NOT_GIVEN,
        tools: list[m.ToolPolicy] | NotGiven = NOT_GIVEN,
        redaction: m.RedactionInput | NotGiven = NOT_GIVEN,
        limits: list[m.CallLimit] | NotGiven = NOT_GIVEN,
        if_match: str | None = None,
        timeout: float | None = None,
    ) -> m.Policies:
        """Replace the policies for agents and tools.

        Replaces all policies; absent ones are unrestricted. Applies to every step that starts after
        the response, also in active runs.

        Args:
            model_allowlist: Models that agents can use; null: all
            limits: Calls of tools and models beyond a limit wait until one is free

        ``PUT /api/workspace/policies``
        """
        answer: m.Policies = await self._send(
            Call(
                "PUT",
                "/api/workspace/policies",
                fields={"model_allowlist": model_allowlist, "tools": tools, "redaction": redaction, "limits": limits},
                if_match=if_match,
                timeout=timeout,
            ),
        )
        return answer

    async def start_backtest(
        self,
        *,
        policies: m.StartBacktestBodyPolicies,
        since: str,
        workflow_id: str | NotGiven = NOT_GIVEN,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> m.StartedJob:
        """Try policies on history.

        Judges the recorded steps of all runs that were created since a time by policies that are
        not in force: what they would block or redact that was not, and what they would allow that
        was not. Nothing is executed or changed. The answer comes at once; read the backtest to
        follow it.

        Args:
            since: Judges the steps of runs that were created since then
            workflow_id: Only runs of this workflow

        ``POST /api/workspace/policies/backtest``
        """
        answer: m.StartedJob = await self._send(
            Call(
                "POST",
                "/api/workspace/policies/backtest",
                fields={"policies": policies, "since": since, "workflow_id": workflow_id},
                once=True,
                idempotency_key=idempotency_key,
                timeout=timeout,
            ),
        )
        return answer

    async def list_backtests(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        timeout: float | None = None,
    ) -> m.BacktestList:
        """List backtests of policies, newest first.

        Args:
            limit: Rows per page
            cursor: `next_cursor` of the previous page

        ``GET /api/workspace/policies/backtest``
        """
        answer: m.BacktestList = await self._send(
            Call(
                "GET",
                "/api/workspace/policies/backtest",
                query={"limit": limit, "cursor": cursor},
                timeout=timeout,
            ),
        )
        return answer

    def backtests(
        self,
        *,
        limit: int | None = None,
        timeout: float | None = None,
    ) -> AsyncIterator[m.ListedBacktest]:
        """List backtests of policies, newest first.

        Iterates over all pages of ``list_backtests``, one page at a time.
        """
        return self._rows(
            Call(
                "GET",
                "/api/workspace/policies/backtest",
                query={"limit": limit},
                timeout=timeout,
            ),
            "backtests",
            "cursor",
        )

    async def get_backtest(
        self,
        backtest_id: str,
        *,
        effect: Literal["would_block", "would_redact", "would_allow"] | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        timeout: float | None = None,
    ) -> m.Backtest:
        """Read a backtest with a page of its steps.

        Also while it is running. A step is blocked or redacted by policies as its stored input
        shows, which is the one after redaction.

        Args:
            effect: Only steps with this effect
            limit: Rows per page
            cursor: `next_cursor` of the previous page

        ``GET /api/workspace/policies/backtest/{id}``
        """
        answer: m.Backtest = await self._send(
            Call(
                "GET",
                "/api/workspace/policies/backtest/{id}",
                (backtest_id,),
                query={"effect": effect, "limit": limit, "cursor": cursor},
                timeout=timeout,
            ),
        )
        return answer

    def backtest_steps(
        self,
        backtest_id: str,
        *,
        effect: Literal["would_block", "would_redact", "would_allow"] | None = None,
        limit: int | None = None,
        timeout: float | None = None,
    ) -> AsyncIterator[m.BacktestFinding]:
        """Read a backtest with a page of its steps.

        Iterates over all pages of ``get_backtest``, one page at a time.
        """
        return self._rows(
            Call(
                "GET",
                "/api/workspace/policies/backtest/{id}",
                (backtest_id,),
                query={"effect": effect, "limit": limit},
                timeout=timeout,
            ),
            "steps",
            "cursor",
        )

    async def cancel_backtest(
        self,
        backtest_id: str,
        *,
        timeout: float | None = None,
    ) -> m.StartedJob:
        """Cancel a running backtest.

        It ends within seconds. What it has found so far is kept.

        ``POST /api/workspace/policies/backtest/{id}/cancel``
        """
        answer: m.StartedJob = await self._send(
            Call(
                "POST",
                "/api/workspace/policies/backtest/{id}/cancel",
                (backtest_id,),
                timeout=timeout,
            ),
        )
        return answer

    async def list_feeds(
        self,
        *,
        limit: int | None = None,
        offset: int | None = None,
        timeout: float | None = None,
    ) -> list[m.ManagedFeed]:
        """List feeds, newest first, including archived ones.

        Args:
            limit: Maximum number of rows
            offset: Rows to skip

        ``GET /api/data/feeds``
        """
        answer: list[m.ManagedFeed] = await self._all(
            Call(
                "GET",
                "/api/data/feeds",
                query={"limit": limit, "offset": offset},
                timeout=timeout,
            ),
        )
        return answer

    async def create_feed(
        self,
        *,
        name: str,
        description: str | NotGiven = NOT_GIVEN,
        status: Literal["active", "paused", "degraded", "archived"] | NotGiven = NOT_GIVEN,
        entity_types: list[str] | NotGiven = NOT_GIVEN,
        schema: dict[str, Any] | NotGiven = NOT_GIVEN,
        geography: dict[str, Any] | NotGiven = NOT_GIVEN,
        specification: dict[str, Any] | NotGiven = NOT_GIVEN,
        is_demo: bool | NotGiven = NOT_GIVEN,
        timeout: float | None = None,
    ) -> m.ManagedFeedDetail:
        """Create a feed.

        A stream of records. All are live or, with `is_demo`, all are demo records.

        Args:
            status: Archived feeds are not listed in the data API
            entity_types: The accepted types of records; empty: any
            schema: The meaning of its records' attributes, as JSON Schema or as text
            geography: Where its records come from, such as `{"country": "US"}`
            specification: What is monitored, how and how often
            is_demo: Its records are demo records, only for test keys. Cannot be changed

        ``POST /api/data/feeds``
        """
        answer: m.ManagedFeedDetail = await self._send(
            Call(
                "POST",
                "/api/data/feeds",
                fields={"name": name, "description": description, "status": status, "entity_types": entity_types, "schema": schema, "geography": geography, "specification": specification, "is_demo": is_demo},
                timeout=timeout,
            ),
        )
        return answer

    async def get_feed(
        self,
        feed_id: str,
        *,
        timeout: float | None = None,
    ) -> m.ManagedFeedDetail:
        """Read a feed with its specification.

        ``GET /api/data/feeds/{id}``
        """
        answer: m.ManagedFeedDetail = await self._send(
            Call(
                "GET",
                "/api/data/feeds/{id}",
                (feed_id,),
                timeout=timeout,
            ),
        )
        return answer

    async def update_feed(
        self,
        feed_id: str,
        *,
        name: str | NotGiven = NOT_GIVEN,
        description: str | NotGiven = NOT_GIVEN,
        status: Literal["active", "paused", "degraded", "archived"] | NotGiven = NOT_GIVEN,
        entity_types: list[str] | NotGiven = NOT_GIVEN,
        schema: dict[str, Any] | NotGiven = NOT_GIVEN,
        geography: dict[str, Any] | NotGiven = NOT_GIVEN,
        specification: dict[str, Any] | NotGiven = NOT_GIVEN,
        if_match: str | None = None,
        timeout: float | None = None,
    ) -> m.ManagedFeedDetail:
        """Change a feed.

        Changes the fields in the body. A changed status is sent to webhooks as
        `feed.status_changed`. Records keep types that are removed from `entity_types`.

        Args:
            status: Archived feeds are not listed in the data API
            entity_types: The accepted types of records; empty: any
            schema: The meaning of its records' attributes, as JSON Schema or as text
            geography: Where its records come from, such as `{"country": "US"}`
            specification: What is monitored, how and how often

        ``PUT /api/data/feeds/{id}``
        """
        answer: m.ManagedFeedDetail = await self._send(
            Call(
                "PUT",
                "/api/data/feeds/{id}",
                (feed_id,),
                fields={"name": name, "description": description, "status": status, "entity_types": entity_types, "schema": schema, "geography": geography, "specification": specification},
                if_match=if_match,
                timeout=timeout,
            ),
        )
        return answer

    async def delete_feed(
        self,
        feed_id: str,
        *,
        if_match: str | None = None,
        timeout: float | None = None,
    ) -> None:
        """Delete a feed and all its records.

        With very many records some may be left when the response is 503; delete it again.

        ``DELETE /api/data/feeds/{id}``
        """
        await self._send(
            Call(
                "DELETE",
                "/api/data/feeds/{id}",
                (feed_id,),
                if_match=if_match,
                timeout=timeout,
            ),
        )

    async def list_sources(
        self,
        *,
        limit: int | None = None,
        offset: int | None = None,
        timeout: float | None = None,
    ) -> list[m.SourceDetail]:
        """List sources and their health, newest first.

        Args:
            limit: Maximum number of rows
            offset: Rows to skip

        ``GET /api/data/sources``
        """
        answer: list[m.SourceDetail] = await self._all(
            Call(
                "GET",
                "/api/data/sources",
                query={"limit": limit, "offset": offset},
                timeout=timeout,
            ),
        )
        return answer

    async def create_source(
        self,
        *,
        name: str,
        type: str,
        jurisdiction: str | NotGiven | None = NOT_GIVEN,
        cadence: str | NotGiven | None = NOT_GIVEN,
        permission_status: str | NotGiven | None = NOT_GIVEN,
        license_status: str | NotGiven | None = NOT_GIVEN,
        reliability_score: float | NotGiven | None = NOT_GIVEN,
        is_demo: bool | NotGiven = NOT_GIVEN,
        timeout: float | None = None,
    ) -> m.SourceDetail:
        """Create a source.

        Args:
            name: Unique in the workspace among the live sources, and among the demo ones
            type: The type of source, such as `permit_portal`
            cadence: How often it is checked, such as `daily`
            permission_status: Whether it may be read
            license_status: Whether its content may be redistributed
            is_demo: For demo records, only for test keys. Cannot be changed

        ``POST /api/data/sources``
        """
        answer: m.SourceDetail = await self._send(
            Call(
                "POST",
                "/api/data/sources",
                fields={"name": name, "type": type, "jurisdiction": jurisdiction, "cadence": cadence, "permission_status": permission_status, "license_status": license_status, "reliability_score": reliability_score, "is_demo": is_demo},
                timeout=timeout,
            ),
        )
        return answer

    async def get_source(
        self,
        source_id: str,
        *,
        timeout: float | None = None,
    ) -> m.SourceDetail:
        """Read a source and its health.

        ``GET /api/data/sources/{id}``
        """
        answer: m.SourceDetail = await self._send(
            Call(
                "GET",
                "/api/data/sources/{id}",
                (source_id,),
                timeout=timeout,
            ),
        )
        return answer

    async def update_source(
        self,
        source_id: str,
        *,
        name: str | NotGiven = NOT_GIVEN,
        type: str | NotGiven = NOT_GIVEN,
        jurisdiction: str | NotGiven | None = NOT_GIVEN,
        cadence: str | NotGiven | None = NOT_GIVEN,
        permission_status: str | NotGiven | None = NOT_GIVEN,
        license_status: str | NotGiven | None = NOT_GIVEN,
        reliability_score: float | NotGiven | None = NOT_GIVEN,
        if_match: str | None = None,
        timeout: float | None = None,
    ) -> m.SourceDetail:
        """Change a source.

        Changes the fields in the body.

        Args:
            type: The type of source, such as `permit_portal`
            cadence: How often it is checked, such as `daily`
            permission_status: Whether it may be read
            license_status: Whether its content may be redistributed

        ``PUT /api/data/sources/{id}``
        """
        answer: m.SourceDetail = await self._send(
            Call(
                "PUT",
                "/api/data/sources/{id}",
                (source_id,),
                fields={"name": name, "type": type, "jurisdiction": jurisdiction, "cadence": cadence, "permission_status": permission_status, "license_status": license_status, "reliability_score": reliability_score},
                if_match=if_match,
                timeout=timeout,
            ),
        )
        return answer

    async def delete_source(
        self,
        source_id: str,
        *,
        if_match: str | None = None,
        timeout: float | None = None,
    ) -> None:
        """Delete a source.

        Records that name it as evidence do not change.

        ``DELETE /api/data/sources/{id}``
        """
        await self._send(
            Call(
                "DELETE",
                "/api/data/sources/{id}",
                (source_id,),
                if_match=if_match,
                timeout=timeout,
            ),
        )

    async def report_source(
        self,
        source_id: str,
        *,
        ok: bool,
        error: str | NotGiven | None = NOT_GIVEN,
        checked_at: str | NotGiven = NOT_GIVEN,
        timeout: float | None = None,
    ) -> m.SourceDetail:
        """Report the result of a source check.

        Counts as a source check of the month. Three failures in a row make the source `failed`,
        which is sent to webhooks as `source.failed`; the next success makes it `healthy`
        (`source.recovered`).

        Args:
            error: Why it failed
            checked_at: Default: now

        ``POST /api/data/sources/{id}/report``
        """
        answer: m.SourceDetail = await self._send(
            Call(
                "POST",
                "/api/data/sources/{id}/report",
                (source_id,),
                fields={"ok": ok, "error": error, "checked_at": checked_at},
                timeout=timeout,
            ),
        )
        return answer

    async def list_entities(
        self,
        *,
        feed_id: str | None = None,
        entity_type: str | None = None,
        geography: str | None = None,
        confidence_min: str | None = None,
        updated_since: str | datetime | None = None,
        created_since: str | datetime | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        timeout: float | None = None,
    ) -> m.EntityList:
        """List records, newest first.

        Newest is the last first observation; with `updated_since`, the last update. Costs no
        credits.

        Args:
            geography: The city, region or country, in any letter case
            confidence_min: At least this confidence, from 0 to 1
            updated_since: Updated at or after. The list is then sorted by the last update
            created_since: First observed at or after
            limit: Rows per page
            cursor: `next_cursor` of the previous page, with the same filters

        ``GET /api/data/entities``
        """
        answer: m.EntityList = await self._send(
            Call(
                "GET",
                "/api/data/entities",
                query={"feed_id": feed_id, "entity_type": entity_type, "geography": geography, "confidence_min": confidence_min, "updated_since": updated_since, "created_since": created_since, "limit": limit, "cursor": cursor},
                timeout=timeout,
            ),
        )
        return answer

    def entities(
        self,
        *,
        feed_id: str | None = None,
        entity_type: str | None = None,
        geography: str | None = None,
        confidence_min: str | None = None,
        updated_since: str | datetime | None = None,
        created_since: str | datetime | None = None,
        limit: int | None = None,
        timeout: float | None = None,
    ) -> AsyncIterator[m.Entity]:
        """List records, newest first.

        Iterates over all pages of ``list_entities``, one page at a time.
        """
        return self._rows(
            Call(
                "GET",
                "/api/data/entities",
                query={"feed_id": feed_id, "entity_type": entity_type, "geography": geography, "confidence_min": confidence_min, "updated_since": updated_since, "created_since": created_since, "limit": limit},
                timeout=timeout,
            ),
            "entities",
            "cursor",
        )

    async def get_entity(
        self,
        entity_id: str,
        *,
        timeout: float | None = None,
    ) -> m.Entity:
        """Read a record.

        ``GET /api/data/entities/{id}``
        """
        answer: m.Entity = await self._send(
            Call(
                "GET",
                "/api/data/entities/{id}",
                (entity_id,),
                timeout=timeout,
            ),
        )
        return answer

    async def get_entity_history(
        self,
        entity_id: str,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        timeout: float | None = None,
    ) -> m.EntityHistory:
        """Read the versions of a record and their changes, newest first.

        Args:
            limit: Rows per page
            cursor: `next_cursor` of the previous page, with the same filters

        ``GET /api/data/entities/{id}/history``
        """
        answer: m.EntityHistory = await self._send(
            Call(
                "GET",
                "/api/data/entities/{id}/history",
                (entity_id,),
                query={"limit": limit, "cursor": cursor},
                timeout=timeout,
            ),
        )
        return answer

    def entity_versions(
        self,
        entity_id: str,
        *,
        limit: int | None = None,
        timeout: float | None = None,
    ) -> AsyncIterator[m.EntityVersion]:
        """Read the versions of a record and their changes, newest first.

        Iterates over all pages of ``get_entity_history``, one page at a time.
        """
        return self._rows(
            Call(
                "GET",
                "/api/data/entities/{id}/history",
                (entity_id,),
                query={"limit": limit},
                timeout=timeout,
            ),
            "versions",
            "cursor",
        )

    async def list_changes(
        self,
        *,
        feed_id: str | None = None,
        updated_since: str | datetime | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        entity_id: str | None = None,
        entity_type: str | None = None,
        timeout: float | None = None,
    ) -> m.ChangeList:
        """List changes of records, attribute by attribute, newest first.

        Args:
            updated_since: Recorded at or after
            limit: Rows per page
            cursor: `next_cursor` of the previous page, with the same filters
            entity_id: Of one record

        ``GET /api/data/changes``
        """
        answer: m.ChangeList = await self._send(
            Call(
                "GET",
                "/api/data/changes",
                query={"feed_id": feed_id, "updated_since": updated_since, "limit": limit, "cursor": cursor, "entity_id": entity_id, "entity_type": entity_type},
                timeout=timeout,
            ),
        )
        return answer

    def changes(
        self,
        *,
        feed_id: str | None = None,
        updated_since: str | datetime | None = None,
        limit: int | None = None,
        entity_id: str | None = None,
        entity_type: str | None = None,
        timeout: float | None = None,
    ) -> AsyncIterator[m.NamedChange]:
        """List changes of records, attribute by attribute, newest first.

        Iterates over all pages of ``list_changes``, one page at a time.
        """
        return self._rows(
            Call(
                "GET",
                "/api/data/changes",
                query={"feed_id": feed_id, "updated_since": updated_since, "limit": limit, "entity_id": entity_id, "entity_type": entity_type},
                timeout=timeout,
            ),
            "changes",
            "cursor",
        )

    async def list_events(
        self,
        *,
        feed_id: str | None = None,
        event_type: str | None = None,
        confidence_min: str | None = None,
        created_since: str | datetime | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        entity_id: str | None = None,
        timeout: float | None = None,
    ) -> m.IntelligenceEventList:
        """List intelligence events, newest first.

        Does not mark them as delivered.

        Args:
            confidence_min: At least this confidence, from 0 to 1
            created_since: Detected at or after
            limit: Rows per page
            cursor: `next_cursor` of the previous page, with the same filters
            entity_id: Of one record

        ``GET /api/data/events``
        """
        answer: m.IntelligenceEventList = await self._send(
            Call(
                "GET",
                "/api/data/events",
                query={"feed_id": feed_id, "event_type": event_type, "confidence_min": confidence_min, "created_since": created_since, "limit": limit, "cursor": cursor, "entity_id": entity_id},
                timeout=timeout,
            ),
        )
        return answer

    def events(
        self,
        *,
        feed_id: str | None = None,
        event_type: str | None = None,
        confidence_min: str | None = None,
        created_since: str | datetime | None = None,
        limit: int | None = None,
        entity_id: str | None = None,
        timeout: float | None = None,
    ) -> AsyncIterator[m.IntelligenceEvent]:
        """List intelligence events, newest first.

        Iterates over all pages of ``list_events``, one page at a time.
        """
        return self._rows(
            Call(
                "GET",
                "/api/data/events",
                query={"feed_id": feed_id, "event_type": event_type, "confidence_min": confidence_min, "created_since": created_since, "limit": limit, "entity_id": entity_id},
                timeout=timeout,
            ),
            "events",
            "cursor",
        )

    async def list_endpoints(
        self,
        *,
        limit: int | None = None,
        offset: int | None = None,
        timeout: float | None = None,
    ) -> list[m.DataEndpoint]:
        """List webhook endpoints, newest first.

        Args:
            limit: Maximum number of rows
            offset: Rows to skip

        ``GET /api/webhooks``
        """
        answer: list[m.DataEndpoint] = await self._all(
            Call(
                "GET",
                "/api/webhooks",
                query={"limit": limit, "offset": offset},
                timeout=timeout,
            ),
        )
        return answer

    async def create_endpoint(
        self,
        *,
        url: str,
        events: list[Literal["entity.created", "entity.updated", "intelligence_event.created", "intelligence_event.verified", "feed.status_changed", "source.failed", "source.recovered", "usage.threshold_reached", "export.completed", "ping", "run.completed", "run.failed", "run.paused", "approval.requested"]],
        is_demo: bool | NotGiven = NOT_GIVEN,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> m.NewDataEndpoint:
        """Register a webhook endpoint.

        Returns the secret that signs deliveries, only this once. At most 50 endpoints for live
        records, and 50 for demo records. Keys of the data API do not see an endpoint that
        subscribes to events of runs.

        Args:
            url: Events are sent to it with POST. `listen:<name>` is a listener: nothing is
                sent, and `ops listen` reads the events. An endpoint cannot become a listener,
                or a listener an endpoint
            events: The subscribed events; a `ping` is always sent
            is_demo: Receives events about demo records instead of live ones; events of runs in
                any case. Cannot be changed

        ``POST /api/webhooks``
        """
        answer: m.NewDataEndpoint = await self._send(
            Call(
                "POST",
                "/api/webhooks",
                fields={"url": url, "events": events, "is_demo": is_demo},
                once=True,
                idempotency_key=idempotency_key,
                timeout=timeout,
            ),
        )
        return answer

    async def get_endpoint(
        self,
        endpoint_id: str,
        *,
        timeout: float | None = None,
    ) -> m.DataEndpoint:
        """Read a webhook endpoint.

        ``GET /api/webhooks/{id}``
        """
        answer: m.DataEndpoint = await self._send(
            Call(
                "GET",
                "/api/webhooks/{id}",
                (endpoint_id,),
                timeout=timeout,
            ),
        )
        return answer

    async def update_endpoint(
        self,
        endpoint_id: str,
        *,
        url: str | NotGiven = NOT_GIVEN,
        events: list[Literal["entity.created", "entity.updated", "intelligence_event.created", "intelligence_event.verified", "feed.status_changed", "source.failed", "source.recovered", "usage.threshold_reached", "export.completed", "ping", "run.completed", "run.failed", "run.paused", "approval.requested"]] | NotGiven = NOT_GIVEN,
        if_match: str | None = None,
        timeout: float | None = None,
    ) -> m.DataEndpoint:
        """Change the address or the events of a webhook endpoint.

        Changes the fields in the body. Pending deliveries go to the new address.

        Args:
            url: Events are sent to it with POST. `listen:<name>` is a listener: nothing is
                sent, and `ops listen` reads the events. An endpoint cannot become a listener,
                or a listener an endpoint
            events: The subscribed events; a `ping` is always sent

        ``PUT /api/webhooks/{id}``
        """
        answer: m.DataEndpoint = await self._send(
            Call(
                "PUT",
                "/api/webhooks/{id}",
                (endpoint_id,),
                fields={"url": url, "events": events},
                if_match=if_match,
                timeout=timeout,
            ),
        )
        return answer

    async def delete_endpoint(
        self,
        endpoint_id: str,
        *,
        if_match: str | None = None,
        timeout: float | None = None,
    ) -> None:
        """Delete a webhook endpoint and its pending deliveries.

        ``DELETE /api/webhooks/{id}``
        """
        await self._send(
            Call(
                "DELETE",
                "/api/webhooks/{id}",
                (endpoint_id,),
                if_match=if_match,
                timeout=timeout,
            ),
        )

    async def rotate_endpoint_secret(
        self,
        endpoint_id: str,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> m.RotatedSecret:
        """Replace the secret of a webhook endpoint; the new one is shown this once.

        Deliveries are also signed with the previous secret for 24 hours.

        ``POST /api/webhooks/{id}/rotate-secret``
        """
        answer: m.RotatedSecret = await self._send(
            Call(
                "POST",
                "/api/webhooks/{id}/rotate-secret",
                (endpoint_id,),
                once=True,
                idempotency_key=idempotency_key,
                timeout=timeout,
            ),
        )
        return answer

    async def list_deliveries(
        self,
        endpoint_id: str,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        status: Literal["pending", "delivered", "dead"] | None = None,
        timeout: float | None = None,
    ) -> m.WebhookDeliveryList:
        """List the deliveries of a webhook endpoint, newest first, each with its attempts.

        Kept for 30 days.

        Args:
            limit: Rows per page
            cursor: `next_cursor` of the previous page, with the same filters

        ``GET /api/webhooks/{id}/deliveries``
        """
        answer: m.WebhookDeliveryList = await self._send(
            Call(
                "GET",
                "/api/webhooks/{id}/deliveries",
                (endpoint_id,),
                query={"limit": limit, "cursor": cursor, "status": status},
                timeout=timeout,
            ),
        )
        return answer

    def deliveries(
        self,
        endpoint_id: str,
        *,
        limit: int | None = None,
        status: Literal["pending", "delivered", "dead"] | None = None,
        timeout: float | None = None,
    ) -> AsyncIterator[m.WebhookDelivery]:
        """List the deliveries of a webhook endpoint, newest first, each with its attempts.

        Iterates over all pages of ``list_deliveries``, one page at a time.
        """
        return self._rows(
            Call(
                "GET",
                "/api/webhooks/{id}/deliveries",
                (endpoint_id,),
                query={"limit": limit, "status": status},
                timeout=timeout,
            ),
            "deliveries",
            "cursor",
        )

    async def get_delivery(
        self,
        endpoint_id: str,
        delivery_id: str,
        *,
        timeout: float | None = None,
    ) -> m.WebhookDelivery:
        """Read a delivery with its attempts.

        ``GET /api/webhooks/{id}/deliveries/{delivery_id}``
        """
        answer: m.WebhookDelivery = await self._send(
            Call(
                "GET",
                "/api/webhooks/{id}/deliveries/{delivery_id}",
                (endpoint_id, delivery_id,),
                timeout=timeout,
            ),
        )
        return answer

    async def list_endpoint_events(
        self,
        endpoint_id: str,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        since: str | datetime | None = None,
        event_id: str | None = None,
        timeout: float | None = None,
    ) -> m.WebhookEndpointEventList:
        """List the events of a webhook endpoint with their bodies, oldest first.

        The `body` has the bytes that a delivery has, so a program can forward it with a signature
        of its own, as `ops listen` does. Times are those at which transactions began, so an event
        can appear behind later ones for some seconds. Kept for 30 days. A listener whose events are
        not read for 24 hours is deleted.

        Args:
            limit: Rows per page
            cursor: `next_cursor` of the previous page, with the same filters
            since: Events since then; all without it
            event_id: Only this event

        ``GET /api/webhooks/{id}/events``
        """
        answer: m.WebhookEndpointEventList = await self._send(
            Call(
                "GET",
                "/api/webhooks/{id}/events",
                (endpoint_id,),
                query={"limit": limit, "cursor": cursor, "since": since, "event_id": event_id},
                timeout=timeout,
            ),
        )
        return answer

    def endpoint_events(
        self,
        endpoint_id: str,
        *,
        limit: int | None = None,
        since: str | datetime | None = None,
        event_id: str | None = None,
        timeout: float | None = None,
    ) -> AsyncIterator[m.WebhookEndpointEvent]:
        """List the events of a webhook endpoint with their bodies, oldest first.

        Iterates over all pages of ``list_endpoint_events``, one page at a time.
        """
        return self._rows(
            Call(
                "GET",
                "/api/webhooks/{id}/events",
                (endpoint_id,),
                query={"limit": limit, "since": since, "event_id": event_id},
                timeout=timeout,
            ),
            "events",
            "cursor",
        )

    async def ping_endpoint(
        self,
        endpoint_id: str,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> m.WebhookDelivery:
        """Send a ping to a webhook endpoint.

        An event of the type `ping`, whether the endpoint subscribes to it or not.

        ``POST /api/webhooks/{id}/ping``
        """
        answer: m.WebhookDelivery = await self._send(
            Call(
                "POST",
                "/api/webhooks/{id}/ping",
                (endpoint_id,),
                once=True,
                idempotency_key=idempotency_key,
                timeout=timeout,
            ),
        )
        return answer

    async def redeliver_delivery(
        self,
        endpoint_id: str,
        delivery_id: str,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> m.WebhookDelivery:
        """Redeliver one delivery.

        A delivery that has ended, delivered or failed, starts again with all its attempts.

        ``POST /api/webhooks/{id}/deliveries/{delivery_id}/redeliver``
        """
        answer: m.WebhookDelivery = await self._send(
            Call(
                "POST",
                "/api/webhooks/{id}/deliveries/{delivery_id}/redeliver",
                (endpoint_id, delivery_id,),
                once=True,
                idempotency_key=idempotency_key,
                timeout=timeout,
            ),
        )
        return answer

    async def redeliver_dead_letters(
        self,
        endpoint_id: str,
        *,
        since: str | NotGiven = NOT_GIVEN,
        until: str | NotGiven = NOT_GIVEN,
        status: Literal["dead", "all"] | NotGiven = NOT_GIVEN,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> m.Redelivered:
        """Redeliver dead letters, all or those of events of a range, oldest first.

        With `status` `all`, delivered ones, too.

        Args:
            since: Deliveries of events since then; all without it
            until: Deliveries of events before then
            status: `dead`: those that have failed. `all`: delivered ones, too

        ``POST /api/webhooks/{id}/redeliver``
        """
        answer: m.Redelivered = await self._send(
            Call(
                "POST",
                "/api/webhooks/{id}/redeliver",
                (endpoint_id,),
                fields={"since": since, "until": until, "status": status},
                once=True,
                idempotency_key=idempotency_key,
                timeout=timeout,
            ),
        )
        return answer

    async def send_callback(
        self,
        token: str,
        body: Any,
        *,
        timeout: float | None = None,
    ) -> m.CallbackReceived:
        """End a wait with a callback.

        The address is the credential. The body, which is any JSON, is the output of the step that
        waits; it is kept if the step is not reached yet. The first body counts: the same one again
        is 200, and another one is 409. 410: the run has ended, or the step no longer waits. The
        content type does not matter.

        Args:
            token: As in the address that the run has sent

        ``POST /api/callbacks/{token}``
        """
        answer: m.CallbackReceived = await self._send(
            Call(
                "POST",
                "/api/callbacks/{token}",
                (token,),
                body=body,
                timeout=timeout,
            ),
        )
        return answer

    async def import_tools(
        self,
        *,
        server_url: str | NotGiven = NOT_GIVEN,
        openapi: str | dict[str, Any] | NotGiven = NOT_GIVEN,
        headers: dict[str, str] | NotGiven = NOT_GIVEN,
        names: list[str] | NotGiven = NOT_GIVEN,
        operations: list[str] | NotGiven = NOT_GIVEN,
        server: str | NotGiven = NOT_GIVEN,
        auth: m.ToolAuthInput | NotGiven = NOT_GIVEN,
        prefix: str | NotGiven = NOT_GIVEN,
        only_list: bool | NotGiven = NOT_GIVEN,
        timeout: float | None = None,
    ) -> m.ToolImport:
        """Register the tools of an MCP server, or the operations of an API document.

        Each tool of an MCP server becomes a custom tool of kind `mcp` with the description and the
        schema that the server gives, and is pinned: a call is refused while the server gives
        another schema. Each operation of an OpenAPI document becomes a custom tool of kind `http`
        whose `request` says where its arguments stand, pinned to what the document describes.
        Importing again accepts what has changed. What cannot be registered is skipped, with the
        reason; 400 when the tools cannot be listed. If an MCP server requires sign-in,
        `needs_sign_in` says for which connection: sign in, and import with its name as `auth`.
        Importing one under a name that a graph already calls also requires `publish_workflows`
        where a published workflow calls the tool, and `run_workflows` where one does that has a
        webhook or an enabled schedule.

        Args:
            server_url: An MCP server, whose tools are imported. Either this or `openapi`
            openapi: An OpenAPI 3.0 or 3.1 or Swagger 2.0 document: its URL, its text (YAML or
                JSON), or the object itself. At most 20 MB
            headers: Sent with each call. Values are stored sealed and shown as `***`
            names: Which tools of the MCP server to import; default: all, at most 200
            operations: Which operations of the document to import, by `operationId` or as `GET
                /path`; default: the first 500
            server: Where the API is, instead of the document's first server; can be relative to
                the document's URL
            prefix: What the names of the tools begin with here
            only_list: Imports nothing: `listed` says what an import would do

        ``POST /api/tools/import``
        """
        answer: m.ToolImport = await self._send(
            Call(
                "POST",
                "/api/tools/import",
                fields={"server_url": server_url, "openapi": openapi, "headers": headers, "names": names, "operations": operations, "server": server, "auth": auth, "prefix": prefix, "only_list": only_list},
                timeout=timeout,
            ),
        )
        return answer

    async def refresh_tool(
        self,
        tool_id: str,
        *,
        openapi: str | dict[str, Any] | NotGiven = NOT_GIVEN,
        accept: str | NotGiven = NOT_GIVEN,
        timeout: float | None = None,
    ) -> m.ToolRefresh:
        """Compare a tool with its API document.

        Reads the document again. If it describes the operation otherwise, the response says how,
        and the tool is not called until the change is accepted: send its `digest` as `accept`. If
        the operation is gone, the tool is not called until it is back. A change of the description
        alone does not stop calls. Finding or accepting a change also requires `publish_workflows`
        where a published workflow calls the tool, and `run_workflows` where one does that has a
        webhook or an enabled schedule.

        Args:
            openapi: The current document, for a tool whose document was not imported by its URL
            accept: Accepts the change with this `digest`, which an earlier refresh has shown.
                Nothing is read

        ``POST /api/tools/{id}/refresh``
        """
        answer: m.ToolRefresh = await self._send(
            Call(
                "POST",
                "/api/tools/{id}/refresh",
                (tool_id,),
                fields={"openapi": openapi, "accept": accept},
                timeout=timeout,
            ),
        )
        return answer

    async def ingest(
        self,
        feed_id: str,
        records: list[m.IngestRecord],
        *,
        timeout: float | None = None,
    ) -> m.IngestAnswer:
        """Send records and events to a feed.

        JSON with at most 1,000 records, or a stream of any length of `application/x-ndjson` with
        one record per line and `?feed_id=`. An unchanged record creates no version and no change; a
        refused record is not stored, while the others are. An interrupted stream keeps what it has
        sent so far: send all of it again. A change names an attribute directly, or as
        `attributes.<name>` where a field of the record has that name.

        ``POST /api/data/ingest``
        """
        answer: m.IngestAnswer = await self._send(
            Call(
                "POST",
                "/api/data/ingest",
                fields={"feed_id": feed_id, "records": records},
                timeout=timeout,
            ),
        )
        return answer
