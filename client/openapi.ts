// Written by `npm run openapi:dump` from docs/openapi/ops.json. Not to be changed by hand.

export interface paths {
    "/api/health": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read the state of the service, always with 200 */
        get: operations["getHealth"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/ready": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read whether the service can accept and execute runs; 503 until it can */
        get: operations["getReadiness"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/auth/login": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Sign in with email and password
         * @description Returns the same 401 for an unknown email and a wrong password, 403 while the account waits for approval, 429 after too many failures of the account or the address.
         */
        post: operations["login"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/auth/signup": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Request membership; an administrator approves it
         * @description The response and its time are the same for an address that already has an account: then nothing changes.
         */
        post: operations["signup"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/auth/accept-invite": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Become a member with an invite code, which works once */
        post: operations["acceptInvite"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/auth/password": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Change your own password; all sessions end, and the response has a new one */
        post: operations["changePassword"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/auth/me": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read the credential's actor and capabilities */
        get: operations["getIdentity"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/members": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List members by when they joined */
        get: operations["listMembers"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/members/invite": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Invite a member
         * @description Anyone with the invite code becomes the member, once, until `invite_expires_at`. It is emailed where email delivery is configured, and shown in the listing until then. Nobody can invite to more than they hold. A pending sign-up in another workspace with the same address is dropped.
         */
        post: operations["inviteMember"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/members/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read a member and their permissions */
        get: operations["getMember"];
        /**
         * Change a member's role, effective at once
         * @description Requires everything that the member holds before and after. When the member gains something, an invitation gets a new code, and linked keys whose makers lack the gained permissions are revoked, unless `keep_keys` is true.
         */
        put: operations["setRole"];
        post?: never;
        /**
         * Remove a member; their sessions end and their keys are revoked
         * @description Also withdraws an invitation, and rejects a sign-up.
         */
        delete: operations["removeMember"];
        options?: never;
        head?: never;
        /**
         * Change a member's role, effective at once
         * @description Requires everything that the member holds before and after. When the member gains something, an invitation gets a new code, and linked keys whose makers lack the gained permissions are revoked, unless `keep_keys` is true.
         */
        patch: operations["changeRole"];
        trace?: never;
    };
    "/api/members/{id}/stats": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a member's activity
         * @description The totals do not decrease when retention removes runs and audit entries.
         */
        get: operations["getMemberStats"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/members/{id}/permissions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Override capabilities of a member's role, effective at once
         * @description Requires everything that the member holds before and after. When the member gains something, an invitation gets a new code, and linked keys whose makers lack the gained permissions are revoked, unless `keep_keys` is true.
         */
        put: operations["setPermissions"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /**
         * Override capabilities of a member's role, effective at once
         * @description Requires everything that the member holds before and after. When the member gains something, an invitation gets a new code, and linked keys whose makers lack the gained permissions are revoked, unless `keep_keys` is true.
         */
        patch: operations["changePermissions"];
        trace?: never;
    };
    "/api/members/{id}/invite": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Replace the invite code of an invited member
         * @description The previous code is invalid at once. The new one is emailed where email delivery is configured. For an approved sign-up that has not chosen a password yet, it is only emailed.
         */
        post: operations["renewInvite"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/members/{id}/approve": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Approve a member who has signed up
         * @description The email address is not verified yet. Where email delivery is configured, the password of the sign-up is dropped and a code is sent to the address, to choose a password with `accept-invite`. Otherwise the password of the sign-up is valid: only approve people whom you expect.
         */
        post: operations["approveMember"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/workflows": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List workflows, newest first */
        get: operations["listWorkflows"];
        put?: never;
        /**
         * Create a workflow
         * @description The graph is saved as drawn, even if it cannot run yet. A name by which a graph in use calls a workflow also requires the permissions to change that graph.
         */
        post: operations["createWorkflow"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/workflows/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a workflow
         * @description With `include=draft`, also its draft as it is at the same moment.
         */
        get: operations["getWorkflow"];
        /**
         * Change a workflow
         * @description Changes the fields in the body. A changed graph or input schema becomes a new version; runs keep the version they started with. Such a change also requires `publish_workflows` where a published workflow is changed or calls this one, at any distance, and `run_workflows` where one with a webhook or an enabled schedule does. So does another name where it is called by its name.
         */
        put: operations["updateWorkflow"];
        post?: never;
        /**
         * Delete a workflow with its versions, runs and schedules
         * @description Active runs are cancelled. Where a graph in use calls the workflow, also requires the permissions to change that graph.
         */
        delete: operations["deleteWorkflow"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/workflows/{id}/validate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Check whether the saved graph can run
         * @description Reports every error and warning at once.
         */
        post: operations["validateWorkflow"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/workflows/{id}/checks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /** Set the checks that score successful runs */
        put: operations["setChecks"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/workflows/{id}/runs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the runs of a workflow, newest first */
        get: operations["listWorkflowRuns"];
        put?: never;
        /**
         * Start a run of the current version, or of the draft
         * @description Returns 201 with the new run, or 200 with the earlier one and `Idempotent-Replayed: true` when the `Idempotency-Key` has started it before. An input that does not fit the `input_schema` of the version is 400, with the path of each problem. With `draft=true` it runs the draft with the schema of its input: an ordinary run with all its costs and effects, which has `of_draft` and its `graph`.
         */
        post: operations["triggerRun"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/workflows/{id}/versions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the versions of a workflow, newest first */
        get: operations["listVersions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/workflows/{id}/versions/{version}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read one version of a workflow */
        get: operations["getVersion"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/workflows/{id}/versions/diff": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Compare two versions of a workflow
         * @description Nodes and edges that were added, removed and changed between the two versions, and the change of the input schema.
         */
        get: operations["diffVersions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/workflows/{id}/draft": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the draft of a workflow
         * @description What is being edited beside the current version. Only requests that ask for the draft run it.
         */
        get: operations["getDraft"];
        /**
         * Save the draft of a workflow
         * @description Saved as drawn, even if it cannot run yet; omitted fields are unchanged. The first save creates the draft, on the content of its base version, and answers 201. To change a draft that exists, send its `ETag` as `If-Match`: without it the answer is 428, and 412 when someone else has saved meanwhile. A save without a change keeps the revision.
         */
        put: operations["saveDraft"];
        post?: never;
        /**
         * Discard the draft of a workflow
         * @description Requires `If-Match`. The current version is unchanged.
         */
        delete: operations["discardDraft"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/workflows/{id}/publish": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Publish a workflow
         * @description Without a body, publishes the current version. With `from_draft`, makes the draft the current version in one step: requires the `ETag` of the draft as `If-Match`, and a draft that can run and began at the current version. The author of the version is the member who saved the draft last. Also requires `run_workflows` where the workflow has a webhook or an enabled schedule.
         */
        post: operations["publishWorkflow"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/templates": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List templates: the built-in ones, then your own, newest first */
        get: operations["listTemplates"];
        put?: never;
        /** Save a graph or a workflow as a template */
        post: operations["createTemplate"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/templates/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read a template */
        get: operations["getTemplate"];
        /**
         * Change a template of your own
         * @description Changes the fields in the body. Workflows created from it do not change. Built-in ones cannot be changed.
         */
        put: operations["updateTemplate"];
        post?: never;
        /** Delete a template of your own */
        delete: operations["deleteTemplate"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/templates/{id}/instantiate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Create a draft workflow from a template, with its checks */
        post: operations["instantiateTemplate"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/runs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List runs, newest first */
        get: operations["listRuns"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/runs/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read a run with its steps, cost, output and open gates */
        get: operations["getRun"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/runs/{id}/steps": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the steps of a run
         * @description First those outside of loops and maps, then those in them, each in the order of their starts. `GET /api/runs/{id}` has the first 1000, and the cursor of the others.
         */
        get: operations["listRunSteps"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/runs/{id}/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the frames of a run's stream, oldest first
         * @description The frames as they were emitted, each with its number and time. To follow a run without a stream, poll with the highest `seq` seen as `after`.
         */
        get: operations["listRunEvents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/runs/{id}/steps/{step_key}/messages": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the conversation of an agent with tools
         * @description Everything the model received and said so far, in order. Results are as the model received them: redacted, and cut after 100,000 characters. The arguments of calls that need approval are null for a caller without the capability approve_gates.
         */
        get: operations["listStepMessages"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/runs/{id}/approve": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Approve or reject an open gate
         * @description A gate can be decided whenever it is open, also while other branches of its run are in progress. Without a body the oldest open gate is approved: name the gate where a run may have several. A tool call needs its `digest`. A gate with rules can refuse the caller with 403, and counts the approvals that it requires: then it stays open until the last one. 409 says what was decided before, or that the tool has changed. With `only_check` nothing is decided: the response is the run as it is, or the refusal that the decision would get.
         */
        post: operations["decideGate"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/runs/{id}/assign": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Assign an open gate to a member, or pass it on
         * @description Says who is expected to decide. Others who can decide the gate still can. Without `node_id` and `step_key` the oldest open gate is assigned. 409: the gate is not open, or the member cannot decide it.
         */
        post: operations["assignGate"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/runs/{id}/resume": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Resume a failed run from its last checkpoint */
        post: operations["resumeRun"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/runs/{id}/budget-override": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Resume a run that a budget stopped, with its own optional cap
         * @description The run is then exempt from block budgets; its cost still counts in them. `cap_usd` becomes its cap, without one it has none.
         */
        post: operations["overrideBudget"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/runs/{id}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** End a pending, running or paused run */
        post: operations["cancelRun"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/runs/export": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Export a list of runs as CSV or NDJSON
         * @description All runs that the filters match, newest first, without payloads, as an attachment. CSV has nested values as JSON, and a `'` before anything a spreadsheet would read as a formula. The connection is closed after two minutes, or when reading fails: a file without its end. Narrow a longer list with `since` and `until`.
         */
        get: operations["exportRuns"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/run-views": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List your saved views of the list of runs
         * @description At most 50, by name. Each member has their own.
         */
        get: operations["listRunViews"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/run-views/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Save filters of the list of runs under a name
         * @description Instead of your view with this name. A link to the list shows the same to others.
         */
        put: operations["saveRunView"];
        post?: never;
        /** Remove a saved view */
        delete: operations["removeRunView"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/workflows/{id}/dry-run": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * What a run would cost, take, need and be refused, without running it
         * @description Executes, reserves and records nothing. The bounds hold for every run with this input, or without one for every run: failures, retries, loops, maps and the runs that it starts are counted; resumes and the time that steps wait for a worker are not. `unbounded` names the nodes without a bound. The input is checked as for a run.
         */
        post: operations["dryRunWorkflow"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/runs/{id}/rerun": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Run again, with the same input and version or with others
         * @description Starts a new run, and executes everything again. Its `forked_from` is this one. The other run can have any status, and does not change. With mode `recorded` it is a rehearsal: steps take their results from the record, and nothing has an effect. Returns 200 where the `Idempotency-Key` has started a run before.
         */
        post: operations["rerunRun"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/runs/{id}/fork": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Run again from a step, and reuse what was finished before
         * @description Starts a new run with copies of all steps that were finished and do not depend on `from_step`: they have `reused_from`, and cost nothing. That step and what follows it are executed. With another graph or input, only steps whose node and input are the same are reused; `not_reused` names the others, which are executed again. With mode `recorded` it is a rehearsal, which takes also what follows from the record.
         */
        post: operations["forkRun"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/workflows/{id}/experiments": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the experiments of a workflow, newest first */
        get: operations["listExperiments"];
        put?: never;
        /**
         * Try a draft or a version on past runs
         * @description Rehearses each of the runs with the candidate, in the background: steps take their results from the record of the run, and nothing has an effect. What has no record is executed only if `allow` names it. What the draft contains now is what is tried.
         */
        post: operations["startExperiment"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/experiments/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read an experiment, with its runs, the worst first
         * @description While it runs, `runs` has those that are done, and a next page may miss runs that were done meanwhile. With `format=csv`, all runs as CSV (RFC 4180).
         */
        get: operations["getExperiment"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/experiments/{id}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Cancel a running experiment
         * @description Cancels its open rehearsals, too. What is done stays.
         */
        post: operations["cancelExperiment"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/workflows/{id}/nodes/{node_id}/test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Test one node with the state of a past run
         * @description Rehearses this node alone, with the state that it had in a run or with the given one, and answers with its step. It is executed if it only computes or `allow` names it; conditions, loops and maps evaluate their expression. Nothing follows it, it counts against no quota, and the run of the test has mode `recorded`. Answers 202 where the test has not ended within 10 seconds: read its run.
         */
        post: operations["testNode"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/workflows/{id}/pins": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List your pinned outputs of a workflow
         * @description At most 100, by node. Each member has their own.
         */
        get: operations["listPins"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/workflows/{id}/pins/{node_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Pin the output of a node from a past run
         * @description Keeps a copy of the output for your node tests with `pins`, instead of the one pinned before. Runs do not use it.
         */
        put: operations["savePin"];
        post?: never;
        /** Remove your pinned output of a node */
        delete: operations["removePin"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/workflows/{id}/webhook": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the inbound webhook and its settings
         * @description The secret in `url` is shown to members who can edit and run workflows; others see asterisks.
         */
        get: operations["getWebhook"];
        put?: never;
        /**
         * Enable the inbound webhook, or give it a new URL
         * @description Each call creates a new secret; the previous URL then returns 404. Also requires `run_workflows`, since anyone with the URL can start runs.
         */
        post: operations["enableWebhook"];
        /**
         * Disable the inbound webhook
         * @description Its URL then returns 404 permanently; its settings are kept.
         */
        delete: operations["disableWebhook"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/workflows/{id}/webhook/config": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /** Change settings of the inbound webhook; absent ones do not change */
        put: operations["configureWebhook"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/workflows/{id}/inbound-events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the events that the inbound webhook received, newest first
         * @description Each with its outcome: a run, a duplicate of an earlier event, or a refusal with its reason. Events that start no run appear after up to a second.
         */
        get: operations["listInboundEvents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/inbound-events/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read an inbound event, with its headers and its body */
        get: operations["getInboundEvent"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/inbound-events/{id}/replay": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Start a run with the input of an inbound event again
         * @description Budgets, quota, policies and the `input_schema` apply as they are now. The run has the trigger `webhook`, the member who replays it, and the event in `inbound_event_id`. Returns 200 with the earlier run where the `Idempotency-Key`, or with `deduplicate` the event, has started one before.
         */
        post: operations["replayInboundEvent"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/workflows/{id}/inbound-events/replay": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Replay the inbound events of a range
         * @description In the background, one after another, the oldest first. Events whose body was not read or not kept in full are left out.
         */
        post: operations["replayInboundEvents"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/workflows/{id}/event-replays": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the replays of inbound events of a workflow, newest first */
        get: operations["listEventReplays"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/event-replays/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read the progress of a replay of inbound events */
        get: operations["getEventReplay"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/event-replays/{id}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Cancel a running replay of inbound events
         * @description It starts no further run. Those that it has started continue.
         */
        post: operations["cancelEventReplay"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/approvals": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List open gates, oldest first */
        get: operations["listApprovals"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/runs/{id}/gates/{step_key}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a gate, open or decided, with what it asked before
         * @description What an approver needs to know: whether the caller can decide it, the schema of the arguments of a tool call, and the earlier decisions of the same node in this run.
         */
        get: operations["getGate"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/tools": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List custom tools, by name */
        get: operations["listTools"];
        put?: never;
        /**
         * Register a custom tool
         * @description Workflows call it as `custom:<name>`: an HTTP endpoint that receives the arguments as JSON, or a tool of an MCP server. Its target is checked with each call.Registering one under a name that a graph already calls also requires `publish_workflows` where a published workflow calls the tool, and `run_workflows` where one does that has a webhook or an enabled schedule.
         */
        post: operations["createTool"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/tools/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read a custom tool */
        get: operations["getTool"];
        /**
         * Change a custom tool
         * @description Changes the fields in the body, for the next step that calls the tool. `headers` is replaced as a whole; a header given as `***` keeps its value. Values belong to the origin (scheme, host, port) of `endpoint_url`: a change to another origin is refused until every header is given in full or left out.A change of any other field than `label` and `description` also requires `publish_workflows` where a published workflow calls the tool, and `run_workflows` where one does that has a webhook or an enabled schedule.
         */
        put: operations["updateTool"];
        post?: never;
        /**
         * Remove a custom tool
         * @description Workflows that call it can no longer be triggered, and steps that reach it fail.This also requires `publish_workflows` where a published workflow calls the tool, and `run_workflows` where one does that has a webhook or an enabled schedule.
         */
        delete: operations["deleteTool"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/tools/{id}/test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Call a custom tool once
         * @description A real call, with the stored headers, without retries and for at most 25 seconds. Arguments that do not fit the `input_schema` are refused; a failing tool returns `ok: false`. For a caller without the capability `run_workflows` no stored header is sent, and so no secret: `omitted_headers` names them.
         */
        post: operations["testTool"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/tools/import": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Register the tools of an MCP server
         * @description Each becomes a custom tool of kind `mcp` with the description and the schema that the server gives, and is pinned: a call is refused while the server gives another schema. Importing again accepts the new one. A tool that cannot be registered is skipped, with the reason; 400 when the server does not list its tools. Importing one under a name that a graph already calls also requires `publish_workflows` where a published workflow calls the tool, and `run_workflows` where one does that has a webhook or an enabled schedule.
         */
        post: operations["importTools"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/secrets": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List secrets, by name, without their values */
        get: operations["listSecrets"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/secrets/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read a secret, without its value */
        get: operations["getSecret"];
        /**
         * Create or replace a secret
         * @description Workflows refer to it as `{secrets.NAME}` in headers, query and body of `http_request`, in headers of `mcp` and in headers of custom tools. The value is put in when a request to one of its hosts is sent, and cut out of what comes back. No response contains it. A replaced value counts for the next call.
         */
        put: operations["putSecret"];
        post?: never;
        /**
         * Delete a secret
         * @description Workflows that refer to it can no longer be triggered, and steps that need it fail.
         */
        delete: operations["deleteSecret"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/schedules": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List schedules, newest first */
        get: operations["listSchedules"];
        put?: never;
        /**
         * Create a schedule for a workflow
         * @description A time whose run is refused (quota, budget, an invalid graph, an input that does not fit, an active earlier run) is skipped and shown as `last_skip`. The input must fit the current version of the workflow. An enabled schedule also requires `run_workflows`.
         */
        post: operations["createSchedule"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/schedules/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read a schedule */
        get: operations["getSchedule"];
        /**
         * Change, enable or disable a schedule
         * @description Absent fields do not change. Times before a change are not caught up. A change that leaves it enabled also requires `run_workflows`, unless only the name changes.
         */
        put: operations["updateSchedule"];
        post?: never;
        /** Delete a schedule; runs it has started continue */
        delete: operations["deleteSchedule"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/schedules/{id}/trigger": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Start a run of a schedule now
         * @description With its input, also while it is disabled. Also requires `run_workflows`. 409 while an earlier run of it is active, unless its overlap is `allow`.
         */
        post: operations["triggerSchedule"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/keys": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List API keys, newest first, including revoked ones */
        get: operations["listApiKeys"];
        put?: never;
        /**
         * Create an API key; its secret is shown only this once
         * @description A key linked to a member has the member's current permissions; without `member_id` it has the defaults of its `role`. With `member_id`, `role` is ignored. Nobody can create a key with more permissions than their own.
         */
        post: operations["createApiKey"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/keys/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read an API key */
        get: operations["getApiKey"];
        put?: never;
        post?: never;
        /**
         * Revoke an API key; it stays in the list
         * @description Effective for the next request. Has no effect on a revoked key. Nobody can revoke a key with more permissions than their own.
         */
        delete: operations["revokeApiKey"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/data/keys": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List keys of the data API, newest first, including revoked ones */
        get: operations["listDataKeys"];
        put?: never;
        /**
         * Create a key of the data API; its secret is shown only this once
         * @description For `/v1` alone, where it can do what its scopes permit. Its allowances apply in addition to the plan's. Scopes that read or export also require `view`, `webhooks:write` requires `manage_workspace`.
         */
        post: operations["createDataKey"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/data/keys/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read a key of the data API */
        get: operations["getDataKey"];
        put?: never;
        post?: never;
        /**
         * Revoke a key of the data API; it stays in the list
         * @description Effective for the next request. Has no effect on a revoked key.
         */
        delete: operations["revokeDataKey"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/data/usage": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read the use of the data API this month, in total and by key */
        get: operations["getDataUsage"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/workspace": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read the workspace */
        get: operations["getWorkspace"];
        /** Rename the workspace */
        put: operations["updateWorkspace"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/workspace/plan": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /** Change the plan, effective at once */
        put: operations["setPlan"];
        /** Change the plan, effective at once */
        post: operations["changePlan"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/workspace/alerts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read the alert channels */
        get: operations["getAlerts"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/workspace/alerts/test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send a test over every configured channel
         * @description Sent like every alert, so it arrives within seconds and is retried.
         */
        post: operations["testAlerts"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/usage": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read the use of the plan this month */
        get: operations["getUsage"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/usage/breakdown": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read the cost of runs, by workflow, by model and by day */
        get: operations["getUsageBreakdown"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/metrics/overview": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read the results of runs, in total and by day */
        get: operations["getMetricsOverview"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/audit": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List audit entries, newest first
         * @description An entry is listed when it matches all filters.
         */
        get: operations["listAudit"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/audit/verify": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Verify the audit log
         * @description Compares every entry with its seal and every seal with the previous one, and every tool call that needed approval with its decision, as of one moment.
         */
        get: operations["verifyAudit"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/workspace/prices": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read the workspace's own prices */
        get: operations["getPrices"];
        /**
         * Replace the workspace's own prices
         * @description Models without a price here use the built-in table.
         */
        put: operations["setPrices"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/budgets": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List budgets with their status, oldest first */
        get: operations["listBudgets"];
        put?: never;
        /**
         * Cap what runs may cost in a window
         * @description A trigger that does not fit is refused with 402. With `reservation_estimate_usd` each trigger reserves that much until its run ends; without it only settled spend counts. Past spend of the current window counts too.
         */
        post: operations["createBudget"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/budgets/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read a budget */
        get: operations["getBudget"];
        /**
         * Change the name, limit or estimate of a budget
         * @description Effective for the next trigger and the next step. Existing holds do not change.
         */
        put: operations["updateBudget"];
        post?: never;
        /** Delete a budget; runs that hold it continue without */
        delete: operations["deleteBudget"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/budgets/{id}/status": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read a budget's ledger for the current window */
        get: operations["getBudgetStatus"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/budgets/{id}/history": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read the spend of a budget's current window, by day */
        get: operations["getBudgetHistory"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/governance/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List decisions of policies, budgets and overrides, newest first */
        get: operations["listGovernanceEvents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/workspace/policies": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read the policies for agents and tools */
        get: operations["getPolicies"];
        /**
         * Replace the policies for agents and tools
         * @description Replaces all policies; absent ones are unrestricted. Applies to every step that starts after the response, also in active runs.
         */
        put: operations["setPolicies"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/workspace/policies/backtest": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List backtests of policies, newest first */
        get: operations["listBacktests"];
        put?: never;
        /**
         * Try policies on history
         * @description Judges the recorded steps of all runs that were created since a time by policies that are not in force: what they would block or redact that was not, and what they would allow that was not. Nothing is executed or changed. The answer comes at once; read the backtest to follow it.
         */
        post: operations["startBacktest"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/workspace/policies/backtest/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a backtest with a page of its steps
         * @description Also while it is running. A step is blocked or redacted by policies as its stored input shows, which is the one after redaction.
         */
        get: operations["getBacktest"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/workspace/policies/backtest/{id}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Cancel a running backtest
         * @description It ends within seconds. What it has found so far is kept.
         */
        post: operations["cancelBacktest"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/data/feeds": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List feeds, newest first, including archived ones */
        get: operations["listFeeds"];
        put?: never;
        /**
         * Create a feed
         * @description A stream of records. All are live or, with `is_demo`, all are demo records.
         */
        post: operations["createFeed"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/data/feeds/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read a feed with its specification */
        get: operations["getFeed"];
        /**
         * Change a feed
         * @description Changes the fields in the body. A changed status is sent to webhooks as `feed.status_changed`. Records keep types that are removed from `entity_types`.
         */
        put: operations["updateFeed"];
        post?: never;
        /**
         * Delete a feed and all its records
         * @description With very many records some may be left when the response is 503; delete it again.
         */
        delete: operations["deleteFeed"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/data/sources": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List sources and their health, newest first */
        get: operations["listSources"];
        put?: never;
        /** Create a source */
        post: operations["createSource"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/data/sources/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read a source and its health */
        get: operations["getSource"];
        /**
         * Change a source
         * @description Changes the fields in the body.
         */
        put: operations["updateSource"];
        post?: never;
        /**
         * Delete a source
         * @description Records that name it as evidence do not change.
         */
        delete: operations["deleteSource"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/data/sources/{id}/report": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Report the result of a source check
         * @description Counts as a source check of the month. Three failures in a row make the source `failed`, which is sent to webhooks as `source.failed`; the next success makes it `healthy` (`source.recovered`).
         */
        post: operations["reportSource"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/data/entities": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List records, newest first
         * @description Newest is the last first observation; with `updated_since`, the last update. Costs no credits.
         */
        get: operations["listEntities"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/data/entities/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read a record */
        get: operations["getEntity"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/data/entities/{id}/history": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read the versions of a record and their changes, newest first */
        get: operations["getEntityHistory"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/data/changes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List changes of records, attribute by attribute, newest first */
        get: operations["listChanges"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/data/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List intelligence events, newest first
         * @description Does not mark them as delivered.
         */
        get: operations["listEvents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/webhooks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List webhook endpoints, newest first */
        get: operations["listWebhookEndpoints"];
        put?: never;
        /**
         * Register a webhook endpoint
         * @description Returns the secret that signs deliveries, only this once. At most 50 endpoints for live records, and 50 for demo records. Keys of the data API do not see an endpoint that subscribes to events of runs.
         */
        post: operations["createWebhookEndpoint"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/webhooks/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read a webhook endpoint */
        get: operations["getWebhookEndpoint"];
        /**
         * Change the address or the events of a webhook endpoint
         * @description Changes the fields in the body. Pending deliveries go to the new address.
         */
        put: operations["updateWebhookEndpoint"];
        post?: never;
        /** Delete a webhook endpoint and its pending deliveries */
        delete: operations["deleteWebhookEndpoint"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/webhooks/{id}/rotate-secret": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Replace the secret of a webhook endpoint; the new one is shown this once
         * @description Deliveries are also signed with the previous secret for 24 hours.
         */
        post: operations["rotateWebhookEndpointSecret"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/webhooks/{id}/deliveries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the deliveries of a webhook endpoint, newest first, each with its attempts
         * @description Kept for 30 days.
         */
        get: operations["listWebhookDeliveries"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/webhooks/{id}/deliveries/{delivery_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read a delivery with its attempts */
        get: operations["getWebhookDelivery"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/webhooks/{id}/ping": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send a ping to a webhook endpoint
         * @description An event of the type `ping`, whether the endpoint subscribes to it or not.
         */
        post: operations["pingWebhookEndpoint"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/webhooks/{id}/deliveries/{delivery_id}/redeliver": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Redeliver one delivery
         * @description A delivery that has ended, delivered or failed, starts again with all its attempts.
         */
        post: operations["redeliverWebhookDelivery"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/webhooks/{id}/redeliver": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Redeliver dead letters, all or those of events of a range, oldest first
         * @description With `status` `all`, delivered ones, too.
         */
        post: operations["redeliverWebhookDeadLetters"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/runs/{id}/stream": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Follow a run's frames over a WebSocket
         * @description Frames of events after the connection, each with `run_id` and `type`. Closed with 4401 without a valid `token` where one is required, 4403 without the `view` permission, 4404 for an unknown run, 1013 when the caller, the run, the workspace or the process has too many streams; the reason of the close frame says which.
         */
        get: operations["streamRun"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/stream": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Follow what changes in the workspace over a WebSocket
         * @description At most one frame a second: `{"type": "changed", "changed": [...]}` with what has changed since the connection, as `target_type` of audit entries, `step` for steps and states of runs, `job` for background jobs and `record` for records of the data API. Read again what you show of them. Closed with 4401 without a valid `token` where one is required, 4403 without the `view` permission, 1013 when the caller, the workspace or the process has too many streams; the reason of the close frame says which.
         */
        get: operations["streamWorkspace"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/mcp": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Call the API as tools of the Model Context Protocol
         * @description Streamable HTTP without sessions, for protocol versions from 2024-11-05 to 2026-07-28. `tools/list` names the tools, one for each published workflow with an `input_schema` among them; each requires the permission of its action.
         */
        post: operations["mcp"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/hooks/{workflow_id}/{secret}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Start a run with an event
         * @description The URL is the credential. A wrong id, a wrong secret and a disabled webhook get the same 404. The content type does not matter.
         */
        post: operations["receiveEvent"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/data/ingest": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send records and events to a feed
         * @description JSON with at most 1,000 records, or a stream of any length of `application/x-ndjson` with one record per line and `?feed_id=`. An unchanged record creates no version and no change; a refused record is not stored, while the others are. An interrupted stream keeps what it has sent so far: send all of it again. A change names an attribute directly, or as `attributes.<name>` where a field of the record has that name.
         */
        post: operations["ingestRecords"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        AcceptInviteBody: {
            invite_code: string;
            password: string;
            name?: string;
        };
        AgentNode: {
            /** @description Letters and digits of any script, `_`, `-`, `.` and `:`; starts with a letter, a digit or `_` */
            id: string;
            label?: string;
            position?: components["schemas"]["NodePosition"];
            retry?: components["schemas"]["NodeRetry"];
            timeout_seconds?: number;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            kind: "agent";
            system_prompt?: string;
            prompt?: string;
            /** @default mock */
            model?: string;
            fallback_models?: string[];
            temperature?: number;
            max_output_tokens?: number;
            response_schema?: {
                [key: string]: unknown;
            };
            output_key?: string;
            tools?: (string | components["schemas"]["AgentTool"])[];
            max_turns?: number;
            /** @enum {string} */
            tool_choice?: "auto" | "required";
            /** @enum {string} */
            on_max_turns?: "fail" | "answer";
            mock?: components["schemas"]["MockModel"];
        };
        AgentTool: {
            name: string;
            approval?: ("always" | "never") | string;
            description?: string;
            parameters?: {
                [key: string]: unknown;
            };
            fixed?: {
                [key: string]: unknown;
            };
            max_calls?: number;
            /**
             * @default tell
             * @enum {string}
             */
            on_error?: "tell" | "fail";
        };
        /** @description A model has answered a turn. Only for sockets with `deltas=true` */
        AgentTurnFrame: {
            run_id: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "agent_turn";
            node_id: string;
            /** @description The step of the agent */
            step_key: string;
            turn: number;
            /** @description The number of tool calls in this turn */
            calls: number;
            usage?: components["schemas"]["AgentTurnFrameUsage"];
            /** @description US dollars, at most six decimals */
            cost_usd: number;
        };
        AgentTurnFrameUsage: {
            input_tokens: number;
            output_tokens: number;
            /** @description The part of `input_tokens` that the provider read from its cache */
            cached_tokens?: number;
            /** @description The part of `input_tokens` that the provider stored in its cache, at a surcharge */
            cache_write_tokens?: number;
        };
        AlertChannel: {
            /** @enum {string} */
            channel: "chat" | "email";
            configured: boolean;
            /** @description The events it sends once it is configured: runs that failed or paused */
            events: ("failed" | "paused")[];
            /** @description The service settings that configure it */
            hint: string;
        };
        AlertSettings: {
            channels: components["schemas"]["AlertChannel"][];
        };
        AlertTest: {
            /** @description The channels that the test was queued for */
            channels: ("chat" | "email")[];
        };
        Allowance: {
            used: number;
            /** @description Null: unlimited */
            limit: number | null;
        };
        ApiKey: {
            id: string;
            name: string;
            /** @description The start of the secret */
            prefix: string;
            /**
             * @description For a linked key, its member's current role
             * @enum {string}
             */
            role: "admin" | "editor" | "viewer";
            member_id: string | null;
            /** @description By hand, or because its member was removed */
            revoked: boolean;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            created_at: string;
            /** @description Delayed by at most a few seconds */
            last_used_at: string | null;
            /** @description Changes with each edit. The header `ETag` has it in double quotes; send that as `If-Match` to change only this state */
            etag: string;
        };
        /** @description It is not as `If-Match` says */
        ApiKeyChanged: {
            /** @description The error message */
            detail: string;
            /** @description As it is now; null when it is gone */
            current: components["schemas"]["ApiKey"] | null;
        };
        Approval: {
            run_id: string;
            workflow_id: string;
            workflow_name: string;
            /** @enum {string} */
            kind: "human_gate" | "tool_call";
            node_id: string;
            step_key: string;
            label: string;
            prompt: string;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            since: string;
            /** @description JSON Schema of the `input` that an approval needs */
            input_schema?: {
                [key: string]: unknown;
            };
            approvers?: components["schemas"]["ApprovalApprovers"];
            /** @description How many different members must approve; 1 without it */
            required?: number;
            /** @description True: the members who started the run, or one from which it starts, cannot decide */
            not_the_starter?: boolean;
            /** @description How many members can still decide it, as they are now; 0 if the run has to be cancelled, or a permission granted */
            deciders?: number;
            /**
             * @description Fewer `approvers` are left than approvals are missing, so admins can decide, too; `not_the_starter` and `required` still hold
             * @constant
             */
            admins_stand_in?: true;
            /**
             * Format: date-time
             * @description When `on_timeout` happens
             */
            expires_at?: string;
            /** @enum {string} */
            on_timeout?: "reject" | "approve" | "fail";
            /** @description The approvals so far, oldest first */
            decisions?: components["schemas"]["GateDecision"][];
            /** @description The member who is expected to decide; others who can decide it still can */
            assignee?: components["schemas"]["Assignee"];
            /** @description For kind `tool_call` */
            tool_call?: components["schemas"]["PendingToolCall"];
        };
        /** @description Only they can decide */
        ApprovalApprovers: {
            roles?: ("admin" | "editor" | "viewer")[];
            /** @description The name is null for a member who was removed */
            members?: components["schemas"]["ApprovalApproversMember"][];
        };
        ApprovalApproversMember: {
            id: string;
            name: string | null;
        };
        ApprovalList: {
            approvals: components["schemas"]["Approval"][];
            /** @description Null on the last page */
            next_cursor: string | null;
        };
        AssignGateBody: {
            /** @description The gate, when several are open; by default the oldest */
            node_id?: string;
            /** @description The gate's round, from `pending_gates`: a gate in a loop opens once per iteration */
            step_key?: string;
            /** @description One of the `eligible_members` of the gate; null takes the assignment back */
            member_id: string | null;
        };
        Assignee: {
            id: string;
            name: string;
        };
        AssistantMessage: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            role: "assistant";
            turn: number;
            step_key: string;
            text: string;
            calls: components["schemas"]["MessageCall"][];
            model: string | null;
            usage: components["schemas"]["AssistantMessageUsage"] | null;
            /** @description US dollars, at most six decimals */
            cost_usd: number;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            at: string;
        };
        AssistantMessageUsage: {
            input_tokens: number;
            output_tokens: number;
            /** @description The part of `input_tokens` that the provider read from its cache */
            cached_tokens?: number;
            /** @description The part of `input_tokens` that the provider stored in its cache, at a surcharge */
            cache_write_tokens?: number;
        };
        AuditEntry: {
            id: string;
            action: string;
            /** @description The member who acted, if one did */
            actor_id: string | null;
            actor_name: string | null;
            target_type: string;
            target_id: string;
            /** @description Its current name; for a run, its workflow's name. Null: it has no name, or was deleted */
            target_name: string | null;
            details: {
                [key: string]: unknown;
            };
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            created_at: string;
        };
        AuditList: {
            /** @description Newest first */
            logs: components["schemas"]["AuditEntry"][];
            /** @description How many entries match the filters */
            total: number;
        };
        AuditVerification: {
            valid: boolean;
            /** @description Entries that are part of the chain */
            sealed: number;
            /** @description Entries that wait for their seal */
            unsealed: number;
            /** @description The newest seal. Store it elsewhere to verify later that no earlier entry was changed */
            head: components["schemas"]["AuditVerificationHead"] | null;
            first_problem?: components["schemas"]["AuditVerificationFirstProblem"];
            tool_calls: components["schemas"]["ToolCallVerification"];
        };
        AuditVerificationFirstProblem: {
            /** @description Null for an entry without a position in the chain */
            position: number | null;
            audit_id?: string;
            problem: string;
        };
        AuditVerificationHead: {
            position: number;
            hash: string;
        };
        Backtest: {
            id: string;
            /** @enum {string} */
            status: "running" | "done" | "cancelled" | "failed";
            progress: components["schemas"]["JobProgress"];
            /** @description Why it failed */
            error: string | null;
            created_by: string | null;
            created_by_name: string | null;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            created_at: string;
            finished_at: string | null;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            since: string;
            workflow_id: string | null;
            summary: components["schemas"]["BacktestSummary"];
            policies: components["schemas"]["Policies"];
            /** @description Steps that would be judged differently, those of the newest runs first */
            steps: components["schemas"]["BacktestFinding"][];
            /** @description There are more such steps: the first 10,000 are kept. The counts are exact */
            truncated: boolean;
            /** @description Null on the last page */
            next_cursor: string | null;
        };
        BacktestFinding: {
            /** @enum {string} */
            effect: "would_block" | "would_redact" | "would_allow";
            run_id: string;
            step_key: string;
            node_id: string;
            /**
             * @description As the step was judged when it ran
             * @enum {string}
             */
            before: "allowed" | "redacted" | "blocked";
            /**
             * @description As these policies judge it
             * @enum {string}
             */
            after: "allowed" | "redacted" | "blocked";
            reason: string;
        };
        BacktestList: {
            /** @description Newest first */
            backtests: components["schemas"]["ListedBacktest"][];
            /** @description Null on the last page */
            next_cursor: string | null;
        };
        BacktestSummary: {
            /** @description Steps that could be judged */
            judged: number;
            would_block: number;
            would_redact: number;
            /** @description Steps that were blocked or redacted and would not be */
            would_allow: number;
            /** @description Steps that could not be judged: what matters was redacted, or is not stored with the step */
            hidden: number;
        };
        BlockedArgument: {
            /** @description Path into the rendered parameters, with dots between steps */
            argument: string;
            /** @description Compared by value, in lists with each member */
            values?: unknown[];
            /** @description RE2, matched anywhere in the text */
            pattern?: string;
        };
        Budget: {
            id: string;
            name: string;
            /** @enum {string} */
            scope: "workspace" | "workflow";
            workflow_id: string | null;
            /** @enum {string} */
            window: "day" | "week" | "month" | "total";
            /** @description US dollars, at most six decimals */
            limit_usd: number;
            reservation_estimate_usd: number | null;
            /**
             * @description `none`: a request begins only if all that it may cost fits, beside the requests in progress. `one_step`: a request begins while something is left, so that the limit is exceeded by less than one step
             * @enum {string}
             */
            overrun: "none" | "one_step";
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            created_at: string;
            status: components["schemas"]["BudgetStatus"];
            /** @description Changes with each edit. The header `ETag` has it in double quotes; send that as `If-Match` to change only this state */
            etag: string;
        };
        /** @description It is not as `If-Match` says */
        BudgetChanged: {
            /** @description The error message */
            detail: string;
            /** @description As it is now; null when it is gone */
            current: components["schemas"]["Budget"] | null;
        };
        BudgetHistory: {
            /** @description Null for `total` */
            window_start: string | null;
            /** @description The first instant after the window; null for `total` */
            window_end: string | null;
            /** @description US dollars, at most six decimals */
            limit_usd: number;
            /** @description Settled spend by the day, UTC, on which runs ended, oldest first: every day of the window up to today, of `total` the last 90. Spend from before the budget was created is on its day of creation. */
            days: components["schemas"]["BudgetHistoryDay"][];
        };
        BudgetHistoryDay: {
            /** Format: date */
            date: string;
            /** @description US dollars, at most six decimals */
            spent_usd: number;
        };
        BudgetStatus: {
            /** @description Settled cost of finished runs in the window */
            spent_usd: number;
            /** @description Open holds of runs in flight */
            reserved_usd: number;
            /** @description Spent and reserved */
            committed_usd: number;
            /** @description Limit minus committed; negative when runs cost more than they held */
            remaining_usd: number;
            /** @description Committed as a share of the limit, 0 to 100 and above */
            pct: number;
            /** @description Committed has reached the limit: triggers return 402 */
            over: boolean;
            /** @description Projected spend at the end of the window, at the current rate */
            projected_usd: number;
            /** @description Null for `total` */
            window_start: string | null;
            /** @description The first instant after the window; null for `total` */
            window_end: string | null;
        };
        /** @description Absent ones do not change */
        CapabilityOverrides: {
            /** @description Null clears it: the default of the role applies */
            view?: boolean | null;
            /** @description Null clears it: the default of the role applies */
            run_workflows?: boolean | null;
            /** @description Null clears it: the default of the role applies */
            approve_gates?: boolean | null;
            /** @description Null clears it: the default of the role applies */
            cancel_resume?: boolean | null;
            /** @description Null clears it: the default of the role applies */
            create_edit_workflows?: boolean | null;
            /** @description Null clears it: the default of the role applies */
            publish_workflows?: boolean | null;
            /** @description Null clears it: the default of the role applies */
            delete_workflows?: boolean | null;
            /** @description Null clears it: the default of the role applies */
            manage_members?: boolean | null;
            /** @description Null clears it: the default of the role applies */
            manage_api_keys?: boolean | null;
            /** @description Null clears it: the default of the role applies */
            manage_workspace?: boolean | null;
        };
        CapabilitySetting: {
            /** @description The default of the member's role */
            default: boolean;
            override: boolean | null;
            /** @description The override if there is one, else the default */
            effective: boolean;
        };
        CapabilitySettings: {
            view: components["schemas"]["CapabilitySetting"];
            run_workflows: components["schemas"]["CapabilitySetting"];
            approve_gates: components["schemas"]["CapabilitySetting"];
            cancel_resume: components["schemas"]["CapabilitySetting"];
            create_edit_workflows: components["schemas"]["CapabilitySetting"];
            publish_workflows: components["schemas"]["CapabilitySetting"];
            delete_workflows: components["schemas"]["CapabilitySetting"];
            manage_members: components["schemas"]["CapabilitySetting"];
            manage_api_keys: components["schemas"]["CapabilitySetting"];
            manage_workspace: components["schemas"]["CapabilitySetting"];
        };
        Change: {
            id: string;
            feed_id: string;
            entity_id: string;
            entity_type: string;
            attribute: string;
            old_value: unknown;
            new_value: unknown;
            /** @description Of the record, after this change */
            version: number;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            changed_at: string;
            source_id: string | null;
        };
        ChangeList: {
            changes: components["schemas"]["NamedChange"][];
            /** @description Null on the last page */
            next_cursor: string | null;
        };
        ChangePasswordBody: {
            current_password: string;
            new_password: string;
        };
        ChangePermissionsBody: {
            overrides: components["schemas"]["CapabilityOverrides"];
            /**
             * @description Keep keys linked to the member whose makers lack the gained permissions. Without it they are revoked, since the maker of a key knows its secret.
             * @default false
             */
            keep_keys?: boolean;
        };
        ChangePlanBody: {
            /** @enum {string} */
            plan: "free" | "starter" | "pro" | "enterprise";
        };
        ChangeRoleBody: {
            /** @enum {string} */
            role: "admin" | "editor" | "viewer";
            /**
             * @description Keep keys linked to the member whose makers lack the gained permissions. Without it they are revoked, since the maker of a key knows its secret.
             * @default false
             */
            keep_keys?: boolean;
        };
        CheckResult: {
            name: string;
            /** @enum {string} */
            type: "contains" | "not_contains" | "equals" | "regex" | "max_cost_usd" | "max_duration_ms" | "expression";
            passed: boolean;
            actual: unknown;
            expected: unknown;
            message?: string;
        };
        Checkpoint: {
            step_key: string;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            at: string;
            /** @description Its event in the Temporal history */
            event_id: number | null;
        };
        /** @description The run that a step waits for is no longer paused. Only for sockets with `deltas=true` */
        ChildContinuedFrame: {
            run_id: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "child_continued";
            node_id: string;
            /** @description Only for a tool call of an agent, which has the node_id of the agent */
            step_key?: string;
            /** @description The run that the step has started */
            child_run_id: string;
        };
        /** @description The run that a step waits for has paused: the step is `paused_child`. Only for sockets with `deltas=true` */
        ChildPausedFrame: {
            run_id: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "child_paused";
            node_id: string;
            /** @description Only for a tool call of an agent, which has the node_id of the agent */
            step_key?: string;
            /** @description The run that the step has started */
            child_run_id: string;
        };
        ComparedRun: {
            /** @description The run that was rehearsed. It may have been deleted */
            run_id: string;
            rehearsal_run_id: string | null;
            /** @enum {string} */
            outcome: "equal" | "changed" | "failed" | "unrecorded" | "refused";
            /** @description Why it failed, has no record, was refused, or is changed without a diff */
            reason: string | null;
            /** @description Of the outputs */
            diff: components["schemas"]["OutputDiff"] | null;
            checks: components["schemas"]["ComparedRunChecks"];
            cost_usd: components["schemas"]["ComparedRunCostUsd"] | null;
            duration_ms: components["schemas"]["ComparedRunDurationMs"] | null;
        };
        /** @description The names of the checks that only the rehearsal, and that only the run has passed */
        ComparedRunChecks: {
            won: string[];
            lost: string[];
        };
        /** @description The recorded cost, and that of the candidate */
        ComparedRunCostUsd: {
            /** @description US dollars, at most six decimals */
            base: number;
            /** @description US dollars, at most six decimals */
            candidate: number;
        };
        /** @description How long the steps took together */
        ComparedRunDurationMs: {
            base: number;
            candidate: number;
        };
        ConditionNode: {
            /** @description Letters and digits of any script, `_`, `-`, `.` and `:`; starts with a letter, a digit or `_` */
            id: string;
            label?: string;
            position?: components["schemas"]["NodePosition"];
            retry?: components["schemas"]["NodeRetry"];
            timeout_seconds?: number;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            kind: "condition";
            expression: string;
        };
        /** @description The mean difference per run, candidate minus base, with its 95% confidence interval by the t distribution */
        ConfidenceInterval: {
            mean: number;
            low: number;
            high: number;
        };
        ConfigureWebhookBody: {
            /** @description Refuse requests without a valid `X-Service-Timestamp` and `X-Service-Signature` */
            require_signature?: boolean;
            /** @description How far the time of a signature may be from now, before or after */
            timestamp_tolerance_seconds?: number;
            /** @description How long a known event starts no second run; 0: every request starts one */
            dedup_window_seconds?: number;
            /** @description The body field with the event id, without an `X-Service-Event-Id` */
            event_id_field?: string;
            /** @description The header with the event id; it decides alone. Null: `X-Service-Event-Id`, then the body */
            event_id_header?: string | null;
            /** @description Take the fields of a form, by its content type, as the input */
            accept_forms?: boolean;
            /** @description Answer the challenges by which senders check an address, without a run: `{"type": "url_verification", "challenge": ...}` and `?validationToken=...` */
            answer_challenges?: boolean;
        };
        CountBounds: {
            min: number;
            /** @description Null: no bound */
            max: number | null;
        };
        CreateApiKeyBody: {
            name: string;
            /**
             * @description Required unless the key is linked; a linked key has its member's role
             * @enum {string}
             */
            role?: "admin" | "editor" | "viewer";
            /** @description Links the key to a member: it has the member's current permissions */
            member_id?: string | null;
        };
        CreateBudgetBody: {
            name: string;
            limit_usd: number;
            /** @description What each trigger reserves. Without it only settled spend counts. */
            reservation_estimate_usd?: number | null;
            /**
             * @description `none`: a request begins only if all that it may cost fits, beside the requests in progress. `one_step`: a request begins while something is left, so that the limit is exceeded by less than one step
             * @enum {string}
             */
            overrun?: "none" | "one_step";
            /**
             * @default workspace
             * @enum {string}
             */
            scope?: "workspace" | "workflow";
            /** @description The workflow, for scope `workflow` */
            workflow_id?: string | null;
            /**
             * @description UTC; weeks start on Monday
             * @default month
             * @enum {string}
             */
            window?: "day" | "week" | "month" | "total";
        };
        CreateDataKeyBody: {
            name: string;
            /**
             * @description Live keys read live records, test keys read demo records
             * @enum {string}
             */
            mode: "live" | "test";
            scopes: ("feeds:read" | "entities:read" | "events:read" | "sources:read" | "usage:read" | "exports:create" | "webhooks:read" | "webhooks:write")[];
            /** @description The key is invalid from then on */
            expires_at?: string | null;
            /**
             * @description Addresses and CIDRs that can use it; empty: any
             * @default []
             */
            ip_allowlist?: (string)[];
            /** @description In addition to the limit of the plan; null: only the limit of the plan */
            monthly_request_allowance?: number | null;
            /** @description In addition to the limit of the plan; null: only the limit of the plan */
            monthly_credit_allowance?: number | null;
        };
        CreateFeedBody: {
            name: string;
            /** @default  */
            description?: string;
            /**
             * @description Archived feeds are not listed in the data API
             * @default active
             * @enum {string}
             */
            status?: "active" | "paused" | "degraded" | "archived";
            /**
             * @description The accepted types of records; empty: any
             * @default []
             */
            entity_types?: string[];
            /**
             * @description The meaning of its records' attributes, as JSON Schema or as text
             * @default {}
             */
            schema?: {
                [key: string]: unknown;
            };
            /**
             * @description Where its records come from, such as `{"country": "US"}`
             * @default {}
             */
            geography?: {
                [key: string]: unknown;
            };
            /**
             * @description What is monitored, how and how often
             * @default {}
             */
            specification?: {
                [key: string]: unknown;
            };
            /**
             * @description Its records are demo records, only for test keys. Cannot be changed
             * @default false
             */
            is_demo?: boolean;
        };
        CreateScheduleBody: {
            workflow_id: string;
            name?: string | null;
            /** @description Minute, hour, day of month, month, day of week; or `@hourly`, `@daily`, `@weekly`, `@monthly`, `@yearly` */
            cron: string;
            /**
             * @description IANA time zone of the cron expression
             * @default UTC
             */
            timezone?: string;
            /** @default {} */
            input?: {
                [key: string]: unknown;
            };
            /** @default true */
            enabled?: boolean;
            /**
             * @description `skip`: no run starts while an earlier one of the schedule is active
             * @default skip
             * @enum {string}
             */
            overlap?: "skip" | "allow";
        };
        CreateSourceBody: {
            /** @description Unique in the workspace among the live sources, and among the demo ones */
            name: string;
            /** @description The type of source, such as `permit_portal` */
            type: string;
            /** @default null */
            jurisdiction?: string | null;
            /**
             * @description How often it is checked, such as `daily`
             * @default null
             */
            cadence?: string | null;
            /**
             * @description Whether it may be read
             * @default null
             */
            permission_status?: string | null;
            /**
             * @description Whether its content may be redistributed
             * @default null
             */
            license_status?: string | null;
            /** @default null */
            reliability_score?: number | null;
            /**
             * @description For demo records, only for test keys. Cannot be changed
             * @default false
             */
            is_demo?: boolean;
        };
        CreateToolBody: {
            /** @description Workflows call the tool as `custom:<name>` */
            name: string;
            /** @default  */
            label?: string;
            /** @default  */
            description?: string;
            /**
             * @default http
             * @enum {string}
             */
            kind?: "http" | "mcp";
            /**
             * Format: uri
             * @description Called unchanged: no part of it comes from a workflow
             */
            endpoint_url: string;
            /**
             * @description For kind `http`. GET and HEAD send the arguments in the query
             * @default POST
             * @enum {string}
             */
            method?: "POST" | "GET" | "HEAD" | "PUT" | "PATCH" | "DELETE";
            /**
             * @description Sent with each call. Values are stored sealed and shown as `***`
             * @default {}
             */
            headers?: {
                [key: string]: string;
            };
            /**
             * @description The tool of the MCP server, for kind `mcp`
             * @default null
             */
            mcp_tool?: string | null;
            /**
             * @description JSON Schema, draft 2020-12 or 7, that validates the arguments before each call. Patterns are RE2; `format` is not checked; external references are not loaded.
             * @default null
             */
            input_schema?: {
                [key: string]: unknown;
            } | null;
            /** @default 60 */
            timeout_seconds?: number;
            /**
             * @description Retries after the first try; a node's own `retry` replaces it
             * @default 1
             */
            retry_count?: number;
        };
        CreateWebhookEndpointBody: {
            /** @description Events are sent to it with POST */
            url: string;
            /** @description The subscribed events; a `ping` is always sent */
            events: ("entity.created" | "entity.updated" | "intelligence_event.created" | "intelligence_event.verified" | "feed.status_changed" | "source.failed" | "source.recovered" | "usage.threshold_reached" | "export.completed" | "ping" | "run.completed" | "run.failed" | "run.paused" | "approval.requested")[];
            /**
             * @description Receives events about demo records instead of live ones; events of runs in any case. Cannot be changed
             * @default false
             */
            is_demo?: boolean;
        };
        CreateWorkflowBody: {
            name: string;
            /** @default  */
            description?: string;
            graph?: components["schemas"]["GraphDraft"];
            /** @description JSON Schema, draft 2020-12 or 7, that the input of every run must fit; null accepts any object. Patterns are RE2; `format` is not checked; external references are not loaded. At most 65,536 characters and 40 levels */
            input_schema?: {
                [key: string]: unknown;
            } | null;
            /** @description The cost limit of one run; null removes it */
            run_cap_usd?: number | null;
            /**
             * @description `none`: a request begins only if all that it may cost fits, beside the requests in progress. `one_step`: a request begins while something is left, so that the limit is exceeded by less than one step
             * @enum {string}
             */
            overrun?: "none" | "one_step";
            /** @description It is published only after an experiment of exactly this graph and input schema that lost no check and failed no run */
            requires_experiment?: boolean;
        };
        CreatedApiKey: {
            id: string;
            name: string;
            /** @description The start of the secret */
            prefix: string;
            /**
             * @description For a linked key, its member's current role
             * @enum {string}
             */
            role: "admin" | "editor" | "viewer";
            member_id: string | null;
            /** @description By hand, or because its member was removed */
            revoked: boolean;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            created_at: string;
            /** @description Delayed by at most a few seconds */
            last_used_at: string | null;
            /** @description Changes with each edit. The header `ETag` has it in double quotes; send that as `If-Match` to change only this state */
            etag: string;
            /** @description For `X-API-Key`; shown only this once */
            secret: string;
        };
        CreatedDataKey: {
            id: string;
            name: string;
            /**
             * @description Live keys read live records, test keys read demo records
             * @enum {string}
             */
            mode: "live" | "test";
            /** @description The start of the secret */
            prefix: string;
            scopes: ("feeds:read" | "entities:read" | "events:read" | "sources:read" | "usage:read" | "exports:create" | "webhooks:read" | "webhooks:write")[];
            expires_at: string | null;
            ip_allowlist: string[];
            monthly_request_allowance: number | null;
            monthly_credit_allowance: number | null;
            revoked: boolean;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            created_at: string;
            /** @description Delayed by at most a few seconds */
            last_used_at: string | null;
            /** @description Changes with each edit. The header `ETag` has it in double quotes; send that as `If-Match` to change only this state */
            etag: string;
            /** @description For `Authorization: Bearer` or `X-API-Key`; shown only this once */
            secret: string;
        };
        CustomTool: {
            id: string;
            name: string;
            label: string;
            description: string;
            /** @enum {string} */
            kind: "http" | "mcp";
            endpoint_url: string;
            /** @enum {string} */
            method: "POST" | "GET" | "HEAD" | "PUT" | "PATCH" | "DELETE";
            /** @description Every value is `***` */
            headers: {
                [key: string]: string;
            };
            mcp_tool: string | null;
            input_schema: {
                [key: string]: unknown;
            } | null;
            /** @description `sha256:` and the SHA-256 of the canonical JSON (RFC 8785) of the `input_schema`; null without one */
            schema_digest: string | null;
            /** @description Whether it was imported, and is not called while its server gives another schema for it */
            pinned: boolean;
            timeout_seconds: number;
            retry_count: number;
            created_by: string | null;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            created_at: string;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            updated_at: string;
            /** @description Changes with each edit. The header `ETag` has it in double quotes; send that as `If-Match` to change only this state */
            etag: string;
        };
        /** @description It is not as `If-Match` says */
        CustomToolChanged: {
            /** @description The error message */
            detail: string;
            /** @description As it is now; null when it is gone */
            current: components["schemas"]["CustomTool"] | null;
        };
        DataEndpoint: {
            id: string;
            url: string;
            events: ("entity.created" | "entity.updated" | "intelligence_event.created" | "intelligence_event.verified" | "feed.status_changed" | "source.failed" | "source.recovered" | "usage.threshold_reached" | "export.completed" | "ping" | "run.completed" | "run.failed" | "run.paused" | "approval.requested")[];
            /**
             * @description `failing` after 5 failed attempts in a row, until one succeeds
             * @enum {string}
             */
            status: "active" | "failing";
            /** @description Failed attempts since the last success */
            consecutive_failures: number;
            /** @description When the last attempt succeeded */
            last_delivery_at: string | null;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            created_at: string;
            is_demo: boolean;
            /** @description Changes with each edit. The header `ETag` has it in double quotes; send that as `If-Match` to change only this state */
            etag: string;
        };
        /** @description It is not as `If-Match` says */
        DataEndpointChanged: {
            /** @description The error message */
            detail: string;
            /** @description As it is now; null when it is gone */
            current: components["schemas"]["DataEndpoint"] | null;
        };
        DataKey: {
            id: string;
            name: string;
            /**
             * @description Live keys read live records, test keys read demo records
             * @enum {string}
             */
            mode: "live" | "test";
            /** @description The start of the secret */
            prefix: string;
            scopes: ("feeds:read" | "entities:read" | "events:read" | "sources:read" | "usage:read" | "exports:create" | "webhooks:read" | "webhooks:write")[];
            expires_at: string | null;
            ip_allowlist: string[];
            monthly_request_allowance: number | null;
            monthly_credit_allowance: number | null;
            revoked: boolean;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            created_at: string;
            /** @description Delayed by at most a few seconds */
            last_used_at: string | null;
            /** @description Changes with each edit. The header `ETag` has it in double quotes; send that as `If-Match` to change only this state */
            etag: string;
        };
        /** @description It is not as `If-Match` says */
        DataKeyChanged: {
            /** @description The error message */
            detail: string;
            /** @description As it is now; null when it is gone */
            current: components["schemas"]["DataKey"] | null;
        };
        DecideGateBody: {
            /** @default true */
            approved?: boolean;
            /** @description Merged into the run state. It must fit the `input_schema` of the gate */
            input?: {
                [key: string]: unknown;
            };
            /** @description The reason: stored with the decision, and shown in the error of a run that it fails */
            reason?: string;
            /** @description The gate, when several are open; by default the oldest */
            node_id?: string;
            /** @description The gate's round, from `pending_gates`: a gate in a loop opens once per iteration */
            step_key?: string;
            /** @description Required for a gate of kind `tool_call`: its `digest`, so that exactly the call that was shown is decided */
            digest?: string;
            /** @description Of an approved tool call: the arguments to send instead. They must fit the schema of the tool */
            arguments?: {
                [key: string]: unknown;
            };
            /**
             * @description True: refuses what could not be decided like this, and decides nothing
             * @default false
             */
            only_check?: boolean;
        };
        Decision: {
            approved: boolean;
            /** @description The name of the person who decided, if known */
            by: string | null;
            /**
             * @description Who decided: `member` for a person, also with a key; `deadline`; or `request`, in a rehearsal. The decision of a request counts for no effect
             * @enum {string}
             */
            by_kind: "member" | "deadline" | "request";
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            at: string;
            reason: string | null;
            /**
             * @description The deadline decided, not a person: the `on_timeout` of the gate
             * @enum {string}
             */
            timed_out?: "reject" | "approve" | "fail";
        };
        DeliveryAttempt: {
            /** @description Increases with each redelivery */
            round: number;
            attempt: number;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            started_at: string;
            duration_ms: number;
            /** @description Null without a response */
            status_code: number | null;
            error: string | null;
        };
        DollarBounds: {
            /** @description US dollars, at most six decimals */
            min: number;
            /** @description Null: no bound */
            max: number | null;
        };
        DryRun: {
            /** @description The version examined; null for a draft */
            version: number | null;
            /** @description What the run and the runs that it starts cost together */
            cost_usd: components["schemas"]["DollarBounds"];
            duration_ms: components["schemas"]["CountBounds"];
            /** @description Ids of the nodes without a bound of their cost or duration */
            unbounded: string[];
            /** @description Agents whose requests have no bound under a cap or a budget, or whose first request does not fit the cap */
            warnings: components["schemas"]["GraphIssue"][];
            nodes: components["schemas"]["DryRunNode"][];
            budgets: components["schemas"]["DryRunBudget"][];
            /** @description The gates that can be reached */
            gates: components["schemas"]["DryRunGate"][];
            /** @description The hosts that its tools call; `at_run_time` for one that is not known before */
            hosts: string[];
            /** @description Names of the secrets that it uses */
            secrets: string[];
        };
        DryRunBudget: {
            id: string;
            name: string;
            /** @description What a run reserves; 0 without an estimate */
            asked_usd: number;
            /** @description What is left of the limit now; negative when more was spent */
            available_usd: number;
            /** @description Whether a run could start now */
            fits: boolean;
        };
        DryRunGate: {
            /** @description The gate, an agent whose calls need approval, or the node that starts `workflow` */
            node_id: string;
            /** @description The workflow that has the gate, if it is another one */
            workflow: components["schemas"]["DryRunGateWorkflow"] | null;
            /** @description How many members must approve */
            required: number;
            /** @description The members who could decide it now, at most 100 */
            approvers: components["schemas"]["DryRunGateApprover"][];
        };
        DryRunGateApprover: {
            id: string;
            name: string;
        };
        DryRunGateWorkflow: {
            id: string;
            name: string;
        };
        DryRunNode: {
            node_id: string;
            /** @description Of the policies that apply to it; empty without one */
            verdicts: components["schemas"]["DryRunVerdict"][];
            cost_usd: components["schemas"]["DollarBounds"];
            /** @description Once per iteration of the loops and maps around it. Retries and turns are not counted; `max` 0: it is never reached */
            executions: components["schemas"]["CountBounds"];
        };
        DryRunVerdict: {
            /** @enum {string} */
            policy: "model_allowlist" | "fallback" | "tool_permission" | "tool_argument" | "dlp";
            /**
             * @description `at_run_time`: it depends on values that are known when the step runs
             * @enum {string}
             */
            decision: "allowed" | "blocked" | "redacted" | "at_run_time";
            reason: string;
        };
        DryRunWorkflowBody: {
            /** @description As for a run. Without it, the bounds hold for every input */
            input?: {
                [key: string]: unknown;
            };
            /** @description The version to examine; the default is the current one */
            version?: number;
            /** @description Examines the workflow's draft, and not a version */
            draft?: boolean;
        };
        EarlierAsking: {
            step_key: string;
            /** @description Counts how often the same step asked, from 1 */
            round: number;
            /** @description Iterations of the enclosing loops and maps, outermost first */
            iteration: number[];
            prompt: string;
            /** @description For a tool call, as the model gave them; null for a caller without the capability approve_gates */
            arguments?: {
                [key: string]: unknown;
            } | null;
            decision: components["schemas"]["Decision"];
            /** @description What the approvers sent */
            input?: {
                [key: string]: unknown;
            };
            /** @description For a tool call that was approved with other arguments */
            decided_arguments?: {
                [key: string]: unknown;
            } | null;
        };
        EmptyBody: Record<string, never>;
        EnabledWebhook: {
            /** @constant */
            enabled: true;
            /** @description The address for events. Anyone who has it can start runs */
            url: string;
        };
        Entity: {
            id: string;
            feed_id: string;
            entity_type: string;
            canonical_name: string;
            aliases: unknown[];
            attributes: {
                [key: string]: unknown;
            };
            external_ids: {
                [key: string]: unknown;
            };
            geography: {
                [key: string]: unknown;
            };
            status: string;
            /** @enum {string} */
            verification_status: "unverified" | "machine_verified" | "human_reviewed" | "multi_source_verified";
            confidence: number;
            version: number;
            /** @description The sources of the record */
            source_evidence: components["schemas"]["SourceEvidence"][];
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            first_observed_at: string;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            last_observed_at: string;
            last_verified_at: string | null;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            updated_at: string;
            is_demo: boolean;
        };
        EntityHistory: {
            /** @description Newest first */
            versions: components["schemas"]["EntityVersion"][];
            /** @description Changes of these versions, attribute by attribute, newest version first */
            changes: components["schemas"]["Change"][];
            /** @description Null on the last page */
            next_cursor: string | null;
        };
        EntityList: {
            entities: components["schemas"]["Entity"][];
            /** @description Null on the last page */
            next_cursor: string | null;
        };
        EntityRecord: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "entity";
            /** @description Identifies the record in its feed; from its origin */
            external_key: string;
            entity_type: string;
            canonical_name: string;
            /** @default [] */
            aliases?: string[];
            attributes: {
                [key: string]: unknown;
            };
            /** @default {} */
            external_ids?: {
                [key: string]: (string | number) | null;
            };
            /** @default {} */
            geography?: components["schemas"]["RecordGeography"];
            /** @default active */
            status?: string;
            /**
             * @default unverified
             * @enum {string}
             */
            verification_status?: "unverified" | "machine_verified" | "human_reviewed" | "multi_source_verified";
            /** @default 0 */
            confidence?: number;
            /** @default [] */
            source_evidence?: components["schemas"]["SourceEvidence"][];
            /**
             * Format: date-time
             * @description When it was observed; default: now
             */
            observed_at?: string;
        };
        EntityVersion: {
            version: number;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            changed_at: string;
            attributes: {
                [key: string]: unknown;
            };
            /** @description The attributes that this version changed */
            changed: string[];
        };
        /** @description Every error has this shape */
        Error: {
            /** @description The error message */
            detail: string;
        };
        Evaluation: {
            passed: number;
            total: number;
            results: components["schemas"]["CheckResult"][];
        };
        EvaluationCheck: components["schemas"]["TextCheck"] | components["schemas"]["LimitCheck"] | components["schemas"]["ExpressionCheck"];
        EventRecord: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "event";
            /** @description Identifies the record in its feed; from its origin */
            external_key: string;
            event_type: string;
            /** @description The record it happened to: in the same feed, sent before or earlier in the batch */
            primary_external_key: string;
            /**
             * Format: date-time
             * @description ISO 8601 with a time zone; a date alone is its midnight in UTC
             */
            occurred_at: string;
            summary: string;
            relevance_score?: number | null;
            opportunity_score?: number | null;
            /**
             * @default unverified
             * @enum {string}
             */
            verification_status?: "unverified" | "machine_verified" | "human_reviewed" | "multi_source_verified";
            /** @default 0 */
            confidence?: number;
            /** @default [] */
            source_evidence?: components["schemas"]["SourceEvidence"][];
            match_reason?: string | null;
        };
        EventReplay: {
            id: string;
            /** @enum {string} */
            status: "running" | "done" | "cancelled" | "failed";
            progress: components["schemas"]["JobProgress"];
            /** @description Why it failed */
            error: string | null;
            created_by: string | null;
            created_by_name: string | null;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            created_at: string;
            finished_at: string | null;
            workflow_id: string;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            since: string;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            until: string;
            /** @enum {string} */
            outcome: "refused" | "all";
            /** @description Runs that it has started */
            started: number;
            /** @description Events that had started a run already */
            duplicates: number;
            /** @description Events that were refused again */
            refused: number;
            last_refusal: string | null;
        };
        EventReplayList: {
            replays: components["schemas"]["EventReplay"][];
            /** @description Null on the last page */
            next_cursor: string | null;
        };
        Experiment: {
            id: string;
            /** @enum {string} */
            status: "running" | "done" | "cancelled" | "failed";
            progress: components["schemas"]["JobProgress"];
            /** @description Why it failed */
            error: string | null;
            created_by: string | null;
            created_by_name: string | null;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            created_at: string;
            finished_at: string | null;
            workflow_id: string;
            candidate: "draft" | components["schemas"]["ExperimentCandidate"];
            allow: string[];
            budget_usd: number | null;
            /** @description What its rehearsals have spent */
            spent_usd: number;
            summary: components["schemas"]["ExperimentSummary"];
            /** @description Those that are done: failed ones first, then lost checks, then changed outputs */
            runs: components["schemas"]["ComparedRun"][];
            /** @description Null on the last page */
            next_cursor: string | null;
        };
        ExperimentCandidate: {
            version: number;
        };
        ExperimentList: {
            /** @description Newest first */
            experiments: components["schemas"]["ListedExperiment"][];
            /** @description Null on the last page */
            next_cursor: string | null;
        };
        ExperimentSummary: {
            equal: number;
            changed: number;
            /** @description Failed, and had not failed before */
            failed: number;
            /** @description Reached a step or a gate that has no record */
            unrecorded: number;
            /** @description Could not be rehearsed, or had no budget left */
            refused: number;
            checks: components["schemas"]["ExperimentSummaryChecks"];
            cost_usd: components["schemas"]["ExperimentSummaryCostUsd"];
            duration_ms: components["schemas"]["ExperimentSummaryDurationMs"];
        };
        ExperimentSummaryChecks: {
            won: number;
            lost: number;
        };
        /** @description The cost of the runs that are equal or changed. `difference` is null for fewer than two */
        ExperimentSummaryCostUsd: {
            base: number;
            candidate: number;
            difference: components["schemas"]["ConfidenceInterval"] | null;
        };
        /** @description The duration of the steps of the runs that are equal or changed. `difference` is null for fewer than two */
        ExperimentSummaryDurationMs: {
            base: number;
            candidate: number;
            difference: components["schemas"]["ConfidenceInterval"] | null;
        };
        ExpressionCheck: {
            name: string;
            target?: string;
            case_sensitive?: boolean;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "expression";
            value: string;
        };
        FeedFreshness: {
            /** @description When a record or an event last came or changed */
            last_event_at: string | null;
            /** @description When records were last sent, even without changes */
            last_checked_at: string | null;
            /** @description Since `last_event_at` */
            lag_seconds: number | null;
        };
        Fork: {
            id: string;
            /** @description The same as `id` */
            run_id: string;
            workspace_id: string;
            workflow_id: string;
            workflow_name: string;
            /** @description The version pinned when the run was triggered */
            workflow_version: number;
            /** @enum {string} */
            status: "pending" | "running" | "paused" | "success" | "failed";
            /** @enum {string} */
            trigger: "manual" | "webhook" | "mcp" | "schedule" | "workflow";
            /** @description For the trigger `workflow`: the run that started it, unless it was deleted */
            parent_run_id: string | null;
            /** @description The step that started it */
            parent_step_key: string | null;
            /** @description The run that it was started from again, unless that was deleted */
            forked_from: string | null;
            /** @description For a fork: the step from which it is executed. What that run had finished before is reused */
            forked_from_step: string | null;
            /** @description It runs a draft, and not the graph of `workflow_version` */
            of_draft: boolean;
            /** @description For a rehearsal: its steps take their results from the record of the run in `forked_from`, and nothing has an effect */
            mode: "recorded" | null;
            /** @description The event of the webhook that started it, or that it replays */
            inbound_event_id: string | null;
            error: string | null;
            failure: components["schemas"]["RunFailure"] | null;
            resumable: boolean;
            /** @description US dollars, at most six decimals */
            cost_usd: number;
            cost_cap_usd: number | null;
            /** @description Active time, without the wait at gates */
            duration_ms: number;
            /** @description Time spent waiting at gates */
            waiting_ms: number;
            /** @description The member who triggered it */
            created_by: string | null;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            created_at: string;
            started_at: string | null;
            finished_at: string | null;
            resumed_count: number;
            input: {
                [key: string]: unknown;
            };
            state: {
                [key: string]: unknown;
            } | null;
            /** @description Output keys of the nodes without a successor; null until then */
            output: unknown;
            /** @description The cost of the runs that it started, and of those that they started. It is not in `cost_usd`, but counts against `cost_cap_usd` */
            children_cost_usd: number;
            /** @description In the order of their starts. Of a run with more than 1000, the first so many: those outside of loops and maps, then those in them */
            steps: components["schemas"]["Step"][];
            /** @description The `cursor` of the other steps at `GET /api/runs/{id}/steps`; null if `steps` has all */
            steps_next_cursor: string | null;
            /** @description If `steps` does not have all: how many each node has, without the turns and calls of agents */
            step_counts: components["schemas"]["StepCount"][] | null;
            /** @description Of the finished ones of `steps` */
            checkpoints: components["schemas"]["Checkpoint"][];
            /** @description The oldest open gate */
            pending_gate: components["schemas"]["PendingGate"] | null;
            /** @description Every gate that can be decided now, oldest first. A run with other active branches may have some, too */
            pending_gates: components["schemas"]["PendingGate"][];
            evals: components["schemas"]["Evaluation"] | null;
            /** @description For a run of a draft: its graph, as a workflow has it */
            graph?: {
                [key: string]: unknown;
            };
            temporal: components["schemas"]["ForkTemporal"];
            /** @description Steps that were finished and are not reused at the start, because of another graph or input: of a fork, those before `from_step`. A rehearsal looks for their record when it reaches them */
            not_reused: components["schemas"]["NotReused"][];
        };
        ForkRunBody: {
            /** @description The key of the step to execute first. The key of a turn or call of an agent with tools means that turn */
            from_step: string;
            /** @description Laid over the state as that step begins: its templates and those that follow read it */
            state?: {
                [key: string]: unknown;
            };
            /** @description The default is the input of that run */
            input?: {
                [key: string]: unknown;
            };
            /** @description The version to run; the default is that of the other run */
            version?: number;
            /** @description Runs the workflow's draft, and not a version */
            draft?: boolean;
            /**
             * @description Rehearses the run: steps take their results from the record of the other run, and nothing has an effect
             * @enum {string}
             */
            mode?: "recorded";
            /** @description These are executed where there is no record: `agent`, `workflow`, `custom:<name>`, `http_request:<METHOD>` or the name of a tool. By default only what computes */
            allow?: string[];
            /**
             * @description Whether a step that had failed fails again, or counts as one without a record. The default is `recorded`
             * @enum {string}
             */
            failures?: "recorded" | "execute";
            /** @description Decisions at gates, by step key or node id. They come before those of the record */
            decisions?: {
                [key: string]: components["schemas"]["ForkRunBodyDecisionsValue"];
            };
            /** @description For mode `recorded`: nodes have the outputs that you have pinned, and not those of the record */
            pins?: boolean;
        };
        ForkRunBodyDecisionsValue: {
            approved: boolean;
            input?: {
                [key: string]: unknown;
            };
        };
        ForkTemporal: {
            workflow_id: string;
            run_id: string | null;
            /** @description The run's page in the Temporal UI; null where TEMPORAL_UI_URL is not set */
            url: string | null;
        };
        Gate: {
            run_id: string;
            node_id: string;
            /** @enum {string} */
            kind: "human_gate" | "tool_call";
            label: string;
            step_key: string;
            /** @description Counts how often the same step asked, from 1 */
            round: number;
            /** @description Iterations of the enclosing loops and maps, outermost first */
            iteration: number[];
            prompt: string;
            /** @description For a tool call, as the model gave them; null for a caller without the capability approve_gates */
            arguments?: {
                [key: string]: unknown;
            } | null;
            /**
             * @description In its last round
             * @enum {string}
             */
            status: "open" | "approved" | "rejected" | "cancelled";
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            since: string;
            decision: components["schemas"]["Decision"] | null;
            /** @description Whether the caller can decide it now */
            can_decide: boolean;
            /** @description The member who is expected to decide; others who can decide it still can */
            assignee: components["schemas"]["Assignee"] | null;
            /** @description While it is open: the members who can decide it as it is now. One of them can be assigned */
            eligible_members: components["schemas"]["Assignee"][];
            /** @description Why its rules do not let the caller */
            refusal: string | null;
            /** @description Why no input fits its `input_schema`: then it can only be rejected */
            schema_problem: string | null;
            /** @description For an open tool call; null if the tool has changed since it was requested */
            tool: components["schemas"]["GateTool"] | null;
            /** @description When the same node asked before in this run, newest first: in an earlier iteration of its loops, or before a resume. At most 10 */
            earlier: components["schemas"]["EarlierAsking"][];
        };
        GateApprovers: {
            roles?: ("admin" | "editor" | "viewer")[];
            members?: string[];
        };
        GateDecision: {
            /** @description Null for a key without a member */
            member_id: string | null;
            /** @description The name at that time, if known */
            by: string | null;
            approved: boolean;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            at: string;
            reason: string | null;
            input?: {
                [key: string]: unknown;
            };
        };
        GateTool: {
            /** @description JSON Schema of the arguments */
            schema: {
                [key: string]: unknown;
            };
            /** @description Arguments that the workflow sets; an approver cannot change them */
            fixed: string[];
        };
        GovernanceEvent: {
            /** @description Twelve hex digits */
            id: string;
            /** @enum {string} */
            type: "policy_denied" | "tool_argument_blocked" | "data_redacted" | "budget_blocked" | "model_fallback_blocked" | "approval_override_granted";
            workspace_id: string;
            workflow_id: string | null;
            /** @description The version of the workflow in effect */
            version: number | null;
            run_id: string | null;
            node_id: string | null;
            /** @enum {string} */
            policy: "tool_permission" | "tool_argument" | "dlp" | "model_allowlist" | "budget" | "fallback";
            /** @description Who granted an override */
            actor_id: string | null;
            /** @enum {string} */
            decision: "blocked" | "denied" | "redacted" | "granted";
            /** @description A readable explanation */
            reason: string;
            /** @description Counts, ids, names of models, tools and rules; never the redacted text */
            evidence: {
                [key: string]: unknown;
            };
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            created_at: string;
        };
        /** @description Nodes and edges as drawn */
        Graph: {
            nodes: (components["schemas"]["GraphNode"] | unknown)[];
            edges: (components["schemas"]["GraphEdge"] | unknown)[];
        } & {
            [key: string]: unknown;
        };
        GraphDiff: {
            from: number;
            to: number;
            nodes: components["schemas"]["GraphDiffNodes"];
            edges: components["schemas"]["GraphDiffEdges"];
            /** @description Null where the schemas are the same */
            input_schema: components["schemas"]["GraphDiffInputSchema"] | null;
        };
        GraphDiffEdges: {
            added: unknown[];
            removed: unknown[];
            changed: components["schemas"]["GraphDiffEdgesChanged"][];
        };
        GraphDiffEdgesChanged: {
            id: string;
            paths: string[];
        };
        GraphDiffInputSchema: {
            /** @description JSON Schema, draft 2020-12 or 7, that the input of every run must fit; null accepts any object. Patterns are RE2; `format` is not checked; external references are not loaded. At most 65,536 characters and 40 levels */
            from: {
                [key: string]: unknown;
            } | null;
            /** @description JSON Schema, draft 2020-12 or 7, that the input of every run must fit; null accepts any object. Patterns are RE2; `format` is not checked; external references are not loaded. At most 65,536 characters and 40 levels */
            to: {
                [key: string]: unknown;
            } | null;
            /** @description The parts that differ, like `properties.age.minimum`; empty where one is null */
            paths: string[];
        };
        GraphDiffNodes: {
            added: unknown[];
            removed: unknown[];
            changed: components["schemas"]["GraphDiffNodesChanged"][];
        };
        GraphDiffNodesChanged: {
            id: string;
            paths: string[];
        };
        /** @description Nodes and edges as drawn, runnable or not */
        GraphDraft: {
            /** @default [] */
            nodes?: (components["schemas"]["GraphNode"] | unknown)[];
            /** @default [] */
            edges?: (components["schemas"]["GraphEdge"] | unknown)[];
        } & {
            [key: string]: unknown;
        };
        GraphEdge: {
            id?: string;
            source: string;
            target: string;
            /** @enum {string} */
            condition_value?: "true" | "false" | "error";
        };
        GraphIssue: {
            code: string;
            message: string;
            node_id?: string;
            path?: string;
            position?: number;
        };
        GraphNode: components["schemas"]["AgentNode"] | components["schemas"]["ToolNode"] | components["schemas"]["ConditionNode"] | components["schemas"]["LoopNode"] | components["schemas"]["MapNode"] | components["schemas"]["WorkflowNode"] | components["schemas"]["HumanGateNode"] | components["schemas"]["MergeNode"];
        GraphReport: {
            valid: boolean;
            errors: components["schemas"]["GraphIssue"][];
            warnings: components["schemas"]["GraphIssue"][];
        };
        Health: {
            /** @enum {string} */
            status: "ok" | "degraded";
            version: string;
            checks: components["schemas"]["HealthChecks"];
        };
        HealthChecks: {
            /** @enum {string} */
            database: "ok" | "down";
            /** @enum {string} */
            temporal: "ok" | "down";
            /** @enum {string} */
            worker: "ok" | "down";
            /** @enum {string} */
            migrations: "ok" | "down";
        };
        HeldCapabilities: {
            view: boolean;
            run_workflows: boolean;
            approve_gates: boolean;
            cancel_resume: boolean;
            create_edit_workflows: boolean;
            publish_workflows: boolean;
            delete_workflows: boolean;
            manage_members: boolean;
            manage_api_keys: boolean;
            manage_workspace: boolean;
        };
        HookAnswer: {
            run_id: string;
            /**
             * @description `duplicate`: the run that the event has already started
             * @enum {string}
             */
            status: "pending" | "duplicate";
            /** @constant */
            deduplicated?: true;
        };
        HookChallenge: {
            challenge: string;
        };
        HumanGateNode: {
            /** @description Letters and digits of any script, `_`, `-`, `.` and `:`; starts with a letter, a digit or `_` */
            id: string;
            label?: string;
            position?: components["schemas"]["NodePosition"];
            retry?: components["schemas"]["NodeRetry"];
            timeout_seconds?: number;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            kind: "human_gate";
            /** @default  */
            prompt?: string;
            input_schema?: {
                [key: string]: unknown;
            };
            approvers?: components["schemas"]["GateApprovers"];
            required?: number;
            not_the_starter?: boolean;
            /** @enum {string} */
            on_timeout?: "reject" | "approve" | "fail";
            remind_seconds?: number;
        };
        Identity: {
            /** @description The member; null for an unlinked key */
            id: string | null;
            name: string | null;
            email: string | null;
            /** @enum {string} */
            role: "admin" | "editor" | "viewer";
            workspace_id: string;
            /** @enum {string} */
            credential: "none" | "session" | "api_key";
            capabilities: components["schemas"]["HeldCapabilities"];
        };
        ImportToolsBody: {
            /**
             * Format: uri
             * @description Called unchanged: no part of it comes from a workflow
             */
            server_url: string;
            /**
             * @description Sent with each call. Values are stored sealed and shown as `***`
             * @default {}
             */
            headers?: {
                [key: string]: string;
            };
            /** @description Which tools of the server to import; default: all, at most 200 */
            names?: string[];
            /** @description What the names of the tools begin with here */
            prefix?: string;
        };
        ImportedTool: {
            id: string;
            name: string;
            /** @description Its name on the server */
            mcp_tool: string;
            schema_digest: string;
        };
        InboundEvent: {
            id: string;
            workflow_id: string;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            received_at: string;
            /** @enum {string} */
            outcome: "run" | "duplicate" | "refused";
            /** @description The status of the response */
            status: number;
            /** @description Why it was refused */
            reason: ("disabled" | "wrong_secret" | "timestamp_missing" | "timestamp_expired" | "signature_missing" | "signature_mismatch" | "invalid_body" | "too_large" | "rate_limited" | "quota_exceeded" | "budget_exceeded" | "graph_invalid" | "input_invalid" | "unavailable" | "internal") | null;
            /** @description The text of the refusal */
            detail: string | null;
            /** @description The run that it started; for a duplicate, the run that the first one started */
            run_id: string | null;
            /** @description For a duplicate: the first one, while its run exists */
            duplicate_of: string | null;
            /** @description The id that its sender gave it */
            event_id: string | null;
            /** @description The sender's network: an IPv4 /24 or an IPv6 /48, not the whole address */
            source: string;
            /** @description Bytes of the body; null: it was not read */
            size: number | null;
            /** @description How many events the entry stands for: over the limit per minute, they are only counted */
            times: number;
            /** @description How many runs have replayed it */
            replays: number;
            /** @description Those that say what it is; never signatures, cookies or credentials */
            headers: {
                [key: string]: string;
            };
            /** @description As it was received, up to 65536 bytes; null: it was not read */
            body: string | null;
            body_truncated: boolean;
            /** @description The newest 50 runs that have replayed it */
            replayed_by: components["schemas"]["InboundEventReplayedBy"][];
        };
        InboundEventList: {
            events: components["schemas"]["ListedInboundEvent"][];
            /** @description Null on the last page */
            next_cursor: string | null;
        };
        InboundEventReplayedBy: {
            run_id: string;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            created_at: string;
        };
        IngestAnswer: {
            created: number;
            updated: number;
            unchanged: number;
            /** @description Refused records and events, which were not stored */
            refused: number;
            /** @description The first 100 */
            errors: components["schemas"]["IngestAnswerError"][];
            events: components["schemas"]["IngestAnswerEvents"];
        };
        IngestAnswerError: {
            /** @description Counted from 1; in JSON the position in `records` */
            line: number;
            reason: string;
        };
        IngestAnswerEvents: {
            created: number;
            updated: number;
            unchanged: number;
        };
        IngestRecord: components["schemas"]["EntityRecord"] | components["schemas"]["EventRecord"];
        IngestRecordsBody: {
            feed_id: string;
            records: components["schemas"]["IngestRecord"][];
        };
        InstantiateTemplateBody: {
            /** @description The template's name by default */
            name?: string;
            description?: string;
        };
        IntelligenceEvent: {
            id: string;
            feed_id: string;
            event_type: string;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            occurred_at: string;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            detected_at: string;
            primary_entity_id: string;
            summary: string;
            relevance_score: number | null;
            opportunity_score: number | null;
            confidence: number;
            /** @enum {string} */
            verification_status: "unverified" | "machine_verified" | "human_reviewed" | "multi_source_verified";
            match_reason: string | null;
            /** @description The sources of the record */
            source_evidence: components["schemas"]["SourceEvidence"][];
            /** @description When a page of the list first contained it */
            delivered_at: string | null;
            is_demo: boolean;
        };
        IntelligenceEventList: {
            events: components["schemas"]["IntelligenceEvent"][];
            /** @description Null on the last page */
            next_cursor: string | null;
        };
        InviteMemberBody: {
            name: string;
            /** Format: email */
            email: string;
            /** @enum {string} */
            role: "admin" | "editor" | "viewer";
        };
        JobProgress: {
            done: number;
            /** @description Null until it is counted */
            total: number | null;
        };
        JsonRpcError: {
            /** @constant */
            jsonrpc: "2.0";
            /** @description Null where the request could not be read */
            id: string | number | null;
            error: components["schemas"]["JsonRpcErrorDetail"];
        } & {
            [key: string]: unknown;
        };
        JsonRpcErrorDetail: {
            /** @description The codes of JSON-RPC 2.0 and the protocol */
            code: number;
            message: string;
            data?: unknown;
        } & {
            [key: string]: unknown;
        };
        JsonRpcResponse: components["schemas"]["JsonRpcResult"] | components["schemas"]["JsonRpcError"];
        JsonRpcResult: {
            /** @constant */
            jsonrpc: "2.0";
            id: string | number;
            result: {
                [key: string]: unknown;
            };
        } & {
            [key: string]: unknown;
        };
        LimitCheck: {
            name: string;
            target?: string;
            case_sensitive?: boolean;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "max_cost_usd" | "max_duration_ms";
            value: number;
        };
        ListedBacktest: {
            id: string;
            /** @enum {string} */
            status: "running" | "done" | "cancelled" | "failed";
            progress: components["schemas"]["JobProgress"];
            /** @description Why it failed */
            error: string | null;
            created_by: string | null;
            created_by_name: string | null;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            created_at: string;
            finished_at: string | null;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            since: string;
            workflow_id: string | null;
            summary: components["schemas"]["BacktestSummary"];
        };
        ListedExperiment: {
            id: string;
            /** @enum {string} */
            status: "running" | "done" | "cancelled" | "failed";
            progress: components["schemas"]["JobProgress"];
            /** @description Why it failed */
            error: string | null;
            created_by: string | null;
            created_by_name: string | null;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            created_at: string;
            finished_at: string | null;
            workflow_id: string;
            candidate: "draft" | components["schemas"]["ListedExperimentCandidate"];
            allow: string[];
            budget_usd: number | null;
            /** @description What its rehearsals have spent */
            spent_usd: number;
            summary: components["schemas"]["ExperimentSummary"];
        };
        ListedExperimentCandidate: {
            version: number;
        };
        ListedInboundEvent: {
            id: string;
            workflow_id: string;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            received_at: string;
            /** @enum {string} */
            outcome: "run" | "duplicate" | "refused";
            /** @description The status of the response */
            status: number;
            /** @description Why it was refused */
            reason: ("disabled" | "wrong_secret" | "timestamp_missing" | "timestamp_expired" | "signature_missing" | "signature_mismatch" | "invalid_body" | "too_large" | "rate_limited" | "quota_exceeded" | "budget_exceeded" | "graph_invalid" | "input_invalid" | "unavailable" | "internal") | null;
            /** @description The text of the refusal */
            detail: string | null;
            /** @description The run that it started; for a duplicate, the run that the first one started */
            run_id: string | null;
            /** @description For a duplicate: the first one, while its run exists */
            duplicate_of: string | null;
            /** @description The id that its sender gave it */
            event_id: string | null;
            /** @description The sender's network: an IPv4 /24 or an IPv6 /48, not the whole address */
            source: string;
            /** @description Bytes of the body; null: it was not read */
            size: number | null;
            /** @description How many events the entry stands for: over the limit per minute, they are only counted */
            times: number;
            /** @description How many runs have replayed it */
            replays: number;
        };
        LoginBody: {
            email: string;
            password: string;
        };
        LoopNode: {
            /** @description Letters and digits of any script, `_`, `-`, `.` and `:`; starts with a letter, a digit or `_` */
            id: string;
            label?: string;
            position?: components["schemas"]["NodePosition"];
            retry?: components["schemas"]["NodeRetry"];
            timeout_seconds?: number;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            kind: "loop";
            expression: string;
            /** @default 5 */
            max_iterations?: number;
        };
        ManagedFeed: {
            id: string;
            name: string;
            description: string;
            /** @enum {string} */
            status: "active" | "paused" | "degraded" | "archived";
            freshness: components["schemas"]["FeedFreshness"];
            entity_types: string[];
            schema: {
                [key: string]: unknown;
            };
            geography: {
                [key: string]: unknown;
            };
            is_demo: boolean;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            created_at: string;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            updated_at: string;
            /** @description Changes with each edit. The header `ETag` has it in double quotes; send that as `If-Match` to change only this state */
            etag: string;
        };
        ManagedFeedDetail: {
            id: string;
            name: string;
            description: string;
            /** @enum {string} */
            status: "active" | "paused" | "degraded" | "archived";
            freshness: components["schemas"]["FeedFreshness"];
            entity_types: string[];
            schema: {
                [key: string]: unknown;
            };
            geography: {
                [key: string]: unknown;
            };
            is_demo: boolean;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            created_at: string;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            updated_at: string;
            specification: {
                [key: string]: unknown;
            };
            /** @description Changes with each edit. The header `ETag` has it in double quotes; send that as `If-Match` to change only this state */
            etag: string;
        };
        /** @description It is not as `If-Match` says */
        ManagedFeedDetailChanged: {
            /** @description The error message */
            detail: string;
            /** @description As it is now; null when it is gone */
            current: components["schemas"]["ManagedFeedDetail"] | null;
        };
        MapNode: {
            /** @description Letters and digits of any script, `_`, `-`, `.` and `:`; starts with a letter, a digit or `_` */
            id: string;
            label?: string;
            position?: components["schemas"]["NodePosition"];
            retry?: components["schemas"]["NodeRetry"];
            timeout_seconds?: number;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            kind: "map";
            items: string;
            /** @default 10 */
            concurrency?: number;
            /**
             * @default fail
             * @enum {string}
             */
            on_item_error?: "fail" | "collect";
            output_key?: string;
        };
        /** @description One message. Versions of the protocol before 2025-06-18 also accept a list of them, and get a list of responses */
        McpBody: {
            /** @enum {string} */
            jsonrpc: "2.0";
            /** @description Identifies the request in its response; a notification has none */
            id?: string | number;
            method: string;
            params?: {
                [key: string]: unknown;
            };
        } & {
            [key: string]: unknown;
        };
        McpRefusal: components["schemas"]["Error"] | components["schemas"]["JsonRpcError"];
        Member: {
            id: string;
            name: string;
            email: string;
            /** @enum {string} */
            role: "admin" | "editor" | "viewer";
            /** @enum {string} */
            status: "active" | "invited" | "pending";
            /** @description The actor of requests without credentials, if any */
            is_owner: boolean;
            /** @description Only while invited and not expired, and only shown to members who can grant its permissions. Null as well where the service has no `ENCRYPTION_KEY`: then only the response that created the code has it. */
            invite_code: string | null;
            /** @description When an invitation expires; it may be in the past */
            invite_expires_at: string | null;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            created_at: string;
            /** @description Changes with each edit. The header `ETag` has it in double quotes; send that as `If-Match` to change only this state */
            etag: string;
        };
        MemberDetail: {
            id: string;
            name: string;
            email: string;
            /** @enum {string} */
            role: "admin" | "editor" | "viewer";
            /** @enum {string} */
            status: "active" | "invited" | "pending";
            /** @description The actor of requests without credentials, if any */
            is_owner: boolean;
            /** @description Only while invited and not expired, and only shown to members who can grant its permissions. Null as well where the service has no `ENCRYPTION_KEY`: then only the response that created the code has it. */
            invite_code: string | null;
            /** @description When an invitation expires; it may be in the past */
            invite_expires_at: string | null;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            created_at: string;
            /** @description Changes with each edit. The header `ETag` has it in double quotes; send that as `If-Match` to change only this state */
            etag: string;
            capabilities: components["schemas"]["CapabilitySettings"];
            /** @description Keys of the member that are not revoked */
            api_key_count: number;
        };
        /** @description It is not as `If-Match` says */
        MemberDetailChanged: {
            /** @description The error message */
            detail: string;
            /** @description As it is now; null when it is gone */
            current: components["schemas"]["MemberDetail"] | null;
        };
        MemberStats: {
            member_id: string;
            runs_triggered: number;
            approvals: number;
            rejections: number;
            workflows_created: number;
            /** @description For the runs that the member triggered */
            total_cost_usd: number;
            /** @description Audited actions per UTC day, the last 30, oldest first */
            activity: components["schemas"]["MemberStatsActivity"][];
            /** @description The 15 newest, newest first */
            recent_actions: components["schemas"]["AuditEntry"][];
        };
        MemberStatsActivity: {
            date: string;
            count: number;
        };
        MergeNode: {
            /** @description Letters and digits of any script, `_`, `-`, `.` and `:`; starts with a letter, a digit or `_` */
            id: string;
            label?: string;
            position?: components["schemas"]["NodePosition"];
            retry?: components["schemas"]["NodeRetry"];
            timeout_seconds?: number;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            kind: "merge";
        };
        Message: components["schemas"]["SystemMessage"] | components["schemas"]["UserMessage"] | components["schemas"]["AssistantMessage"] | components["schemas"]["ToolMessage"];
        MessageCall: {
            /** @description Its number in the turn, from 1 */
            index: number;
            /** @description The step of the call; null for a refused call, which has none */
            step_key: string | null;
            tool: string;
            /** @description As the model gave them; text when they are not a JSON object. Null for a call that needs approval, for a caller without the capability approve_gates */
            arguments: ({
                [key: string]: unknown;
            } | string) | null;
            /** @description Why the call was not made */
            refusal: string | null;
        };
        MessageList: {
            messages: components["schemas"]["Message"][];
        };
        MetricsOverview: {
            /** @description All runs, including deleted ones */
            total_runs: number;
            /** @description Percent of the finished runs, one decimal; 0 when none has finished */
            success_rate: number;
            /** @description US dollars, at most six decimals */
            total_cost_usd: number;
            /** @description Published workflows */
            active_workflows: number;
            /** @description The last 14 days, UTC, including today, oldest first */
            runs_by_day: components["schemas"]["MetricsOverviewRunsByDay"][];
            /** @description Percent of the checks that passed, one decimal; null when none has run */
            eval_pass_rate: number | null;
            /** @description Runs that were scored by at least one check */
            evaluated_runs: number;
        };
        MetricsOverviewRunsByDay: {
            /** Format: date */
            date: string;
            count: number;
            /** @description US dollars, at most six decimals */
            cost_usd: number;
        };
        MockModel: {
            output?: unknown;
            cost_usd?: number;
            delay_ms?: number;
            fail_times?: number;
            turns?: components["schemas"]["MockTurn"][];
        };
        MockTurn: {
            calls?: components["schemas"]["MockTurnCall"][];
            output?: unknown;
            cost_usd?: number;
        };
        MockTurnCall: {
            tool: string;
            /** @default {} */
            arguments?: {
                [key: string]: unknown;
            };
        };
        NamedChange: {
            id: string;
            feed_id: string;
            entity_id: string;
            entity_type: string;
            attribute: string;
            old_value: unknown;
            new_value: unknown;
            /** @description Of the record, after this change */
            version: number;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            changed_at: string;
            source_id: string | null;
            /** @description The record's current name */
            entity_name: string | null;
        };
        NewDataEndpoint: {
            id: string;
            url: string;
            events: ("entity.created" | "entity.updated" | "intelligence_event.created" | "intelligence_event.verified" | "feed.status_changed" | "source.failed" | "source.recovered" | "usage.threshold_reached" | "export.completed" | "ping" | "run.completed" | "run.failed" | "run.paused" | "approval.requested")[];
            /**
             * @description `failing` after 5 failed attempts in a row, until one succeeds
             * @enum {string}
             */
            status: "active" | "failing";
            /** @description Failed attempts since the last success */
            consecutive_failures: number;
            /** @description When the last attempt succeeded */
            last_delivery_at: string | null;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            created_at: string;
            is_demo: boolean;
            /** @description Changes with each edit. The header `ETag` has it in double quotes; send that as `If-Match` to change only this state */
            etag: string;
            /** @description The key of the signatures. Shown only this once */
            secret: string;
        };
        NodePosition: {
            x: number;
            y: number;
        };
        NodeRetry: {
            /** @default 1 */
            max_attempts?: number;
            /** @default 1 */
            initial_interval_seconds?: number;
            /** @default 2 */
            backoff?: number;
        };
        NodeTest: {
            /** @description The rehearsal that has executed the node */
            run_id: string;
            /**
             * @description `pending` or `running`: read the run later
             * @enum {string}
             */
            status: "pending" | "running" | "paused" | "success" | "failed";
            /** @description The step with its input, and its output or error; null before it */
            step: components["schemas"]["Step"] | null;
            error: string | null;
        };
        NotReused: {
            step_key: string;
            node_id: string;
            reason: string;
        };
        OutputDiff: {
            differences: components["schemas"]["OutputDifference"][];
            /** @description There are more */
            more: boolean;
        };
        /** @description A long value is shown as the beginning of its JSON, with `…` */
        OutputDifference: {
            path: string;
            /** @enum {string} */
            change: "added" | "removed" | "changed";
            from?: unknown;
            to?: unknown;
        };
        OverrideBudgetBody: {
            /** @enum {boolean} */
            approved: true;
            /** @description What the run may cost in total. Without it there is no cap. */
            cap_usd?: number;
            reason?: string;
        };
        PendingGate: {
            /** @enum {string} */
            kind: "human_gate" | "tool_call";
            node_id: string;
            step_key: string;
            label: string;
            prompt: string;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            since: string;
            /** @description JSON Schema of the `input` that an approval needs */
            input_schema?: {
                [key: string]: unknown;
            };
            approvers?: components["schemas"]["PendingGateApprovers"];
            /** @description How many different members must approve; 1 without it */
            required?: number;
            /** @description True: the members who started the run, or one from which it starts, cannot decide */
            not_the_starter?: boolean;
            /** @description How many members can still decide it, as they are now; 0 if the run has to be cancelled, or a permission granted */
            deciders?: number;
            /**
             * @description Fewer `approvers` are left than approvals are missing, so admins can decide, too; `not_the_starter` and `required` still hold
             * @constant
             */
            admins_stand_in?: true;
            /**
             * Format: date-time
             * @description When `on_timeout` happens
             */
            expires_at?: string;
            /** @enum {string} */
            on_timeout?: "reject" | "approve" | "fail";
            /** @description The approvals so far, oldest first */
            decisions?: components["schemas"]["GateDecision"][];
            /** @description The member who is expected to decide; others who can decide it still can */
            assignee?: components["schemas"]["Assignee"];
            /** @description For kind `tool_call` */
            tool_call?: components["schemas"]["PendingToolCall"];
        };
        /** @description Only they can decide */
        PendingGateApprovers: {
            roles?: ("admin" | "editor" | "viewer")[];
            /** @description The name is null for a member who was removed */
            members?: components["schemas"]["PendingGateApproversMember"][];
        };
        PendingGateApproversMember: {
            id: string;
            name: string | null;
        };
        PendingToolCall: {
            tool: string;
            turn: number;
            /** @description As they will be sent; null for a caller without the capability approve_gates */
            arguments: {
                [key: string]: unknown;
            } | null;
            schema_digest: string;
            /** @description Of what the call reaches: address, method, headers and revision of a custom tool, or the version of a workflow; null for a built-in tool */
            tool_digest: string | null;
            digest: string;
        };
        Pin: {
            node_id: string;
            /** @description The run that had this output; it may be removed */
            run_id: string;
            step_key: string;
            /** @description Of the output */
            bytes: number;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            pinned_at: string;
        };
        PinList: {
            pins: components["schemas"]["Pin"][];
        };
        Policies: {
            /**
             * @description Models that agents can use; null: all
             * @default null
             */
            model_allowlist: string[] | null;
            /** @default [] */
            tools: components["schemas"]["ToolPolicy"][];
            /**
             * @default {
             *       "detectors": [],
             *       "patterns": []
             *     }
             */
            redaction: components["schemas"]["Redaction"];
        };
        /** @description It is not as `If-Match` says */
        PoliciesChanged: {
            /** @description The error message */
            detail: string;
            /** @description As it is now; null when it is gone */
            current: components["schemas"]["Policies"] | null;
        };
        PolicyVerdict: {
            /** @enum {string} */
            type: "policy_denied" | "tool_argument_blocked" | "data_redacted" | "budget_blocked" | "model_fallback_blocked" | "approval_override_granted";
            /** @enum {string} */
            policy: "tool_permission" | "tool_argument" | "dlp" | "model_allowlist" | "budget" | "fallback";
            /** @enum {string} */
            decision: "blocked" | "denied" | "redacted" | "granted";
            /** @description A readable explanation */
            reason: string;
            /** @description Counts, ids, names of models, tools and rules; never the redacted text */
            evidence: {
                [key: string]: unknown;
            };
        };
        Price: {
            /** @description `provider/model` */
            model: string;
            input_usd_per_million: number;
            output_usd_per_million: number;
            /** @description Of input that the provider reads from its cache; by default that of other input */
            cached_input_usd_per_million?: number;
        };
        PriceList: {
            prices: components["schemas"]["Price"][];
        };
        /** @description It is not as `If-Match` says */
        PriceListChanged: {
            /** @description The error message */
            detail: string;
            /** @description As it is now; null when it is gone */
            current: components["schemas"]["PriceList"] | null;
        };
        PublishWorkflowBody: {
            /**
             * @description Makes the draft the current version; without it the current version is published
             * @enum {boolean}
             */
            from_draft?: true;
            /** @description What the version changes; only with `from_draft` */
            note?: string;
        };
        PutSecretBody: {
            /**
             * Format: password
             * @description Stored sealed. No response contains it
             */
            value: string;
            allowed_hosts: string[];
            /** @default  */
            description?: string;
        };
        RecordGeography: {
            city?: string | null;
            region?: string | null;
            country?: string | null;
            postal_code?: string | null;
        };
        Redaction: {
            /** @default [] */
            detectors: ("email" | "phone" | "credit_card" | "ssn" | "iban" | "ip" | "api_key")[];
            /** @default [] */
            patterns: components["schemas"]["RedactionPattern"][];
        };
        RedactionInput: {
            /** @default [] */
            detectors?: ("email" | "phone" | "credit_card" | "ssn" | "iban" | "ip" | "api_key")[];
            /** @default [] */
            patterns?: components["schemas"]["RedactionPattern"][];
        };
        RedactionPattern: {
            name: string;
            /** @description RE2, matched anywhere in the text */
            regex: string;
        };
        RedeliverWebhookDeadLettersBody: {
            /**
             * Format: date-time
             * @description Deliveries of events since then; all without it
             */
            since?: string;
            /**
             * Format: date-time
             * @description Deliveries of events before then
             */
            until?: string;
            /**
             * @description `dead`: those that have failed. `all`: delivered ones, too
             * @default dead
             * @enum {string}
             */
            status?: "dead" | "all";
        };
        Redelivered: {
            redelivered: number;
            /** @description Deliveries beyond the limit of pending ones; call again later */
            left: number;
        };
        ReplayInboundEventBody: {
            /**
             * @description Start no run for an event whose id has started one within the window of the webhook. By default each replay starts a run
             * @default false
             */
            deduplicate?: boolean;
            /**
             * @description Replay events whose signature was missing, wrong or too old: anyone can have sent them
             * @default false
             */
            allow_unverified?: boolean;
        };
        ReplayInboundEventsBody: {
            /**
             * Format: date-time
             * @description Received at or after
             */
            since: string;
            /**
             * Format: date-time
             * @description Received before; by default until now
             */
            until?: string;
            /**
             * @description `refused`: those that were refused and not replayed since. `all`: runs and duplicates, too
             * @default refused
             * @enum {string}
             */
            outcome?: "refused" | "all";
            /**
             * @description At most so many, the oldest first
             * @default 100
             */
            limit?: number;
            /**
             * @description Start no run for an event whose id has started one within the window of the webhook. By default each replay starts a run
             * @default false
             */
            deduplicate?: boolean;
            /**
             * @description Replay events whose signature was missing, wrong or too old: anyone can have sent them
             * @default false
             */
            allow_unverified?: boolean;
        };
        ReportSourceBody: {
            ok: boolean;
            /** @description Why it failed */
            error?: string | null;
            /**
             * Format: date-time
             * @description Default: now
             */
            checked_at?: string;
        };
        RerunRunBody: {
            /** @description The default is the input of that run */
            input?: {
                [key: string]: unknown;
            };
            /** @description The version to run; the default is that of the other run */
            version?: number;
            /** @description Runs the workflow's draft, and not a version */
            draft?: boolean;
            /**
             * @description Rehearses the run: steps take their results from the record of the other run, and nothing has an effect
             * @enum {string}
             */
            mode?: "recorded";
            /** @description These are executed where there is no record: `agent`, `workflow`, `custom:<name>`, `http_request:<METHOD>` or the name of a tool. By default only what computes */
            allow?: string[];
            /**
             * @description Whether a step that had failed fails again, or counts as one without a record. The default is `recorded`
             * @enum {string}
             */
            failures?: "recorded" | "execute";
            /** @description Decisions at gates, by step key or node id. They come before those of the record */
            decisions?: {
                [key: string]: components["schemas"]["RerunRunBodyDecisionsValue"];
            };
            /** @description For mode `recorded`: nodes have the outputs that you have pinned, and not those of the record */
            pins?: boolean;
        };
        RerunRunBodyDecisionsValue: {
            approved: boolean;
            input?: {
                [key: string]: unknown;
            };
        };
        RotatedSecret: {
            /** @description The key of the signatures. Shown only this once */
            secret: string;
            /**
             * Format: date-time
             * @description Until then every delivery is also signed with the previous secret
             */
            previous_secret_until: string;
        };
        Run: {
            id: string;
            /** @description The same as `id` */
            run_id: string;
            workspace_id: string;
            workflow_id: string;
            workflow_name: string;
            /** @description The version pinned when the run was triggered */
            workflow_version: number;
            /** @enum {string} */
            status: "pending" | "running" | "paused" | "success" | "failed";
            /** @enum {string} */
            trigger: "manual" | "webhook" | "mcp" | "schedule" | "workflow";
            /** @description For the trigger `workflow`: the run that started it, unless it was deleted */
            parent_run_id: string | null;
            /** @description The step that started it */
            parent_step_key: string | null;
            /** @description The run that it was started from again, unless that was deleted */
            forked_from: string | null;
            /** @description For a fork: the step from which it is executed. What that run had finished before is reused */
            forked_from_step: string | null;
            /** @description It runs a draft, and not the graph of `workflow_version` */
            of_draft: boolean;
            /** @description For a rehearsal: its steps take their results from the record of the run in `forked_from`, and nothing has an effect */
            mode: "recorded" | null;
            /** @description The event of the webhook that started it, or that it replays */
            inbound_event_id: string | null;
            error: string | null;
            failure: components["schemas"]["RunFailure"] | null;
            resumable: boolean;
            /** @description US dollars, at most six decimals */
            cost_usd: number;
            cost_cap_usd: number | null;
            /** @description Active time, without the wait at gates */
            duration_ms: number;
            /** @description Time spent waiting at gates */
            waiting_ms: number;
            /** @description The member who triggered it */
            created_by: string | null;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            created_at: string;
            started_at: string | null;
            finished_at: string | null;
            resumed_count: number;
            input: {
                [key: string]: unknown;
            };
            state: {
                [key: string]: unknown;
            } | null;
            /** @description Output keys of the nodes without a successor; null until then */
            output: unknown;
            /** @description The cost of the runs that it started, and of those that they started. It is not in `cost_usd`, but counts against `cost_cap_usd` */
            children_cost_usd: number;
            /** @description In the order of their starts. Of a run with more than 1000, the first so many: those outside of loops and maps, then those in them */
            steps: components["schemas"]["Step"][];
            /** @description The `cursor` of the other steps at `GET /api/runs/{id}/steps`; null if `steps` has all */
            steps_next_cursor: string | null;
            /** @description If `steps` does not have all: how many each node has, without the turns and calls of agents */
            step_counts: components["schemas"]["StepCount"][] | null;
            /** @description Of the finished ones of `steps` */
            checkpoints: components["schemas"]["Checkpoint"][];
            /** @description The oldest open gate */
            pending_gate: components["schemas"]["PendingGate"] | null;
            /** @description Every gate that can be decided now, oldest first. A run with other active branches may have some, too */
            pending_gates: components["schemas"]["PendingGate"][];
            evals: components["schemas"]["Evaluation"] | null;
            /** @description For a run of a draft: its graph, as a workflow has it */
            graph?: {
                [key: string]: unknown;
            };
            temporal: components["schemas"]["RunTemporal"];
        };
        RunCompletedFrame: {
            run_id: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "run_completed";
        };
        RunEvaluatedFrame: {
            run_id: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "run_evaluated";
            passed: number;
            total: number;
        };
        RunEvent: {
            /** @description Its number within the run; increases, possibly with gaps */
            seq: number;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            at: string;
            frame: components["schemas"]["StreamFrame"];
        };
        RunEventList: {
            /** @description Oldest first */
            events: components["schemas"]["RunEvent"][];
            /** @description `after` of the next page; null on the last */
            next_cursor: string | null;
        };
        RunFailedFrame: {
            run_id: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "run_failed";
            error: string;
        };
        RunFailure: {
            /** @enum {string} */
            kind: "node" | "budget" | "cancelled" | "rejected" | "crash" | "unrecorded";
            node_id?: string;
            /** @description It was cancelled because the run that started it has ended */
            with_parent?: boolean;
        };
        RunList: {
            runs: components["schemas"]["RunSummary"][];
            /** @description Null on the last page */
            next_cursor: string | null;
        };
        RunPausedFrame: {
            run_id: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "run_paused";
            node_id: string;
            prompt: string;
            /** @description Only for a tool call of an agent, which has the node_id of the agent */
            step_key?: string;
        };
        RunStats: {
            total: number;
            success: number;
            failed: number;
            paused: number;
            /** @description Including pending ones */
            running: number;
            /** @description Percent of the finished runs, one decimal; 0 when none finished */
            success_rate: number;
            /** @description Over the finished runs */
            avg_cost_usd: number | null;
            /** @description Over the finished runs, without the wait at gates */
            avg_duration_ms: number | null;
            last_run_at: string | null;
        };
        RunSummary: {
            id: string;
            /** @description The same as `id` */
            run_id: string;
            workspace_id: string;
            workflow_id: string;
            workflow_name: string;
            /** @description The version pinned when the run was triggered */
            workflow_version: number;
            /** @enum {string} */
            status: "pending" | "running" | "paused" | "success" | "failed";
            /** @enum {string} */
            trigger: "manual" | "webhook" | "mcp" | "schedule" | "workflow";
            /** @description For the trigger `workflow`: the run that started it, unless it was deleted */
            parent_run_id: string | null;
            /** @description The step that started it */
            parent_step_key: string | null;
            /** @description The run that it was started from again, unless that was deleted */
            forked_from: string | null;
            /** @description For a fork: the step from which it is executed. What that run had finished before is reused */
            forked_from_step: string | null;
            /** @description It runs a draft, and not the graph of `workflow_version` */
            of_draft: boolean;
            /** @description For a rehearsal: its steps take their results from the record of the run in `forked_from`, and nothing has an effect */
            mode: "recorded" | null;
            /** @description The event of the webhook that started it, or that it replays */
            inbound_event_id: string | null;
            error: string | null;
            failure: components["schemas"]["RunFailure"] | null;
            resumable: boolean;
            /** @description US dollars, at most six decimals */
            cost_usd: number;
            cost_cap_usd: number | null;
            /** @description Active time, without the wait at gates */
            duration_ms: number;
            /** @description Time spent waiting at gates */
            waiting_ms: number;
            /** @description The member who triggered it */
            created_by: string | null;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            created_at: string;
            started_at: string | null;
            finished_at: string | null;
            resumed_count: number;
        };
        RunTemporal: {
            workflow_id: string;
            run_id: string | null;
            /** @description The run's page in the Temporal UI; null where TEMPORAL_UI_URL is not set */
            url: string | null;
        };
        RunView: {
            name: string;
            filter: string;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            saved_at: string;
        };
        RunViewList: {
            views: components["schemas"]["RunView"][];
        };
        SaveDraftBody: {
            graph?: components["schemas"]["GraphDraft"];
            /** @description JSON Schema, draft 2020-12 or 7, that the input of every run must fit; null accepts any object. Patterns are RE2; `format` is not checked; external references are not loaded. At most 65,536 characters and 40 levels */
            input_schema?: {
                [key: string]: unknown;
            } | null;
            /** @description The version that the work began at; by default that of the draft, or the current one for a new draft */
            base_version?: number;
        };
        SavePinBody: {
            /** @description A run of this workflow */
            run_id: string;
            /** @description Its step; the default is the last step of the node that has an output */
            step_key?: string;
        };
        SaveRunViewBody: {
            /** @description The query of `GET /api/runs`, without `limit` and `cursor` */
            filter: string;
        };
        Schedule: {
            id: string;
            workflow_id: string;
            name: string | null;
            cron: string;
            timezone: string;
            /** @description The input of each run */
            input: {
                [key: string]: unknown;
            };
            enabled: boolean;
            /** @enum {string} */
            overlap: "skip" | "allow";
            /** @description Null while it is disabled or has a `sync_error` */
            next_run_at: string | null;
            last_run_at: string | null;
            last_run_id: string | null;
            /** @description The latest due time without a run, and the reason */
            last_skip: components["schemas"]["ScheduleLastSkip"] | null;
            /** @description Why the schedule cannot run as it is; null after a change that mends it */
            sync_error: string | null;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            created_at: string;
            /** @description Changes with each edit. The header `ETag` has it in double quotes; send that as `If-Match` to change only this state */
            etag: string;
        };
        /** @description It is not as `If-Match` says */
        ScheduleChanged: {
            /** @description The error message */
            detail: string;
            /** @description As it is now; null when it is gone */
            current: components["schemas"]["Schedule"] | null;
        };
        ScheduleLastSkip: {
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            at: string;
            reason: string;
        };
        Secret: {
            name: string;
            allowed_hosts: string[];
            description: string;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            created_at: string;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            updated_at: string;
            /** @description When a call last needed it, to the minute */
            last_used_at: string | null;
            /** @description Changes with each edit. The header `ETag` has it in double quotes; send that as `If-Match` to change only this state */
            etag: string;
        };
        /** @description It is not as `If-Match` says */
        SecretChanged: {
            /** @description The error message */
            detail: string;
            /** @description As it is now; null when it is gone */
            current: components["schemas"]["Secret"] | null;
        };
        Session: {
            /** @description For `Authorization: Bearer` */
            token: string;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            expires_at: string;
            member: components["schemas"]["Member"];
        };
        SetPermissionsBody: {
            overrides: components["schemas"]["CapabilityOverrides"];
            /**
             * @description Keep keys linked to the member whose makers lack the gained permissions. Without it they are revoked, since the maker of a key knows its secret.
             * @default false
             */
            keep_keys?: boolean;
        };
        SetPlanBody: {
            /** @enum {string} */
            plan: "free" | "starter" | "pro" | "enterprise";
        };
        SetPoliciesBody: {
            /**
             * @description Models that agents can use; null: all
             * @default null
             */
            model_allowlist?: string[] | null;
            /** @default [] */
            tools?: components["schemas"]["ToolPolicy"][];
            redaction?: components["schemas"]["RedactionInput"];
        };
        SetPricesBody: {
            prices: components["schemas"]["Price"][];
        };
        SetRoleBody: {
            /** @enum {string} */
            role: "admin" | "editor" | "viewer";
            /**
             * @description Keep keys linked to the member whose makers lack the gained permissions. Without it they are revoked, since the maker of a key knows its secret.
             * @default false
             */
            keep_keys?: boolean;
        };
        SignupBody: {
            name: string;
            /** Format: email */
            email: string;
            password: string;
        };
        SourceDetail: {
            id: string;
            name: string;
            type: string;
            jurisdiction: string | null;
            cadence: string | null;
            permission_status: string | null;
            license_status: string | null;
            reliability_score: number | null;
            health: components["schemas"]["SourceDetailHealth"];
            is_demo: boolean;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            created_at: string;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            updated_at: string;
            /** @description Changes with each edit. The header `ETag` has it in double quotes; send that as `If-Match` to change only this state */
            etag: string;
        };
        /** @description It is not as `If-Match` says */
        SourceDetailChanged: {
            /** @description The error message */
            detail: string;
            /** @description As it is now; null when it is gone */
            current: components["schemas"]["SourceDetail"] | null;
        };
        SourceDetailHealth: {
            /** @enum {string} */
            status: "unknown" | "healthy" | "failed";
            last_success_at: string | null;
            consecutive_failures: number;
            last_failure_at: string | null;
            last_error: string | null;
        };
        SourceEvidence: {
            source_id?: string | null;
            source_name?: string | null;
            url?: string | null;
            retrieved_at?: string | null;
            /** @default false */
            synthetic?: boolean;
        };
        StartBacktestBody: {
            policies: components["schemas"]["StartBacktestBodyPolicies"];
            /**
             * Format: date-time
             * @description Judges the steps of runs that were created since then
             */
            since: string;
            /** @description Only runs of this workflow */
            workflow_id?: string;
        };
        StartBacktestBodyPolicies: {
            /**
             * @description Models that agents can use; null: all
             * @default null
             */
            model_allowlist?: string[] | null;
            /** @default [] */
            tools?: components["schemas"]["ToolPolicy"][];
            redaction?: components["schemas"]["RedactionInput"];
        };
        StartExperimentBody: {
            /** @description What to try: the workflow's draft as it is now, or one of its versions */
            candidate: "draft" | components["schemas"]["StartExperimentBodyCandidate"];
            /** @description The runs to rehearse: the newest ones that have ended, or those with these ids. All of this workflow; rehearsals are no runs to rehearse */
            runs: components["schemas"]["StartExperimentBodyRuns"] | string[];
            /**
             * @description Rehearses the run: steps take their results from the record of the other run, and nothing has an effect
             * @enum {string}
             */
            mode?: "recorded";
            /** @description These are executed where there is no record: `agent`, `workflow`, `custom:<name>`, `http_request:<METHOD>` or the name of a tool. By default only what computes */
            allow?: string[];
            /**
             * @description Whether a step that had failed fails again, or counts as one without a record. The default is `recorded`
             * @enum {string}
             */
            failures?: "recorded" | "execute";
            /** @description Decisions at gates, by step key or node id. They come before those of the record */
            decisions?: {
                [key: string]: components["schemas"]["StartExperimentBodyDecisionsValue"];
            };
            /** @description For mode `recorded`: nodes have the outputs that you have pinned, and not those of the record */
            pins?: boolean;
            /** @description What all rehearsals together may spend, with `allow`. What does not fit is not executed, and its run is `refused` */
            budget_usd?: number;
        };
        StartExperimentBodyCandidate: {
            version: number;
        };
        StartExperimentBodyDecisionsValue: {
            approved: boolean;
            input?: {
                [key: string]: unknown;
            };
        };
        StartExperimentBodyRuns: {
            /** @description The newest so many */
            last: number;
            /**
             * @description By default both
             * @enum {string}
             */
            status?: "success" | "failed";
            /**
             * Format: date-time
             * @description Created at or after
             */
            since?: string;
        };
        StartedJob: {
            id: string;
            /** @enum {string} */
            status: "running" | "done" | "cancelled" | "failed";
        };
        Step: {
            /** @description Node id and iterations of loops and maps: stable over retries and resumes */
            step_key: string;
            node_id: string;
            label: string;
            /** @enum {string} */
            kind: "agent" | "tool" | "condition" | "loop" | "map" | "workflow" | "human_gate" | "merge";
            /** @description Iterations of the enclosing loops and maps, outermost first */
            iteration: number[];
            /** @description The number of attempts */
            attempt: number;
            /** @enum {string} */
            status: "running" | "success" | "failed" | "paused" | "skipped" | "cancelled" | "unrecorded";
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            started_at: string;
            finished_at: string | null;
            duration_ms: number | null;
            /** @description From ready to started */
            queued_ms?: number | null;
            /** @description The part of `duration_ms` before the last attempt: earlier attempts and the delays after them, since the last resume; 0 for a first attempt, null where it was not recorded */
            retried_ms: number | null;
            /** @description Every attempt, oldest first, including those before a resume */
            attempts: components["schemas"]["StepAttempt"][];
            /** @description US dollars, at most six decimals */
            cost_usd: number;
            model?: string;
            usage?: components["schemas"]["StepUsage"];
            /** @description The model has no price, so the cost is unknown */
            unpriced?: boolean;
            /** @description The provider has not reported the tokens of an answer: the cost includes what its request may have cost at most */
            cost_estimated?: boolean;
            input: unknown;
            output: unknown;
            error: string | null;
            /**
             * @description Why its last attempt failed. `timeout`: it took too long, `policy`: refused by a policy, `rejected`: a decision at a gate, `child`: what it started has failed, `node`: any other error
             * @enum {string}
             */
            error_kind?: "node" | "timeout" | "policy" | "rejected" | "child";
            /** @description It has failed, and its error edges were taken: the run continues */
            caught?: boolean;
            policy: components["schemas"]["PolicyVerdict"][];
            /** @description For a node of kind `workflow`: the run that the step started */
            child_run_id?: string;
            /** @description For a fork: the run that executed the step. Its result was reused, which took no time and cost nothing here */
            reused_from?: string;
            /**
             * @description The run that the step started is paused: somebody must decide there
             * @constant
             */
            paused_child?: true;
            /** @description For a turn or a call of an agent with tools: the step of the agent. The cost of that step includes it */
            parent_step_key?: string;
            /** @description For a turn or a call of an agent with tools: the number of the turn, from 1 */
            turn?: number;
            /** @description For a call of an agent with tools */
            tool_call?: components["schemas"]["StepToolCall"];
            /** @description For a gate that was decided and has not opened again since */
            decision?: components["schemas"]["Decision"];
            /** @description For a gate with settings: who has decided what since it opened, oldest first */
            decisions?: components["schemas"]["GateDecision"][];
        };
        StepAttempt: {
            attempt: number;
            /** @description Null while it is running. `interrupted`: its worker was shut down or lost, which uses up no retry */
            outcome: ("success" | "failed" | "cancelled" | "interrupted") | null;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            started_at: string;
            finished_at: string | null;
            duration_ms: number | null;
            error: string | null;
            /** @description US dollars, at most six decimals */
            cost_usd: number;
        };
        StepCompletedFrame: {
            run_id: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "step_completed";
            node_id: string;
            /** @description Only for a tool call of an agent, which has the node_id of the agent */
            step_key?: string;
        };
        StepCount: {
            node_id: string;
            label: string;
            /** @enum {string} */
            kind: "agent" | "tool" | "condition" | "loop" | "map" | "workflow" | "human_gate" | "merge";
            total: number;
            by_status: {
                [key: string]: number;
            };
            /** @description How many of the failed ones were caught */
            caught: number;
        };
        StepFailedFrame: {
            run_id: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "step_failed";
            node_id: string;
            error: string;
            /** @description Only for a tool call of an agent, which has the node_id of the agent */
            step_key?: string;
        };
        StepList: {
            steps: components["schemas"]["Step"][];
            /** @description Null on the last page */
            next_cursor: string | null;
        };
        StepStartedFrame: {
            run_id: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "step_started";
            node_id: string;
            label: string;
            /** @description Only for a tool call of an agent, which has the node_id of the agent */
            step_key?: string;
        };
        StepToolCall: {
            tool: string;
            /** @description Its number in the turn, from 1 */
            index: number;
        };
        StepUsage: {
            input_tokens: number;
            output_tokens: number;
            /** @description The part of `input_tokens` that the provider read from its cache */
            cached_tokens?: number;
            /** @description The part of `input_tokens` that the provider stored in its cache, at a surcharge */
            cache_write_tokens?: number;
        };
        StreamFrame: components["schemas"]["StepStartedFrame"] | components["schemas"]["StepCompletedFrame"] | components["schemas"]["StepFailedFrame"] | components["schemas"]["RunPausedFrame"] | components["schemas"]["RunCompletedFrame"] | components["schemas"]["RunFailedFrame"] | components["schemas"]["RunEvaluatedFrame"] | components["schemas"]["AgentTurnFrame"] | components["schemas"]["ChildPausedFrame"] | components["schemas"]["ChildContinuedFrame"];
        SystemMessage: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            role: "system";
            text: string;
        };
        Template: {
            id: string;
            name: string;
            description: string;
            /** @description It is built in and cannot be changed */
            built_in: boolean;
            graph: components["schemas"]["Graph"];
            /** @description JSON Schema, draft 2020-12 or 7, that the input of every run must fit; null accepts any object. Patterns are RE2; `format` is not checked; external references are not loaded. At most 65,536 characters and 40 levels */
            input_schema: {
                [key: string]: unknown;
            } | null;
            checks: unknown[];
            /** @description An example input */
            sample_input: {
                [key: string]: unknown;
            };
            /** @description Null for built-in ones */
            created_at: string | null;
            /** @description Changes with each edit. The header `ETag` has it in double quotes; send that as `If-Match` to change only this state */
            etag: string;
        };
        /** @description It is not as `If-Match` says */
        TemplateChanged: {
            /** @description The error message */
            detail: string;
            /** @description As it is now; null when it is gone */
            current: components["schemas"]["Template"] | null;
        };
        TemplateFromGraph: {
            name: string;
            /** @default  */
            description?: string;
            graph: components["schemas"]["GraphDraft"];
            /** @description JSON Schema, draft 2020-12 or 7, that the input of every run must fit; null accepts any object. Patterns are RE2; `format` is not checked; external references are not loaded. At most 65,536 characters and 40 levels */
            input_schema?: {
                [key: string]: unknown;
            } | null;
            /** @default [] */
            checks?: components["schemas"]["EvaluationCheck"][];
            /**
             * @description An example input
             * @default {}
             */
            sample_input?: {
                [key: string]: unknown;
            };
        };
        TemplateFromWorkflow: {
            /** @description Its current graph, its input schema and its checks are copied */
            workflow_id: string;
            /** @description The workflow's name by default */
            name?: string;
            description?: string;
            /**
             * @description An example input
             * @default {}
             */
            sample_input?: {
                [key: string]: unknown;
            };
        };
        TestNodeBody: {
            /** @description A run of this workflow: the node begins with the state that it had there */
            run_id?: string;
            /** @description The step of that run, for a node in a loop or a map. The default is the last one of this node */
            step_key?: string;
            /** @description Laid over the state of the run; without a run, the whole state */
            state?: {
                [key: string]: unknown;
            };
            /** @description The version that has the node; the default is the current one */
            version?: number;
            /** @description Tests the node of the workflow's draft */
            draft?: boolean;
            /** @description What the test may execute: `agent`, `workflow`, `custom:<name>`, `http_request:<METHOD>` or the name of a tool. By default only what computes */
            allow?: string[];
            /** @description Replaces the outputs of other nodes by the caller's pinned ones */
            pins?: boolean;
        };
        TestToolBody: {
            /** @default {} */
            arguments?: {
                [key: string]: unknown;
            };
        };
        TextCheck: {
            name: string;
            target?: string;
            case_sensitive?: boolean;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "contains" | "not_contains" | "equals" | "regex";
            value: string | number;
        };
        ToolCallProblem: {
            run_id: string;
            step_key: string;
            /** @description The entry of a decision */
            audit_id?: string;
            problem: string;
        };
        /** @description Tool calls of agents that need approval */
        ToolCallVerification: {
            /** @description Decisions that were compared with their gates */
            decisions: number;
            /** @description Calls with approval that were compared with their decisions */
            made: number;
            /** @description At most 100 */
            problems: components["schemas"]["ToolCallProblem"][];
        };
        ToolImport: {
            created: components["schemas"]["ImportedTool"][];
            /** @description Imported earlier; the server describes them otherwise now, or they were changed */
            updated: components["schemas"]["ImportedTool"][];
            unchanged: components["schemas"]["ImportedTool"][];
            skipped: components["schemas"]["ToolImportSkipped"][];
        };
        ToolImportSkipped: {
            /** @description Its name on the server */
            name: string;
            reason: string;
        };
        ToolMessage: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            role: "tool";
            turn: number;
            index: number;
            step_key: string | null;
            tool: string;
            /** @description The result, or the error */
            content: unknown;
            is_error: boolean;
        };
        ToolNode: {
            /** @description Letters and digits of any script, `_`, `-`, `.` and `:`; starts with a letter, a digit or `_` */
            id: string;
            label?: string;
            position?: components["schemas"]["NodePosition"];
            retry?: components["schemas"]["NodeRetry"];
            timeout_seconds?: number;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            kind: "tool";
            tool_name: string;
            /** @default {} */
            params?: {
                [key: string]: unknown;
            };
            output_key?: string;
        };
        ToolPolicy: {
            /** @description As in `tool_name`; `workflow:<id or name>` for runs that a run starts */
            tool: string;
            /** @description Absent: all workflows can use it */
            allowed_workflow_ids?: string[];
            blocked_arguments?: components["schemas"]["BlockedArgument"][];
        };
        ToolTest: {
            ok: boolean;
            /** @description The output of a step; null on failure */
            result: {
                [key: string]: unknown;
            } | null;
            /** @description The error of a step */
            error: string | null;
            /** @description Of the HTTP response, if any */
            status: number | null;
            duration_ms: number;
            /** @description Names of stored headers that were not sent, because the caller does not have the capability run_workflows */
            omitted_headers: string[];
        };
        UpdateBudgetBody: {
            name?: string;
            limit_usd?: number;
            /** @description What each trigger reserves. Without it only settled spend counts. */
            reservation_estimate_usd?: number | null;
            /**
             * @description `none`: a request begins only if all that it may cost fits, beside the requests in progress. `one_step`: a request begins while something is left, so that the limit is exceeded by less than one step
             * @enum {string}
             */
            overrun?: "none" | "one_step";
            /** @enum {string} */
            scope?: "workspace" | "workflow";
            /** @description The workflow, for scope `workflow` */
            workflow_id?: string | null;
            /** @enum {string} */
            window?: "day" | "week" | "month" | "total";
        };
        UpdateFeedBody: {
            name?: string;
            description?: string;
            /**
             * @description Archived feeds are not listed in the data API
             * @enum {string}
             */
            status?: "active" | "paused" | "degraded" | "archived";
            /** @description The accepted types of records; empty: any */
            entity_types?: string[];
            /** @description The meaning of its records' attributes, as JSON Schema or as text */
            schema?: {
                [key: string]: unknown;
            };
            /** @description Where its records come from, such as `{"country": "US"}` */
            geography?: {
                [key: string]: unknown;
            };
            /** @description What is monitored, how and how often */
            specification?: {
                [key: string]: unknown;
            };
        };
        UpdateScheduleBody: {
            workflow_id?: string;
            name?: string | null;
            /** @description Minute, hour, day of month, month, day of week; or `@hourly`, `@daily`, `@weekly`, `@monthly`, `@yearly` */
            cron?: string;
            /** @description IANA time zone of the cron expression */
            timezone?: string;
            input?: {
                [key: string]: unknown;
            };
            enabled?: boolean;
            /**
             * @description `skip`: no run starts while an earlier one of the schedule is active
             * @enum {string}
             */
            overlap?: "skip" | "allow";
        };
        UpdateSourceBody: {
            name?: string;
            /** @description The type of source, such as `permit_portal` */
            type?: string;
            jurisdiction?: string | null;
            /** @description How often it is checked, such as `daily` */
            cadence?: string | null;
            /** @description Whether it may be read */
            permission_status?: string | null;
            /** @description Whether its content may be redistributed */
            license_status?: string | null;
            reliability_score?: number | null;
        };
        UpdateTemplateBody: {
            name?: string;
            description?: string;
            graph?: components["schemas"]["GraphDraft"];
            /** @description JSON Schema, draft 2020-12 or 7, that the input of every run must fit; null accepts any object. Patterns are RE2; `format` is not checked; external references are not loaded. At most 65,536 characters and 40 levels */
            input_schema?: {
                [key: string]: unknown;
            } | null;
            checks?: components["schemas"]["EvaluationCheck"][];
            /** @description An example input */
            sample_input?: {
                [key: string]: unknown;
            };
        };
        UpdateToolBody: {
            /** @description Workflows call the tool as `custom:<name>` */
            name?: string;
            label?: string;
            description?: string;
            /** @enum {string} */
            kind?: "http" | "mcp";
            /**
             * Format: uri
             * @description Called unchanged: no part of it comes from a workflow
             */
            endpoint_url?: string;
            /**
             * @description For kind `http`. GET and HEAD send the arguments in the query
             * @enum {string}
             */
            method?: "POST" | "GET" | "HEAD" | "PUT" | "PATCH" | "DELETE";
            /** @description Sent with each call. Values are stored sealed and shown as `***` */
            headers?: {
                [key: string]: string;
            };
            /** @description The tool of the MCP server, for kind `mcp` */
            mcp_tool?: string | null;
            /** @description JSON Schema, draft 2020-12 or 7, that validates the arguments before each call. Patterns are RE2; `format` is not checked; external references are not loaded. */
            input_schema?: {
                [key: string]: unknown;
            } | null;
            timeout_seconds?: number;
            /** @description Retries after the first try; a node's own `retry` replaces it */
            retry_count?: number;
        };
        UpdateWebhookEndpointBody: {
            /** @description Events are sent to it with POST */
            url?: string;
            /** @description The subscribed events; a `ping` is always sent */
            events?: ("entity.created" | "entity.updated" | "intelligence_event.created" | "intelligence_event.verified" | "feed.status_changed" | "source.failed" | "source.recovered" | "usage.threshold_reached" | "export.completed" | "ping" | "run.completed" | "run.failed" | "run.paused" | "approval.requested")[];
        };
        UpdateWorkflowBody: {
            name?: string;
            description?: string;
            graph?: components["schemas"]["GraphDraft"];
            /** @description JSON Schema, draft 2020-12 or 7, that the input of every run must fit; null accepts any object. Patterns are RE2; `format` is not checked; external references are not loaded. At most 65,536 characters and 40 levels */
            input_schema?: {
                [key: string]: unknown;
            } | null;
            /** @description The cost limit of one run; null removes it */
            run_cap_usd?: number | null;
            /**
             * @description `none`: a request begins only if all that it may cost fits, beside the requests in progress. `one_step`: a request begins while something is left, so that the limit is exceeded by less than one step
             * @enum {string}
             */
            overrun?: "none" | "one_step";
            /** @description It is published only after an experiment of exactly this graph and input schema that lost no check and failed no run */
            requires_experiment?: boolean;
        };
        UpdateWorkspaceBody: {
            name: string;
        };
        Usage: {
            /** @enum {string} */
            plan: "free" | "starter" | "pro" | "enterprise";
            /** @description Runs created this month, regardless of their result; the quota limits this number */
            runs_used: number;
            /** @description Null: unlimited */
            runs_limit: number | null;
            /** @description US dollars, at most six decimals */
            cost_usd: number;
            /**
             * Format: date-time
             * @description First instant of the current month, UTC
             */
            period_start: string;
            /**
             * Format: date-time
             * @description Last second of the current month, UTC
             */
            period_end: string;
        };
        UsageBreakdown: {
            /**
             * Format: date-time
             * @description First instant of the first day
             */
            since: string;
            /**
             * Format: date-time
             * @description Now
             */
            until: string;
            /** @description Runs created in these days that still exist, most expensive first. Beyond 50, the last row is `other` */
            by_workflow: components["schemas"]["UsageBreakdownByWorkflow"][];
            /** @description The steps of these runs, in the same way; beyond 50, the last row is `other` */
            by_model: components["schemas"]["UsageBreakdownByModel"][];
            /** @description Every day, oldest first, of all runs, including deleted ones */
            by_day: components["schemas"]["UsageBreakdownByDay"][];
        };
        UsageBreakdownByDay: {
            /** Format: date */
            date: string;
            runs: number;
            /** @description US dollars, at most six decimals */
            cost_usd: number;
        };
        UsageBreakdownByModel: {
            /** @description Null: attempts that failed permanently, of any model */
            model: string | null;
            steps: number;
            /** @description Of the attempts that ended the steps */
            input_tokens: number;
            /** @description Of the attempts that ended the steps */
            output_tokens: number;
            /** @description US dollars, at most six decimals */
            cost_usd: number;
            /** @description Steps whose cost is not completely known */
            unpriced_steps: number;
        };
        UsageBreakdownByWorkflow: {
            /** @description Null: all others */
            workflow_id: string | null;
            name: string;
            runs: number;
            /** @description US dollars, at most six decimals */
            cost_usd: number;
        };
        UserMessage: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            role: "user";
            text: string;
        };
        Webhook: {
            enabled: boolean;
            /** @description Null while disabled */
            url: string | null;
            /** @description Refuse requests without a valid `X-Service-Timestamp` and `X-Service-Signature` */
            require_signature: boolean;
            /** @description How far the time of a signature may be from now, before or after */
            timestamp_tolerance_seconds: number;
            /** @description How long a known event starts no second run; 0: every request starts one */
            dedup_window_seconds: number;
            /** @description The body field with the event id, without an `X-Service-Event-Id` */
            event_id_field: string;
            /** @description The header with the event id; it decides alone. Null: `X-Service-Event-Id`, then the body */
            event_id_header: string | null;
            /** @description Take the fields of a form, by its content type, as the input */
            accept_forms: boolean;
            /** @description Answer the challenges by which senders check an address, without a run: `{"type": "url_verification", "challenge": ...}` and `?validationToken=...` */
            answer_challenges: boolean;
            /** @description Changes with each edit. The header `ETag` has it in double quotes; send that as `If-Match` to change only this state */
            etag: string;
        };
        /** @description It is not as `If-Match` says */
        WebhookChanged: {
            /** @description The error message */
            detail: string;
            /** @description As it is now; null when it is gone */
            current: components["schemas"]["Webhook"] | null;
        };
        WebhookDelivery: {
            /** @description As in the header `X-Service-Delivery` */
            id: string;
            event_id: string;
            /** @enum {string} */
            type: "entity.created" | "entity.updated" | "intelligence_event.created" | "intelligence_event.verified" | "feed.status_changed" | "source.failed" | "source.recovered" | "usage.threshold_reached" | "export.completed" | "ping" | "run.completed" | "run.failed" | "run.paused" | "approval.requested";
            /**
             * @description `dead`: failed permanently
             * @enum {string}
             */
            status: "pending" | "delivered" | "dead";
            /** @description Why it failed without an attempt */
            reason: string | null;
            /** @description In the current cycle */
            attempts: number;
            /** @description For a pending delivery */
            next_attempt_at: string | null;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            created_at: string;
            ended_at: string | null;
            /** @description Every attempt, oldest first */
            log: components["schemas"]["DeliveryAttempt"][];
        };
        WebhookDeliveryList: {
            deliveries: components["schemas"]["WebhookDelivery"][];
            /** @description Null on the last page */
            next_cursor: string | null;
        };
        Workflow: {
            id: string;
            workspace_id: string;
            name: string;
            description: string;
            /** @enum {string} */
            status: "draft" | "published";
            version: number;
            graph: components["schemas"]["Graph"];
            /** @description JSON Schema, draft 2020-12 or 7, that the input of every run must fit; null accepts any object. Patterns are RE2; `format` is not checked; external references are not loaded. At most 65,536 characters and 40 levels */
            input_schema: {
                [key: string]: unknown;
            } | null;
            checks: unknown[];
            /** @description The cost limit of one run */
            run_cap_usd: number | null;
            /**
             * @description `none`: a request begins only if all that it may cost fits, beside the requests in progress. `one_step`: a request begins while something is left, so that the limit is exceeded by less than one step
             * @enum {string}
             */
            overrun: "none" | "one_step";
            /** @description It is published only after an experiment of exactly this graph and input schema that lost no check and failed no run */
            requires_experiment: boolean;
            stats: components["schemas"]["RunStats"];
            created_by: string | null;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            created_at: string;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            updated_at: string;
            /** @description It has a draft, at `.../draft` */
            has_draft: boolean;
            /** @description Changes with each edit. The header `ETag` has it in double quotes; send that as `If-Match` to change only this state */
            etag: string;
        };
        /** @description It is not as `If-Match` says */
        WorkflowChanged: {
            /** @description The error message */
            detail: string;
            /** @description As it is now; null when it is gone */
            current: components["schemas"]["Workflow"] | null;
        };
        WorkflowDetail: {
            id: string;
            workspace_id: string;
            name: string;
            description: string;
            /** @enum {string} */
            status: "draft" | "published";
            version: number;
            graph: components["schemas"]["Graph"];
            /** @description JSON Schema, draft 2020-12 or 7, that the input of every run must fit; null accepts any object. Patterns are RE2; `format` is not checked; external references are not loaded. At most 65,536 characters and 40 levels */
            input_schema: {
                [key: string]: unknown;
            } | null;
            checks: unknown[];
            /** @description The cost limit of one run */
            run_cap_usd: number | null;
            /**
             * @description `none`: a request begins only if all that it may cost fits, beside the requests in progress. `one_step`: a request begins while something is left, so that the limit is exceeded by less than one step
             * @enum {string}
             */
            overrun: "none" | "one_step";
            /** @description It is published only after an experiment of exactly this graph and input schema that lost no check and failed no run */
            requires_experiment: boolean;
            stats: components["schemas"]["RunStats"];
            created_by: string | null;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            created_at: string;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            updated_at: string;
            /** @description It has a draft, at `.../draft` */
            has_draft: boolean;
            /** @description Changes with each edit. The header `ETag` has it in double quotes; send that as `If-Match` to change only this state */
            etag: string;
            /** @description Only with `include=draft`: null without a draft */
            draft?: components["schemas"]["WorkflowDraft"] | null;
        };
        WorkflowDraft: {
            workflow_id: string;
            /** @description The version it began at; it can be published while this is the current version */
            base_version: number;
            /** @description Counts the saves that changed something */
            revision: number;
            graph: components["schemas"]["Graph"];
            /** @description JSON Schema, draft 2020-12 or 7, that the input of every run must fit; null accepts any object. Patterns are RE2; `format` is not checked; external references are not loaded. At most 65,536 characters and 40 levels */
            input_schema: {
                [key: string]: unknown;
            } | null;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            created_at: string;
            /** @description The member who saved it last */
            saved_by: string | null;
            saved_by_name: string | null;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            saved_at: string;
            /** @description Changes with each edit. The header `ETag` has it in double quotes; send that as `If-Match` to change only this state */
            etag: string;
        };
        /** @description It is not as `If-Match` says */
        WorkflowDraftChanged: {
            /** @description The error message */
            detail: string;
            /** @description As it is now; null when it is gone */
            current: components["schemas"]["WorkflowDraft"] | null;
        };
        WorkflowNode: {
            /** @description Letters and digits of any script, `_`, `-`, `.` and `:`; starts with a letter, a digit or `_` */
            id: string;
            label?: string;
            position?: components["schemas"]["NodePosition"];
            retry?: components["schemas"]["NodeRetry"];
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            kind: "workflow";
            workflow: string;
            version?: number;
            /** @default {} */
            input?: {
                [key: string]: unknown;
            };
            output_key?: string;
        };
        WorkflowOrDraft: components["schemas"]["Workflow"] | components["schemas"]["WorkflowDraft"];
        /** @description It is not as `If-Match` says */
        WorkflowOrDraftChanged: {
            /** @description The error message */
            detail: string;
            /** @description As it is now; null when it is gone */
            current: components["schemas"]["WorkflowOrDraft"] | null;
        };
        WorkflowVersion: {
            workflow_id: string;
            version: number;
            /** @description The member who wrote it */
            created_by: string | null;
            created_by_name: string | null;
            /** @description What its author said about it */
            note: string | null;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            created_at: string;
            graph: components["schemas"]["Graph"];
            /** @description JSON Schema, draft 2020-12 or 7, that the input of every run must fit; null accepts any object. Patterns are RE2; `format` is not checked; external references are not loaded. At most 65,536 characters and 40 levels */
            input_schema: {
                [key: string]: unknown;
            } | null;
        };
        WorkflowVersionList: {
            versions: components["schemas"]["WorkflowVersionSummary"][];
            next_cursor: string | null;
        };
        WorkflowVersionSummary: {
            workflow_id: string;
            version: number;
            /** @description The member who wrote it */
            created_by: string | null;
            created_by_name: string | null;
            /** @description What its author said about it */
            note: string | null;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            created_at: string;
            nodes: number;
            edges: number;
        };
        Workspace: {
            id: string;
            name: string;
            /** @enum {string} */
            plan: "free" | "starter" | "pro" | "enterprise";
            member_count: number;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            created_at: string;
            /** @description Changes with each edit. The header `ETag` has it in double quotes; send that as `If-Match` to change only this state */
            etag: string;
        };
        /** @description It is not as `If-Match` says */
        WorkspaceChanged: {
            /** @description The error message */
            detail: string;
            /** @description As it is now; null when it is gone */
            current: components["schemas"]["Workspace"] | null;
        };
        WorkspaceDataUsage: {
            /** @description Calendar month, UTC */
            month: string;
            /**
             * Format: date-time
             * @description First instant of the month
             */
            period_start: string;
            /**
             * Format: date-time
             * @description Last second of the month
             */
            period_end: string;
            /** @enum {string} */
            plan: "free" | "starter" | "pro" | "enterprise";
            /** @description Every call with a valid key, including refused ones */
            requests: components["schemas"]["Allowance"];
            credits: components["schemas"]["Allowance"];
            /** @description Paid records, events, changes and rows */
            records: number;
            webhook_deliveries: number;
            source_checks: number;
            /** @description The keys used this month, most credits first; at most 200 */
            keys: components["schemas"]["WorkspaceDataUsageKey"][];
        };
        WorkspaceDataUsageKey: {
            id: string;
            name: string;
            /** @enum {string} */
            mode: "live" | "test";
            requests: components["schemas"]["Allowance"];
            credits: components["schemas"]["Allowance"];
            records: number;
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    getHealth: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Health"];
                };
            };
        };
    };
    getReadiness: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Health"];
                };
            };
        };
    };
    login: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["LoginBody"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Session"];
                };
            };
        };
    };
    signup: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SignupBody"];
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Member"];
                };
            };
        };
    };
    acceptInvite: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AcceptInviteBody"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Session"];
                };
            };
        };
    };
    changePassword: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ChangePasswordBody"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Session"];
                };
            };
        };
    };
    getIdentity: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Identity"];
                };
            };
        };
    };
    listMembers: {
        parameters: {
            query?: {
                /** @description Maximum number of rows */
                limit?: number;
                /** @description Rows to skip */
                offset?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Member"][];
                };
            };
        };
    };
    inviteMember: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["InviteMemberBody"];
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Member"];
                };
            };
        };
    };
    getMember: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MemberDetail"];
                };
            };
        };
    };
    setRole: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `ETag` of the record as you read it. Where it has changed since, the answer is 412 */
                "if-match"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SetRoleBody"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MemberDetail"];
                };
            };
        };
    };
    removeMember: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `ETag` of the record as you read it. Where it has changed since, the answer is 412 */
                "if-match"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    changeRole: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `ETag` of the record as you read it. Where it has changed since, the answer is 412 */
                "if-match"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ChangeRoleBody"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MemberDetail"];
                };
            };
        };
    };
    getMemberStats: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MemberStats"];
                };
            };
        };
    };
    setPermissions: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `ETag` of the record as you read it. Where it has changed since, the answer is 412 */
                "if-match"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SetPermissionsBody"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MemberDetail"];
                };
            };
        };
    };
    changePermissions: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `ETag` of the record as you read it. Where it has changed since, the answer is 412 */
                "if-match"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ChangePermissionsBody"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MemberDetail"];
                };
            };
        };
    };
    renewInvite: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["EmptyBody"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MemberDetail"];
                };
            };
        };
    };
    approveMember: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["EmptyBody"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MemberDetail"];
                };
            };
        };
    };
    listWorkflows: {
        parameters: {
            query?: {
                /** @description Maximum number of rows */
                limit?: number;
                /** @description Rows to skip */
                offset?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Workflow"][];
                };
            };
        };
    };
    createWorkflow: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateWorkflowBody"];
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Workflow"];
                };
            };
        };
    };
    getWorkflow: {
        parameters: {
            query?: {
                /** @description `draft`: include the draft */
                include?: "draft";
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WorkflowDetail"];
                };
            };
        };
    };
    updateWorkflow: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `ETag` of the record as you read it. Where it has changed since, the answer is 412 */
                "if-match"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["UpdateWorkflowBody"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Workflow"];
                };
            };
        };
    };
    deleteWorkflow: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `ETag` of the record as you read it. Where it has changed since, the answer is 412 */
                "if-match"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    validateWorkflow: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["EmptyBody"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GraphReport"];
                };
            };
        };
    };
    setChecks: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `ETag` of the record as you read it. Where it has changed since, the answer is 412 */
                "if-match"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["EvaluationCheck"][];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Workflow"];
                };
            };
        };
    };
    listWorkflowRuns: {
        parameters: {
            query?: {
                /** @description Only runs with all of these words, or starts of words, in their id, input, output or error. It reads the first 8,000 characters of input and output, and finds a run a moment after it has started or ended */
                q?: string;
                /** @description Only runs of this version, without those of drafts */
                version?: number;
                /** @description One status, or several separated by commas */
                status?: ("pending" | "running" | "paused" | "success" | "failed")[];
                failure_kind?: "node" | "budget" | "cancelled" | "rejected" | "crash" | "unrecorded";
                trigger?: "manual" | "webhook" | "mcp" | "schedule" | "workflow";
                /** @description Only the runs that this run started */
                parent_run_id?: string;
                /** @description Only the runs that were started from this one again */
                forked_from?: string;
                /** @description Only ordinary runs, or only rehearsals; by default both */
                mode?: "live" | "recorded";
                /** @description Created at or after */
                since?: string;
                /** @description Created before */
                until?: string;
                /** @description Cost of at least this */
                min_cost_usd?: number;
                /** @description Cost of at most this */
                max_cost_usd?: number;
                /** @description Active time of at least this */
                min_duration_ms?: number;
                /** @description Active time of at most this */
                max_duration_ms?: number;
                /** @description Rows per page */
                limit?: number;
                /** @description `next_cursor` of the previous page */
                cursor?: string;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RunList"];
                };
            };
        };
    };
    triggerRun: {
        parameters: {
            query?: {
                /** @description With `true`, runs the workflow's draft, and not its current version */
                draft?: "true" | "false";
            };
            header?: {
                /** @description Sent twice with the same input, it starts one run */
                "idempotency-key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        /** @description The run input: any JSON object. No body means `{}` */
        requestBody?: {
            content: {
                "application/json": {
                    [key: string]: unknown;
                };
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Run"];
                };
            };
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Run"];
                };
            };
        };
    };
    listVersions: {
        parameters: {
            query?: {
                /** @description Rows per page */
                limit?: number;
                /** @description `next_cursor` of the previous page */
                cursor?: string;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WorkflowVersionList"];
                };
            };
        };
    };
    getVersion: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
                version: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WorkflowVersion"];
                };
            };
        };
    };
    diffVersions: {
        parameters: {
            query: {
                from: number;
                to: number;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GraphDiff"];
                };
            };
        };
    };
    getDraft: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WorkflowDraft"];
                };
            };
        };
    };
    saveDraft: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `ETag` of the record as you read it. Where it has changed since, the answer is 412 */
                "if-match"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SaveDraftBody"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WorkflowDraft"];
                };
            };
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WorkflowDraft"];
                };
            };
        };
    };
    discardDraft: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `ETag` of the record as you read it. Where it has changed since, the answer is 412 */
                "if-match"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    publishWorkflow: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `ETag` of the record as you read it. Where it has changed since, the answer is 412 */
                "if-match"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["PublishWorkflowBody"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Workflow"];
                };
            };
        };
    };
    listTemplates: {
        parameters: {
            query?: {
                /** @description Maximum number of rows */
                limit?: number;
                /** @description Rows to skip */
                offset?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Template"][];
                };
            };
        };
    };
    createTemplate: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["TemplateFromGraph"] | components["schemas"]["TemplateFromWorkflow"];
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Template"];
                };
            };
        };
    };
    getTemplate: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Template"];
                };
            };
        };
    };
    updateTemplate: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `ETag` of the record as you read it. Where it has changed since, the answer is 412 */
                "if-match"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["UpdateTemplateBody"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Template"];
                };
            };
        };
    };
    deleteTemplate: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `ETag` of the record as you read it. Where it has changed since, the answer is 412 */
                "if-match"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    instantiateTemplate: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["InstantiateTemplateBody"];
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Workflow"];
                };
            };
        };
    };
    listRuns: {
        parameters: {
            query?: {
                /** @description Only runs with all of these words, or starts of words, in their id, input, output or error. It reads the first 8,000 characters of input and output, and finds a run a moment after it has started or ended */
                q?: string;
                workflow_id?: string;
                /** @description Only runs of this version, without those of drafts */
                version?: number;
                /** @description One status, or several separated by commas */
                status?: ("pending" | "running" | "paused" | "success" | "failed")[];
                failure_kind?: "node" | "budget" | "cancelled" | "rejected" | "crash" | "unrecorded";
                trigger?: "manual" | "webhook" | "mcp" | "schedule" | "workflow";
                /** @description Only the runs that this run started */
                parent_run_id?: string;
                /** @description Only the runs that were started from this one again */
                forked_from?: string;
                /** @description Only ordinary runs, or only rehearsals; by default both */
                mode?: "live" | "recorded";
                /** @description Created at or after */
                since?: string;
                /** @description Created before */
                until?: string;
                /** @description Cost of at least this */
                min_cost_usd?: number;
                /** @description Cost of at most this */
                max_cost_usd?: number;
                /** @description Active time of at least this */
                min_duration_ms?: number;
                /** @description Active time of at most this */
                max_duration_ms?: number;
                /** @description Rows per page */
                limit?: number;
                /** @description `next_cursor` of the previous page */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RunList"];
                };
            };
        };
    };
    getRun: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Run"];
                };
            };
        };
    };
    listRunSteps: {
        parameters: {
            query?: {
                node_id?: string;
                step_key?: string;
                status?: "running" | "success" | "failed" | "paused" | "skipped" | "cancelled" | "unrecorded";
                /** @description Rows per page */
                limit?: number;
                /** @description `next_cursor` of the previous page */
                cursor?: string;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StepList"];
                };
            };
        };
    };
    listRunEvents: {
        parameters: {
            query?: {
                /** @description Events with a greater `seq` only */
                after?: number;
                /** @description Events per page */
                limit?: number;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RunEventList"];
                };
            };
        };
    };
    listStepMessages: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
                step_key: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MessageList"];
                };
            };
        };
    };
    decideGate: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["DecideGateBody"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Run"];
                };
            };
        };
    };
    assignGate: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AssignGateBody"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Run"];
                };
            };
        };
    };
    resumeRun: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["EmptyBody"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Run"];
                };
            };
        };
    };
    overrideBudget: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["OverrideBudgetBody"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Run"];
                };
            };
        };
    };
    cancelRun: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["EmptyBody"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Run"];
                };
            };
        };
    };
    exportRuns: {
        parameters: {
            query?: {
                /** @description Only runs with all of these words, or starts of words, in their id, input, output or error. It reads the first 8,000 characters of input and output, and finds a run a moment after it has started or ended */
                q?: string;
                workflow_id?: string;
                /** @description Only runs of this version, without those of drafts */
                version?: number;
                /** @description One status, or several separated by commas */
                status?: ("pending" | "running" | "paused" | "success" | "failed")[];
                failure_kind?: "node" | "budget" | "cancelled" | "rejected" | "crash" | "unrecorded";
                trigger?: "manual" | "webhook" | "mcp" | "schedule" | "workflow";
                /** @description Only the runs that this run started */
                parent_run_id?: string;
                /** @description Only the runs that were started from this one again */
                forked_from?: string;
                /** @description Only ordinary runs, or only rehearsals; by default both */
                mode?: "live" | "recorded";
                /** @description Created at or after */
                since?: string;
                /** @description Created before */
                until?: string;
                /** @description Cost of at least this */
                min_cost_usd?: number;
                /** @description Cost of at most this */
                max_cost_usd?: number;
                /** @description Active time of at least this */
                min_duration_ms?: number;
                /** @description Active time of at most this */
                max_duration_ms?: number;
                /** @description `csv`: a header row and a row per run (RFC 4180); `ndjson`: a JSON object per line */
                format?: "csv" | "ndjson";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The runs, in the `format` of the request */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/csv": string;
                    "application/x-ndjson": components["schemas"]["RunSummary"];
                };
            };
        };
    };
    listRunViews: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RunViewList"];
                };
            };
        };
    };
    saveRunView: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description 1 to 60 characters */
                name: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SaveRunViewBody"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RunView"];
                };
            };
        };
    };
    removeRunView: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description 1 to 60 characters */
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    dryRunWorkflow: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["DryRunWorkflowBody"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DryRun"];
                };
            };
        };
    };
    rerunRun: {
        parameters: {
            query?: never;
            header?: {
                /** @description Sent twice with the same input, it starts one run */
                "idempotency-key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["RerunRunBody"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Fork"];
                };
            };
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Fork"];
                };
            };
        };
    };
    forkRun: {
        parameters: {
            query?: never;
            header?: {
                /** @description Sent twice with the same input, it starts one run */
                "idempotency-key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ForkRunBody"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Fork"];
                };
            };
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Fork"];
                };
            };
        };
    };
    listExperiments: {
        parameters: {
            query?: {
                /** @description Rows per page */
                limit?: number;
                /** @description `next_cursor` of the previous page */
                cursor?: string;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ExperimentList"];
                };
            };
        };
    };
    startExperiment: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["StartExperimentBody"];
            };
        };
        responses: {
            /** @description Accepted */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StartedJob"];
                };
            };
        };
    };
    getExperiment: {
        parameters: {
            query?: {
                /** @description Only these */
                outcome?: "equal" | "changed" | "failed" | "unrecorded" | "refused";
                /** @description `csv`: all runs, without pages. The default is `json` */
                format?: "json" | "csv";
                /** @description Rows per page */
                limit?: number;
                /** @description `next_cursor` of the previous page */
                cursor?: string;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The experiment */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Experiment"];
                    "text/csv": string;
                };
            };
        };
    };
    cancelExperiment: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["EmptyBody"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ListedExperiment"];
                };
            };
        };
    };
    testNode: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
                node_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["TestNodeBody"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NodeTest"];
                };
            };
            /** @description Accepted */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NodeTest"];
                };
            };
        };
    };
    listPins: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PinList"];
                };
            };
        };
    };
    savePin: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
                node_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SavePinBody"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Pin"];
                };
            };
        };
    };
    removePin: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
                node_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    getWebhook: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Webhook"];
                };
            };
        };
    };
    enableWebhook: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["EmptyBody"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EnabledWebhook"];
                };
            };
        };
    };
    disableWebhook: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `ETag` of the record as you read it. Where it has changed since, the answer is 412 */
                "if-match"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    configureWebhook: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `ETag` of the record as you read it. Where it has changed since, the answer is 412 */
                "if-match"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ConfigureWebhookBody"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Webhook"];
                };
            };
        };
    };
    listInboundEvents: {
        parameters: {
            query?: {
                /** @description Rows per page */
                limit?: number;
                /** @description `next_cursor` of the previous page */
                cursor?: string;
                outcome?: "run" | "duplicate" | "refused";
                /** @description Received at or after */
                since?: string;
                /** @description Received before */
                until?: string;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InboundEventList"];
                };
            };
        };
    };
    getInboundEvent: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InboundEvent"];
                };
            };
        };
    };
    replayInboundEvent: {
        parameters: {
            query?: never;
            header?: {
                /** @description Sent twice with the same input, it starts one run */
                "idempotency-key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["ReplayInboundEventBody"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Run"];
                };
            };
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Run"];
                };
            };
        };
    };
    replayInboundEvents: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ReplayInboundEventsBody"];
            };
        };
        responses: {
            /** @description Accepted */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StartedJob"];
                };
            };
        };
    };
    listEventReplays: {
        parameters: {
            query?: {
                /** @description Rows per page */
                limit?: number;
                /** @description `next_cursor` of the previous page */
                cursor?: string;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EventReplayList"];
                };
            };
        };
    };
    getEventReplay: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EventReplay"];
                };
            };
        };
    };
    cancelEventReplay: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["EmptyBody"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EventReplay"];
                };
            };
        };
    };
    listApprovals: {
        parameters: {
            query?: {
                /** @description Rows per page */
                limit?: number;
                /** @description `next_cursor` of the previous page */
                cursor?: string;
                /** @description Only gates that this member is expected to decide: a member id, or `me` */
                assigned_to?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ApprovalList"];
                };
            };
        };
    };
    getGate: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
                step_key: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Gate"];
                };
            };
        };
    };
    listTools: {
        parameters: {
            query?: {
                /** @description Maximum number of rows */
                limit?: number;
                /** @description Rows to skip */
                offset?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CustomTool"][];
                };
            };
        };
    };
    createTool: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateToolBody"];
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CustomTool"];
                };
            };
        };
    };
    getTool: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CustomTool"];
                };
            };
        };
    };
    updateTool: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `ETag` of the record as you read it. Where it has changed since, the answer is 412 */
                "if-match"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["UpdateToolBody"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CustomTool"];
                };
            };
        };
    };
    deleteTool: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `ETag` of the record as you read it. Where it has changed since, the answer is 412 */
                "if-match"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    testTool: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["TestToolBody"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ToolTest"];
                };
            };
        };
    };
    importTools: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ImportToolsBody"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ToolImport"];
                };
            };
        };
    };
    listSecrets: {
        parameters: {
            query?: {
                /** @description Maximum number of rows */
                limit?: number;
                /** @description Rows to skip */
                offset?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Secret"][];
                };
            };
        };
    };
    getSecret: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Secret"];
                };
            };
        };
    };
    putSecret: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `ETag` of the record as you read it. Where it has changed since, the answer is 412 */
                "if-match"?: string;
            };
            path: {
                /** @description Workflows refer to it as `{secrets.NAME}` */
                name: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PutSecretBody"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Secret"];
                };
            };
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Secret"];
                };
            };
        };
    };
    deleteSecret: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `ETag` of the record as you read it. Where it has changed since, the answer is 412 */
                "if-match"?: string;
            };
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    listSchedules: {
        parameters: {
            query?: {
                /** @description Maximum number of rows */
                limit?: number;
                /** @description Rows to skip */
                offset?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Schedule"][];
                };
            };
        };
    };
    createSchedule: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateScheduleBody"];
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Schedule"];
                };
            };
        };
    };
    getSchedule: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Schedule"];
                };
            };
        };
    };
    updateSchedule: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `ETag` of the record as you read it. Where it has changed since, the answer is 412 */
                "if-match"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["UpdateScheduleBody"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Schedule"];
                };
            };
        };
    };
    deleteSchedule: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `ETag` of the record as you read it. Where it has changed since, the answer is 412 */
                "if-match"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    triggerSchedule: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["EmptyBody"];
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Run"];
                };
            };
        };
    };
    listApiKeys: {
        parameters: {
            query?: {
                /** @description Maximum number of rows */
                limit?: number;
                /** @description Rows to skip */
                offset?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ApiKey"][];
                };
            };
        };
    };
    createApiKey: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateApiKeyBody"];
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CreatedApiKey"];
                };
            };
        };
    };
    getApiKey: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ApiKey"];
                };
            };
        };
    };
    revokeApiKey: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `ETag` of the record as you read it. Where it has changed since, the answer is 412 */
                "if-match"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    listDataKeys: {
        parameters: {
            query?: {
                /** @description Maximum number of rows */
                limit?: number;
                /** @description Rows to skip */
                offset?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DataKey"][];
                };
            };
        };
    };
    createDataKey: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateDataKeyBody"];
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CreatedDataKey"];
                };
            };
        };
    };
    getDataKey: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DataKey"];
                };
            };
        };
    };
    revokeDataKey: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `ETag` of the record as you read it. Where it has changed since, the answer is 412 */
                "if-match"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    getDataUsage: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WorkspaceDataUsage"];
                };
            };
        };
    };
    getWorkspace: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Workspace"];
                };
            };
        };
    };
    updateWorkspace: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `ETag` of the record as you read it. Where it has changed since, the answer is 412 */
                "if-match"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["UpdateWorkspaceBody"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Workspace"];
                };
            };
        };
    };
    setPlan: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `ETag` of the record as you read it. Where it has changed since, the answer is 412 */
                "if-match"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SetPlanBody"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Workspace"];
                };
            };
        };
    };
    changePlan: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `ETag` of the record as you read it. Where it has changed since, the answer is 412 */
                "if-match"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ChangePlanBody"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Workspace"];
                };
            };
        };
    };
    getAlerts: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AlertSettings"];
                };
            };
        };
    };
    testAlerts: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["EmptyBody"];
            };
        };
        responses: {
            /** @description Accepted */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AlertTest"];
                };
            };
        };
    };
    getUsage: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Usage"];
                };
            };
        };
    };
    getUsageBreakdown: {
        parameters: {
            query?: {
                /** @description How many days, UTC, including today */
                days?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UsageBreakdown"];
                };
            };
        };
    };
    getMetricsOverview: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MetricsOverview"];
                };
            };
        };
    };
    listAudit: {
        parameters: {
            query?: {
                /** @description What was done */
                action?: string;
                /** @description The member who did it */
                actor_id?: string;
                /** @description The type of the target */
                target_type?: string;
                target_id?: string;
                /** @description Written at or after */
                since?: string;
                /** @description Written before */
                until?: string;
                /** @description Entries per page */
                limit?: number;
                /** @description How many of the newest entries to skip */
                offset?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AuditList"];
                };
            };
        };
    };
    verifyAudit: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AuditVerification"];
                };
            };
        };
    };
    getPrices: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PriceList"];
                };
            };
        };
    };
    setPrices: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `ETag` of the record as you read it. Where it has changed since, the answer is 412 */
                "if-match"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SetPricesBody"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PriceList"];
                };
            };
        };
    };
    listBudgets: {
        parameters: {
            query?: {
                /** @description Maximum number of rows */
                limit?: number;
                /** @description Rows to skip */
                offset?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Budget"][];
                };
            };
        };
    };
    createBudget: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateBudgetBody"];
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Budget"];
                };
            };
        };
    };
    getBudget: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Budget"];
                };
            };
        };
    };
    updateBudget: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `ETag` of the record as you read it. Where it has changed since, the answer is 412 */
                "if-match"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["UpdateBudgetBody"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Budget"];
                };
            };
        };
    };
    deleteBudget: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `ETag` of the record as you read it. Where it has changed since, the answer is 412 */
                "if-match"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    getBudgetStatus: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BudgetStatus"];
                };
            };
        };
    };
    getBudgetHistory: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BudgetHistory"];
                };
            };
        };
    };
    listGovernanceEvents: {
        parameters: {
            query?: {
                run_id?: string;
                workflow_id?: string;
                event_type?: "policy_denied" | "tool_argument_blocked" | "data_redacted" | "budget_blocked" | "model_fallback_blocked" | "approval_override_granted";
                decision?: "blocked" | "denied" | "redacted" | "granted";
                /** @description Maximum number of rows */
                limit?: number;
                /** @description Rows to skip */
                offset?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GovernanceEvent"][];
                };
            };
        };
    };
    getPolicies: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Policies"];
                };
            };
        };
    };
    setPolicies: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `ETag` of the record as you read it. Where it has changed since, the answer is 412 */
                "if-match"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SetPoliciesBody"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Policies"];
                };
            };
        };
    };
    listBacktests: {
        parameters: {
            query?: {
                /** @description Rows per page */
                limit?: number;
                /** @description `next_cursor` of the previous page */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BacktestList"];
                };
            };
        };
    };
    startBacktest: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["StartBacktestBody"];
            };
        };
        responses: {
            /** @description Accepted */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StartedJob"];
                };
            };
        };
    };
    getBacktest: {
        parameters: {
            query?: {
                /** @description Only steps with this effect */
                effect?: "would_block" | "would_redact" | "would_allow";
                /** @description Rows per page */
                limit?: number;
                /** @description `next_cursor` of the previous page */
                cursor?: string;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Backtest"];
                };
            };
        };
    };
    cancelBacktest: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["EmptyBody"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StartedJob"];
                };
            };
        };
    };
    listFeeds: {
        parameters: {
            query?: {
                /** @description Maximum number of rows */
                limit?: number;
                /** @description Rows to skip */
                offset?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ManagedFeed"][];
                };
            };
        };
    };
    createFeed: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateFeedBody"];
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ManagedFeedDetail"];
                };
            };
        };
    };
    getFeed: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ManagedFeedDetail"];
                };
            };
        };
    };
    updateFeed: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `ETag` of the record as you read it. Where it has changed since, the answer is 412 */
                "if-match"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["UpdateFeedBody"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ManagedFeedDetail"];
                };
            };
        };
    };
    deleteFeed: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `ETag` of the record as you read it. Where it has changed since, the answer is 412 */
                "if-match"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    listSources: {
        parameters: {
            query?: {
                /** @description Maximum number of rows */
                limit?: number;
                /** @description Rows to skip */
                offset?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SourceDetail"][];
                };
            };
        };
    };
    createSource: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateSourceBody"];
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SourceDetail"];
                };
            };
        };
    };
    getSource: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SourceDetail"];
                };
            };
        };
    };
    updateSource: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `ETag` of the record as you read it. Where it has changed since, the answer is 412 */
                "if-match"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["UpdateSourceBody"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SourceDetail"];
                };
            };
        };
    };
    deleteSource: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `ETag` of the record as you read it. Where it has changed since, the answer is 412 */
                "if-match"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    reportSource: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ReportSourceBody"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SourceDetail"];
                };
            };
        };
    };
    listEntities: {
        parameters: {
            query?: {
                feed_id?: string;
                entity_type?: string;
                /** @description The city, region or country, in any letter case */
                geography?: string;
                /** @description At least this confidence, from 0 to 1 */
                confidence_min?: string;
                /** @description Updated at or after. The list is then sorted by the last update */
                updated_since?: string;
                /** @description First observed at or after */
                created_since?: string;
                /** @description Rows per page */
                limit?: number;
                /** @description `next_cursor` of the previous page, with the same filters */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EntityList"];
                };
            };
        };
    };
    getEntity: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Entity"];
                };
            };
        };
    };
    getEntityHistory: {
        parameters: {
            query?: {
                /** @description Rows per page */
                limit?: number;
                /** @description `next_cursor` of the previous page, with the same filters */
                cursor?: string;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EntityHistory"];
                };
            };
        };
    };
    listChanges: {
        parameters: {
            query?: {
                feed_id?: string;
                /** @description Recorded at or after */
                updated_since?: string;
                /** @description Rows per page */
                limit?: number;
                /** @description `next_cursor` of the previous page, with the same filters */
                cursor?: string;
                /** @description Of one record */
                entity_id?: string;
                entity_type?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ChangeList"];
                };
            };
        };
    };
    listEvents: {
        parameters: {
            query?: {
                feed_id?: string;
                event_type?: string;
                /** @description At least this confidence, from 0 to 1 */
                confidence_min?: string;
                /** @description Detected at or after */
                created_since?: string;
                /** @description Rows per page */
                limit?: number;
                /** @description `next_cursor` of the previous page, with the same filters */
                cursor?: string;
                /** @description Of one record */
                entity_id?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["IntelligenceEventList"];
                };
            };
        };
    };
    listWebhookEndpoints: {
        parameters: {
            query?: {
                /** @description Maximum number of rows */
                limit?: number;
                /** @description Rows to skip */
                offset?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DataEndpoint"][];
                };
            };
        };
    };
    createWebhookEndpoint: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateWebhookEndpointBody"];
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NewDataEndpoint"];
                };
            };
        };
    };
    getWebhookEndpoint: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DataEndpoint"];
                };
            };
        };
    };
    updateWebhookEndpoint: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `ETag` of the record as you read it. Where it has changed since, the answer is 412 */
                "if-match"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["UpdateWebhookEndpointBody"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DataEndpoint"];
                };
            };
        };
    };
    deleteWebhookEndpoint: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `ETag` of the record as you read it. Where it has changed since, the answer is 412 */
                "if-match"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    rotateWebhookEndpointSecret: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["EmptyBody"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RotatedSecret"];
                };
            };
        };
    };
    listWebhookDeliveries: {
        parameters: {
            query?: {
                /** @description Rows per page */
                limit?: number;
                /** @description `next_cursor` of the previous page, with the same filters */
                cursor?: string;
                status?: "pending" | "delivered" | "dead";
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookDeliveryList"];
                };
            };
        };
    };
    getWebhookDelivery: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
                delivery_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookDelivery"];
                };
            };
        };
    };
    pingWebhookEndpoint: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["EmptyBody"];
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookDelivery"];
                };
            };
        };
    };
    redeliverWebhookDelivery: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
                delivery_id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["EmptyBody"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookDelivery"];
                };
            };
        };
    };
    redeliverWebhookDeadLetters: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["RedeliverWebhookDeadLettersBody"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Redelivered"];
                };
            };
        };
    };
    streamRun: {
        parameters: {
            query?: {
                /** @description Session token */
                token?: string;
                /** @description With `true` the stream also has `agent_turn` frames, `agent_delta` frames with the answers of models as they arrive, and the frames `child_paused` and `child_continued` */
                deltas?: "true" | "false";
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Switching to WebSocket */
            101: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    streamWorkspace: {
        parameters: {
            query?: {
                /** @description Session token */
                token?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Switching to WebSocket */
            101: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    mcp: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** @description One message. Versions of the protocol before 2025-06-18 also accept a list of them, and get a list of responses */
        requestBody: {
            content: {
                "application/json": components["schemas"]["McpBody"];
            };
        };
        responses: {
            /** @description The response to the message */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["JsonRpcResponse"];
                };
            };
            /** @description Accepted; there is no response */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    receiveEvent: {
        parameters: {
            query?: never;
            header?: {
                /** @description Identifies the event; sent again within the window, it starts no second run */
                "x-service-event-id"?: string;
                /** @description Seconds since 1970, when the request was signed */
                "x-service-timestamp"?: string;
                /** @description `sha256=` and the HMAC-SHA256, in lower-case hexadecimal, of the timestamp, a dot and the body, keyed by the secret of the URL */
                "x-service-signature"?: string;
            };
            path: {
                workflow_id: string;
                /** @description As in the `url` of the webhook */
                secret: string;
            };
            cookie?: never;
        };
        /** @description Any JSON. An object is the input of the run, any other value becomes its `payload`; an empty body is `{}`. With `accept_forms`, also a form. */
        requestBody: {
            content: {
                "application/json": unknown;
            };
        };
        responses: {
            /** @description The challenge of a sender, with `answer_challenges` */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HookChallenge"];
                    "text/plain": string;
                };
            };
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HookAnswer"];
                };
            };
        };
    };
    ingestRecords: {
        parameters: {
            query?: {
                /** @description For a stream (`application/x-ndjson`) */
                feed_id?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["IngestRecordsBody"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["IngestAnswer"];
                };
            };
        };
    };
}
