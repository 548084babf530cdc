"""The records of the operations API.

Times are ISO 8601 in UTC, money is in dollars, durations are in milliseconds. Generated: see CONTRIBUTING.md.
"""

from __future__ import annotations

from typing import Any, Literal, TypeAlias, TypedDict, Union

__all__ = ["AcceptInviteBody", "AgentNode", "AgentTool", "AgentTurnFrame", "AgentTurnFrameUsage", "AgentTurnFrameUsagePrice", "AlertChannel", "AlertSettings", "AlertSettingsChanged", "AlertTest", "Allowance", "AnswerConsequences", "ApiKey", "ApiKeyChanged", "Approval", "ApprovalApprovers", "ApprovalApproversMember", "ApprovalList", "AssignGateBody", "Assignee", "AssistantMessage", "AssistantMessageUsage", "AssistantMessageUsagePrice", "AuditEntry", "AuditList", "AuditVerification", "AuditVerificationFirstProblem", "AuditVerificationHead", "Authorization", "AuthorizationParameters", "AuthorizationPreview", "AuthorizationPreviewClient", "AuthorizationPreviewRefusal", "AuthorizationPreviewScope", "AuthorizationPreviewWorkspace", "AuthorizeClientBody", "AwaitedEvent", "Backtest", "BacktestFinding", "BacktestList", "BacktestSummary", "BlockedArgument", "BodyOfArgument", "BodyOfFields", "BodyOfFieldsField", "Budget", "BudgetChanged", "BudgetHistory", "BudgetHistoryDay", "BudgetStatus", "CallLimit", "CallbackReceived", "CancelEvent", "CancelEventInput", "CapabilityOverrides", "CapabilitySetting", "CapabilitySettings", "Change", "ChangeList", "ChangePasswordBody", "ChangePermissionsBody", "ChangePlanBody", "ChangeRoleBody", "CheckResult", "CheckedRun", "CheckedRunShown", "CheckedRunTemporal", "Checkpoint", "ChildContinuedFrame", "ChildPausedFrame", "CodeNode", "ComparedRun", "ComparedRunChecks", "ComparedRunCostUsd", "ComparedRunDurationMs", "ConcurrencyLimit", "ConcurrencyLimitInput", "ConditionNode", "ConfidenceInterval", "ConfigureWebhookBody", "ConfirmSlackAccountBody", "Connection", "ConnectionAuthorization", "ConnectionChanged", "ConnectionPreset", "Consequences", "CountBounds", "CreateApiKeyBody", "CreateBudgetBody", "CreateConnectionBody", "CreateDataKeyBody", "CreateEventTriggerBody", "CreateFeedBody", "CreateScheduleBody", "CreateSourceBody", "CreateStreamTokenBody", "CreateToolBody", "CreateWebhookEndpointBody", "CreateWorkflowBody", "CreatedApiKey", "CreatedDataKey", "CustomTool", "CustomToolChanged", "DataEndpoint", "DataEndpointChanged", "DataKey", "DataKeyChanged", "Debounce", "DebounceInput", "DecideByLinkBody", "DecideGateBody", "DecidedGate", "DecidedGateList", "Decision", "DeliveryAttempt", "DollarBounds", "DryRun", "DryRunBudget", "DryRunConnection", "DryRunConnectionWorkflow", "DryRunGate", "DryRunGateApprover", "DryRunGateWorkflow", "DryRunNode", "DryRunVerdict", "DryRunWorkflowBody", "EarlierAsking", "Effect", "EffectCondition", "EffectItems", "EffectItemsUnknown", "EffectMayCall", "EffectTarget", "EffectUnknown", "EmptyBody", "EnabledWebhook", "Entity", "EntityHistory", "EntityList", "EntityRecord", "EntityVersion", "Error", "Evaluation", "EvaluationCheck", "Event", "EventCancel", "EventDetail", "EventRecord", "EventReplay", "EventReplayList", "EventStart", "EventTrigger", "EventTriggerChanged", "EventTriggerLastSkip", "EvidenceChain", "EvidenceChainBefore", "EvidenceEnd", "EvidenceEntry", "EvidenceGate", "EvidenceGateToolCall", "EvidenceGraph", "EvidenceHead", "EvidenceHeadDigests", "EvidenceLine", "EvidenceResults", "EvidenceResultsCaughtValue", "EvidenceSeals", "EvidenceSealsSeal", "EvidenceStep", "EvidenceStepDigests", "EvidenceStepStep", "EvidenceStepStepUsage", "EvidenceStepStepUsagePrice", "EvidenceVerdict", "Experiment", "ExperimentCandidate", "ExperimentList", "ExperimentSummary", "ExperimentSummaryChecks", "ExperimentSummaryChecksBroken", "ExperimentSummaryCostUsd", "ExperimentSummaryDurationMs", "ExpressionCheck", "FeedFreshness", "Fork", "ForkRunBody", "ForkRunBodyDecisionsValue", "ForkTemporal", "Gate", "GateApprovers", "GateChanged", "GateChangedCurrent", "GateDecision", "GateRecheck", "GateRecheckNotRepeated", "GateRecheckRead", "GateTool", "GovernanceEvent", "GrantedAuthorization", "Graph", "GraphDiff", "GraphDiffEdges", "GraphDiffEdgesChanged", "GraphDiffInputSchema", "GraphDiffNodes", "GraphDiffNodesChanged", "GraphDraft", "GraphEdge", "GraphIssue", "GraphNode", "GraphReport", "Health", "HealthChecks", "HeldCapabilities", "HookAnswer", "HookChallenge", "HookEvent", "HumanGateNode", "HumanGateNodeRecheck", "Identity", "ImportRefused", "ImportToolsBody", "ImportedDocument", "ImportedDocumentSecurityScheme", "ImportedTool", "InboundEvent", "InboundEventList", "InboundEventReplayedBy", "IngestAnswer", "IngestAnswerError", "IngestAnswerEvents", "IngestRecord", "IngestRecordsBody", "InstantiateTemplateBody", "IntelligenceEvent", "IntelligenceEventList", "InviteMemberBody", "JobProgress", "JsonRpcError", "JsonRpcErrorDetail", "JsonRpcResponse", "JsonRpcResult", "LimitCheck", "Limits", "LinkDecision", "ListWaitsResponse", "ListWorkspaceEventsResponse", "ListedBacktest", "ListedExperiment", "ListedExperimentCandidate", "ListedInboundEvent", "ListedLimits", "ListedRun", "ListedTool", "ListedWorkflow", "LoginBody", "LoopNode", "ManagedFeed", "ManagedFeedDetail", "ManagedFeedDetailChanged", "MapNode", "McpBody", "McpRefusal", "Member", "MemberDetail", "MemberDetailChanged", "MemberStats", "MemberStatsActivity", "MergeNode", "Message", "MessageCall", "MessageList", "MetricsOverview", "MetricsOverviewRunsByDay", "MockModel", "MockTurn", "MockTurnCall", "NamedChange", "NeededSignIn", "NeededSignInConnection", "NewDataEndpoint", "NodePosition", "NodeRetry", "NodeTest", "NotReused", "OpenDecideLinkBody", "OpenWait", "OpenWaitConnection", "OpenWaitLimit", "OpenedLink", "OpenedLinkGate", "OpenedLinkMember", "OpenedLinkTool", "OpenedLinkWorkflow", "OpenedLinkWorkspace", "OutputDiff", "OutputDifference", "OverrideBudgetBody", "OwnSlackAccount", "OwnSlackAccountAsked", "OwnSlackAccountConfirmed", "PendingGate", "PendingGateApprovers", "PendingGateApproversMember", "PendingToolCall", "Pin", "PinList", "Policies", "PoliciesChanged", "PolicyVerdict", "PreviewAuthorizationBody", "Price", "PriceList", "PriceListChanged", "PublishWorkflowBody", "PutSecretBody", "Queued", "RateLimit", "RateLimitInput", "RecheckDifference", "RecordGeography", "Redaction", "RedactionInput", "RedactionPattern", "RedeliverWebhookDeadLettersBody", "Redelivered", "RefreshToolBody", "ReplayInboundEventBody", "ReplayInboundEventsBody", "ReportSourceBody", "RequestMapping", "RequestMappingParameter", "RerunRunBody", "RerunRunBodyDecisionsValue", "RotatedSecret", "Run", "RunCompletedFrame", "RunEvaluatedFrame", "RunEvent", "RunEventList", "RunFailedFrame", "RunFailure", "RunList", "RunPausedFrame", "RunQueue", "RunQueueInFlight", "RunQueueWaiting", "RunStats", "RunSummary", "RunTemporal", "RunView", "RunViewList", "SaveDraftBody", "SavePinBody", "SaveRunViewBody", "Schedule", "ScheduleChanged", "ScheduleLastSkip", "Secret", "SecretChanged", "SendWorkspaceEventBody", "Session", "SetAlertsBody", "SetAlertsBodyWorkflowsValue", "SetAlertsBodyWorkflowsValueSlack", "SetLimitsBody", "SetPermissionsBody", "SetPlanBody", "SetPoliciesBody", "SetPricesBody", "SetRoleBody", "SignupBody", "SkippedRun", "SlackInput", "SlackSettings", "SourceDetail", "SourceDetailChanged", "SourceDetailHealth", "SourceEvidence", "StaleGate", "StartBacktestBody", "StartBacktestBodyPolicies", "StartExperimentBody", "StartExperimentBodyCandidate", "StartExperimentBodyDecisionsValue", "StartExperimentBodyRuns", "StartedJob", "Step", "StepAttempt", "StepCompletedFrame", "StepCount", "StepFailedFrame", "StepList", "StepStartedFrame", "StepToolCall", "StepUsage", "StepUsagePrice", "StreamFrame", "StreamToken", "SystemMessage", "Template", "TemplateChanged", "TemplateFromGraph", "TemplateFromGraphLimits", "TemplateFromWorkflow", "TestNodeBody", "TestToolBody", "TextCheck", "ToolAuth", "ToolAuthInput", "ToolCallProblem", "ToolCallVerification", "ToolImport", "ToolImportSkipped", "ToolMessage", "ToolNode", "ToolNodeApproval", "ToolPolicy", "ToolRefresh", "ToolRefreshChange", "ToolTest", "UpdateBudgetBody", "UpdateConnectionBody", "UpdateEventTriggerBody", "UpdateFeedBody", "UpdateScheduleBody", "UpdateSourceBody", "UpdateTemplateBody", "UpdateTemplateBodyLimits", "UpdateToolBody", "UpdateWebhookEndpointBody", "UpdateWorkflowBody", "UpdateWorkspaceBody", "Usage", "UsageBreakdown", "UsageBreakdownByDay", "UsageBreakdownByModel", "UsageBreakdownByWorkflow", "UserMessage", "ValidateWorkflowBody", "WaitNode", "Waiting", "WaitingConnection", "WaitingLimit", "Webhook", "WebhookChanged", "WebhookDelivery", "WebhookDeliveryList", "WebhookEndpointEvent", "WebhookEndpointEventList", "WokenWait", "Workflow", "WorkflowAlerts", "WorkflowAlertsSlack", "WorkflowChanged", "WorkflowDetail", "WorkflowDraft", "WorkflowDraftChanged", "WorkflowLimits", "WorkflowLimitsChanged", "WorkflowLimitsLastFailedMatch", "WorkflowNode", "WorkflowNodeApproval", "WorkflowOrDraft", "WorkflowOrDraftChanged", "WorkflowVersion", "WorkflowVersionList", "WorkflowVersionSummary", "Workspace", "WorkspaceChanged", "WorkspaceDataUsage", "WorkspaceDataUsageKey"]


class _AcceptInviteBody(TypedDict):
    invite_code: str
    password: str


class AcceptInviteBody(_AcceptInviteBody, total=False):
    name: str


class _AgentNode(TypedDict):
    id: str
    """Letters and digits of any script, `_`, `-`, `.` and `:`; starts with a letter, a digit or
    `_`.
    """
    kind: Literal["agent"]


class AgentNode(_AgentNode, total=False):
    label: str
    """Its name for people."""
    position: NodePosition
    """Where the editor draws it."""
    retry: NodeRetry
    """How often a failed attempt is repeated."""
    timeout_seconds: float
    """The deadline of one attempt."""
    system_prompt: str
    prompt: str
    """A template. Without it, the model gets the run state as JSON."""
    model: str
    """`provider/model`, or `mock`."""
    fallback_models: list[str]
    temperature: float
    max_output_tokens: int
    response_schema: dict[str, Any]
    """JSON Schema of the response. The parsed object becomes the output."""
    output_key: str
    """State key of the output; the default is the node's id."""
    tools: list[str | AgentTool]
    """Tools that the model can call, turn by turn, until it answers."""
    max_turns: int
    """The default is 10."""
    tool_choice: Literal["auto", "required"]
    """`required`: the first turn must call a tool. The default is `auto`."""
    on_max_turns: Literal["fail", "answer"]
    """What happens after the last turn: `fail` (the default), or `answer` in one more turn
    without tools.
    """
    mock: MockModel


class _AgentTool(TypedDict):
    name: str
    """A built-in tool, `custom:<name>`, or `workflow:<id or exact name>`, which runs that
    workflow.
    """


class AgentTool(_AgentTool, total=False):
    approval: str
    """Whether a person must approve a call. An expression can read `args` and the run's state."""
    title: str
    """For the approvers of a call. Reads `args`, the arguments of the call."""
    description: str
    """For the model; replaces the tool's description."""
    parameters: dict[str, Any]
    """JSON Schema of the arguments, for a tool that has none. Arguments are validated against
    it.
    """
    fixed: dict[str, Any]
    """Arguments that the model neither sees nor sets. Strings in it, at any depth, are
    templates.
    """
    max_calls: int
    """The maximum number of calls over all turns."""
    on_error: Literal["tell", "fail"]
    """What happens when a call has failed permanently: `tell` reports it to the model, `fail`
    fails the node.
    """


class _AgentTurnFrame(TypedDict):
    run_id: str
    type: Literal["agent_turn"]
    node_id: str
    step_key: str
    """The step of the agent."""
    turn: int
    calls: int
    """The number of tool calls in this turn."""
    cost_usd: float
    """US dollars, at most six decimals."""


class AgentTurnFrame(_AgentTurnFrame, total=False):
    """A model has answered a turn. Only for sockets with `deltas=true`."""

    usage: AgentTurnFrameUsage


class _AgentTurnFrameUsage(TypedDict):
    input_tokens: int
    output_tokens: int


class AgentTurnFrameUsage(_AgentTurnFrameUsage, total=False):
    cached_tokens: int
    """The part of `input_tokens` that the provider read from its cache."""
    cache_write_tokens: int
    """The part of `input_tokens` that the provider stored in its cache, at a surcharge."""
    price: AgentTurnFrameUsagePrice


class _AgentTurnFrameUsagePrice(TypedDict):
    input_usd_per_million: float
    """US dollars, at most six decimals."""
    output_usd_per_million: float
    """US dollars, at most six decimals."""


class AgentTurnFrameUsagePrice(_AgentTurnFrameUsagePrice, total=False):
    """What the tokens were charged at; missing for an agent with tools, and in runs of 1.0.0."""

    cached_input_usd_per_million: float
    """US dollars, at most six decimals."""


class AlertChannel(TypedDict):
    channel: Literal["chat", "email", "slack"]
    configured: bool
    source: Literal["workspace", "service"] | None
    """Whose address it sends to; null if there is none."""
    events: list[Literal["failed", "paused", "waiting", "budget", "connection"]]
    """The events it sends once it is configured: runs that failed, paused or wait for long,
    budgets that reached 80% or 100% of their limit, and connections of the workspace that need a
    sign-in.
    """
    hint: str
    """How to configure it."""
    team_id: str | None
    """Of Slack: the team, as Slack named it at the sign-in."""
    problem: str | None
    """Of Slack: why it refused the last message; null if it accepted it."""


class AlertSettings(TypedDict):
    chat_webhook_url: str | None
    email: list[str]
    """A caller without `manage_workspace` sees only the domains."""
    slack: SlackSettings | None
    on: list[Literal["failed", "paused", "waiting", "budget", "connection"]]
    workflows: dict[str, WorkflowAlerts]
    decide_by_link: bool
    channels: list[AlertChannel]
    """What counts for the workspace."""
    etag: str
    """Changes with each edit. The header `ETag` has it in double quotes; send that as `If-Match`
    to change only this state.
    """


class AlertSettingsChanged(TypedDict):
    """It is not as `If-Match` says."""

    detail: str
    """The error message."""
    current: AlertSettings | None
    """As it is now; null when it is gone."""


class AlertTest(TypedDict):
    channels: list[Literal["chat", "email", "slack"]]
    """The channels that the test was queued for."""


class Allowance(TypedDict):
    used: int
    limit: int | None
    """Null: unlimited."""


class AnswerConsequences(TypedDict):
    effects: list[Effect]
    """What is executed, up to the next decisions."""
    more: int
    """How many further effects are possible: behind other gates, or after the map around this
    one.
    """
    next_gates: list[str]
    """The ids of the gates reached next, and of the steps that ask for their own approval."""


class ApiKey(TypedDict):
    id: str
    name: str
    prefix: str
    """The start of the secret."""
    role: Literal["admin", "editor", "viewer"]
    """For a linked key, its member's current role."""
    member_id: str | None
    decide: bool
    """Whether it can decide gates and publish workflows."""
    revoked: bool
    """By hand, or because its member was removed."""
    created_at: str
    """ISO 8601, UTC."""
    last_used_at: str | None
    """Delayed by at most a few seconds."""
    etag: str
    """Changes with each edit. The header `ETag` has it in double quotes; send that as `If-Match`
    to change only this state.
    """


class ApiKeyChanged(TypedDict):
    """It is not as `If-Match` says."""

    detail: str
    """The error message."""
    current: ApiKey | None
    """As it is now; null when it is gone."""


class _Approval(TypedDict):
    run_id: str
    workflow_id: str
    workflow_name: str
    kind: Literal["human_gate", "tool_call"]
    node_id: str
    step_key: str
    label: str
    title: str
    """What is decided, in one line. Without a template: the label, or the tool and its first
    arguments.
    """
    prompt: str
    since: str
    """ISO 8601, UTC."""


class Approval(_Approval, total=False):
    input_schema: dict[str, Any]
    """JSON Schema of the `input` that an approval needs."""
    approvers: ApprovalApprovers
    required: int
    """How many different members must approve; 1 without it."""
    not_the_starter: bool
    """True: the members who started the run, or one from which it starts, cannot decide."""
    signed_in: bool
    """True: only members who have signed in can decide, not with an API key or a link."""
    act_as: Literal["approver"]
    """`approver`: the step uses the account of the member who approves it last, of the
    connections that members own.
    """
    deciders: int
    """How many members can still decide it, as they are now; 0 if the run has to be cancelled,
    or a permission granted.
    """
    admins_stand_in: Literal[True]
    """Fewer `approvers` are left than approvals are missing, so admins can decide, too;
    `not_the_starter` and `required` still hold.
    """
    expires_at: str
    """When `on_timeout` happens."""
    on_timeout: Literal["reject", "approve", "fail"]
    decisions: list[GateDecision]
    """The approvals so far, oldest first."""
    recheck: GateRecheck
    """For a gate with `recheck`."""
    stale: StaleGate
    """The last recheck found other values than those that the gate shows. `accept_changes`
    approves it anyway.
    """
    assignee: Assignee
    """The member who is expected to decide; others who can decide it still can."""
    tool_call: PendingToolCall
    """For kind `tool_call`."""


class ApprovalApprovers(TypedDict, total=False):
    """Only they can decide."""

    roles: list[Literal["admin", "editor", "viewer"]]
    members: list[ApprovalApproversMember]
    """The name is null for a member who was removed."""


class ApprovalApproversMember(TypedDict):
    id: str
    name: str | None


class ApprovalList(TypedDict):
    approvals: list[Approval]
    next_cursor: str | None
    """Null on the last page."""


class _AssignGateBody(TypedDict):
    member_id: str | None
    """One of the `eligible_members` of the gate; null takes the assignment back."""


class AssignGateBody(_AssignGateBody, total=False):
    node_id: str
    """The gate, when several are open; by default the oldest."""
    step_key: str
    """The gate's round, from `pending_gates`: a gate in a loop opens once per iteration."""


class Assignee(TypedDict):
    id: str
    name: str


class _AssistantMessage(TypedDict):
    role: Literal["assistant"]
    turn: int
    step_key: str
    text: str
    calls: list[MessageCall]
    model: str | None
    usage: AssistantMessageUsage | None
    cost_usd: float
    """US dollars, at most six decimals."""
    at: str
    """ISO 8601, UTC."""


class AssistantMessage(_AssistantMessage, total=False):
    unpriced: bool
    """The model has no price, so the cost is unknown."""


class _AssistantMessageUsage(TypedDict):
    input_tokens: int
    output_tokens: int


class AssistantMessageUsage(_AssistantMessageUsage, total=False):
    cached_tokens: int
    """The part of `input_tokens` that the provider read from its cache."""
    cache_write_tokens: int
    """The part of `input_tokens` that the provider stored in its cache, at a surcharge."""
    price: AssistantMessageUsagePrice


class _AssistantMessageUsagePrice(TypedDict):
    input_usd_per_million: float
    """US dollars, at most six decimals."""
    output_usd_per_million: float
    """US dollars, at most six decimals."""


class AssistantMessageUsagePrice(_AssistantMessageUsagePrice, total=False):
    """What the tokens were charged at; missing for an agent with tools, and in runs of 1.0.0."""

    cached_input_usd_per_million: float
    """US dollars, at most six decimals."""


class AuditEntry(TypedDict):
    id: str
    action: str
    actor_id: str | None
    """The member who acted, if one did."""
    actor_name: str | None
    target_type: str
    target_id: str
    target_name: str | None
    """Its current name; for a run, its workflow's name. Null: it has no name, or was deleted."""
    details: dict[str, Any]
    created_at: str
    """ISO 8601, UTC."""


class AuditList(TypedDict):
    logs: list[AuditEntry]
    """Newest first."""
    total: int
    """How many entries match the filters."""


class _AuditVerification(TypedDict):
    valid: bool
    sealed: int
    """Entries that are part of the chain."""
    unsealed: int
    """Entries that wait for their seal."""
    head: AuditVerificationHead | None
    """The newest seal. Store it elsewhere to verify later that no earlier entry was changed."""
    tool_calls: ToolCallVerification


class AuditVerification(_AuditVerification, total=False):
    first_problem: AuditVerificationFirstProblem


class _AuditVerificationFirstProblem(TypedDict):
    position: int | None
    """Null for an entry without a position in the chain."""
    problem: str


class AuditVerificationFirstProblem(_AuditVerificationFirstProblem, total=False):
    audit_id: str


class AuditVerificationHead(TypedDict):
    position: int
    hash: str


class Authorization(TypedDict):
    id: str
    client_id: str
    client_name: str
    """As the client calls itself."""
    client_host: str
    """Of its metadata document or, for a registered client, where codes are sent."""
    client_verified: bool
    """Whether the host stands for the client: it serves the metadata document."""
    member_id: str
    member_name: str
    scopes: list[str]
    capabilities: list[str]
    """What the client can use while the member has it too."""
    created_at: str
    """ISO 8601, UTC."""
    last_used_at: str | None
    """Delayed by at most a few seconds."""


class _AuthorizationParameters(TypedDict):
    client_id: str


class AuthorizationParameters(_AuthorizationParameters, total=False):
    redirect_uri: str
    response_type: str
    code_challenge: str
    code_challenge_method: str
    resource: str
    scope: str
    state: str


class AuthorizationPreview(TypedDict):
    client: AuthorizationPreviewClient
    workspace: AuthorizationPreviewWorkspace
    scopes: list[AuthorizationPreviewScope]
    """What the client asks for."""
    refusal: AuthorizationPreviewRefusal | None
    """Why the request cannot be allowed."""
    deny_url: str
    """Where the browser goes without an authorization, with the error for the client."""


class AuthorizationPreviewClient(TypedDict):
    id: str
    name: str
    """As the client calls itself."""
    host: str
    """Of its metadata document or, for a registered client, where codes are sent."""
    verified: bool
    """Whether the host stands for the client: it serves the metadata document."""
    redirect_host: str
    """Where the code is sent."""


class AuthorizationPreviewRefusal(TypedDict):
    error: str
    detail: str


class AuthorizationPreviewScope(TypedDict):
    scope: Literal["view", "run", "edit", "manage", "decide"]
    capabilities: list[Literal["view", "run_workflows", "approve_gates", "cancel_resume", "create_edit_workflows", "publish_workflows", "delete_workflows", "manage_members", "manage_api_keys", "manage_workspace"]]
    """Those of them that you have."""
    selected: bool
    """Whether the page proposes it."""
    required: bool


class AuthorizationPreviewWorkspace(TypedDict):
    id: str
    name: str


class AuthorizeClientBody(TypedDict):
    request: AuthorizationParameters
    scopes: list[Literal["view", "run", "edit", "manage", "decide"]]
    """What the client gets, of what it asks for; always with `view`."""


class _AwaitedEvent(TypedDict):
    name: str
    """Such as `invoice.paid`."""


class AwaitedEvent(_AwaitedEvent, total=False):
    match: str
    """An expression over `event` and the run's state. By default, every event of that name
    counts.
    """


class Backtest(TypedDict):
    id: str
    status: Literal["running", "done", "cancelled", "failed"]
    progress: JobProgress
    error: str | None
    """Why it failed."""
    created_by: str | None
    created_by_name: str | None
    created_at: str
    """ISO 8601, UTC."""
    finished_at: str | None
    since: str
    """ISO 8601, UTC."""
    workflow_id: str | None
    summary: BacktestSummary
    policies: Policies
    steps: list[BacktestFinding]
    """Steps that would be judged differently, those of the newest runs first."""
    truncated: bool
    """There are more such steps: the first 10,000 are kept. The counts are exact."""
    next_cursor: str | None
    """Null on the last page."""


class BacktestFinding(TypedDict):
    effect: Literal["would_block", "would_redact", "would_allow"]
    run_id: str
    step_key: str
    node_id: str
    before: Literal["allowed", "redacted", "blocked"]
    """As the step was judged when it ran."""
    after: Literal["allowed", "redacted", "blocked"]
    """As these policies judge it."""
    reason: str


class BacktestList(TypedDict):
    backtests: list[ListedBacktest]
    """Newest first."""
    next_cursor: str | None
    """Null on the last page."""


class BacktestSummary(TypedDict):
    judged: int
    """Steps that could be judged."""
    would_block: int
    would_redact: int
    would_allow: int
    """Steps that were blocked or redacted and would not be."""
    hidden: int
    """Steps that could not be judged: what matters was redacted, or is not stored with the step."""


class _BlockedArgument(TypedDict):
    argument: str
    """Path into the rendered parameters, with dots between steps."""


class BlockedArgument(_BlockedArgument, total=False):
    values: list[Any]
    """Compared by value, in lists with each member."""
    pattern: str
    """RE2, matched anywhere in the text."""


class BodyOfArgument(TypedDict):
    content_type: str
    required: bool
    argument: str


class BodyOfFields(TypedDict):
    content_type: str
    required: bool
    fields: list[BodyOfFieldsField]


class _BodyOfFieldsField(TypedDict):
    argument: str
    name: str


class BodyOfFieldsField(_BodyOfFieldsField, total=False):
    style: Literal["simple", "label", "matrix", "form", "spaceDelimited", "pipeDelimited", "deepObject"]
    explode: bool
    allow_reserved: Literal[True]
    content_type: str


class Budget(TypedDict):
    id: str
    name: str
    scope: Literal["workspace", "workflow"]
    workflow_id: str | None
    window: Literal["day", "week", "month", "total"]
    limit_usd: float
    """US dollars, at most six decimals."""
    reservation_estimate_usd: float | None
    overrun: Literal["none", "one_step"]
    """`none`: a request begins only if all that it may cost fits, beside the requests in
    progress. `one_step`: a request begins while something is left, so that the limit is exceeded
    by less than one step.
    """
    alerts: bool
    """Whether it sends alerts."""
    created_at: str
    """ISO 8601, UTC."""
    status: BudgetStatus
    etag: str
    """Changes with each edit. The header `ETag` has it in double quotes; send that as `If-Match`
    to change only this state.
    """


class BudgetChanged(TypedDict):
    """It is not as `If-Match` says."""

    detail: str
    """The error message."""
    current: Budget | None
    """As it is now; null when it is gone."""


class BudgetHistory(TypedDict):
    window_start: str | None
    """Null for `total`."""
    window_end: str | None
    """The first instant after the window; null for `total`."""
    limit_usd: float
    """US dollars, at most six decimals."""
    days: list[BudgetHistoryDay]
    """Settled spend by the day, UTC, on which runs ended, oldest first: every day of the window
    up to today, of `total` the last 90. Spend from before the budget was created is on its day
    of creation.
    """


class BudgetHistoryDay(TypedDict):
    date: str
    spent_usd: float
    """US dollars, at most six decimals."""


class BudgetStatus(TypedDict):
    spent_usd: float
    """Settled cost of finished runs in the window."""
    reserved_usd: float
    """Open holds of runs in flight."""
    committed_usd: float
    """Spent and reserved."""
    remaining_usd: float
    """Limit minus committed; negative when runs cost more than they held."""
    pct: float
    """Committed as a share of the limit, 0 to 100 and above."""
    over: bool
    """Committed has reached the limit: triggers return 402."""
    projected_usd: float
    """Projected spend at the end of the window, at the current rate."""
    window_start: str | None
    """Null for `total`."""
    window_end: str | None
    """The first instant after the window; null for `total`."""


class CallLimit(TypedDict, total=False):
    tools: list[str]
    """As in `tool_name`; `custom:crm_*` for all that begin so."""
    models: list[str]
    """As in `model`; `openai/*` for all that begin so."""
    concurrency: int
    """Calls in flight at the same time."""
    per_minute: int
    """Calls that begin within any 60 seconds."""
    key: str
    """A template over `args`, `name` and `workflow_id`, such as `{args.customer}`: each value
    has calls of its own.
    """


class CallbackReceived(TypedDict):
    received: Literal[True]


class CancelEvent(TypedDict):
    event: str
    """Such as `invoice.paid`."""
    match: str | None
    """An expression over `event` and the input of a run, such as `event.data.order == order`; it
    does not read what the run has computed. By default, every event of that name cancels every
    open run.
    """


class _CancelEventInput(TypedDict):
    event: str
    """Such as `invoice.paid`."""


class CancelEventInput(_CancelEventInput, total=False):
    match: str | None
    """An expression over `event` and the input of a run, such as `event.data.order == order`; it
    does not read what the run has computed. By default, every event of that name cancels every
    open run.
    """


class CapabilityOverrides(TypedDict, total=False):
    """Absent ones do not change."""

    view: bool | None
    """Null clears it: the default of the role applies."""
    run_workflows: bool | None
    """Null clears it: the default of the role applies."""
    approve_gates: bool | None
    """Null clears it: the default of the role applies."""
    cancel_resume: bool | None
    """Null clears it: the default of the role applies."""
    create_edit_workflows: bool | None
    """Null clears it: the default of the role applies."""
    publish_workflows: bool | None
    """Null clears it: the default of the role applies."""
    delete_workflows: bool | None
    """Null clears it: the default of the role applies."""
    manage_members: bool | None
    """Null clears it: the default of the role applies."""
    manage_api_keys: bool | None
    """Null clears it: the default of the role applies."""
    manage_workspace: bool | None
    """Null clears it: the default of the role applies."""


class CapabilitySetting(TypedDict):
    default: bool
    """The default of the member's role."""
    override: bool | None
    effective: bool
    """The override if there is one, else the default."""


class CapabilitySettings(TypedDict):
    view: CapabilitySetting
    run_workflows: CapabilitySetting
    approve_gates: CapabilitySetting
    cancel_resume: CapabilitySetting
    create_edit_workflows: CapabilitySetting
    publish_workflows: CapabilitySetting
    delete_workflows: CapabilitySetting
    manage_members: CapabilitySetting
    manage_api_keys: CapabilitySetting
    manage_workspace: CapabilitySetting


class Change(TypedDict):
    id: str
    feed_id: str
    entity_id: str
    entity_type: str
    attribute: str
    old_value: Any
    new_value: Any
    version: int
    """Of the record, after this change."""
    changed_at: str
    """ISO 8601, UTC."""
    source_id: str | None


class ChangeList(TypedDict):
    changes: list[NamedChange]
    next_cursor: str | None
    """Null on the last page."""


class ChangePasswordBody(TypedDict):
    current_password: str
    new_password: str


class _ChangePermissionsBody(TypedDict):
    overrides: CapabilityOverrides


class ChangePermissionsBody(_ChangePermissionsBody, total=False):
    keep_keys: bool
    """Keep keys linked to the member whose makers lack the gained permissions. Without it they
    are revoked, since the maker of a key knows its secret.
    """


class ChangePlanBody(TypedDict):
    plan: Literal["free", "starter", "pro", "enterprise"]


class _ChangeRoleBody(TypedDict):
    role: Literal["admin", "editor", "viewer"]


class ChangeRoleBody(_ChangeRoleBody, total=False):
    keep_keys: bool
    """Keep keys linked to the member whose makers lack the gained permissions. Without it they
    are revoked, since the maker of a key knows its secret.
    """


class _CheckResult(TypedDict):
    name: str
    type: Literal["contains", "not_contains", "equals", "regex", "max_cost_usd", "max_duration_ms", "expression"]
    passed: bool
    actual: Any
    expected: Any


class CheckResult(_CheckResult, total=False):
    message: str


class _CheckedRun(TypedDict):
    id: str
    run_id: str
    """The same as `id`."""
    workspace_id: str
    workflow_id: str
    workflow_name: str
    workflow_version: int
    """The version pinned when the run was triggered."""
    status: Literal["pending", "running", "paused", "success", "failed"]
    trigger: Literal["manual", "webhook", "mcp", "schedule", "workflow", "event"]
    parent_run_id: str | None
    """For the trigger `workflow`: the run that started it, unless it was deleted."""
    parent_step_key: str | None
    """The step that started it."""
    forked_from: str | None
    """The run that it was started from again, unless that was deleted."""
    forked_from_step: str | None
    """For a fork: the step from which it is executed. What that run had finished before is
    reused.
    """
    of_draft: bool
    """It runs a draft, and not the graph of `workflow_version`."""
    mode: Literal["recorded"] | None
    """For a rehearsal: its steps take their results from the record of the run in `forked_from`,
    and nothing has an effect.
    """
    inbound_event_id: str | None
    """The event of the webhook that started it, or that it replays."""
    error: str | None
    failure: RunFailure | None
    resumable: bool
    cost_usd: float
    """US dollars, at most six decimals."""
    unpriced_steps: int
    """Steps, turns of agents included, whose model has no price, so that `cost_usd` does not
    contain all of their cost.
    """
    cost_cap_usd: float | None
    duration_ms: int
    """Active time: without waits for decisions, times, events, callbacks, calls and slots."""
    waiting_ms: int
    """Time in which the run did nothing but wait, for a decision, a time, an event, a callback,
    a call or a slot.
    """
    created_by: str | None
    """The member who triggered it."""
    created_at: str
    """ISO 8601, UTC."""
    started_at: str | None
    finished_at: str | None
    resumed_count: int
    queued: Queued | None
    """For a run that waits because of a limit of its workflow: for what, and where in its queue."""
    input: dict[str, Any]
    state: dict[str, Any] | None
    output: Any
    """Output keys of the nodes without a successor; null until then."""
    children_cost_usd: float
    """The cost of the runs that it started, and of those that they started. It is not in
    `cost_usd`, but counts against `cost_cap_usd`.
    """
    steps: list[Step]
    """In the order of their starts. Of a run with more than 1000, the first so many: those
    outside of loops and maps, then those in them.
    """
    steps_next_cursor: str | None
    """The `cursor` of the other steps at `GET /api/runs/{id}/steps`; null if `steps` has all."""
    step_counts: list[StepCount] | None
    """If `steps` does not have all: how many each node has, without the turns and calls of
    agents.
    """
    checkpoints: list[Checkpoint]
    """Of the finished ones of `steps`."""
    pending_gate: PendingGate | None
    """The oldest open gate."""
    pending_gates: list[PendingGate]
    """Every gate that can be decided now, oldest first. A run with other active branches may
    have some, too.
    """
    event_id: str | None
    """For the trigger `event`: the event that started it, as long as that is kept."""
    waiting: list[Waiting]
    """The steps that wait for a time, an event or a callback, oldest first, at most 100. They do
    not pause the run.
    """
    evals: Evaluation | None
    temporal: CheckedRunTemporal


class CheckedRun(_CheckedRun, total=False):
    laid: dict[str, dict[str, Any]]
    """For a fork, and a run that was started from one: what was merged into the state, by the
    step before which it was.
    """
    graph: dict[str, Any]
    """For a run of a draft: its graph, as a workflow has it."""
    shown: CheckedRunShown


class CheckedRunShown(TypedDict):
    """With `only_check`: what the gate sets in motion with this `input`, and the digest to send
    with the decision.
    """

    digest: str
    consequences: Consequences


class CheckedRunTemporal(TypedDict):
    workflow_id: str
    run_id: str | None
    url: str | None
    """The run's page in the Temporal UI; null where TEMPORAL_UI_URL is not set."""


class Checkpoint(TypedDict):
    step_key: str
    at: str
    """ISO 8601, UTC."""
    event_id: int | None
    """Its event in the Temporal history."""


class _ChildContinuedFrame(TypedDict):
    run_id: str
    type: Literal["child_continued"]
    node_id: str
    child_run_id: str
    """The run that the step has started."""


class ChildContinuedFrame(_ChildContinuedFrame, total=False):
    """The run that a step waits for is no longer paused. Only for sockets with `deltas=true`."""

    step_key: str
    """Only for a tool call of an agent, which has the node_id of the agent."""


class _ChildPausedFrame(TypedDict):
    run_id: str
    type: Literal["child_paused"]
    node_id: str
    child_run_id: str
    """The run that the step has started."""


class ChildPausedFrame(_ChildPausedFrame, total=False):
    """The run that a step waits for has paused: the step is `paused_child`. Only for sockets
    with `deltas=true`.
    """

    step_key: str
    """Only for a tool call of an agent, which has the node_id of the agent."""


class _CodeNode(TypedDict):
    id: str
    """Letters and digits of any script, `_`, `-`, `.` and `:`; starts with a letter, a digit or
    `_`.
    """
    kind: Literal["code"]
    source: str
    """A module whose `export default` is a function of the state. What it returns, as JSON, is
    the output.
    """


class CodeNode(_CodeNode, total=False):
    label: str
    """Its name for people."""
    position: NodePosition
    """Where the editor draws it."""
    retry: NodeRetry
    """How often a failed attempt is repeated."""
    timeout_seconds: float
    """Its processor time; the default is 2."""
    language: Literal["javascript", "typescript"]
    output_key: str
    """State key of the output; the default is the node's id."""


class ComparedRun(TypedDict):
    run_id: str
    """The run that was rehearsed. It may have been deleted."""
    rehearsal_run_id: str | None
    input: str | None
    """The beginning of the run's input as JSON. Null once the run is deleted."""
    outcome: Literal["equal", "changed", "failed", "unrecorded", "refused"]
    reason: str | None
    """Why it failed, has no record, was refused, or is changed without a diff."""
    diff: OutputDiff | None
    """Of the outputs."""
    checks: ComparedRunChecks
    cost_usd: ComparedRunCostUsd | None
    duration_ms: ComparedRunDurationMs | None


class ComparedRunChecks(TypedDict):
    """The names of the checks that only the rehearsal, and that only the run has passed."""

    won: list[str]
    lost: list[str]


class ComparedRunCostUsd(TypedDict):
    """The recorded cost, and that of the candidate."""

    base: float
    """US dollars, at most six decimals."""
    candidate: float
    """US dollars, at most six decimals."""


class ComparedRunDurationMs(TypedDict):
    """How long the steps took together."""

    base: int
    candidate: int


class ConcurrencyLimit(TypedDict):
    limit: int
    """How many runs with the same key are in flight at a time."""
    key: str | None
    """A template over the input of a run, such as `{customer}`: each value has a limit of its
    own. By default, all runs of the workflow share one.
    """
    on_limit: Literal["queue", "reject", "skip", "cancel_running"]
    """What happens to a run that is triggered while all slots are taken. `queue`: it waits for
    one. `reject`: the trigger gets 409. `skip`: it gets 200, without a run. `cancel_running`:
    only the newest runs of the key stay, and the others are cancelled.
    """
    hold_while_paused: bool
    """False: a run that pauses for a person gives up its slot, and waits for another one when it
    continues.
    """


class _ConcurrencyLimitInput(TypedDict):
    limit: int
    """How many runs with the same key are in flight at a time."""


class ConcurrencyLimitInput(_ConcurrencyLimitInput, total=False):
    key: str | None
    """A template over the input of a run, such as `{customer}`: each value has a limit of its
    own. By default, all runs of the workflow share one.
    """
    on_limit: Literal["queue", "reject", "skip", "cancel_running"]
    """What happens to a run that is triggered while all slots are taken. `queue`: it waits for
    one. `reject`: the trigger gets 409. `skip`: it gets 200, without a run. `cancel_running`:
    only the newest runs of the key stay, and the others are cancelled.
    """
    hold_while_paused: bool
    """False: a run that pauses for a person gives up its slot, and waits for another one when it
    continues.
    """


class _ConditionNode(TypedDict):
    id: str
    """Letters and digits of any script, `_`, `-`, `.` and `:`; starts with a letter, a digit or
    `_`.
    """
    kind: Literal["condition"]
    expression: str


class ConditionNode(_ConditionNode, total=False):
    label: str
    """Its name for people."""
    position: NodePosition
    """Where the editor draws it."""
    retry: NodeRetry
    """How often a failed attempt is repeated."""
    timeout_seconds: float
    """The deadline of one attempt."""


class ConfidenceInterval(TypedDict):
    """The mean difference per run, candidate minus base, with its 95% confidence interval by the
    t distribution.
    """

    mean: float
    low: float
    high: float


class ConfigureWebhookBody(TypedDict, total=False):
    require_signature: bool
    """Refuse requests without a valid `X-Service-Timestamp` and `X-Service-Signature`."""
    timestamp_tolerance_seconds: int
    """How far the time of a signature may be from now, before or after."""
    dedup_window_seconds: int
    """How long a known event starts no second run; 0: every request starts one."""
    event_id_field: str
    """The body field with the event id, without an `X-Service-Event-Id`."""
    event_id_header: str | None
    """The header with the event id; it decides alone. Null: `X-Service-Event-Id`, then the body."""
    accept_forms: bool
    """Take the fields of a form, by its content type, as the input."""
    event: str | None
    """Send each request as an event of this name, with the body as its data, instead of starting
    a run. Null: start a run.
    """
    answer_challenges: bool
    """Answer the challenges by which senders check an address, without a run: `{"type":
    "url_verification", "challenge": ...}` and `?validationToken=...`.
    """


class ConfirmSlackAccountBody(TypedDict):
    team_id: str
    user_id: str


class Connection(TypedDict):
    id: str
    name: str
    preset: str | None
    grant: Literal["authorization_code", "client_credentials"]
    owner: Literal["workspace", "member"]
    issuer: str | None
    authorization_url: str | None
    token_url: str
    callback_url: str | None
    """Register this address with the service as the redirect URI. Null where nobody signs in."""
    client_id: str
    client_auth: Literal["basic", "post", "none"]
    resource: str | None
    """The URL of the MCP server that the tokens are for; null for any other service."""
    scopes: list[str]
    authorization_params: dict[str, str]
    allowed_hosts: list[str]
    """Only requests to these hosts get the access token."""
    status: Literal["not_signed_in", "connected", "needs_sign_in"]
    """Of the workspace's account, or of the reader's own if `owner` is `member`.
    `needs_sign_in`: the service no longer accepts it, or it has expired.
    """
    signed_in_by: str | None
    """The member who signed in."""
    expires_at: str | None
    """When the access token ends. It is refreshed before, if the service allows it."""
    last_used_at: str | None
    """When a call last needed it, to the minute."""
    created_at: str
    """ISO 8601, UTC."""
    updated_at: str
    """ISO 8601, UTC."""
    etag: str
    """Changes with each edit. The header `ETag` has it in double quotes; send that as `If-Match`
    to change only this state.
    """


class ConnectionAuthorization(TypedDict):
    authorization_url: str
    """Open it in the browser that got this response, within ten minutes."""


class ConnectionChanged(TypedDict):
    """It is not as `If-Match` says."""

    detail: str
    """The error message."""
    current: Connection | None
    """As it is now; null when it is gone."""


class ConnectionPreset(TypedDict):
    id: str
    label: str
    authorization_url: str
    token_url: str
    client_auth: Literal["basic", "post", "none"]
    scopes: list[str]
    scope_separator: str
    """What is between two scopes; a space, unless the service deviates."""
    authorization_params: dict[str, str]
    allowed_hosts: list[str]


class _Consequences(TypedDict):
    approve: AnswerConsequences
    reject: AnswerConsequences


class Consequences(_Consequences, total=False):
    timeout: AnswerConsequences
    """For a gate with a deadline."""


class CountBounds(TypedDict):
    min: float
    max: float | None
    """Null: no bound."""


class _CreateApiKeyBody(TypedDict):
    name: str


class CreateApiKeyBody(_CreateApiKeyBody, total=False):
    role: Literal["admin", "editor", "viewer"]
    """Required unless the key is linked; a linked key has its member's role."""
    member_id: str | None
    """Links the key to a member: it has the member's current permissions."""
    decide: bool
    """False: the key never has `approve_gates` and `publish_workflows`, so it decides no gate
    and takes none away.
    """


class _CreateBudgetBody(TypedDict):
    name: str
    limit_usd: float


class CreateBudgetBody(_CreateBudgetBody, total=False):
    reservation_estimate_usd: float | None
    """What each trigger reserves. Without it only the cost of ended runs counts, and a run that
    has started can exceed the limit.
    """
    overrun: Literal["none", "one_step"]
    """`none`: a request begins only if all that it may cost fits, beside the requests in
    progress. `one_step`: a request begins while something is left, so that the limit is exceeded
    by less than one step.
    """
    alerts: bool
    """Whether alerts are sent when 80% and when 100% of the limit is spent, each once in a
    window; true by default.
    """
    scope: Literal["workspace", "workflow"]
    workflow_id: str | None
    """The workflow, for scope `workflow`."""
    window: Literal["day", "week", "month", "total"]
    """UTC; weeks start on Monday."""


class _CreateConnectionBody(TypedDict):
    name: str
    """Workflows refer to it as `{connections.NAME}`."""


class CreateConnectionBody(_CreateConnectionBody, total=False):
    client_id: str
    client_secret: str
    """Stored sealed. No response contains it. Absent for a public client."""
    client_auth: Literal["basic", "post", "none"]
    """How the client proves who it is: in the header, in the body, or not at all (a public
    client without a secret).
    """
    issuer: str
    """The issuer of the authorization server. Its metadata (OpenID Connect Discovery or RFC
    8414) gives the other addresses.
    """
    authorization_url: str
    """Where members sign in."""
    token_url: str
    """Where codes and refresh tokens become tokens."""
    scopes: list[str]
    """What to ask for; it counts from the next sign-in."""
    authorization_params: dict[str, str]
    """Further parameters of the address where members sign in."""
    allowed_hosts: list[str]
    preset: Literal["atlassian", "github", "google", "hubspot", "linear", "microsoft", "notion", "salesforce", "slack", "stripe"]
    """A well-known service, which gives what is not given."""
    grant: Literal["authorization_code", "client_credentials"]
    """`authorization_code`: someone signs in. `client_credentials`: the client itself, as the
    workspace.
    """
    owner: Literal["workspace", "member"]
    """`workspace`: one account for all runs. `member`: each run uses the account of the member
    who started it.
    """
    mcp_server_url: str
    """An MCP server that requires sign-in. Its metadata gives the addresses, the scopes and
    `allowed_hosts`, and without a `client_id` the service gets itself a client: by the document
    about itself, or by registration. `issuer` chooses one of several authorization servers.
    """


class _CreateDataKeyBody(TypedDict):
    name: str
    mode: Literal["live", "test"]
    """Live keys read live records, test keys read demo records."""
    scopes: list[Literal["feeds:read", "entities:read", "events:read", "sources:read", "usage:read", "exports:create", "webhooks:read", "webhooks:write"]]


class CreateDataKeyBody(_CreateDataKeyBody, total=False):
    expires_at: str | None
    """The key is invalid from then on."""
    ip_allowlist: list[str]
    """Addresses and CIDRs that can use it; empty: any."""
    monthly_request_allowance: int | None
    """In addition to the limit of the plan; null: only the limit of the plan."""
    monthly_credit_allowance: int | None
    """In addition to the limit of the plan; null: only the limit of the plan."""


class _CreateEventTriggerBody(TypedDict):
    event: str
    """Such as `invoice.paid`."""


class CreateEventTriggerBody(_CreateEventTriggerBody, total=False):
    match: str | None
    """An expression over `event`. By default, every event of that name starts a run."""
    input: dict[str, Any] | None
    """The input of each run, with templates over `event`. By default, the data of the event."""
    enabled: bool


class _CreateFeedBody(TypedDict):
    name: str


class CreateFeedBody(_CreateFeedBody, total=False):
    description: str
    status: Literal["active", "paused", "degraded", "archived"]
    """Archived feeds are not listed in the data API."""
    entity_types: list[str]
    """The accepted types of records; empty: any."""
    schema: dict[str, Any]
    """The meaning of its records' attributes, as JSON Schema or as text."""
    geography: dict[str, Any]
    """Where its records come from, such as `{"country": "US"}`."""
    specification: dict[str, Any]
    """What is monitored, how and how often."""
    is_demo: bool
    """Its records are demo records, only for test keys. Cannot be changed."""


class _CreateScheduleBody(TypedDict):
    workflow_id: str
    cron: str
    """Minute, hour, day of month, month, day of week; or `@hourly`, `@daily`, `@weekly`,
    `@monthly`, `@yearly`.
    """


class CreateScheduleBody(_CreateScheduleBody, total=False):
    name: str | None
    timezone: str
    """IANA time zone of the cron expression."""
    input: dict[str, Any]
    enabled: bool
    overlap: Literal["skip", "allow"]
    """`skip`: no run starts while an earlier one of the schedule is active."""


class _CreateSourceBody(TypedDict):
    name: str
    """Unique in the workspace among the live sources, and among the demo ones."""
    type: str
    """The type of source, such as `permit_portal`."""


class CreateSourceBody(_CreateSourceBody, total=False):
    jurisdiction: str | None
    cadence: str | None
    """How often it is checked, such as `daily`."""
    permission_status: str | None
    """Whether it may be read."""
    license_status: str | None
    """Whether its content may be redistributed."""
    reliability_score: float | None
    is_demo: bool
    """For demo records, only for test keys. Cannot be changed."""


class CreateStreamTokenBody(TypedDict, total=False):
    expires_in: int
    """Seconds until the token expires."""


class _CreateToolBody(TypedDict):
    name: str
    """Workflows call the tool as `custom:<name>`."""


class CreateToolBody(_CreateToolBody, total=False):
    label: str
    description: str
    kind: Literal["http", "mcp", "code"]
    endpoint_url: str
    """Called unchanged: no part of it comes from a workflow. Empty for kind `code`."""
    source: str | None
    """For kind `code`: a module whose `export default` is a function of the arguments. It runs
    in a sandbox, for at most 10 s of processor time.
    """
    language: Literal["javascript", "typescript"]
    """Of the `source`."""
    method: Literal["POST", "GET", "HEAD", "PUT", "PATCH", "DELETE"]
    """For kind `http`. GET and HEAD send the arguments in the query."""
    headers: dict[str, str]
    """Sent with each call. Values are stored sealed and shown as `***`."""
    mcp_tool: str | None
    """The tool of the MCP server, for kind `mcp`."""
    input_schema: dict[str, Any] | None
    """JSON Schema, draft 2020-12 or 7, that validates the arguments before each call. Patterns
    are RE2; `format` is not checked; external references are not loaded.
    """
    timeout_seconds: int
    """For one call. By default 60. For kind `code`, it is processor time: by default and at most
    10.
    """
    retry_count: int
    """Retries after the first try; a node's own `retry` replaces it."""
    read_only: bool
    """Whether a call changes nothing, so that the recheck of a gate can repeat it. To set it
    needs the capability publish_workflows; a change of what is called takes it back.
    """


class _CreateWebhookEndpointBody(TypedDict):
    url: str
    """Events are sent to it with POST. `listen:<name>` is a listener: nothing is sent, and `ops
    listen` reads the events. An endpoint cannot become a listener, or a listener an endpoint.
    """
    events: list[Literal["entity.created", "entity.updated", "intelligence_event.created", "intelligence_event.verified", "feed.status_changed", "source.failed", "source.recovered", "usage.threshold_reached", "export.completed", "ping", "run.completed", "run.failed", "run.paused", "approval.requested"]]
    """The subscribed events; a `ping` is always sent."""


class CreateWebhookEndpointBody(_CreateWebhookEndpointBody, total=False):
    is_demo: bool
    """Receives events about demo records instead of live ones; events of runs in any case.
    Cannot be changed.
    """


class _CreateWorkflowBody(TypedDict):
    name: str


class CreateWorkflowBody(_CreateWorkflowBody, total=False):
    description: str
    graph: GraphDraft
    input_schema: dict[str, Any] | None
    """JSON Schema, draft 2020-12 or 7, that the input of every run must fit; null accepts any
    object. Patterns are RE2; `format` is not checked; external references are not loaded. At
    most 65,536 characters and 40 levels.
    """
    run_cap_usd: float | None
    """The cost limit of one run; null removes it."""
    overrun: Literal["none", "one_step"]
    """`none`: a request begins only if all that it may cost fits, beside the requests in
    progress. `one_step`: a request begins while something is left, so that the limit is exceeded
    by less than one step.
    """
    requires_experiment: bool
    """It is published only after an experiment of exactly this graph and input schema that lost
    no check and failed no run.
    """


class CreatedApiKey(TypedDict):
    id: str
    name: str
    prefix: str
    """The start of the secret."""
    role: Literal["admin", "editor", "viewer"]
    """For a linked key, its member's current role."""
    member_id: str | None
    decide: bool
    """Whether it can decide gates and publish workflows."""
    revoked: bool
    """By hand, or because its member was removed."""
    created_at: str
    """ISO 8601, UTC."""
    last_used_at: str | None
    """Delayed by at most a few seconds."""
    etag: str
    """Changes with each edit. The header `ETag` has it in double quotes; send that as `If-Match`
    to change only this state.
    """
    secret: str
    """For `X-API-Key`; shown only this once."""


class CreatedDataKey(TypedDict):
    id: str
    name: str
    mode: Literal["live", "test"]
    """Live keys read live records, test keys read demo records."""
    prefix: str
    """The start of the secret."""
    scopes: list[Literal["feeds:read", "entities:read", "events:read", "sources:read", "usage:read", "exports:create", "webhooks:read", "webhooks:write"]]
    expires_at: str | None
    ip_allowlist: list[str]
    monthly_request_allowance: int | None
    monthly_credit_allowance: int | None
    revoked: bool
    created_at: str
    """ISO 8601, UTC."""
    last_used_at: str | None
    """Delayed by at most a few seconds."""
    etag: str
    """Changes with each edit. The header `ETag` has it in double quotes; send that as `If-Match`
    to change only this state.
    """
    secret: str
    """For `Authorization: Bearer` or `X-API-Key`; shown only this once."""


class CustomTool(TypedDict):
    id: str
    name: str
    label: str
    description: str
    kind: Literal["http", "mcp", "code"]
    endpoint_url: str
    source: str | None
    language: Literal["javascript", "typescript"]
    method: Literal["POST", "GET", "HEAD", "PUT", "PATCH", "DELETE"]
    headers: dict[str, str]
    """Every value is `***`."""
    mcp_tool: str | None
    input_schema: dict[str, Any] | None
    schema_digest: str | None
    """`sha256:` and the SHA-256 of the canonical JSON (RFC 8785) of the `input_schema`; null
    without one.
    """
    pinned: bool
    """Whether it was imported, and is not called while its server gives another schema for it."""
    timeout_seconds: int
    retry_count: int
    read_only: bool
    request: RequestMapping | None
    """For a tool that was imported from an API document: how its arguments become a request."""
    auth: ToolAuth | None
    document_url: str | None
    """The URL of the API document; null for a document that was sent."""
    document_server: str | None
    """The server that the import named instead of the document's."""
    response_schema: dict[str, Any] | None
    """What the API document says of the result; responses are not checked against it."""
    changed: bool
    """Whether a refresh has found another operation in the API document, and the change is not
    accepted yet: the tool is not called.
    """
    created_by: str | None
    created_at: str
    """ISO 8601, UTC."""
    updated_at: str
    """ISO 8601, UTC."""
    etag: str
    """Changes with each edit. The header `ETag` has it in double quotes; send that as `If-Match`
    to change only this state.
    """


class CustomToolChanged(TypedDict):
    """It is not as `If-Match` says."""

    detail: str
    """The error message."""
    current: CustomTool | None
    """As it is now; null when it is gone."""


class DataEndpoint(TypedDict):
    id: str
    url: str
    events: list[Literal["entity.created", "entity.updated", "intelligence_event.created", "intelligence_event.verified", "feed.status_changed", "source.failed", "source.recovered", "usage.threshold_reached", "export.completed", "ping", "run.completed", "run.failed", "run.paused", "approval.requested"]]
    status: Literal["active", "failing"]
    """`failing` after 5 failed attempts in a row, until one succeeds."""
    consecutive_failures: int
    """Failed attempts since the last success."""
    last_delivery_at: str | None
    """When the last attempt succeeded; when the events of a listener were last read."""
    created_at: str
    """ISO 8601, UTC."""
    is_demo: bool
    etag: str
    """Changes with each edit. The header `ETag` has it in double quotes; send that as `If-Match`
    to change only this state.
    """


class DataEndpointChanged(TypedDict):
    """It is not as `If-Match` says."""

    detail: str
    """The error message."""
    current: DataEndpoint | None
    """As it is now; null when it is gone."""


class DataKey(TypedDict):
    id: str
    name: str
    mode: Literal["live", "test"]
    """Live keys read live records, test keys read demo records."""
    prefix: str
    """The start of the secret."""
    scopes: list[Literal["feeds:read", "entities:read", "events:read", "sources:read", "usage:read", "exports:create", "webhooks:read", "webhooks:write"]]
    expires_at: str | None
    ip_allowlist: list[str]
    monthly_request_allowance: int | None
    monthly_credit_allowance: int | None
    revoked: bool
    created_at: str
    """ISO 8601, UTC."""
    last_used_at: str | None
    """Delayed by at most a few seconds."""
    etag: str
    """Changes with each edit. The header `ETag` has it in double quotes; send that as `If-Match`
    to change only this state.
    """


class DataKeyChanged(TypedDict):
    """It is not as `If-Match` says."""

    detail: str
    """The error message."""
    current: DataKey | None
    """As it is now; null when it is gone."""


class Debounce(TypedDict):
    seconds: float
    """How long a run waits for further triggers with the same key. Each starts this time again."""
    key: str | None
    """A template over the input of a run, such as `{customer}`: each value has a limit of its
    own. By default, all runs of the workflow share one.
    """
    max_seconds: float | None
    """How long it waits at most, from its first trigger. By default 10 times `seconds`, at most
    a day.
    """


class _DebounceInput(TypedDict):
    seconds: float
    """How long a run waits for further triggers with the same key. Each starts this time again."""


class DebounceInput(_DebounceInput, total=False):
    key: str | None
    """A template over the input of a run, such as `{customer}`: each value has a limit of its
    own. By default, all runs of the workflow share one.
    """
    max_seconds: float | None
    """How long it waits at most, from its first trigger. By default 10 times `seconds`, at most
    a day.
    """


class _DecideByLinkBody(TypedDict):
    token: str
    """The part of the link after `#`."""
    decision: Literal["approve", "reject"]


class DecideByLinkBody(_DecideByLinkBody, total=False):
    digest: str
    """Of what the person has read; required for a gate that has one."""
    reason: str
    input: dict[str, Any]
    """What the form of the gate asks for."""
    arguments: dict[str, Any]
    """For a step that needs approval: the arguments, as changed by the approver."""
    accept_changes: bool
    """For a gate that shows `stale`: approves anyway. What was shown is sent; the differences
    are stored with the decision.
    """


class DecideGateBody(TypedDict, total=False):
    approved: bool
    input: dict[str, Any]
    """Merged into the run state. It must fit the `input_schema` of the gate."""
    reason: str
    """The reason: stored with the decision, and shown in the error of a run that it fails."""
    node_id: str
    """The gate, when several are open; by default the oldest."""
    step_key: str
    """The gate's round, from `pending_gates`: a gate in a loop opens once per iteration."""
    digest: str
    """The `digest` of the gate, so that the decision counts only for what was shown. Required
    for one of kind `tool_call`.
    """
    arguments: dict[str, Any]
    """Of an approved tool call: the arguments to send instead. They must fit the schema of the
    tool.
    """
    accept_changes: bool
    """For a gate that shows `stale`: approves anyway. What was shown is sent; the differences
    are stored with the decision.
    """
    only_check: bool
    """True: refuses what could not be decided like this, and decides nothing."""


class DecidedGate(TypedDict):
    run_id: str
    workflow_id: str
    workflow_name: str
    node_id: str
    step_key: str
    round: int
    """Counts how often the same step asked, from 1."""
    kind: Literal["human_gate", "tool_call"]
    label: str
    title: str
    """What is decided, in one line. Without a template: the label, or the tool and its first
    arguments.
    """
    decision: Decision
    decider: Assignee | None
    """The member who decided; null for a deadline or an unknown key."""
    changed_arguments: bool
    """Whether a tool call was approved with other arguments than it asked for."""


class DecidedGateList(TypedDict):
    decided: list[DecidedGate]
    next_cursor: str | None
    """Null on the last page."""


class _Decision(TypedDict):
    approved: bool
    by: str | None
    """The name of the person who decided, if known."""
    by_kind: Literal["member", "deadline", "request"]
    """Who decided: `member` for a person, also with a key; `deadline`; or `request`, in a
    rehearsal. The decision of a request counts for no effect.
    """
    at: str
    """ISO 8601, UTC."""
    reason: str | None


class Decision(_Decision, total=False):
    by_link: Literal[True]
    """With the link of an email to the member, without signing in."""
    by_slack: Literal[True]
    """In Slack, by the member with the email of the person there."""
    timed_out: Literal["reject", "approve", "fail"]
    """The deadline decided, not a person: the `on_timeout` of the gate."""


class DeliveryAttempt(TypedDict):
    round: int
    """Increases with each redelivery."""
    attempt: int
    started_at: str
    """ISO 8601, UTC."""
    duration_ms: int
    status_code: int | None
    """Null without a response."""
    error: str | None


class DollarBounds(TypedDict):
    min: float
    """US dollars, at most six decimals."""
    max: float | None
    """Null: no bound."""


class DryRun(TypedDict):
    version: int | None
    """The version examined; null for a draft."""
    cost_usd: DollarBounds
    """What the run and the runs that it starts cost together."""
    duration_ms: CountBounds
    unbounded: list[str]
    """Ids of the nodes without a bound of their cost or duration."""
    warnings: list[GraphIssue]
    """Agents whose requests have no bound under a cap or a budget, or whose first request does
    not fit the cap; connections to which the caller, or no one, is signed in.
    """
    nodes: list[DryRunNode]
    budgets: list[DryRunBudget]
    gates: list[DryRunGate]
    """The gates that can be reached."""
    hosts: list[str]
    """The hosts that its tools call; `at_run_time` for one that is not known before."""
    secrets: list[str]
    """Names of the secrets that it uses."""
    connections: list[DryRunConnection]
    """The connections whose tokens it sends."""


class DryRunBudget(TypedDict):
    id: str
    name: str
    asked_usd: float
    """What a run reserves; 0 without an estimate."""
    available_usd: float
    """What is left of the limit now; negative when more was spent."""
    fits: bool
    """Whether a run could start now."""


class DryRunConnection(TypedDict):
    node_id: str
    """The node that sends its token, or starts `workflow`."""
    workflow: DryRunConnectionWorkflow | None
    """The workflow that has the node, if it is another one."""
    id: str
    name: str
    account: Literal["workspace", "starter", "approver"]
    """Whose account: that of the workspace, of the member who starts the run, or of the one who
    approves the step.
    """
    status: Literal["not_signed_in", "connected", "needs_sign_in"] | None
    """Of this account, for `starter` that of the caller; null for `approver`."""


class DryRunConnectionWorkflow(TypedDict):
    id: str
    name: str


class DryRunGate(TypedDict):
    node_id: str
    """The gate, an agent whose calls need approval, or the node that starts `workflow`."""
    workflow: DryRunGateWorkflow | None
    """The workflow that has the gate, if it is another one."""
    required: int
    """How many members must approve."""
    approvers: list[DryRunGateApprover]
    """The members who could decide it now, at most 100."""


class DryRunGateApprover(TypedDict):
    id: str
    name: str


class DryRunGateWorkflow(TypedDict):
    id: str
    name: str


class DryRunNode(TypedDict):
    node_id: str
    verdicts: list[DryRunVerdict]
    """Of the policies that apply to it; empty without one."""
    cost_usd: DollarBounds
    executions: CountBounds
    """Once per iteration of the loops and maps around it. Retries and turns are not counted;
    `max` 0: it is never reached.
    """


class DryRunVerdict(TypedDict):
    policy: Literal["model_allowlist", "fallback", "tool_permission", "tool_argument", "dlp"]
    decision: Literal["allowed", "blocked", "redacted", "at_run_time"]
    """`at_run_time`: it depends on values that are known when the step runs."""
    reason: str


class DryRunWorkflowBody(TypedDict, total=False):
    input: dict[str, Any]
    """As for a run. Without it, the bounds hold for every input."""
    version: int
    """The version to examine; the default is the current one."""
    draft: bool
    """Examines the workflow's draft, and not a version."""


class _EarlierAsking(TypedDict):
    step_key: str
    round: int
    """Counts how often the same step asked, from 1."""
    iteration: list[int]
    """Iterations of the enclosing loops and maps, outermost first."""
    title: str
    """What is decided, in one line. Without a template: the label, or the tool and its first
    arguments.
    """
    prompt: str
    decision: Decision


class EarlierAsking(_EarlierAsking, total=False):
    arguments: dict[str, Any] | None
    """For a tool call, as the model gave them; null for a caller without the capability
    approve_gates.
    """
    input: dict[str, Any]
    """What the approvers sent."""
    decided_arguments: dict[str, Any] | None
    """For a tool call that was approved with other arguments."""


class _Effect(TypedDict):
    node_id: str
    step_key: str
    """With `*` for an iteration or item that is not known yet."""
    label: str
    kind: Literal["tool", "agent", "workflow"]
    certainty: Literal["certain", "conditional", "per_item"]
    """`certain`: it happens unless the run fails or is cancelled. `conditional`: see
    `conditions`. `per_item`: for each item of a map or iteration of a loop, see `executions`.
    """
    conditions: list[EffectCondition]
    """What decides whether it happens."""
    effect: Literal["read", "write"]
    """`write`: it can change data or another system."""
    arguments: dict[str, Any] | None
    """Null where a value is not known yet; null as a whole for a caller without the capability
    approve_gates.
    """
    unknown: list[EffectUnknown]
    """The arguments that are not known yet."""
    cost_usd: DollarBounds
    """Of one execution."""


class Effect(_Effect, total=False):
    tool: str
    executions: CountBounds
    host: str
    """What it calls; `at_run_time` if it is known when it is executed."""
    may_call: list[EffectMayCall]
    """For an agent: its tools, and which of their calls need approval."""
    approval: str
    """It asks for its own approval first if this expression is true, which is not known yet."""
    items: EffectItems
    target: EffectTarget
    problem: str
    """Why its arguments cannot be rendered."""


class _EffectCondition(TypedDict):
    node_id: str
    when: Literal["true", "false", "error", "success"]
    """The result of a condition, loop or gate, or how another node ends."""


class EffectCondition(_EffectCondition, total=False):
    expression: str
    """Of a condition or loop."""


class EffectItems(TypedDict):
    """For a map with more than 100 known items: their number, the arguments of the first and
    last ten, which arguments are not known, and a digest over all items, to which the decision
    is bound.
    """

    count: int
    first: list[dict[str, Any]]
    last: list[dict[str, Any]]
    unknown: list[EffectItemsUnknown]
    digest: str


class EffectItemsUnknown(TypedDict):
    path: list[str | int]
    reads: list[str]


class _EffectMayCall(TypedDict):
    tool: str
    approval: str


class EffectMayCall(_EffectMayCall, total=False):
    tool_digest: str | None
    """Of a custom tool or a workflow: the digest of what it reaches at present."""


class EffectTarget(TypedDict):
    """Of a custom tool or a workflow: the digests of what it reaches at present, and of the
    schema of its arguments. A change of either makes the digest of the gate outdated.
    """

    tool_digest: str | None
    schema_digest: str


class EffectUnknown(TypedDict):
    path: list[str | int]
    reads: list[str]
    """Values of the state."""


class EmptyBody(TypedDict):
    pass


class EnabledWebhook(TypedDict):
    enabled: Literal[True]
    url: str
    """The address for events. Anyone who has it can start runs."""


class Entity(TypedDict):
    id: str
    feed_id: str
    entity_type: str
    canonical_name: str
    aliases: list[Any]
    attributes: dict[str, Any]
    external_ids: dict[str, Any]
    geography: dict[str, Any]
    status: str
    verification_status: Literal["unverified", "machine_verified", "human_reviewed", "multi_source_verified"]
    confidence: float
    version: int
    source_evidence: list[SourceEvidence]
    """The sources of the record."""
    first_observed_at: str
    """ISO 8601, UTC."""
    last_observed_at: str
    """ISO 8601, UTC."""
    last_verified_at: str | None
    updated_at: str
    """ISO 8601, UTC."""
    is_demo: bool


class EntityHistory(TypedDict):
    versions: list[EntityVersion]
    """Newest first."""
    changes: list[Change]
    """Changes of these versions, attribute by attribute, newest version first."""
    next_cursor: str | None
    """Null on the last page."""


class EntityList(TypedDict):
    entities: list[Entity]
    next_cursor: str | None
    """Null on the last page."""


class _EntityRecord(TypedDict):
    type: Literal["entity"]
    external_key: str
    """Identifies the record in its feed; from its origin."""
    entity_type: str
    canonical_name: str
    attributes: dict[str, Any]


class EntityRecord(_EntityRecord, total=False):
    aliases: list[str]
    external_ids: dict[str, str | float | None]
    geography: RecordGeography
    status: str
    verification_status: Literal["unverified", "machine_verified", "human_reviewed", "multi_source_verified"]
    confidence: float
    source_evidence: list[SourceEvidence]
    observed_at: str
    """When it was observed; default: now."""


class EntityVersion(TypedDict):
    version: int
    changed_at: str
    """ISO 8601, UTC."""
    attributes: dict[str, Any]
    changed: list[str]
    """The attributes that this version changed."""


class Error(TypedDict):
    """Every error has this shape."""

    detail: str
    """The error message."""


class Evaluation(TypedDict):
    passed: int
    total: int
    results: list[CheckResult]


class Event(TypedDict):
    id: str
    name: str
    data: Any
    given_id: str | None
    """The `id` of the request, or the id that the sender of the webhook gave it."""
    source: Literal["api", "tool", "webhook", "data"]
    """A request to the API, a run that used the tool `send_event`, an inbound webhook, or a
    change of the data API.
    """
    run_id: str | None
    """The run that sent it, or that changed the data."""
    inbound_event_id: str | None
    """What the inbound webhook received, in its log."""
    created_by: str | None
    created_at: str
    """ISO 8601, UTC."""
    depth: int
    """The number of runs, each started by an event of the one before, that led to it."""
    woke: int
    """The number of waits that it has ended so far."""
    started: int
    """The number of runs that it has started so far."""
    cancelled: int
    """The number of runs that it has cancelled so far."""
    pending: bool
    """Whether it has not been compared with every wait, trigger and run yet."""


class EventCancel(TypedDict):
    run_id: str
    workflow_id: str
    cancelled_at: str | None
    refusal: str | None
    """Why the match failed; only for the first such run of each workflow."""


class EventDetail(TypedDict):
    id: str
    name: str
    data: Any
    given_id: str | None
    """The `id` of the request, or the id that the sender of the webhook gave it."""
    source: Literal["api", "tool", "webhook", "data"]
    """A request to the API, a run that used the tool `send_event`, an inbound webhook, or a
    change of the data API.
    """
    run_id: str | None
    """The run that sent it, or that changed the data."""
    inbound_event_id: str | None
    """What the inbound webhook received, in its log."""
    created_by: str | None
    created_at: str
    """ISO 8601, UTC."""
    depth: int
    """The number of runs, each started by an event of the one before, that led to it."""
    woke: int
    """The number of waits that it has ended so far."""
    started: int
    """The number of runs that it has started so far."""
    cancelled: int
    """The number of runs that it has cancelled so far."""
    pending: bool
    """Whether it has not been compared with every wait, trigger and run yet."""
    waits: list[WokenWait]
    """The waits that it has ended, at most 100."""
    starts: list[EventStart]
    """What triggers made of it, at most 100. Without `run_id` and `refusal`, the run starts
    soon.
    """
    cancels: list[EventCancel]
    """The runs that it cancels, at most 100. Without `cancelled_at` and `refusal`, the run ends
    soon.
    """


class _EventRecord(TypedDict):
    type: Literal["event"]
    external_key: str
    """Identifies the record in its feed; from its origin."""
    event_type: str
    primary_external_key: str
    """The record it happened to: in the same feed, sent before or earlier in the batch."""
    occurred_at: str
    """ISO 8601 with a time zone; a date alone is its midnight in UTC."""
    summary: str


class EventRecord(_EventRecord, total=False):
    relevance_score: float | None
    opportunity_score: float | None
    verification_status: Literal["unverified", "machine_verified", "human_reviewed", "multi_source_verified"]
    confidence: float
    source_evidence: list[SourceEvidence]
    match_reason: str | None


class EventReplay(TypedDict):
    id: str
    status: Literal["running", "done", "cancelled", "failed"]
    progress: JobProgress
    error: str | None
    """Why it failed."""
    created_by: str | None
    created_by_name: str | None
    created_at: str
    """ISO 8601, UTC."""
    finished_at: str | None
    workflow_id: str
    since: str
    """ISO 8601, UTC."""
    until: str
    """ISO 8601, UTC."""
    outcome: Literal["refused", "all"]
    started: int
    """Runs that it has started."""
    sent: int
    """Events that it has sent, if the webhook sends events."""
    duplicates: int
    """Events that had started a run or were sent already."""
    refused: int
    """Events that were refused again."""
    last_refusal: str | None


class EventReplayList(TypedDict):
    replays: list[EventReplay]
    next_cursor: str | None
    """Null on the last page."""


class EventStart(TypedDict):
    trigger_id: str
    workflow_id: str
    run_id: str | None
    refusal: str | None
    """Why it started no run."""


class EventTrigger(TypedDict):
    id: str
    workflow_id: str
    event: str
    """The name of the events."""
    match: str | None
    input: dict[str, Any] | None
    enabled: bool
    last_run_at: str | None
    last_run_id: str | None
    last_skip: EventTriggerLastSkip | None
    """The latest event without a run, and the reason, as long as the event is kept."""
    created_at: str
    """ISO 8601, UTC."""
    etag: str
    """Changes with each edit. The header `ETag` has it in double quotes; send that as `If-Match`
    to change only this state.
    """


class EventTriggerChanged(TypedDict):
    """It is not as `If-Match` says."""

    detail: str
    """The error message."""
    current: EventTrigger | None
    """As it is now; null when it is gone."""


class EventTriggerLastSkip(TypedDict):
    at: str
    """ISO 8601, UTC."""
    event_id: str
    reason: str


class EvidenceChain(TypedDict):
    kind: Literal["chain"]
    workspace_id: str
    before: EvidenceChainBefore
    to_head: bool
    """Whether the seals reach the newest one; otherwise they end with the last entry of the run."""
    swept: bool
    """Whether retention has removed entries that could be of this run."""


class EvidenceChainBefore(TypedDict):
    """The seal before the first entry of the run."""

    position: int
    hash: str
    """SHA-256 in hexadecimal."""


class EvidenceEnd(TypedDict):
    kind: Literal["end"]
    lines: int
    """The number of lines before this one."""
    digest: str
    """Of the bytes of these lines."""


class EvidenceEntry(TypedDict):
    kind: Literal["entry"]
    position: int | None
    """Null if it is not sealed yet."""
    entry: str
    """The text that is sealed."""


class _EvidenceGate(TypedDict):
    kind: Literal["gate"]
    step_key: str
    round: int
    node_id: str
    gate_kind: Literal["human_gate", "tool_call"]
    prompt: str
    status: Literal["open", "approved", "rejected", "cancelled"]
    opened_at: str
    """ISO 8601, UTC."""
    decided_at: str | None
    by_id: str | None
    by: str | None
    by_kind: Literal["member", "deadline", "request"] | None
    reason: str | None
    input: dict[str, Any] | None
    """What the approvers sent."""
    timed_out: Literal["reject", "approve", "fail"] | None
    decisions: list[GateDecision] | None
    reused_from: str | None
    consequences: Consequences | None
    tool_call: EvidenceGateToolCall | None
    digest: str | None
    decided_digest: str | None


class EvidenceGate(_EvidenceGate, total=False):
    title: str | None
    by_link: Literal[True]
    """It was decided with the link of an email to the member."""
    by_slack: Literal[True]
    """It was decided in Slack."""


class EvidenceGateToolCall(TypedDict):
    tool: str
    schema_digest: str
    tool_digest: str | None
    arguments: dict[str, Any] | None
    decided_arguments: dict[str, Any] | None


class EvidenceGraph(TypedDict):
    kind: Literal["graph"]
    graph: dict[str, Any]


class _EvidenceHead(TypedDict):
    kind: Literal["evidence"]
    format: Literal[1]
    made_at: str
    """ISO 8601, UTC."""
    contents: bool
    hides: bool
    """Whether it hides what only a caller with the capability approve_gates can see."""
    run: RunSummary
    ended: bool
    digests: EvidenceHeadDigests


class EvidenceHead(_EvidenceHead, total=False):
    input: dict[str, Any]
    state: dict[str, Any] | None
    output: Any
    laid: dict[str, dict[str, Any]]
    """For a fork: what was merged into the state at steps."""


class EvidenceHeadDigests(TypedDict):
    input: str
    """SHA-256 of the canonical JSON (RFC 8785)."""
    state: str | None
    output: str | None


class EvidenceResults(TypedDict):
    kind: Literal["results"]
    order: list[str]
    """The steps with a result, in the order of their ends."""
    caught: dict[str, EvidenceResultsCaughtValue]
    """Errors that the run continued after."""


class EvidenceResultsCaughtValue(TypedDict):
    message: str
    kind: Literal["node", "timeout", "policy", "rejected", "child", "connection"]
    attempts: int


class EvidenceSeals(TypedDict):
    kind: Literal["seals"]
    first: int
    """The position of the first one."""
    seals: list[EvidenceSealsSeal]


class EvidenceSealsSeal(TypedDict):
    entry: str | None
    """Of its entry; null for a seal of 1.0.0."""
    hash: str
    """SHA-256 in hexadecimal."""


class _EvidenceStep(TypedDict):
    kind: Literal["step"]
    step: EvidenceStepStep
    digests: EvidenceStepDigests


class EvidenceStep(_EvidenceStep, total=False):
    input: Any
    output: Any


class EvidenceStepDigests(TypedDict):
    input: str
    """SHA-256 of the canonical JSON (RFC 8785)."""
    output: str
    """SHA-256 of the canonical JSON (RFC 8785)."""


class _EvidenceStepStep(TypedDict):
    step_key: str
    """Node id and iterations of loops and maps: stable over retries and resumes."""
    node_id: str
    label: str
    kind: Literal["agent", "tool", "code", "condition", "loop", "map", "workflow", "human_gate", "wait", "merge"]
    iteration: list[int]
    """Iterations of the enclosing loops and maps, outermost first."""
    attempt: int
    """The number of attempts."""
    status: Literal["running", "success", "failed", "paused", "skipped", "cancelled", "unrecorded"]
    started_at: str
    """ISO 8601, UTC."""
    finished_at: str | None
    duration_ms: int | None
    retried_ms: int | None
    """The part of `duration_ms` before the last attempt: earlier attempts and the delays after
    them, since the last resume; 0 for a first attempt, null where it was not recorded.
    """
    attempts: list[StepAttempt]
    """Every attempt, oldest first, including those before a resume."""
    cost_usd: float
    """US dollars, at most six decimals."""
    error: str | None
    policy: list[PolicyVerdict]


class EvidenceStepStep(_EvidenceStepStep, total=False):
    queued_ms: int | None
    """From ready to started."""
    model: str
    usage: EvidenceStepStepUsage
    unpriced: bool
    """The model has no price, so the cost is unknown."""
    cost_estimated: bool
    """The provider has not reported the tokens of an answer: the cost includes what its request
    may have cost at most.
    """
    error_kind: Literal["node", "timeout", "policy", "rejected", "child", "connection"]
    """Why its last attempt failed. `timeout`: it took too long, `policy`: refused by a policy,
    `rejected`: a decision at a gate, `child`: what it started has failed, `connection`: someone
    has to sign in to a connection, `node`: any other error.
    """
    caught: bool
    """It has failed, and its error edges were taken: the run continues."""
    child_run_id: str
    """For a node of kind `workflow`: the run that the step started."""
    reused_from: str
    """For a fork: the run that executed the step. Its result was reused, which took no time and
    cost nothing here.
    """
    log: str
    """For code: what its last execution has logged, up to 64 kB."""
    paused_child: Literal[True]
    """The run that the step started is paused: somebody must decide there."""
    parent_step_key: str
    """For a turn or a call of an agent with tools: the step of the agent. The cost of that step
    includes it.
    """
    turn: int
    """For a turn or a call of an agent with tools: the number of the turn, from 1."""
    tool_call: StepToolCall
    """For a call of an agent with tools."""
    decision: Decision
    """For a gate that was decided and has not opened again since."""
    decisions: list[GateDecision]
    """For a gate with settings: who has decided what since it opened, oldest first."""


class _EvidenceStepStepUsage(TypedDict):
    input_tokens: int
    output_tokens: int


class EvidenceStepStepUsage(_EvidenceStepStepUsage, total=False):
    cached_tokens: int
    """The part of `input_tokens` that the provider read from its cache."""
    cache_write_tokens: int
    """The part of `input_tokens` that the provider stored in its cache, at a surcharge."""
    price: EvidenceStepStepUsagePrice


class _EvidenceStepStepUsagePrice(TypedDict):
    input_usd_per_million: float
    """US dollars, at most six decimals."""
    output_usd_per_million: float
    """US dollars, at most six decimals."""


class EvidenceStepStepUsagePrice(_EvidenceStepStepUsagePrice, total=False):
    """What the tokens were charged at; missing for an agent with tools, and in runs of 1.0.0."""

    cached_input_usd_per_million: float
    """US dollars, at most six decimals."""


class EvidenceVerdict(TypedDict):
    kind: Literal["verdict"]
    id: str
    node_id: str | None
    verdict: PolicyVerdict
    revision: int | None
    """Of the workspace's policies; null for a verdict of 1.0.0."""
    created_at: str
    """ISO 8601, UTC."""


class Experiment(TypedDict):
    id: str
    status: Literal["running", "done", "cancelled", "failed"]
    progress: JobProgress
    error: str | None
    """Why it failed."""
    created_by: str | None
    created_by_name: str | None
    created_at: str
    """ISO 8601, UTC."""
    finished_at: str | None
    workflow_id: str
    candidate: Literal["draft"] | ExperimentCandidate
    allow: list[str]
    budget_usd: float | None
    spent_usd: float
    """What its rehearsals have spent."""
    summary: ExperimentSummary
    runs: list[ComparedRun]
    """Those that are done: failed ones first, then lost checks, then changed outputs."""
    next_cursor: str | None
    """Null on the last page."""


class ExperimentCandidate(TypedDict):
    version: int


class ExperimentList(TypedDict):
    experiments: list[ListedExperiment]
    """Newest first."""
    next_cursor: str | None
    """Null on the last page."""


class ExperimentSummary(TypedDict):
    equal: int
    changed: int
    failed: int
    """Failed, and had not failed before."""
    unrecorded: int
    """Reached a step or a gate that has no record."""
    refused: int
    """Could not be rehearsed, or had no budget left."""
    checks: ExperimentSummaryChecks
    cost_usd: ExperimentSummaryCostUsd
    duration_ms: ExperimentSummaryDurationMs


class ExperimentSummaryChecks(TypedDict):
    won: int
    lost: int
    total: int
    """The checks by which each run is scored."""
    broken: list[ExperimentSummaryChecksBroken]
    """The lost checks with the number of runs that lose them, most runs first; at most 10."""


class ExperimentSummaryChecksBroken(TypedDict):
    name: str
    runs: int


class ExperimentSummaryCostUsd(TypedDict):
    """The cost of the runs that are equal or changed. `difference` is null for fewer than two."""

    base: float
    candidate: float
    difference: ConfidenceInterval | None


class ExperimentSummaryDurationMs(TypedDict):
    """The duration of the steps of the runs that are equal or changed. `difference` is null for
    fewer than two.
    """

    base: float
    candidate: float
    difference: ConfidenceInterval | None


class _ExpressionCheck(TypedDict):
    name: str
    type: Literal["expression"]
    value: str


class ExpressionCheck(_ExpressionCheck, total=False):
    target: str
    case_sensitive: bool


class FeedFreshness(TypedDict):
    last_event_at: str | None
    """When a record or an event last came or changed."""
    last_checked_at: str | None
    """When records were last sent, even without changes."""
    lag_seconds: int | None
    """Since `last_event_at`."""


class _Fork(TypedDict):
    id: str
    run_id: str
    """The same as `id`."""
    workspace_id: str
    workflow_id: str
    workflow_name: str
    workflow_version: int
    """The version pinned when the run was triggered."""
    status: Literal["pending", "running", "paused", "success", "failed"]
    trigger: Literal["manual", "webhook", "mcp", "schedule", "workflow", "event"]
    parent_run_id: str | None
    """For the trigger `workflow`: the run that started it, unless it was deleted."""
    parent_step_key: str | None
    """The step that started it."""
    forked_from: str | None
    """The run that it was started from again, unless that was deleted."""
    forked_from_step: str | None
    """For a fork: the step from which it is executed. What that run had finished before is
    reused.
    """
    of_draft: bool
    """It runs a draft, and not the graph of `workflow_version`."""
    mode: Literal["recorded"] | None
    """For a rehearsal: its steps take their results from the record of the run in `forked_from`,
    and nothing has an effect.
    """
    inbound_event_id: str | None
    """The event of the webhook that started it, or that it replays."""
    error: str | None
    failure: RunFailure | None
    resumable: bool
    cost_usd: float
    """US dollars, at most six decimals."""
    unpriced_steps: int
    """Steps, turns of agents included, whose model has no price, so that `cost_usd` does not
    contain all of their cost.
    """
    cost_cap_usd: float | None
    duration_ms: int
    """Active time: without waits for decisions, times, events, callbacks, calls and slots."""
    waiting_ms: int
    """Time in which the run did nothing but wait, for a decision, a time, an event, a callback,
    a call or a slot.
    """
    created_by: str | None
    """The member who triggered it."""
    created_at: str
    """ISO 8601, UTC."""
    started_at: str | None
    finished_at: str | None
    resumed_count: int
    queued: Queued | None
    """For a run that waits because of a limit of its workflow: for what, and where in its queue."""
    input: dict[str, Any]
    state: dict[str, Any] | None
    output: Any
    """Output keys of the nodes without a successor; null until then."""
    children_cost_usd: float
    """The cost of the runs that it started, and of those that they started. It is not in
    `cost_usd`, but counts against `cost_cap_usd`.
    """
    steps: list[Step]
    """In the order of their starts. Of a run with more than 1000, the first so many: those
    outside of loops and maps, then those in them.
    """
    steps_next_cursor: str | None
    """The `cursor` of the other steps at `GET /api/runs/{id}/steps`; null if `steps` has all."""
    step_counts: list[StepCount] | None
    """If `steps` does not have all: how many each node has, without the turns and calls of
    agents.
    """
    checkpoints: list[Checkpoint]
    """Of the finished ones of `steps`."""
    pending_gate: PendingGate | None
    """The oldest open gate."""
    pending_gates: list[PendingGate]
    """Every gate that can be decided now, oldest first. A run with other active branches may
    have some, too.
    """
    event_id: str | None
    """For the trigger `event`: the event that started it, as long as that is kept."""
    waiting: list[Waiting]
    """The steps that wait for a time, an event or a callback, oldest first, at most 100. They do
    not pause the run.
    """
    evals: Evaluation | None
    temporal: ForkTemporal
    not_reused: list[NotReused]
    """Steps that were finished and are not reused at the start, because of another graph or
    input: of a fork, those before `from_step`. A rehearsal looks for their record when it
    reaches them.
    """


class Fork(_Fork, total=False):
    laid: dict[str, dict[str, Any]]
    """For a fork, and a run that was started from one: what was merged into the state, by the
    step before which it was.
    """
    graph: dict[str, Any]
    """For a run of a draft: its graph, as a workflow has it."""


class _ForkRunBody(TypedDict):
    from_step: str
    """The key of the step to execute first. The key of a turn or call of an agent with tools
    means that turn.
    """


class ForkRunBody(_ForkRunBody, total=False):
    state: dict[str, Any]
    """Laid over the state as that step begins: its templates and those that follow read it."""
    input: dict[str, Any]
    """The default is the input of that run."""
    version: int
    """The version to run; the default is that of the other run."""
    draft: bool
    """Runs the workflow's draft, and not a version."""
    mode: Literal["recorded"]
    """Rehearses the run: steps take their results from the record of the other run, and nothing
    has an effect.
    """
    allow: list[str]
    """These are executed where there is no record: `agent`, `workflow`, `custom:<name>`,
    `http_request:<METHOD>` or the name of a tool. By default only what computes.
    """
    failures: Literal["recorded", "execute"]
    """Whether a step that had failed fails again, or counts as one without a record. The default
    is `recorded`.
    """
    decisions: dict[str, ForkRunBodyDecisionsValue]
    """Decisions at gates, by step key or node id. They come before those of the record."""
    pins: bool
    """For mode `recorded`: nodes have the outputs that you have pinned, and not those of the
    record.
    """


class _ForkRunBodyDecisionsValue(TypedDict):
    approved: bool


class ForkRunBodyDecisionsValue(_ForkRunBodyDecisionsValue, total=False):
    input: dict[str, Any]


class ForkTemporal(TypedDict):
    workflow_id: str
    run_id: str | None
    url: str | None
    """The run's page in the Temporal UI; null where TEMPORAL_UI_URL is not set."""


class _Gate(TypedDict):
    run_id: str
    node_id: str
    kind: Literal["human_gate", "tool_call"]
    label: str
    step_key: str
    round: int
    """Counts how often the same step asked, from 1."""
    iteration: list[int]
    """Iterations of the enclosing loops and maps, outermost first."""
    title: str
    """What is decided, in one line. Without a template: the label, or the tool and its first
    arguments.
    """
    prompt: str
    status: Literal["open", "approved", "rejected", "cancelled"]
    """In its last round."""
    since: str
    """ISO 8601, UTC."""
    decision: Decision | None
    decider: Assignee | None
    """The member who decided it last; null for a deadline or an unknown key."""
    can_decide: bool
    """Whether the caller can decide it now."""
    assignee: Assignee | None
    """The member who is expected to decide; others who can decide it still can."""
    eligible_members: list[Assignee]
    """While it is open: the members who can decide it as it is now. One of them can be assigned."""
    refusal: str | None
    """Why its rules do not let the caller."""
    schema_problem: str | None
    """Why no input fits its `input_schema`: then it can only be rejected."""
    tool: GateTool | None
    """For an open tool call; null if the tool has changed since it was requested."""
    consequences: Consequences | None
    """While it is open: what each answer sets in motion, without the input of an approver; for a
    tool call, after that call. Null if it is not known.
    """
    digest: str | None
    """Of the gate and its consequences: a decision with it counts only for what was shown. Null
    for a caller without the capability approve_gates.
    """
    earlier: list[EarlierAsking]
    """When the same node asked before in this run, newest first: in an earlier iteration of its
    loops, or before a resume. At most 10.
    """


class Gate(_Gate, total=False):
    arguments: dict[str, Any] | None
    """For a tool call, as the model gave them; null for a caller without the capability
    approve_gates.
    """
    decided_arguments: dict[str, Any] | None
    """For a tool call that was approved with other arguments; null for a caller without the
    capability approve_gates.
    """
    recheck: GateRecheck
    """For a gate with `recheck`."""
    stale: StaleGate
    """The last recheck found other values than those that the gate shows. `accept_changes`
    approves it anyway.
    """


class GateApprovers(TypedDict, total=False):
    roles: list[Literal["admin", "editor", "viewer"]]
    members: list[str]
    """Ids of members."""


class _GateChanged(TypedDict):
    detail: str
    """The error message."""


class GateChanged(_GateChanged, total=False):
    """The state of the gate does not allow this."""

    current: GateChangedCurrent
    code: Literal["changed"]
    """A recheck has found other values: reject the gate, or send `accept_changes`."""
    stale: StaleGate


class GateChangedCurrent(TypedDict):
    """For the `digest` of something else than the gate shows now: what it shows, with the
    `input` of the decision.
    """

    digest: str
    consequences: Consequences


class _GateDecision(TypedDict):
    member_id: str | None
    """Null for a key without a member."""
    by: str | None
    """The name at that time, if known."""
    approved: bool
    at: str
    """ISO 8601, UTC."""
    reason: str | None


class GateDecision(_GateDecision, total=False):
    input: dict[str, Any]
    by_link: Literal[True]
    """With the link of an email."""
    by_slack: Literal[True]
    """In Slack."""
    accepted_changes: list[RecheckDifference]
    """With `accept_changes`: what had changed since the gate opened."""


class _GateRecheck(TypedDict):
    reads: list[GateRecheckRead]
    """The reads that an approval repeats, with what is compared."""
    not_repeated: list[GateRecheckNotRepeated]
    """Steps that the gate also depends on, and that are not repeated: agents, runs of workflows,
    and tools that can change something.
    """
    at: str | None
    """When the reads were repeated last."""


class GateRecheck(_GateRecheck, total=False):
    after_seconds: float


class GateRecheckNotRepeated(TypedDict):
    step_key: str
    kind: Literal["agent", "tool", "code", "workflow"]


class GateRecheckRead(TypedDict):
    step_key: str
    tool: str
    paths: list[list[str | int]]


class GateTool(TypedDict):
    schema: dict[str, Any]
    """JSON Schema of the arguments."""
    fixed: list[str]
    """Arguments that the workflow sets; an approver cannot change them."""


class GovernanceEvent(TypedDict):
    id: str
    """Twelve hex digits."""
    type: Literal["policy_denied", "tool_argument_blocked", "data_redacted", "budget_blocked", "model_fallback_blocked", "approval_override_granted", "approval_mismatch"]
    workspace_id: str
    workflow_id: str | None
    version: int | None
    """The version of the workflow in effect."""
    run_id: str | None
    node_id: str | None
    policy: Literal["tool_permission", "tool_argument", "dlp", "model_allowlist", "budget", "fallback", "approval"]
    actor_id: str | None
    """Who granted an override."""
    decision: Literal["blocked", "denied", "redacted", "granted"]
    reason: str
    """A readable explanation."""
    evidence: dict[str, Any]
    """Counts, ids, names of models, tools and rules; never the redacted text."""
    created_at: str
    """ISO 8601, UTC."""


class GrantedAuthorization(TypedDict):
    authorization: Authorization
    redirect_to: str
    """Where the browser takes the code."""


class Graph(TypedDict):
    """Nodes and edges as drawn."""

    nodes: list[Any]
    edges: list[Any]


GraphDiff = TypedDict(
    "GraphDiff",
    {
        "from": "int",
        "to": "int",
        "nodes": "GraphDiffNodes",
        "edges": "GraphDiffEdges",
        "input_schema": "GraphDiffInputSchema | None",
    },
)


class GraphDiffEdges(TypedDict):
    added: list[Any]
    removed: list[Any]
    changed: list[GraphDiffEdgesChanged]


class GraphDiffEdgesChanged(TypedDict):
    id: str
    paths: list[str]


GraphDiffInputSchema = TypedDict(
    "GraphDiffInputSchema",
    {
        "from": "dict[str, Any] | None",
        "to": "dict[str, Any] | None",
        "paths": "list[str]",
    },
)


class GraphDiffNodes(TypedDict):
    added: list[Any]
    removed: list[Any]
    changed: list[GraphDiffNodesChanged]


class GraphDiffNodesChanged(TypedDict):
    id: str
    paths: list[str]


class GraphDraft(TypedDict, total=False):
    """Nodes and edges as drawn, runnable or not."""

    nodes: list[Any]
    edges: list[Any]


class _GraphEdge(TypedDict):
    source: str
    target: str


class GraphEdge(_GraphEdge, total=False):
    id: str
    condition_value: Literal["true", "false", "error"]
    """The result of the source that this edge requires; by default, any. `error`: the source
    failed.
    """


class _GraphIssue(TypedDict):
    code: str
    message: str


class GraphIssue(_GraphIssue, total=False):
    node_id: str
    path: str
    """The path in the graph, such as `nodes[3].params.url`."""
    position: int
    """Offset in the text at `path`, from 0, in UTF-16 units."""


class GraphReport(TypedDict):
    valid: bool
    errors: list[GraphIssue]
    warnings: list[GraphIssue]


class Health(TypedDict):
    status: Literal["ok", "degraded"]
    version: str
    checks: HealthChecks


class HealthChecks(TypedDict):
    database: Literal["ok", "down"]
    temporal: Literal["ok", "down"]
    worker: Literal["ok", "down"]
    migrations: Literal["ok", "down"]


class HeldCapabilities(TypedDict):
    view: bool
    run_workflows: bool
    approve_gates: bool
    cancel_resume: bool
    create_edit_workflows: bool
    publish_workflows: bool
    delete_workflows: bool
    manage_members: bool
    manage_api_keys: bool
    manage_workspace: bool


class _HookAnswer(TypedDict):
    run_id: str
    status: Literal["pending", "duplicate"]
    """`duplicate`: the run that the event has already started."""


class HookAnswer(_HookAnswer, total=False):
    deduplicated: Literal[True]


class HookChallenge(TypedDict):
    challenge: str


class _HookEvent(TypedDict):
    event_id: str
    """The event, as in `GET /api/events/{id}`."""
    status: Literal["event", "duplicate"]
    """`duplicate`: the event that was stored before."""


class HookEvent(_HookEvent, total=False):
    deduplicated: Literal[True]


class _HumanGateNode(TypedDict):
    id: str
    """Letters and digits of any script, `_`, `-`, `.` and `:`; starts with a letter, a digit or
    `_`.
    """
    kind: Literal["human_gate"]


class HumanGateNode(_HumanGateNode, total=False):
    label: str
    """Its name for people."""
    position: NodePosition
    """Where the editor draws it."""
    retry: NodeRetry
    """How often a failed attempt is repeated."""
    timeout_seconds: float
    """How long it waits for a decision. Requires `on_timeout`."""
    prompt: str
    """A template of the question for the approver."""
    title: str
    """Reads the run's state, like the prompt. The default is the label."""
    input_schema: dict[str, Any]
    """JSON Schema of the approvers' input. The console shows it as a form."""
    approvers: GateApprovers
    """Who can decide; by default, every credential with the capability `approve_gates`."""
    required: int
    """How many different members must approve; the default is 1. A single rejection rejects."""
    not_the_starter: bool
    """Members who started the run, or one before it, cannot decide."""
    signed_in: bool
    """Only members with a session can decide, not a key, a link or Slack."""
    on_timeout: Literal["reject", "approve", "fail"]
    remind_seconds: float
    """The interval between reminders while it waits."""
    recheck: bool | HumanGateNodeRecheck
    """Whether an approval repeats the reads that the gate depends on; `after_seconds`: only
    those that are older.
    """
    covers: Literal["all"]
    """Every write that an answer sets in motion must be known when the gate is decided.
    Otherwise the graph is invalid.
    """


class HumanGateNodeRecheck(TypedDict, total=False):
    after_seconds: float


class Identity(TypedDict):
    id: str | None
    """The member; null for an unlinked key."""
    name: str | None
    email: str | None
    role: Literal["admin", "editor", "viewer"]
    workspace_id: str
    credential: Literal["none", "session", "api_key", "authorization"]
    capabilities: HeldCapabilities


class _ImportRefused(TypedDict):
    detail: str
    """The error message."""


class ImportRefused(_ImportRefused, total=False):
    """The body is invalid, or the tools cannot be listed."""

    needs_sign_in: NeededSignIn


class ImportToolsBody(TypedDict, total=False):
    server_url: str
    """An MCP server, whose tools are imported. Either this or `openapi`."""
    openapi: str | dict[str, Any]
    """An OpenAPI 3.0 or 3.1 or Swagger 2.0 document: its URL, its text (YAML or JSON), or the
    object itself. At most 20 MB.
    """
    headers: dict[str, str]
    """Sent with each call. Values are stored sealed and shown as `***`."""
    names: list[str]
    """Which tools of the MCP server to import; default: all, at most 200."""
    operations: list[str]
    """Which operations of the document to import, by `operationId` or as `GET /path`; default:
    the first 500.
    """
    server: str
    """Where the API is, instead of the document's first server; can be relative to the
    document's URL.
    """
    auth: ToolAuthInput
    prefix: str
    """What the names of the tools begin with here."""
    only_list: bool
    """Imports nothing: `listed` says what an import would do."""


class ImportedDocument(TypedDict):
    title: str
    version: str
    servers: list[str]
    """The first is used, unless `server` says another."""
    security_schemes: list[ImportedDocumentSecurityScheme]
    beyond_limit: int
    """How many operations are not listed, since there are too many."""


class _ImportedDocumentSecurityScheme(TypedDict):
    name: str
    type: str
    """`http`, `apiKey`, `oauth2` or another."""


_ImportedDocumentSecuritySchemeOptional = TypedDict(
    "_ImportedDocumentSecuritySchemeOptional",
    {
        "scheme": "str",
        "in": "Literal[\"query\", \"header\", \"cookie\"]",
        "parameter": "str",
    },
    total=False,
)


class ImportedDocumentSecurityScheme(_ImportedDocumentSecurityScheme, _ImportedDocumentSecuritySchemeOptional):
    pass


class ImportedTool(TypedDict):
    id: str
    name: str
    mcp_tool: str | None
    """Its name on the MCP server."""
    operation: str | None
    """Its operation in the API document: its id, or `GET /path`."""
    schema_digest: str


class InboundEvent(TypedDict):
    id: str
    workflow_id: str
    received_at: str
    """ISO 8601, UTC."""
    outcome: Literal["run", "event", "duplicate", "refused"]
    status: int
    """The status of the response."""
    reason: Literal["disabled", "wrong_secret", "timestamp_missing", "timestamp_expired", "signature_missing", "signature_mismatch", "invalid_body", "too_large", "rate_limited", "quota_exceeded", "budget_exceeded", "graph_invalid", "input_invalid", "id_reused", "too_many_events", "limit_reached", "unavailable", "internal"] | None
    """Why it was refused."""
    detail: str | None
    """The text of the refusal."""
    run_id: str | None
    """The run that it started; for a duplicate, the run that the first one started."""
    sent_event_id: str | None
    """The event of the workspace that it became; for a duplicate, the one that the first one
    became.
    """
    duplicate_of: str | None
    """For a duplicate: the first one, while its run or event exists."""
    event_id: str | None
    """The id that its sender gave it."""
    source: str
    """The sender's network: an IPv4 /24 or an IPv6 /48, not the whole address."""
    size: int | None
    """Bytes of the body; null: it was not read."""
    times: int
    """How many events the entry stands for: over the limit per minute, they are only counted."""
    replays: int
    """How many runs and events have replayed it."""
    headers: dict[str, str]
    """Those that say what it is; never signatures, cookies or credentials."""
    body: str | None
    """As it was received, up to 65536 bytes; null: it was not read."""
    body_truncated: bool
    replayed_by: list[InboundEventReplayedBy]
    """The newest 50 runs and events that have replayed it."""


class InboundEventList(TypedDict):
    events: list[ListedInboundEvent]
    next_cursor: str | None
    """Null on the last page."""


class InboundEventReplayedBy(TypedDict):
    run_id: str | None
    sent_event_id: str | None
    created_at: str
    """ISO 8601, UTC."""


class IngestAnswer(TypedDict):
    created: int
    updated: int
    unchanged: int
    refused: int
    """Refused records and events, which were not stored."""
    errors: list[IngestAnswerError]
    """The first 100."""
    events: IngestAnswerEvents


class IngestAnswerError(TypedDict):
    line: int
    """Counted from 1; in JSON the position in `records`."""
    reason: str


class IngestAnswerEvents(TypedDict):
    created: int
    updated: int
    unchanged: int


class IngestRecordsBody(TypedDict):
    feed_id: str
    records: list[IngestRecord]


class InstantiateTemplateBody(TypedDict, total=False):
    name: str
    """The template's name by default."""
    description: str


class IntelligenceEvent(TypedDict):
    id: str
    feed_id: str
    event_type: str
    occurred_at: str
    """ISO 8601, UTC."""
    detected_at: str
    """ISO 8601, UTC."""
    primary_entity_id: str
    summary: str
    relevance_score: float | None
    opportunity_score: float | None
    confidence: float
    verification_status: Literal["unverified", "machine_verified", "human_reviewed", "multi_source_verified"]
    match_reason: str | None
    source_evidence: list[SourceEvidence]
    """The sources of the record."""
    delivered_at: str | None
    """When a page of the list first contained it."""
    is_demo: bool


class IntelligenceEventList(TypedDict):
    events: list[IntelligenceEvent]
    next_cursor: str | None
    """Null on the last page."""


class InviteMemberBody(TypedDict):
    name: str
    email: str
    role: Literal["admin", "editor", "viewer"]


class JobProgress(TypedDict):
    done: int
    total: int | None
    """Null until it is counted."""


class JsonRpcError(TypedDict):
    jsonrpc: Literal["2.0"]
    id: str | float | None
    """Null where the request could not be read."""
    error: JsonRpcErrorDetail


class _JsonRpcErrorDetail(TypedDict):
    code: int
    """The codes of JSON-RPC 2.0 and the protocol."""
    message: str


class JsonRpcErrorDetail(_JsonRpcErrorDetail, total=False):
    data: Any


class JsonRpcResult(TypedDict):
    jsonrpc: Literal["2.0"]
    id: str | int
    result: dict[str, Any]


class _LimitCheck(TypedDict):
    name: str
    type: Literal["max_cost_usd", "max_duration_ms"]
    value: float


class LimitCheck(_LimitCheck, total=False):
    target: str
    case_sensitive: bool


class Limits(TypedDict):
    concurrency: ConcurrencyLimit | None
    rate: RateLimit | None
    debounce: Debounce | None
    priority: str | None
    """An expression over the input of a run: a number from -100 to 100, to which others are set.
    Of the runs that wait with the same key, the one with the highest starts first. By default 0.
    """
    cancel_on: list[CancelEvent]
    """Events that cancel open runs: those that were created before the event, and for which
    `match` is true. A run keeps those of its trigger.
    """


class LinkDecision(TypedDict):
    status: Literal["decided", "open", "already_decided"]
    """`decided`: the gate is decided. `open`: the decision counts, and the gate needs further
    approvals. `already_decided`: the member made this decision before.
    """
    decision: Literal["approve", "reject"]


class ListWaitsResponse(TypedDict):
    waits: list[OpenWait]
    next_cursor: str | None
    """Null on the last page."""


class ListWorkspaceEventsResponse(TypedDict):
    events: list[Event]
    next_cursor: str | None
    """Null on the last page."""


class ListedBacktest(TypedDict):
    id: str
    status: Literal["running", "done", "cancelled", "failed"]
    progress: JobProgress
    error: str | None
    """Why it failed."""
    created_by: str | None
    created_by_name: str | None
    created_at: str
    """ISO 8601, UTC."""
    finished_at: str | None
    since: str
    """ISO 8601, UTC."""
    workflow_id: str | None
    summary: BacktestSummary


class ListedExperiment(TypedDict):
    id: str
    status: Literal["running", "done", "cancelled", "failed"]
    progress: JobProgress
    error: str | None
    """Why it failed."""
    created_by: str | None
    created_by_name: str | None
    created_at: str
    """ISO 8601, UTC."""
    finished_at: str | None
    workflow_id: str
    candidate: Literal["draft"] | ListedExperimentCandidate
    allow: list[str]
    budget_usd: float | None
    spent_usd: float
    """What its rehearsals have spent."""
    summary: ExperimentSummary


class ListedExperimentCandidate(TypedDict):
    version: int


class ListedInboundEvent(TypedDict):
    id: str
    workflow_id: str
    received_at: str
    """ISO 8601, UTC."""
    outcome: Literal["run", "event", "duplicate", "refused"]
    status: int
    """The status of the response."""
    reason: Literal["disabled", "wrong_secret", "timestamp_missing", "timestamp_expired", "signature_missing", "signature_mismatch", "invalid_body", "too_large", "rate_limited", "quota_exceeded", "budget_exceeded", "graph_invalid", "input_invalid", "id_reused", "too_many_events", "limit_reached", "unavailable", "internal"] | None
    """Why it was refused."""
    detail: str | None
    """The text of the refusal."""
    run_id: str | None
    """The run that it started; for a duplicate, the run that the first one started."""
    sent_event_id: str | None
    """The event of the workspace that it became; for a duplicate, the one that the first one
    became.
    """
    duplicate_of: str | None
    """For a duplicate: the first one, while its run or event exists."""
    event_id: str | None
    """The id that its sender gave it."""
    source: str
    """The sender's network: an IPv4 /24 or an IPv6 /48, not the whole address."""
    size: int | None
    """Bytes of the body; null: it was not read."""
    times: int
    """How many events the entry stands for: over the limit per minute, they are only counted."""
    replays: int
    """How many runs and events have replayed it."""


class ListedLimits(TypedDict):
    concurrency: ConcurrencyLimit | None
    rate: RateLimit | None
    debounce: Debounce | None
    priority: str | None
    """An expression over the input of a run: a number from -100 to 100, to which others are set.
    Of the runs that wait with the same key, the one with the highest starts first. By default 0.
    """
    cancel_on: list[CancelEvent]
    """Events that cancel open runs: those that were created before the event, and for which
    `match` is true. A run keeps those of its trigger.
    """
    etag: str
    """Changes with each edit. The header `ETag` has it in double quotes; send that as `If-Match`
    to change only this state.
    """


class ListedRun(TypedDict):
    id: str
    run_id: str
    """The same as `id`."""
    workspace_id: str
    workflow_id: str
    workflow_name: str
    workflow_version: int
    """The version pinned when the run was triggered."""
    status: Literal["pending", "running", "paused", "success", "failed"]
    trigger: Literal["manual", "webhook", "mcp", "schedule", "workflow", "event"]
    parent_run_id: str | None
    """For the trigger `workflow`: the run that started it, unless it was deleted."""
    parent_step_key: str | None
    """The step that started it."""
    forked_from: str | None
    """The run that it was started from again, unless that was deleted."""
    forked_from_step: str | None
    """For a fork: the step from which it is executed. What that run had finished before is
    reused.
    """
    of_draft: bool
    """It runs a draft, and not the graph of `workflow_version`."""
    mode: Literal["recorded"] | None
    """For a rehearsal: its steps take their results from the record of the run in `forked_from`,
    and nothing has an effect.
    """
    inbound_event_id: str | None
    """The event of the webhook that started it, or that it replays."""
    error: str | None
    failure: RunFailure | None
    resumable: bool
    cost_usd: float
    """US dollars, at most six decimals."""
    unpriced_steps: int
    """Steps, turns of agents included, whose model has no price, so that `cost_usd` does not
    contain all of their cost.
    """
    cost_cap_usd: float | None
    duration_ms: int
    """Active time: without waits for decisions, times, events, callbacks, calls and slots."""
    waiting_ms: int
    """Time in which the run did nothing but wait, for a decision, a time, an event, a callback,
    a call or a slot.
    """
    created_by: str | None
    """The member who triggered it."""
    created_at: str
    """ISO 8601, UTC."""
    started_at: str | None
    finished_at: str | None
    resumed_count: int
    queued: Queued | None
    """For a run that waits because of a limit of its workflow: for what, and where in its queue."""
    input_excerpt: str | None
    """The beginning of the input in one line, for people: `order: A-1042, amount: 240`. Null if
    it is empty or large.
    """


class _ListedTool(TypedDict):
    mcp_tool: str | None
    """Its name on the MCP server."""
    operation: str | None
    """Its operation in the API document: its id, or `GET /path`."""
    endpoint: str | None
    """What the operation calls, such as `GET /orders/{id}`."""
    name: str
    """Its name here; empty if it cannot have one."""
    description: str
    input_schema: dict[str, Any] | None
    """Null also for later operations of a long list."""
    state: Literal["new", "changed", "unchanged", "skipped"]
    """What an import would do with it. `changed`: imported earlier, described otherwise now."""


class ListedTool(_ListedTool, total=False):
    reason: str
    """Why it would be skipped."""


class _ListedWorkflow(TypedDict):
    id: str
    workspace_id: str
    name: str
    description: str
    status: Literal["draft", "published"]
    version: int
    graph: Graph
    input_schema: dict[str, Any] | None
    """JSON Schema, draft 2020-12 or 7, that the input of every run must fit; null accepts any
    object. Patterns are RE2; `format` is not checked; external references are not loaded. At
    most 65,536 characters and 40 levels.
    """
    checks: list[Any]
    run_cap_usd: float | None
    """The cost limit of one run."""
    overrun: Literal["none", "one_step"]
    """`none`: a request begins only if all that it may cost fits, beside the requests in
    progress. `one_step`: a request begins while something is left, so that the limit is exceeded
    by less than one step.
    """
    requires_experiment: bool
    """It is published only after an experiment of exactly this graph and input schema that lost
    no check and failed no run.
    """
    stats: RunStats
    created_by: str | None
    created_at: str
    """ISO 8601, UTC."""
    updated_at: str
    """ISO 8601, UTC."""
    has_draft: bool
    """It has a draft, at `.../draft`."""
    etag: str
    """Changes with each edit. The header `ETag` has it in double quotes; send that as `If-Match`
    to change only this state.
    """


class ListedWorkflow(_ListedWorkflow, total=False):
    limits: ListedLimits
    """Only with `include=limits`. The `etag` is that of `.../limits`."""


class LoginBody(TypedDict):
    email: str
    password: str


class _LoopNode(TypedDict):
    id: str
    """Letters and digits of any script, `_`, `-`, `.` and `:`; starts with a letter, a digit or
    `_`.
    """
    kind: Literal["loop"]
    expression: str


class LoopNode(_LoopNode, total=False):
    label: str
    """Its name for people."""
    position: NodePosition
    """Where the editor draws it."""
    retry: NodeRetry
    """How often a failed attempt is repeated."""
    timeout_seconds: float
    """The deadline of one attempt."""
    max_iterations: int


class ManagedFeed(TypedDict):
    id: str
    name: str
    description: str
    status: Literal["active", "paused", "degraded", "archived"]
    freshness: FeedFreshness
    entity_types: list[str]
    schema: dict[str, Any]
    geography: dict[str, Any]
    is_demo: bool
    created_at: str
    """ISO 8601, UTC."""
    updated_at: str
    """ISO 8601, UTC."""
    etag: str
    """Changes with each edit. The header `ETag` has it in double quotes; send that as `If-Match`
    to change only this state.
    """


class ManagedFeedDetail(TypedDict):
    id: str
    name: str
    description: str
    status: Literal["active", "paused", "degraded", "archived"]
    freshness: FeedFreshness
    entity_types: list[str]
    schema: dict[str, Any]
    geography: dict[str, Any]
    is_demo: bool
    created_at: str
    """ISO 8601, UTC."""
    updated_at: str
    """ISO 8601, UTC."""
    specification: dict[str, Any]
    etag: str
    """Changes with each edit. The header `ETag` has it in double quotes; send that as `If-Match`
    to change only this state.
    """


class ManagedFeedDetailChanged(TypedDict):
    """It is not as `If-Match` says."""

    detail: str
    """The error message."""
    current: ManagedFeedDetail | None
    """As it is now; null when it is gone."""


class _MapNode(TypedDict):
    id: str
    """Letters and digits of any script, `_`, `-`, `.` and `:`; starts with a letter, a digit or
    `_`.
    """
    kind: Literal["map"]
    items: str
    """An expression that returns a list of at most 10,000 items. Its `'true'` edges lead to the
    body, which runs once per item.
    """


class MapNode(_MapNode, total=False):
    label: str
    """Its name for people."""
    position: NodePosition
    """Where the editor draws it."""
    retry: NodeRetry
    """How often a failed attempt is repeated."""
    timeout_seconds: float
    """The deadline of one attempt."""
    concurrency: int
    """How many items are in progress concurrently."""
    on_item_error: Literal["fail", "collect"]
    """`fail`: a failed item fails the node. `collect`: its entry in the output is `{error}`."""
    output_key: str
    """State key of the list of outputs; the default is the node's id."""


class _McpBody(TypedDict):
    jsonrpc: Literal["2.0"]
    method: str


class McpBody(_McpBody, total=False):
    """One message. Versions of the protocol before 2025-06-18 also accept a list of them, and
    get a list of responses.
    """

    id: str | int
    """Identifies the request in its response; a notification has none."""
    params: dict[str, Any]


class Member(TypedDict):
    id: str
    name: str
    email: str
    role: Literal["admin", "editor", "viewer"]
    status: Literal["active", "invited", "pending"]
    is_owner: bool
    """The actor of requests without credentials, if any."""
    invite_code: str | None
    """Only while invited and not expired, and only shown to members who can grant its
    permissions. Null as well where the service has no `ENCRYPTION_KEY`: then only the response
    that created the code has it.
    """
    invite_expires_at: str | None
    """When an invitation expires; it may be in the past."""
    created_at: str
    """ISO 8601, UTC."""
    etag: str
    """Changes with each edit. The header `ETag` has it in double quotes; send that as `If-Match`
    to change only this state.
    """


class MemberDetail(TypedDict):
    id: str
    name: str
    email: str
    role: Literal["admin", "editor", "viewer"]
    status: Literal["active", "invited", "pending"]
    is_owner: bool
    """The actor of requests without credentials, if any."""
    invite_code: str | None
    """Only while invited and not expired, and only shown to members who can grant its
    permissions. Null as well where the service has no `ENCRYPTION_KEY`: then only the response
    that created the code has it.
    """
    invite_expires_at: str | None
    """When an invitation expires; it may be in the past."""
    created_at: str
    """ISO 8601, UTC."""
    etag: str
    """Changes with each edit. The header `ETag` has it in double quotes; send that as `If-Match`
    to change only this state.
    """
    capabilities: CapabilitySettings
    api_key_count: int
    """Keys of the member that are not revoked."""


class MemberDetailChanged(TypedDict):
    """It is not as `If-Match` says."""

    detail: str
    """The error message."""
    current: MemberDetail | None
    """As it is now; null when it is gone."""


class MemberStats(TypedDict):
    member_id: str
    runs_triggered: int
    approvals: int
    rejections: int
    workflows_created: int
    total_cost_usd: float
    """For the runs that the member triggered."""
    activity: list[MemberStatsActivity]
    """Audited actions per UTC day, the last 30, oldest first."""
    recent_actions: list[AuditEntry]
    """The 15 newest, newest first."""


class MemberStatsActivity(TypedDict):
    date: str
    count: int


class _MergeNode(TypedDict):
    id: str
    """Letters and digits of any script, `_`, `-`, `.` and `:`; starts with a letter, a digit or
    `_`.
    """
    kind: Literal["merge"]


class MergeNode(_MergeNode, total=False):
    label: str
    """Its name for people."""
    position: NodePosition
    """Where the editor draws it."""
    retry: NodeRetry
    """How often a failed attempt is repeated."""
    timeout_seconds: float
    """The deadline of one attempt."""


class MessageCall(TypedDict):
    index: int
    """Its number in the turn, from 1."""
    step_key: str | None
    """The step of the call; null for a refused call, which has none."""
    tool: str
    arguments: dict[str, Any] | str | None
    """As the model gave them; text when they are not a JSON object. Null for a call that needs
    approval, for a caller without the capability approve_gates.
    """
    refusal: str | None
    """Why the call was not made."""


class MessageList(TypedDict):
    messages: list[Message]


class MetricsOverview(TypedDict):
    total_runs: int
    """All runs, including deleted ones."""
    success_rate: float
    """Percent of the finished runs, one decimal; 0 when none has finished."""
    total_cost_usd: float
    """US dollars, at most six decimals."""
    active_workflows: int
    """Published workflows."""
    runs_by_day: list[MetricsOverviewRunsByDay]
    """The last 14 days, UTC, including today, oldest first."""
    eval_pass_rate: float | None
    """Percent of the checks that passed, one decimal; null when none has run."""
    evaluated_runs: int
    """Runs that were scored by at least one check."""


class MetricsOverviewRunsByDay(TypedDict):
    date: str
    count: int
    cost_usd: float
    """US dollars, at most six decimals."""


class MockModel(TypedDict, total=False):
    output: Any
    cost_usd: float
    delay_ms: int
    fail_times: int
    turns: list[MockTurn]
    """For an agent with tools: the model's turns, in order. After the last one, the mock
    answers.
    """


class MockTurn(TypedDict, total=False):
    calls: list[MockTurnCall]
    output: Any
    cost_usd: float


class _MockTurnCall(TypedDict):
    tool: str
    """The tool's own name, such as `custom:refund`."""


class MockTurnCall(_MockTurnCall, total=False):
    arguments: dict[str, Any]
    """Strings in it are templates over the run's state."""


class NamedChange(TypedDict):
    id: str
    feed_id: str
    entity_id: str
    entity_type: str
    attribute: str
    old_value: Any
    new_value: Any
    version: int
    """Of the record, after this change."""
    changed_at: str
    """ISO 8601, UTC."""
    source_id: str | None
    entity_name: str | None
    """The record's current name."""


class NeededSignIn(TypedDict):
    resource: str
    """The server's URL, which tokens are for."""
    issuer: str | None
    """The authorization server; null if the connection names none."""
    scopes: list[str]
    """What the server asks for."""
    connection: NeededSignInConnection | None
    """The connection to sign in to; null if there is none for this server."""
    url: str
    """The page of the console where a person creates the connection, or signs in."""


class NeededSignInConnection(TypedDict):
    id: str
    name: str


class NewDataEndpoint(TypedDict):
    id: str
    url: str
    events: list[Literal["entity.created", "entity.updated", "intelligence_event.created", "intelligence_event.verified", "feed.status_changed", "source.failed", "source.recovered", "usage.threshold_reached", "export.completed", "ping", "run.completed", "run.failed", "run.paused", "approval.requested"]]
    status: Literal["active", "failing"]
    """`failing` after 5 failed attempts in a row, until one succeeds."""
    consecutive_failures: int
    """Failed attempts since the last success."""
    last_delivery_at: str | None
    """When the last attempt succeeded; when the events of a listener were last read."""
    created_at: str
    """ISO 8601, UTC."""
    is_demo: bool
    etag: str
    """Changes with each edit. The header `ETag` has it in double quotes; send that as `If-Match`
    to change only this state.
    """
    secret: str
    """The key of the signatures. Shown only this once."""


class NodePosition(TypedDict):
    x: float
    y: float


class NodeRetry(TypedDict, total=False):
    max_attempts: int
    initial_interval_seconds: float
    backoff: float


class NodeTest(TypedDict):
    run_id: str
    """The rehearsal that has executed the node."""
    status: Literal["pending", "running", "paused", "success", "failed"]
    """`pending` or `running`: read the run later."""
    step: Step | None
    """The step with its input, and its output or error; null before it."""
    error: str | None


class NotReused(TypedDict):
    step_key: str
    node_id: str
    reason: str


class OpenDecideLinkBody(TypedDict):
    token: str
    """The part of the link after `#`."""


OpenWait = TypedDict(
    "OpenWait",
    {
        "node_id": "str",
        "step_key": "str",
        "label": "str",
        "for": "Literal[\"time\", \"event\", \"callback\", \"limit\", \"connection\"]",
        "events": "list[str]",
        "since": "str",
        "until": "str | None",
        "limit": "OpenWaitLimit | None",
        "connection": "OpenWaitConnection | None",
        "run_id": "str",
        "workflow_id": "str",
        "workflow_name": "str",
    },
)


class OpenWaitConnection(TypedDict):
    id: str
    name: str
    reason: Literal["not_signed_in", "needs_sign_in"]
    member_id: str
    """The member whose account the step uses."""
    member_name: str
    page: str
    """Where this member signs in: a path of the console."""


class OpenWaitLimit(TypedDict):
    name: str
    """The tool or the model."""
    key: str | None
    """The value of the `key` of the limit, redacted by the policies."""
    concurrency: int | None
    per_minute: int | None


class OpenedLink(TypedDict):
    member: OpenedLinkMember
    workspace: OpenedLinkWorkspace
    workflow: OpenedLinkWorkflow
    run_id: str
    expires_at: str
    """When the link ends, if the gate is still open."""
    changed: bool
    """What the gate sets in motion has changed since the email was sent."""
    gate: OpenedLinkGate
    approvals: int
    """How many members have approved so far."""
    tool: OpenedLinkTool | None
    """For an open tool call; null if the tool has changed since it was requested."""
    schema_problem: str | None
    """Why no input fits its `input_schema`: then it can only be rejected."""
    consequences: Consequences | None
    digest: str | None


class _OpenedLinkGate(TypedDict):
    kind: Literal["human_gate", "tool_call"]
    node_id: str
    step_key: str
    label: str
    title: str
    """What is decided, in one line. Without a template: the label, or the tool and its first
    arguments.
    """
    prompt: str
    since: str
    """ISO 8601, UTC."""


class OpenedLinkGate(_OpenedLinkGate, total=False):
    input_schema: dict[str, Any]
    """JSON Schema of the `input` that an approval needs."""
    required: int
    """How many different members must approve; 1 without it."""
    not_the_starter: bool
    """True: the members who started the run, or one from which it starts, cannot decide."""
    signed_in: bool
    """True: only members who have signed in can decide, not with an API key or a link."""
    act_as: Literal["approver"]
    """`approver`: the step uses the account of the member who approves it last, of the
    connections that members own.
    """
    expires_at: str
    """When `on_timeout` happens."""
    on_timeout: Literal["reject", "approve", "fail"]
    recheck: GateRecheck
    """For a gate with `recheck`."""
    stale: StaleGate
    """The last recheck found other values than those that the gate shows. `accept_changes`
    approves it anyway.
    """
    tool_call: PendingToolCall
    """For kind `tool_call`."""


class OpenedLinkMember(TypedDict):
    """Who decides with this link."""

    name: str


class OpenedLinkTool(TypedDict):
    schema: dict[str, Any]
    """JSON Schema of the arguments."""
    fixed: list[str]
    """Arguments that the workflow sets; an approver cannot change them."""


class OpenedLinkWorkflow(TypedDict):
    name: str


class OpenedLinkWorkspace(TypedDict):
    name: str


class OutputDiff(TypedDict):
    differences: list[OutputDifference]
    more: bool
    """There are more."""


class _OutputDifference(TypedDict):
    path: str
    change: Literal["added", "removed", "changed"]


_OutputDifferenceOptional = TypedDict(
    "_OutputDifferenceOptional",
    {
        "from": "Any",
        "to": "Any",
    },
    total=False,
)


class OutputDifference(_OutputDifference, _OutputDifferenceOptional):
    """A long value is shown as the beginning of its JSON, with `…`."""


class _OverrideBudgetBody(TypedDict):
    approved: Literal[True]


class OverrideBudgetBody(_OverrideBudgetBody, total=False):
    cap_usd: float
    """What the run may cost in total. Without it there is no cap."""
    reason: str


class OwnSlackAccount(TypedDict):
    confirmed: OwnSlackAccountConfirmed | None
    """The account that decides as you in Slack; null if there is none."""
    asked: OwnSlackAccountAsked | None
    """Another account that has your email, and wanted to decide as you in the last 24 hours."""


class OwnSlackAccountAsked(TypedDict):
    team_id: str
    """The team of Slack."""
    user_id: str
    """The user in that team."""
    name: str
    """The user's name in Slack at that moment."""
    asked_at: str
    """ISO 8601, UTC."""


class OwnSlackAccountConfirmed(TypedDict):
    team_id: str
    """The team of Slack."""
    user_id: str
    """The user in that team."""
    name: str
    """The user's name in Slack at that moment."""
    confirmed_at: str
    """ISO 8601, UTC."""


class _PendingGate(TypedDict):
    kind: Literal["human_gate", "tool_call"]
    node_id: str
    step_key: str
    label: str
    title: str
    """What is decided, in one line. Without a template: the label, or the tool and its first
    arguments.
    """
    prompt: str
    since: str
    """ISO 8601, UTC."""


class PendingGate(_PendingGate, total=False):
    input_schema: dict[str, Any]
    """JSON Schema of the `input` that an approval needs."""
    approvers: PendingGateApprovers
    required: int
    """How many different members must approve; 1 without it."""
    not_the_starter: bool
    """True: the members who started the run, or one from which it starts, cannot decide."""
    signed_in: bool
    """True: only members who have signed in can decide, not with an API key or a link."""
    act_as: Literal["approver"]
    """`approver`: the step uses the account of the member who approves it last, of the
    connections that members own.
    """
    deciders: int
    """How many members can still decide it, as they are now; 0 if the run has to be cancelled,
    or a permission granted.
    """
    admins_stand_in: Literal[True]
    """Fewer `approvers` are left than approvals are missing, so admins can decide, too;
    `not_the_starter` and `required` still hold.
    """
    expires_at: str
    """When `on_timeout` happens."""
    on_timeout: Literal["reject", "approve", "fail"]
    decisions: list[GateDecision]
    """The approvals so far, oldest first."""
    recheck: GateRecheck
    """For a gate with `recheck`."""
    stale: StaleGate
    """The last recheck found other values than those that the gate shows. `accept_changes`
    approves it anyway.
    """
    assignee: Assignee
    """The member who is expected to decide; others who can decide it still can."""
    tool_call: PendingToolCall
    """For kind `tool_call`."""


class PendingGateApprovers(TypedDict, total=False):
    """Only they can decide."""

    roles: list[Literal["admin", "editor", "viewer"]]
    members: list[PendingGateApproversMember]
    """The name is null for a member who was removed."""


class PendingGateApproversMember(TypedDict):
    id: str
    name: str | None


class PendingToolCall(TypedDict):
    tool: str
    turn: int | None
    """Null for the step of a node."""
    arguments: dict[str, Any] | None
    """As they will be sent; null for a caller without the capability approve_gates."""
    schema_digest: str
    tool_digest: str | None
    """Of what the call reaches: address, method, headers and revision of a custom tool, or the
    version of a workflow; null for a built-in tool.
    """
    digest: str


class _Pin(TypedDict):
    node_id: str
    run_id: str
    """The run that had this output; it may be removed."""
    step_key: str
    bytes: int
    """Of the output."""
    edited: bool
    """Whether the request that pinned it gave the output."""
    pinned_at: str
    """ISO 8601, UTC."""


class Pin(_Pin, total=False):
    output: Any
    """Only in the list of one `node_id`."""


class PinList(TypedDict):
    pins: list[Pin]


class Policies(TypedDict):
    model_allowlist: list[str] | None
    """Models that agents can use; null: all."""
    tools: list[ToolPolicy]
    redaction: Redaction
    limits: list[CallLimit]
    """Calls of tools and models beyond a limit wait until one is free."""


class PoliciesChanged(TypedDict):
    """It is not as `If-Match` says."""

    detail: str
    """The error message."""
    current: Policies | None
    """As it is now; null when it is gone."""


class PolicyVerdict(TypedDict):
    type: Literal["policy_denied", "tool_argument_blocked", "data_redacted", "budget_blocked", "model_fallback_blocked", "approval_override_granted", "approval_mismatch"]
    policy: Literal["tool_permission", "tool_argument", "dlp", "model_allowlist", "budget", "fallback", "approval"]
    decision: Literal["blocked", "denied", "redacted", "granted"]
    reason: str
    """A readable explanation."""
    evidence: dict[str, Any]
    """Counts, ids, names of models, tools and rules; never the redacted text."""


class PreviewAuthorizationBody(TypedDict):
    request: AuthorizationParameters


class _Price(TypedDict):
    model: str
    """`provider/model`."""
    input_usd_per_million: float
    output_usd_per_million: float


class Price(_Price, total=False):
    cached_input_usd_per_million: float
    """Of input that the provider reads from its cache; by default that of other input."""


class PriceList(TypedDict):
    prices: list[Price]


class PriceListChanged(TypedDict):
    """It is not as `If-Match` says."""

    detail: str
    """The error message."""
    current: PriceList | None
    """As it is now; null when it is gone."""


class PublishWorkflowBody(TypedDict, total=False):
    from_draft: Literal[True]
    """Makes the draft the current version; without it the current version is published."""
    note: str
    """What the version changes; only with `from_draft`."""


class _PutSecretBody(TypedDict):
    value: str
    """Stored sealed. No response contains it."""
    allowed_hosts: list[str]


class PutSecretBody(_PutSecretBody, total=False):
    description: str


Queued = TypedDict(
    "Queued",
    {
        "for": "Literal[\"concurrency\", \"rate\", \"debounce\"]",
        "key": "str",
        "position": "int",
        "until": "str | None",
        "length": "int",
    },
)


class RateLimit(TypedDict):
    limit: int
    """How many runs with the same key start within any `per_seconds`. Further ones wait."""
    per_seconds: int
    key: str | None
    """A template over the input of a run, such as `{customer}`: each value has a limit of its
    own. By default, all runs of the workflow share one.
    """


class _RateLimitInput(TypedDict):
    limit: int
    """How many runs with the same key start within any `per_seconds`. Further ones wait."""
    per_seconds: int


class RateLimitInput(_RateLimitInput, total=False):
    key: str | None
    """A template over the input of a run, such as `{customer}`: each value has a limit of its
    own. By default, all runs of the workflow share one.
    """


class _RecheckDifference(TypedDict):
    step_key: str
    tool: str
    path: list[str | int]
    """Keys and indexes within the output of the step; empty for the whole output."""
    before: Any
    """As it was read. A value of more than 1,000 characters is a text with its start. Null for a
    caller without the capability approve_gates.
    """
    now: Any
    """As it is now, like `before`."""
    run_id: str | None
    """The rehearsal that repeated the read."""


class RecheckDifference(_RecheckDifference, total=False):
    problem: str
    """Why the read could not be repeated: then both values are null."""


class RecordGeography(TypedDict, total=False):
    city: str | None
    region: str | None
    country: str | None
    postal_code: str | None


class Redaction(TypedDict):
    detectors: list[Literal["email", "phone", "credit_card", "ssn", "iban", "ip", "api_key"]]
    patterns: list[RedactionPattern]


class RedactionInput(TypedDict, total=False):
    detectors: list[Literal["email", "phone", "credit_card", "ssn", "iban", "ip", "api_key"]]
    patterns: list[RedactionPattern]


class RedactionPattern(TypedDict):
    name: str
    regex: str
    """RE2, matched anywhere in the text."""


class RedeliverWebhookDeadLettersBody(TypedDict, total=False):
    since: str
    """Deliveries of events since then; all without it."""
    until: str
    """Deliveries of events before then."""
    status: Literal["dead", "all"]
    """`dead`: those that have failed. `all`: delivered ones, too."""


class Redelivered(TypedDict):
    redelivered: int
    left: int
    """Deliveries beyond the limit of pending ones; call again later."""


class RefreshToolBody(TypedDict, total=False):
    openapi: str | dict[str, Any]
    """The current document, for a tool whose document was not imported by its URL."""
    accept: str
    """Accepts the change with this `digest`, which an earlier refresh has shown. Nothing is
    read.
    """


class ReplayInboundEventBody(TypedDict, total=False):
    deduplicate: bool
    """Start no run for an event whose id has started one within the window of the webhook, or
    send no event whose id was sent. By default each replay starts a run or sends an event.
    """
    allow_unverified: bool
    """Replay events whose signature was missing, wrong or too old: anyone can have sent them."""


class _ReplayInboundEventsBody(TypedDict):
    since: str
    """Received at or after."""


class ReplayInboundEventsBody(_ReplayInboundEventsBody, total=False):
    until: str
    """Received before; by default until now."""
    outcome: Literal["refused", "all"]
    """`refused`: those that were refused and not replayed since. `all`: runs, events and
    duplicates, too.
    """
    limit: int
    """At most so many, the oldest first."""
    deduplicate: bool
    """Start no run for an event whose id has started one within the window of the webhook, or
    send no event whose id was sent. By default each replay starts a run or sends an event.
    """
    allow_unverified: bool
    """Replay events whose signature was missing, wrong or too old: anyone can have sent them."""


class _ReportSourceBody(TypedDict):
    ok: bool


class ReportSourceBody(_ReportSourceBody, total=False):
    error: str | None
    """Why it failed."""
    checked_at: str
    """Default: now."""


class RequestMapping(TypedDict):
    server: str
    """What the path is appended to."""
    path: str
    """As in the document, with `{name}` for parameters."""
    parameters: list[RequestMappingParameter]
    body: BodyOfArgument | BodyOfFields | None
    operation: str
    """The `operationId`, or the method and the path: `GET /pets`."""
    own_server: bool
    """Whether the document gives this operation a server of another origin than its own, so that
    no credential is sent.
    """


_RequestMappingParameter = TypedDict(
    "_RequestMappingParameter",
    {
        "argument": "str",
        "name": "str",
        "in": "Literal[\"path\", \"query\", \"header\", \"cookie\"]",
        "style": "Literal[\"simple\", \"label\", \"matrix\", \"form\", \"spaceDelimited\", \"pipeDelimited\", \"deepObject\"]",
        "explode": "bool",
    },
)


class RequestMappingParameter(_RequestMappingParameter, total=False):
    allow_reserved: Literal[True]
    content_type: str


class RerunRunBody(TypedDict, total=False):
    input: dict[str, Any]
    """The default is the input of that run."""
    version: int
    """The version to run; the default is that of the other run."""
    draft: bool
    """Runs the workflow's draft, and not a version."""
    mode: Literal["recorded"]
    """Rehearses the run: steps take their results from the record of the other run, and nothing
    has an effect.
    """
    allow: list[str]
    """These are executed where there is no record: `agent`, `workflow`, `custom:<name>`,
    `http_request:<METHOD>` or the name of a tool. By default only what computes.
    """
    failures: Literal["recorded", "execute"]
    """Whether a step that had failed fails again, or counts as one without a record. The default
    is `recorded`.
    """
    decisions: dict[str, RerunRunBodyDecisionsValue]
    """Decisions at gates, by step key or node id. They come before those of the record."""
    pins: bool
    """For mode `recorded`: nodes have the outputs that you have pinned, and not those of the
    record.
    """


class _RerunRunBodyDecisionsValue(TypedDict):
    approved: bool


class RerunRunBodyDecisionsValue(_RerunRunBodyDecisionsValue, total=False):
    input: dict[str, Any]


class RotatedSecret(TypedDict):
    secret: str
    """The key of the signatures. Shown only this once."""
    previous_secret_until: str
    """Until then every delivery is also signed with the previous secret."""


class _Run(TypedDict):
    id: str
    run_id: str
    """The same as `id`."""
    workspace_id: str
    workflow_id: str
    workflow_name: str
    workflow_version: int
    """The version pinned when the run was triggered."""
    status: Literal["pending", "running", "paused", "success", "failed"]
    trigger: Literal["manual", "webhook", "mcp", "schedule", "workflow", "event"]
    parent_run_id: str | None
    """For the trigger `workflow`: the run that started it, unless it was deleted."""
    parent_step_key: str | None
    """The step that started it."""
    forked_from: str | None
    """The run that it was started from again, unless that was deleted."""
    forked_from_step: str | None
    """For a fork: the step from which it is executed. What that run had finished before is
    reused.
    """
    of_draft: bool
    """It runs a draft, and not the graph of `workflow_version`."""
    mode: Literal["recorded"] | None
    """For a rehearsal: its steps take their results from the record of the run in `forked_from`,
    and nothing has an effect.
    """
    inbound_event_id: str | None
    """The event of the webhook that started it, or that it replays."""
    error: str | None
    failure: RunFailure | None
    resumable: bool
    cost_usd: float
    """US dollars, at most six decimals."""
    unpriced_steps: int
    """Steps, turns of agents included, whose model has no price, so that `cost_usd` does not
    contain all of their cost.
    """
    cost_cap_usd: float | None
    duration_ms: int
    """Active time: without waits for decisions, times, events, callbacks, calls and slots."""
    waiting_ms: int
    """Time in which the run did nothing but wait, for a decision, a time, an event, a callback,
    a call or a slot.
    """
    created_by: str | None
    """The member who triggered it."""
    created_at: str
    """ISO 8601, UTC."""
    started_at: str | None
    finished_at: str | None
    resumed_count: int
    queued: Queued | None
    """For a run that waits because of a limit of its workflow: for what, and where in its queue."""
    input: dict[str, Any]
    state: dict[str, Any] | None
    output: Any
    """Output keys of the nodes without a successor; null until then."""
    children_cost_usd: float
    """The cost of the runs that it started, and of those that they started. It is not in
    `cost_usd`, but counts against `cost_cap_usd`.
    """
    steps: list[Step]
    """In the order of their starts. Of a run with more than 1000, the first so many: those
    outside of loops and maps, then those in them.
    """
    steps_next_cursor: str | None
    """The `cursor` of the other steps at `GET /api/runs/{id}/steps`; null if `steps` has all."""
    step_counts: list[StepCount] | None
    """If `steps` does not have all: how many each node has, without the turns and calls of
    agents.
    """
    checkpoints: list[Checkpoint]
    """Of the finished ones of `steps`."""
    pending_gate: PendingGate | None
    """The oldest open gate."""
    pending_gates: list[PendingGate]
    """Every gate that can be decided now, oldest first. A run with other active branches may
    have some, too.
    """
    event_id: str | None
    """For the trigger `event`: the event that started it, as long as that is kept."""
    waiting: list[Waiting]
    """The steps that wait for a time, an event or a callback, oldest first, at most 100. They do
    not pause the run.
    """
    evals: Evaluation | None
    temporal: RunTemporal


class Run(_Run, total=False):
    laid: dict[str, dict[str, Any]]
    """For a fork, and a run that was started from one: what was merged into the state, by the
    step before which it was.
    """
    graph: dict[str, Any]
    """For a run of a draft: its graph, as a workflow has it."""


class RunCompletedFrame(TypedDict):
    run_id: str
    type: Literal["run_completed"]


class RunEvaluatedFrame(TypedDict):
    run_id: str
    type: Literal["run_evaluated"]
    passed: int
    total: int


class RunEvent(TypedDict):
    seq: int
    """Its number within the run; increases, possibly with gaps."""
    at: str
    """ISO 8601, UTC."""
    frame: StreamFrame


class RunEventList(TypedDict):
    events: list[RunEvent]
    """Oldest first."""
    next_cursor: str | None
    """`after` of the next page; null on the last."""


class RunFailedFrame(TypedDict):
    run_id: str
    type: Literal["run_failed"]
    error: str


class _RunFailure(TypedDict):
    kind: Literal["node", "budget", "cancelled", "rejected", "crash", "unrecorded"]


class RunFailure(_RunFailure, total=False):
    node_id: str
    with_parent: bool
    """It was cancelled because the run that started it has ended."""
    event_id: str
    """The event that cancelled it."""


class RunList(TypedDict):
    runs: list[ListedRun]
    next_cursor: str | None
    """Null on the last page."""


class _RunPausedFrame(TypedDict):
    run_id: str
    type: Literal["run_paused"]
    node_id: str
    prompt: str


class RunPausedFrame(_RunPausedFrame, total=False):
    step_key: str
    """Only for a tool call of an agent, which has the node_id of the agent."""


RunQueue = TypedDict(
    "RunQueue",
    {
        "workflow_id": "str",
        "workflow_name": "str",
        "for": "Literal[\"concurrency\", \"rate\", \"debounce\"]",
        "key": "str",
        "limit": "int | None",
        "in_flight": "list[RunQueueInFlight]",
        "waiting": "list[RunQueueWaiting]",
        "waiting_count": "int",
    },
)


class RunQueueInFlight(TypedDict):
    run_id: str
    status: Literal["pending", "running", "paused", "success", "failed"]
    since: str
    """ISO 8601, UTC."""


class RunQueueWaiting(TypedDict):
    run_id: str
    status: Literal["pending", "running", "paused", "success", "failed"]
    since: str
    """ISO 8601, UTC."""
    position: int
    priority: int
    until: str | None
    """For `debounce`: when it starts, unless it is triggered again."""
    deadlocked: bool
    """Every run that holds a slot of the key waits for a run that waits like this one: cancel
    one of them. Only found for keys with up to 100 slots.
    """


class RunStats(TypedDict):
    total: int
    success: int
    failed: int
    paused: int
    running: int
    """Including pending ones."""
    success_rate: float
    """Percent of the finished runs, one decimal; 0 when none finished."""
    avg_cost_usd: float | None
    """Over the finished runs."""
    avg_duration_ms: int | None
    """Over the finished runs, without the wait at gates."""
    last_run_at: str | None


class RunSummary(TypedDict):
    id: str
    run_id: str
    """The same as `id`."""
    workspace_id: str
    workflow_id: str
    workflow_name: str
    workflow_version: int
    """The version pinned when the run was triggered."""
    status: Literal["pending", "running", "paused", "success", "failed"]
    trigger: Literal["manual", "webhook", "mcp", "schedule", "workflow", "event"]
    parent_run_id: str | None
    """For the trigger `workflow`: the run that started it, unless it was deleted."""
    parent_step_key: str | None
    """The step that started it."""
    forked_from: str | None
    """The run that it was started from again, unless that was deleted."""
    forked_from_step: str | None
    """For a fork: the step from which it is executed. What that run had finished before is
    reused.
    """
    of_draft: bool
    """It runs a draft, and not the graph of `workflow_version`."""
    mode: Literal["recorded"] | None
    """For a rehearsal: its steps take their results from the record of the run in `forked_from`,
    and nothing has an effect.
    """
    inbound_event_id: str | None
    """The event of the webhook that started it, or that it replays."""
    error: str | None
    failure: RunFailure | None
    resumable: bool
    cost_usd: float
    """US dollars, at most six decimals."""
    unpriced_steps: int
    """Steps, turns of agents included, whose model has no price, so that `cost_usd` does not
    contain all of their cost.
    """
    cost_cap_usd: float | None
    duration_ms: int
    """Active time: without waits for decisions, times, events, callbacks, calls and slots."""
    waiting_ms: int
    """Time in which the run did nothing but wait, for a decision, a time, an event, a callback,
    a call or a slot.
    """
    created_by: str | None
    """The member who triggered it."""
    created_at: str
    """ISO 8601, UTC."""
    started_at: str | None
    finished_at: str | None
    resumed_count: int
    queued: Queued | None
    """For a run that waits because of a limit of its workflow: for what, and where in its queue."""


class RunTemporal(TypedDict):
    workflow_id: str
    run_id: str | None
    url: str | None
    """The run's page in the Temporal UI; null where TEMPORAL_UI_URL is not set."""


class RunView(TypedDict):
    name: str
    filter: str
    saved_at: str
    """ISO 8601, UTC."""


class RunViewList(TypedDict):
    views: list[RunView]


class SaveDraftBody(TypedDict, total=False):
    graph: GraphDraft
    input_schema: dict[str, Any] | None
    """JSON Schema, draft 2020-12 or 7, that the input of every run must fit; null accepts any
    object. Patterns are RE2; `format` is not checked; external references are not loaded. At
    most 65,536 characters and 40 levels.
    """
    base_version: int
    """The version that the work began at; by default that of the draft, or the current one for a
    new draft.
    """


class _SavePinBody(TypedDict):
    run_id: str
    """A run of this workflow."""


class SavePinBody(_SavePinBody, total=False):
    step_key: str
    """Its step; the default is the last step of the node that has an output."""
    output: Any
    """Pinned instead of the output of that step. It must fit the `response_schema` that the node
    has in the draft, or else in the current version.
    """


class SaveRunViewBody(TypedDict):
    filter: str
    """The query of `GET /api/runs`, without `limit` and `cursor`."""


class Schedule(TypedDict):
    id: str
    workflow_id: str
    name: str | None
    cron: str
    timezone: str
    input: dict[str, Any]
    """The input of each run."""
    enabled: bool
    overlap: Literal["skip", "allow"]
    next_run_at: str | None
    """Null while it is disabled or has a `sync_error`."""
    last_run_at: str | None
    last_run_id: str | None
    last_skip: ScheduleLastSkip | None
    """The latest due time without a run, and the reason."""
    sync_error: str | None
    """Why the schedule cannot run as it is; null after a change that mends it."""
    created_at: str
    """ISO 8601, UTC."""
    etag: str
    """Changes with each edit. The header `ETag` has it in double quotes; send that as `If-Match`
    to change only this state.
    """


class ScheduleChanged(TypedDict):
    """It is not as `If-Match` says."""

    detail: str
    """The error message."""
    current: Schedule | None
    """As it is now; null when it is gone."""


class ScheduleLastSkip(TypedDict):
    at: str
    """ISO 8601, UTC."""
    reason: str


class Secret(TypedDict):
    name: str
    allowed_hosts: list[str]
    description: str
    created_at: str
    """ISO 8601, UTC."""
    updated_at: str
    """ISO 8601, UTC."""
    last_used_at: str | None
    """When a call last needed it, to the minute."""
    etag: str
    """Changes with each edit. The header `ETag` has it in double quotes; send that as `If-Match`
    to change only this state.
    """


class SecretChanged(TypedDict):
    """It is not as `If-Match` says."""

    detail: str
    """The error message."""
    current: Secret | None
    """As it is now; null when it is gone."""


class _SendWorkspaceEventBody(TypedDict):
    name: str
    """Such as `invoice.paid`."""


class SendWorkspaceEventBody(_SendWorkspaceEventBody, total=False):
    data: Any
    """What waits and their `match` read as `event.data`."""
    id: str
    """Makes the event idempotent: the same id stores one event."""


class Session(TypedDict):
    token: str
    """For `Authorization: Bearer`."""
    expires_at: str
    """ISO 8601, UTC."""
    member: Member


class SetAlertsBody(TypedDict, total=False):
    chat_webhook_url: str | None
    email: list[str]
    """Get each alert in one email."""
    slack: SlackInput | None
    """Asks for each decision in a channel of Slack, where members can make it. Null turns it
    off.
    """
    on: list[Literal["failed", "paused", "waiting", "budget", "connection"]]
    """What it sends alerts for."""
    workflows: dict[str, SetAlertsBodyWorkflowsValue]
    """What differs for the runs of a workflow, by its id."""
    decide_by_link: bool
    """Whether emails to members have a link that decides the gate as that member, without
    signing in. Turning it off ends all links.
    """
    accept_link_risk: Literal[True]
    """Required to turn `decide_by_link` on: anyone who has the email can decide as the member."""


class SetAlertsBodyWorkflowsValue(TypedDict, total=False):
    chat_webhook_url: str
    """An incoming webhook, which gets `{"text": ...}`. Stored sealed, and shown as its origin
    with `/***`; send that back to keep it.
    """
    email: list[str]
    """Instead of those of the workspace."""
    slack: SetAlertsBodyWorkflowsValueSlack
    on: list[Literal["failed", "paused", "waiting", "budget", "connection"]]
    """Instead of those of the workspace; [] for none."""


class SetAlertsBodyWorkflowsValueSlack(TypedDict):
    """Another channel, if the workspace uses Slack."""

    channel: str
    """The id of a channel, at the end of “View channel details” in Slack."""


class SetLimitsBody(TypedDict, total=False):
    concurrency: ConcurrencyLimitInput | None
    rate: RateLimitInput | None
    debounce: DebounceInput | None
    priority: str | None
    """An expression over the input of a run: a number from -100 to 100, to which others are set.
    Of the runs that wait with the same key, the one with the highest starts first. By default 0.
    """
    cancel_on: list[CancelEventInput]
    """Events that cancel open runs: those that were created before the event, and for which
    `match` is true. A run keeps those of its trigger.
    """


class _SetPermissionsBody(TypedDict):
    overrides: CapabilityOverrides


class SetPermissionsBody(_SetPermissionsBody, total=False):
    keep_keys: bool
    """Keep keys linked to the member whose makers lack the gained permissions. Without it they
    are revoked, since the maker of a key knows its secret.
    """


class SetPlanBody(TypedDict):
    plan: Literal["free", "starter", "pro", "enterprise"]


class SetPoliciesBody(TypedDict, total=False):
    model_allowlist: list[str] | None
    """Models that agents can use; null: all."""
    tools: list[ToolPolicy]
    redaction: RedactionInput
    limits: list[CallLimit]
    """Calls of tools and models beyond a limit wait until one is free."""


class SetPricesBody(TypedDict):
    prices: list[Price]


class _SetRoleBody(TypedDict):
    role: Literal["admin", "editor", "viewer"]


class SetRoleBody(_SetRoleBody, total=False):
    keep_keys: bool
    """Keep keys linked to the member whose makers lack the gained permissions. Without it they
    are revoked, since the maker of a key knows its secret.
    """


class SignupBody(TypedDict):
    name: str
    email: str
    password: str


class SkippedRun(TypedDict):
    """All slots of the key are taken, and `on_limit` is `skip`."""

    run_id: None
    status: Literal["skipped"]
    detail: str


class SlackInput(TypedDict):
    connection: str
    """The name of a connection with the preset `slack` and the owner `workspace`, that is signed
    in.
    """
    channel: str
    """The id of a channel, at the end of “View channel details” in Slack."""
    signing_secret: str
    """Of the Slack app. Stored sealed, and shown as `***`; send that back to keep it."""


class SlackSettings(TypedDict):
    connection: str
    channel: str
    signing_secret: str
    """Always `***`."""


class SourceDetail(TypedDict):
    id: str
    name: str
    type: str
    jurisdiction: str | None
    cadence: str | None
    permission_status: str | None
    license_status: str | None
    reliability_score: float | None
    health: SourceDetailHealth
    is_demo: bool
    created_at: str
    """ISO 8601, UTC."""
    updated_at: str
    """ISO 8601, UTC."""
    etag: str
    """Changes with each edit. The header `ETag` has it in double quotes; send that as `If-Match`
    to change only this state.
    """


class SourceDetailChanged(TypedDict):
    """It is not as `If-Match` says."""

    detail: str
    """The error message."""
    current: SourceDetail | None
    """As it is now; null when it is gone."""


class SourceDetailHealth(TypedDict):
    status: Literal["unknown", "healthy", "failed"]
    last_success_at: str | None
    consecutive_failures: int
    last_failure_at: str | None
    last_error: str | None


class SourceEvidence(TypedDict, total=False):
    source_id: str | None
    source_name: str | None
    url: str | None
    retrieved_at: str | None
    synthetic: bool


class StaleGate(TypedDict):
    at: str
    """When the reads were repeated."""
    differences: list[RecheckDifference]
    more: int
    """How many further differences there are."""


class _StartBacktestBody(TypedDict):
    policies: StartBacktestBodyPolicies
    since: str
    """Judges the steps of runs that were created since then."""


class StartBacktestBody(_StartBacktestBody, total=False):
    workflow_id: str
    """Only runs of this workflow."""


class StartBacktestBodyPolicies(TypedDict, total=False):
    model_allowlist: list[str] | None
    """Models that agents can use; null: all."""
    tools: list[ToolPolicy]
    redaction: RedactionInput
    limits: list[CallLimit]
    """Calls of tools and models beyond a limit wait until one is free."""


class _StartExperimentBody(TypedDict):
    candidate: Literal["draft"] | StartExperimentBodyCandidate
    """What to try: the workflow's draft as it is now, or one of its versions."""
    runs: StartExperimentBodyRuns | list[str]
    """The runs to rehearse: the newest ones that have ended, or those with these ids. All of
    this workflow; rehearsals are no runs to rehearse.
    """


class StartExperimentBody(_StartExperimentBody, total=False):
    mode: Literal["recorded"]
    """Rehearses the run: steps take their results from the record of the other run, and nothing
    has an effect.
    """
    allow: list[str]
    """These are executed where there is no record: `agent`, `workflow`, `custom:<name>`,
    `http_request:<METHOD>` or the name of a tool. By default only what computes.
    """
    failures: Literal["recorded", "execute"]
    """Whether a step that had failed fails again, or counts as one without a record. The default
    is `recorded`.
    """
    decisions: dict[str, StartExperimentBodyDecisionsValue]
    """Decisions at gates, by step key or node id. They come before those of the record."""
    pins: bool
    """For mode `recorded`: nodes have the outputs that you have pinned, and not those of the
    record.
    """
    budget_usd: float
    """What all rehearsals together may spend, with `allow`. What does not fit is not executed,
    and its run is `refused`.
    """


class StartExperimentBodyCandidate(TypedDict):
    version: int


class _StartExperimentBodyDecisionsValue(TypedDict):
    approved: bool


class StartExperimentBodyDecisionsValue(_StartExperimentBodyDecisionsValue, total=False):
    input: dict[str, Any]


class _StartExperimentBodyRuns(TypedDict):
    last: int
    """The newest so many."""


class StartExperimentBodyRuns(_StartExperimentBodyRuns, total=False):
    status: Literal["success", "failed"]
    """By default both."""
    since: str
    """Created at or after."""


class StartedJob(TypedDict):
    id: str
    status: Literal["running", "done", "cancelled", "failed"]


class _Step(TypedDict):
    step_key: str
    """Node id and iterations of loops and maps: stable over retries and resumes."""
    node_id: str
    label: str
    kind: Literal["agent", "tool", "code", "condition", "loop", "map", "workflow", "human_gate", "wait", "merge"]
    iteration: list[int]
    """Iterations of the enclosing loops and maps, outermost first."""
    attempt: int
    """The number of attempts."""
    status: Literal["running", "success", "failed", "paused", "skipped", "cancelled", "unrecorded"]
    started_at: str
    """ISO 8601, UTC."""
    finished_at: str | None
    duration_ms: int | None
    retried_ms: int | None
    """The part of `duration_ms` before the last attempt: earlier attempts and the delays after
    them, since the last resume; 0 for a first attempt, null where it was not recorded.
    """
    attempts: list[StepAttempt]
    """Every attempt, oldest first, including those before a resume."""
    cost_usd: float
    """US dollars, at most six decimals."""
    input: Any
    output: Any
    error: str | None
    policy: list[PolicyVerdict]


class Step(_Step, total=False):
    queued_ms: int | None
    """From ready to started."""
    model: str
    usage: StepUsage
    unpriced: bool
    """The model has no price, so the cost is unknown."""
    cost_estimated: bool
    """The provider has not reported the tokens of an answer: the cost includes what its request
    may have cost at most.
    """
    error_kind: Literal["node", "timeout", "policy", "rejected", "child", "connection"]
    """Why its last attempt failed. `timeout`: it took too long, `policy`: refused by a policy,
    `rejected`: a decision at a gate, `child`: what it started has failed, `connection`: someone
    has to sign in to a connection, `node`: any other error.
    """
    caught: bool
    """It has failed, and its error edges were taken: the run continues."""
    child_run_id: str
    """For a node of kind `workflow`: the run that the step started."""
    reused_from: str
    """For a fork: the run that executed the step. Its result was reused, which took no time and
    cost nothing here.
    """
    log: str
    """For code: what its last execution has logged, up to 64 kB."""
    paused_child: Literal[True]
    """The run that the step started is paused: somebody must decide there."""
    parent_step_key: str
    """For a turn or a call of an agent with tools: the step of the agent. The cost of that step
    includes it.
    """
    turn: int
    """For a turn or a call of an agent with tools: the number of the turn, from 1."""
    tool_call: StepToolCall
    """For a call of an agent with tools."""
    decision: Decision
    """For a gate that was decided and has not opened again since."""
    decisions: list[GateDecision]
    """For a gate with settings: who has decided what since it opened, oldest first."""


class StepAttempt(TypedDict):
    attempt: int
    outcome: Literal["success", "failed", "cancelled", "interrupted"] | None
    """Null while it is running. `interrupted`: its worker was shut down or lost, which uses up
    no retry.
    """
    started_at: str
    """ISO 8601, UTC."""
    finished_at: str | None
    duration_ms: int | None
    error: str | None
    cost_usd: float
    """US dollars, at most six decimals."""


class _StepCompletedFrame(TypedDict):
    run_id: str
    type: Literal["step_completed"]
    node_id: str


class StepCompletedFrame(_StepCompletedFrame, total=False):
    step_key: str
    """Only for a tool call of an agent, which has the node_id of the agent."""


class StepCount(TypedDict):
    node_id: str
    label: str
    kind: Literal["agent", "tool", "code", "condition", "loop", "map", "workflow", "human_gate", "wait", "merge"]
    total: int
    by_status: dict[str, int]
    caught: int
    """How many of the failed ones were caught."""


class _StepFailedFrame(TypedDict):
    run_id: str
    type: Literal["step_failed"]
    node_id: str
    error: str


class StepFailedFrame(_StepFailedFrame, total=False):
    step_key: str
    """Only for a tool call of an agent, which has the node_id of the agent."""


class StepList(TypedDict):
    steps: list[Step]
    next_cursor: str | None
    """Null on the last page."""


class _StepStartedFrame(TypedDict):
    run_id: str
    type: Literal["step_started"]
    node_id: str
    label: str


class StepStartedFrame(_StepStartedFrame, total=False):
    step_key: str
    """Only for a tool call of an agent, which has the node_id of the agent."""


class StepToolCall(TypedDict):
    tool: str
    index: int
    """Its number in the turn, from 1."""


class _StepUsage(TypedDict):
    input_tokens: int
    output_tokens: int


class StepUsage(_StepUsage, total=False):
    cached_tokens: int
    """The part of `input_tokens` that the provider read from its cache."""
    cache_write_tokens: int
    """The part of `input_tokens` that the provider stored in its cache, at a surcharge."""
    price: StepUsagePrice


class _StepUsagePrice(TypedDict):
    input_usd_per_million: float
    """US dollars, at most six decimals."""
    output_usd_per_million: float
    """US dollars, at most six decimals."""


class StepUsagePrice(_StepUsagePrice, total=False):
    """What the tokens were charged at; missing for an agent with tools, and in runs of 1.0.0."""

    cached_input_usd_per_million: float
    """US dollars, at most six decimals."""


class StreamToken(TypedDict):
    """Reads the stream of this run, and nothing else."""

    run_id: str
    token: str
    expires_at: str
    """ISO 8601, UTC."""


class SystemMessage(TypedDict):
    role: Literal["system"]
    text: str


class Template(TypedDict):
    id: str
    name: str
    description: str
    built_in: bool
    """It is built in and cannot be changed."""
    graph: Graph
    input_schema: dict[str, Any] | None
    """JSON Schema, draft 2020-12 or 7, that the input of every run must fit; null accepts any
    object. Patterns are RE2; `format` is not checked; external references are not loaded. At
    most 65,536 characters and 40 levels.
    """
    checks: list[Any]
    limits: Limits | None
    """The limits of the workflows created from it; null: none."""
    sample_input: dict[str, Any]
    """An example input."""
    created_at: str | None
    """Null for built-in ones."""
    etag: str
    """Changes with each edit. The header `ETag` has it in double quotes; send that as `If-Match`
    to change only this state.
    """


class TemplateChanged(TypedDict):
    """It is not as `If-Match` says."""

    detail: str
    """The error message."""
    current: Template | None
    """As it is now; null when it is gone."""


class _TemplateFromGraph(TypedDict):
    name: str
    graph: GraphDraft


class TemplateFromGraph(_TemplateFromGraph, total=False):
    description: str
    input_schema: dict[str, Any] | None
    """JSON Schema, draft 2020-12 or 7, that the input of every run must fit; null accepts any
    object. Patterns are RE2; `format` is not checked; external references are not loaded. At
    most 65,536 characters and 40 levels.
    """
    checks: list[EvaluationCheck]
    limits: TemplateFromGraphLimits | None
    """As in `PUT /api/workflows/{id}/limits`; null: none."""
    sample_input: dict[str, Any]
    """An example input."""


class TemplateFromGraphLimits(TypedDict, total=False):
    concurrency: ConcurrencyLimitInput | None
    rate: RateLimitInput | None
    debounce: DebounceInput | None
    priority: str | None
    """An expression over the input of a run: a number from -100 to 100, to which others are set.
    Of the runs that wait with the same key, the one with the highest starts first. By default 0.
    """
    cancel_on: list[CancelEventInput]
    """Events that cancel open runs: those that were created before the event, and for which
    `match` is true. A run keeps those of its trigger.
    """


class _TemplateFromWorkflow(TypedDict):
    workflow_id: str
    """Its current graph, its input schema, its checks and its limits are copied."""


class TemplateFromWorkflow(_TemplateFromWorkflow, total=False):
    name: str
    """The workflow's name by default."""
    description: str
    sample_input: dict[str, Any]
    """An example input."""


class TestNodeBody(TypedDict, total=False):
    run_id: str
    """A run of this workflow: the node begins with the state that it had there."""
    step_key: str
    """The step of that run, for a node in a loop or a map. The default is the last one of this
    node.
    """
    state: dict[str, Any]
    """Laid over the state of the run; without a run, the whole state."""
    version: int
    """The version that has the node; the default is the current one."""
    draft: bool
    """Tests the node of the workflow's draft."""
    allow: list[str]
    """What the test may execute: `agent`, `workflow`, `custom:<name>`, `http_request:<METHOD>`
    or the name of a tool. By default only what computes.
    """
    pins: bool
    """Replaces the outputs of other nodes by the caller's pinned ones."""


class TestToolBody(TypedDict, total=False):
    arguments: dict[str, Any]


class _TextCheck(TypedDict):
    name: str
    type: Literal["contains", "not_contains", "equals", "regex"]
    value: str | float


class TextCheck(_TextCheck, total=False):
    target: str
    case_sensitive: bool


_ToolAuth = TypedDict(
    "_ToolAuth",
    {
        "as": "str",
    },
)


class ToolAuth(_ToolAuth, total=False):
    secret: str
    """Workflows refer to it as `{secrets.NAME}`."""
    connection: str
    """A connection, whose access token is sent. Either this or `secret`."""


ToolAuthInput = TypedDict(
    "ToolAuthInput",
    {
        "secret": "str",
        "connection": "str",
        "as": "str",
    },
    total=False,
)


class _ToolCallProblem(TypedDict):
    run_id: str
    step_key: str
    problem: str


class ToolCallProblem(_ToolCallProblem, total=False):
    audit_id: str
    """The entry of a decision."""


class ToolCallVerification(TypedDict):
    """Decisions at gates, and tool calls that need approval."""

    decisions: int
    """Decisions that were compared with their gates."""
    made: int
    """Calls with approval that were compared with their decisions."""
    problems: list[ToolCallProblem]
    """At most 100."""


class _ToolImport(TypedDict):
    created: list[ImportedTool]
    updated: list[ImportedTool]
    """Imported earlier; the server describes them otherwise now, or they were changed."""
    unchanged: list[ImportedTool]
    skipped: list[ToolImportSkipped]


class ToolImport(_ToolImport, total=False):
    listed: list[ListedTool]
    """With `only_list`."""
    document: ImportedDocument
    """With `only_list`, of an API document."""


class ToolImportSkipped(TypedDict):
    name: str
    """Its name on the MCP server, or its operation in the document."""
    reason: str


class ToolMessage(TypedDict):
    role: Literal["tool"]
    turn: int
    index: int
    step_key: str | None
    tool: str
    content: Any
    """The result, or the error."""
    is_error: bool


class _ToolNode(TypedDict):
    id: str
    """Letters and digits of any script, `_`, `-`, `.` and `:`; starts with a letter, a digit or
    `_`.
    """
    kind: Literal["tool"]
    tool_name: str
    """A built-in tool, or `custom:<name>`."""


class ToolNode(_ToolNode, total=False):
    label: str
    """Its name for people."""
    position: NodePosition
    """Where the editor draws it."""
    retry: NodeRetry
    """How often a failed attempt is repeated."""
    timeout_seconds: float
    """The deadline of one attempt."""
    params: dict[str, Any]
    """Strings in it, at any depth, are templates. Those of the built-in tools are
    `http_request`: `url, method?, headers?, query?, body?`; `send_email`: `to, subject, text or
    html, cc?, bcc?, reply_to?`; `send_chat_message`: `text, webhook_url?`; `json_transform`:
    `expression`; `delay`: `seconds`; `mcp`: `server_url, tool, arguments?, headers?`;
    `entity_upsert`: `feed_id, external_key, entity_type, canonical_name, attributes, aliases?,
    external_ids?, geography?, status?, observed_at?, verification_status?, confidence?,
    source_evidence?`; `event_emit`: `feed_id, external_key, event_type, primary_external_key,
    occurred_at, summary, relevance_score?, opportunity_score?, match_reason?,
    verification_status?, confidence?, source_evidence?`; `entity_search`: `feed_id?,
    external_key?, entity_type?, geography?, confidence_min?, updated_since?, created_since?,
    limit?`; `feed_list`: `name?, limit?`; `source_report`: `ok, source_id or name, error?,
    checked_at?`; `send_event`: `name, data?, id?`.
    """
    output_key: str
    approval: str | ToolNodeApproval
    act_as: Literal["approver"]


class _ToolNodeApproval(TypedDict):
    when: str


class ToolNodeApproval(_ToolNodeApproval, total=False):
    title: str
    """Reads `args`, the arguments of the step."""
    approvers: GateApprovers
    """Who can decide; by default, every credential with the capability `approve_gates`."""
    required: int
    """How many different members must approve; the default is 1. A single rejection rejects."""
    not_the_starter: bool
    """Members who started the run, or one before it, cannot decide."""
    signed_in: bool
    """Only members with a session can decide, not a key, a link or Slack."""
    timeout_seconds: float
    """How long it waits for a decision. Requires `on_timeout`."""
    on_timeout: Literal["reject", "approve", "fail"]
    remind_seconds: float
    """The interval between reminders while it waits."""


class _ToolPolicy(TypedDict):
    tool: str
    """As in `tool_name`; `workflow:<id or name>` for runs that a run starts; `code` for all
    code.
    """


class ToolPolicy(_ToolPolicy, total=False):
    allowed_workflow_ids: list[str]
    """Absent: all workflows can use it."""
    blocked_arguments: list[BlockedArgument]


class ToolRefresh(TypedDict):
    state: Literal["unchanged", "changed", "gone", "accepted"]
    """`changed`: the document describes it otherwise now. `gone`: it no longer has the
    operation. Until the change is accepted, or undone in the document, the tool is not called.
    """
    digest: str | None
    """To accept the change with; null without one."""
    changes: list[ToolRefreshChange]
    tool: CustomTool


class ToolRefreshChange(TypedDict):
    field: Literal["method", "request", "input_schema", "response_schema", "description"]
    before: Any
    after: Any


class ToolTest(TypedDict):
    ok: bool
    result: dict[str, Any] | None
    """The output of a step; null on failure."""
    error: str | None
    """The error of a step."""
    status: int | None
    """Of the HTTP response, if any."""
    duration_ms: int
    omitted_headers: list[str]
    """Names of stored headers that were not sent, because the caller does not have the
    capability run_workflows.
    """
    needs_sign_in: NeededSignIn | None
    """What is needed, if the MCP server of the tool requires sign-in."""


class UpdateBudgetBody(TypedDict, total=False):
    name: str
    limit_usd: float
    reservation_estimate_usd: float | None
    """What each trigger reserves. Without it only the cost of ended runs counts, and a run that
    has started can exceed the limit.
    """
    overrun: Literal["none", "one_step"]
    """`none`: a request begins only if all that it may cost fits, beside the requests in
    progress. `one_step`: a request begins while something is left, so that the limit is exceeded
    by less than one step.
    """
    alerts: bool
    """Whether alerts are sent when 80% and when 100% of the limit is spent, each once in a
    window; true by default.
    """
    scope: Literal["workspace", "workflow"]
    workflow_id: str | None
    """The workflow, for scope `workflow`."""
    window: Literal["day", "week", "month", "total"]


class UpdateConnectionBody(TypedDict, total=False):
    client_id: str
    client_secret: str
    """Stored sealed. No response contains it. Absent for a public client."""
    client_auth: Literal["basic", "post", "none"]
    """How the client proves who it is: in the header, in the body, or not at all (a public
    client without a secret).
    """
    issuer: str
    """The issuer of the authorization server. Its metadata (OpenID Connect Discovery or RFC
    8414) gives the other addresses.
    """
    authorization_url: str
    """Where members sign in."""
    token_url: str
    """Where codes and refresh tokens become tokens."""
    scopes: list[str]
    """What to ask for; it counts from the next sign-in."""
    authorization_params: dict[str, str]
    """Further parameters of the address where members sign in."""
    allowed_hosts: list[str]


class UpdateEventTriggerBody(TypedDict, total=False):
    event: str
    """Such as `invoice.paid`."""
    match: str | None
    """An expression over `event`. By default, every event of that name starts a run."""
    input: dict[str, Any] | None
    """The input of each run, with templates over `event`. By default, the data of the event."""
    enabled: bool


class UpdateFeedBody(TypedDict, total=False):
    name: str
    description: str
    status: Literal["active", "paused", "degraded", "archived"]
    """Archived feeds are not listed in the data API."""
    entity_types: list[str]
    """The accepted types of records; empty: any."""
    schema: dict[str, Any]
    """The meaning of its records' attributes, as JSON Schema or as text."""
    geography: dict[str, Any]
    """Where its records come from, such as `{"country": "US"}`."""
    specification: dict[str, Any]
    """What is monitored, how and how often."""


class UpdateScheduleBody(TypedDict, total=False):
    workflow_id: str
    name: str | None
    cron: str
    """Minute, hour, day of month, month, day of week; or `@hourly`, `@daily`, `@weekly`,
    `@monthly`, `@yearly`.
    """
    timezone: str
    """IANA time zone of the cron expression."""
    input: dict[str, Any]
    enabled: bool
    overlap: Literal["skip", "allow"]
    """`skip`: no run starts while an earlier one of the schedule is active."""


class UpdateSourceBody(TypedDict, total=False):
    name: str
    type: str
    """The type of source, such as `permit_portal`."""
    jurisdiction: str | None
    cadence: str | None
    """How often it is checked, such as `daily`."""
    permission_status: str | None
    """Whether it may be read."""
    license_status: str | None
    """Whether its content may be redistributed."""
    reliability_score: float | None


class UpdateTemplateBody(TypedDict, total=False):
    name: str
    description: str
    graph: GraphDraft
    input_schema: dict[str, Any] | None
    """JSON Schema, draft 2020-12 or 7, that the input of every run must fit; null accepts any
    object. Patterns are RE2; `format` is not checked; external references are not loaded. At
    most 65,536 characters and 40 levels.
    """
    checks: list[EvaluationCheck]
    limits: UpdateTemplateBodyLimits | None
    """As in `PUT /api/workflows/{id}/limits`; null: none."""
    sample_input: dict[str, Any]
    """An example input."""


class UpdateTemplateBodyLimits(TypedDict, total=False):
    concurrency: ConcurrencyLimitInput | None
    rate: RateLimitInput | None
    debounce: DebounceInput | None
    priority: str | None
    """An expression over the input of a run: a number from -100 to 100, to which others are set.
    Of the runs that wait with the same key, the one with the highest starts first. By default 0.
    """
    cancel_on: list[CancelEventInput]
    """Events that cancel open runs: those that were created before the event, and for which
    `match` is true. A run keeps those of its trigger.
    """


class UpdateToolBody(TypedDict, total=False):
    name: str
    """Workflows call the tool as `custom:<name>`."""
    label: str
    description: str
    kind: Literal["http", "mcp", "code"]
    endpoint_url: str
    """Called unchanged: no part of it comes from a workflow. Empty for kind `code`."""
    method: Literal["POST", "GET", "HEAD", "PUT", "PATCH", "DELETE"]
    """For kind `http`. GET and HEAD send the arguments in the query."""
    headers: dict[str, str]
    """Sent with each call. Values are stored sealed and shown as `***`."""
    mcp_tool: str | None
    """The tool of the MCP server, for kind `mcp`."""
    source: str | None
    """For kind `code`: a module whose `export default` is a function of the arguments. It runs
    in a sandbox, for at most 10 s of processor time.
    """
    language: Literal["javascript", "typescript"]
    """Of the `source`."""
    input_schema: dict[str, Any] | None
    """JSON Schema, draft 2020-12 or 7, that validates the arguments before each call. Patterns
    are RE2; `format` is not checked; external references are not loaded.
    """
    timeout_seconds: int
    """For one call. For kind `code`, it is processor time, and at most 10."""
    retry_count: int
    """Retries after the first try; a node's own `retry` replaces it."""
    auth: ToolAuthInput | None
    """What calls authenticate with; only for a tool that was imported from an API document, or
    of an MCP server.
    """
    read_only: bool
    """Whether a call changes nothing, so that the recheck of a gate can repeat it. To set it
    needs the capability publish_workflows; a change of what is called takes it back.
    """


class UpdateWebhookEndpointBody(TypedDict, total=False):
    url: str
    """Events are sent to it with POST. `listen:<name>` is a listener: nothing is sent, and `ops
    listen` reads the events. An endpoint cannot become a listener, or a listener an endpoint.
    """
    events: list[Literal["entity.created", "entity.updated", "intelligence_event.created", "intelligence_event.verified", "feed.status_changed", "source.failed", "source.recovered", "usage.threshold_reached", "export.completed", "ping", "run.completed", "run.failed", "run.paused", "approval.requested"]]
    """The subscribed events; a `ping` is always sent."""


class UpdateWorkflowBody(TypedDict, total=False):
    name: str
    description: str
    graph: GraphDraft
    input_schema: dict[str, Any] | None
    """JSON Schema, draft 2020-12 or 7, that the input of every run must fit; null accepts any
    object. Patterns are RE2; `format` is not checked; external references are not loaded. At
    most 65,536 characters and 40 levels.
    """
    run_cap_usd: float | None
    """The cost limit of one run; null removes it."""
    overrun: Literal["none", "one_step"]
    """`none`: a request begins only if all that it may cost fits, beside the requests in
    progress. `one_step`: a request begins while something is left, so that the limit is exceeded
    by less than one step.
    """
    requires_experiment: bool
    """It is published only after an experiment of exactly this graph and input schema that lost
    no check and failed no run.
    """
    note: str
    """What the new version changes; only with `graph` or `input_schema`."""


class UpdateWorkspaceBody(TypedDict):
    name: str


class Usage(TypedDict):
    plan: Literal["free", "starter", "pro", "enterprise"]
    runs_used: int
    """Runs created this month, regardless of their result; the quota limits this number."""
    runs_limit: int | None
    """Null: unlimited."""
    cost_usd: float
    """US dollars, at most six decimals."""
    period_start: str
    """First instant of the current month, UTC."""
    period_end: str
    """Last second of the current month, UTC."""


class UsageBreakdown(TypedDict):
    since: str
    """First instant of the first day."""
    until: str
    """Now."""
    by_workflow: list[UsageBreakdownByWorkflow]
    """Runs created in these days that still exist, most expensive first. Beyond 50, the last row
    is `other`.
    """
    by_model: list[UsageBreakdownByModel]
    """The steps of these runs, in the same way; beyond 50, the last row is `other`."""
    by_day: list[UsageBreakdownByDay]
    """Every day, oldest first, of all runs, including deleted ones."""


class UsageBreakdownByDay(TypedDict):
    date: str
    runs: int
    cost_usd: float
    """US dollars, at most six decimals."""


class UsageBreakdownByModel(TypedDict):
    model: str | None
    """Null: attempts that failed permanently, of any model."""
    steps: int
    input_tokens: int
    """Of the attempts that ended the steps."""
    output_tokens: int
    """Of the attempts that ended the steps."""
    cost_usd: float
    """US dollars, at most six decimals."""
    unpriced_steps: int
    """Steps whose cost is not completely known."""


class UsageBreakdownByWorkflow(TypedDict):
    workflow_id: str | None
    """Null: all others."""
    name: str
    runs: int
    cost_usd: float
    """US dollars, at most six decimals."""
    unpriced_steps: int
    """Steps whose cost is not completely known."""


class UserMessage(TypedDict):
    role: Literal["user"]
    text: str


class ValidateWorkflowBody(TypedDict, total=False):
    graph: GraphDraft
    input_schema: dict[str, Any] | None
    """Taken instead of that of the current version."""


class _WaitNode(TypedDict):
    id: str
    """Letters and digits of any script, `_`, `-`, `.` and `:`; starts with a letter, a digit or
    `_`.
    """
    kind: Literal["wait"]


class WaitNode(_WaitNode, total=False):
    label: str
    """Its name for people."""
    position: NodePosition
    """Where the editor draws it."""
    timeout_seconds: float
    """How long it waits for an event or a callback."""
    seconds: float | str
    """A number, or a template that gives one."""
    until: str
    """A template that gives an ISO time. A date is midnight UTC. A time in the past ends the
    wait at once.
    """
    event: AwaitedEvent
    any: list[AwaitedEvent]
    """The first of these events that arrives."""
    callback: Literal[True]
    """Until a POST comes to the address that `{callbacks.<id of the node>}` is in the parameters
    of tools. Its JSON is the output.
    """
    on_timeout: Literal["fail", "continue"]
    """The default is `fail`. `continue` follows its `'false'` edges."""
    remind_seconds: float
    """After so long, an alert says that the run still waits, once."""
    output_key: str
    """State key of the output; the default is the node's id."""


Waiting = TypedDict(
    "Waiting",
    {
        "node_id": "str",
        "step_key": "str",
        "label": "str",
        "for": "Literal[\"time\", \"event\", \"callback\", \"limit\", \"connection\"]",
        "events": "list[str]",
        "since": "str",
        "until": "str | None",
        "limit": "WaitingLimit | None",
        "connection": "WaitingConnection | None",
    },
)


class WaitingConnection(TypedDict):
    id: str
    name: str
    reason: Literal["not_signed_in", "needs_sign_in"]
    member_id: str
    """The member whose account the step uses."""
    member_name: str
    page: str
    """Where this member signs in: a path of the console."""


class WaitingLimit(TypedDict):
    name: str
    """The tool or the model."""
    key: str | None
    """The value of the `key` of the limit, redacted by the policies."""
    concurrency: int | None
    per_minute: int | None


class Webhook(TypedDict):
    enabled: bool
    url: str | None
    """Null while disabled."""
    require_signature: bool
    """Refuse requests without a valid `X-Service-Timestamp` and `X-Service-Signature`."""
    timestamp_tolerance_seconds: int
    """How far the time of a signature may be from now, before or after."""
    dedup_window_seconds: int
    """How long a known event starts no second run; 0: every request starts one."""
    event_id_field: str
    """The body field with the event id, without an `X-Service-Event-Id`."""
    event_id_header: str | None
    """The header with the event id; it decides alone. Null: `X-Service-Event-Id`, then the body."""
    accept_forms: bool
    """Take the fields of a form, by its content type, as the input."""
    event: str | None
    """Send each request as an event of this name, with the body as its data, instead of starting
    a run. Null: start a run.
    """
    answer_challenges: bool
    """Answer the challenges by which senders check an address, without a run: `{"type":
    "url_verification", "challenge": ...}` and `?validationToken=...`.
    """
    etag: str
    """Changes with each edit. The header `ETag` has it in double quotes; send that as `If-Match`
    to change only this state.
    """


class WebhookChanged(TypedDict):
    """It is not as `If-Match` says."""

    detail: str
    """The error message."""
    current: Webhook | None
    """As it is now; null when it is gone."""


class WebhookDelivery(TypedDict):
    id: str
    """As in the header `X-Service-Delivery`."""
    event_id: str
    type: Literal["entity.created", "entity.updated", "intelligence_event.created", "intelligence_event.verified", "feed.status_changed", "source.failed", "source.recovered", "usage.threshold_reached", "export.completed", "ping", "run.completed", "run.failed", "run.paused", "approval.requested"]
    status: Literal["pending", "delivered", "dead"]
    """`dead`: failed permanently."""
    reason: str | None
    """Why it failed without an attempt."""
    attempts: int
    """In the current cycle."""
    next_attempt_at: str | None
    """For a pending delivery."""
    created_at: str
    """ISO 8601, UTC."""
    ended_at: str | None
    log: list[DeliveryAttempt]
    """Every attempt, oldest first."""


class WebhookDeliveryList(TypedDict):
    deliveries: list[WebhookDelivery]
    next_cursor: str | None
    """Null on the last page."""


class WebhookEndpointEvent(TypedDict):
    delivery_id: str
    """As in the header `X-Service-Delivery`."""
    event_id: str
    type: Literal["entity.created", "entity.updated", "intelligence_event.created", "intelligence_event.verified", "feed.status_changed", "source.failed", "source.recovered", "usage.threshold_reached", "export.completed", "ping", "run.completed", "run.failed", "run.paused", "approval.requested"]
    created_at: str
    """ISO 8601, UTC."""
    body: str
    """The body of the delivery: its exact bytes, as text."""


class WebhookEndpointEventList(TypedDict):
    events: list[WebhookEndpointEvent]
    next_cursor: str | None
    """Null on the last page."""


class WokenWait(TypedDict):
    run_id: str
    step_key: str
    workflow_id: str


class Workflow(TypedDict):
    id: str
    workspace_id: str
    name: str
    description: str
    status: Literal["draft", "published"]
    version: int
    graph: Graph
    input_schema: dict[str, Any] | None
    """JSON Schema, draft 2020-12 or 7, that the input of every run must fit; null accepts any
    object. Patterns are RE2; `format` is not checked; external references are not loaded. At
    most 65,536 characters and 40 levels.
    """
    checks: list[Any]
    run_cap_usd: float | None
    """The cost limit of one run."""
    overrun: Literal["none", "one_step"]
    """`none`: a request begins only if all that it may cost fits, beside the requests in
    progress. `one_step`: a request begins while something is left, so that the limit is exceeded
    by less than one step.
    """
    requires_experiment: bool
    """It is published only after an experiment of exactly this graph and input schema that lost
    no check and failed no run.
    """
    stats: RunStats
    created_by: str | None
    created_at: str
    """ISO 8601, UTC."""
    updated_at: str
    """ISO 8601, UTC."""
    has_draft: bool
    """It has a draft, at `.../draft`."""
    etag: str
    """Changes with each edit. The header `ETag` has it in double quotes; send that as `If-Match`
    to change only this state.
    """


class WorkflowAlerts(TypedDict, total=False):
    chat_webhook_url: str
    email: list[str]
    slack: WorkflowAlertsSlack
    on: list[Literal["failed", "paused", "waiting", "budget", "connection"]]


class WorkflowAlertsSlack(TypedDict):
    channel: str


class WorkflowChanged(TypedDict):
    """It is not as `If-Match` says."""

    detail: str
    """The error message."""
    current: Workflow | None
    """As it is now; null when it is gone."""


class _WorkflowDetail(TypedDict):
    id: str
    workspace_id: str
    name: str
    description: str
    status: Literal["draft", "published"]
    version: int
    graph: Graph
    input_schema: dict[str, Any] | None
    """JSON Schema, draft 2020-12 or 7, that the input of every run must fit; null accepts any
    object. Patterns are RE2; `format` is not checked; external references are not loaded. At
    most 65,536 characters and 40 levels.
    """
    checks: list[Any]
    run_cap_usd: float | None
    """The cost limit of one run."""
    overrun: Literal["none", "one_step"]
    """`none`: a request begins only if all that it may cost fits, beside the requests in
    progress. `one_step`: a request begins while something is left, so that the limit is exceeded
    by less than one step.
    """
    requires_experiment: bool
    """It is published only after an experiment of exactly this graph and input schema that lost
    no check and failed no run.
    """
    stats: RunStats
    created_by: str | None
    created_at: str
    """ISO 8601, UTC."""
    updated_at: str
    """ISO 8601, UTC."""
    has_draft: bool
    """It has a draft, at `.../draft`."""
    etag: str
    """Changes with each edit. The header `ETag` has it in double quotes; send that as `If-Match`
    to change only this state.
    """


class WorkflowDetail(_WorkflowDetail, total=False):
    draft: WorkflowDraft | None
    """Only with `include=draft`: null without a draft."""


class WorkflowDraft(TypedDict):
    workflow_id: str
    base_version: int
    """The version it began at; it can be published while this is the current version."""
    revision: int
    """Counts the saves that changed something."""
    graph: Graph
    input_schema: dict[str, Any] | None
    """JSON Schema, draft 2020-12 or 7, that the input of every run must fit; null accepts any
    object. Patterns are RE2; `format` is not checked; external references are not loaded. At
    most 65,536 characters and 40 levels.
    """
    created_at: str
    """ISO 8601, UTC."""
    saved_by: str | None
    """The member who saved it last."""
    saved_by_name: str | None
    saved_at: str
    """ISO 8601, UTC."""
    etag: str
    """Changes with each edit. The header `ETag` has it in double quotes; send that as `If-Match`
    to change only this state.
    """


class WorkflowDraftChanged(TypedDict):
    """It is not as `If-Match` says."""

    detail: str
    """The error message."""
    current: WorkflowDraft | None
    """As it is now; null when it is gone."""


class WorkflowLimits(TypedDict):
    concurrency: ConcurrencyLimit | None
    rate: RateLimit | None
    debounce: Debounce | None
    priority: str | None
    """An expression over the input of a run: a number from -100 to 100, to which others are set.
    Of the runs that wait with the same key, the one with the highest starts first. By default 0.
    """
    cancel_on: list[CancelEvent]
    """Events that cancel open runs: those that were created before the event, and for which
    `match` is true. A run keeps those of its trigger.
    """
    warnings: list[str]
    """Why runs could wait for each other, as far as the current version shows it."""
    last_failed_match: WorkflowLimitsLastFailedMatch | None
    """The latest event for which a `match` of `cancel_on` failed, with the first such run, as
    long as the event is kept.
    """
    etag: str
    """Changes with each edit. The header `ETag` has it in double quotes; send that as `If-Match`
    to change only this state.
    """


class WorkflowLimitsChanged(TypedDict):
    """It is not as `If-Match` says."""

    detail: str
    """The error message."""
    current: WorkflowLimits | None
    """As it is now; null when it is gone."""


class WorkflowLimitsLastFailedMatch(TypedDict):
    at: str
    """ISO 8601, UTC."""
    event_id: str
    run_id: str
    reason: str


class _WorkflowNode(TypedDict):
    id: str
    """Letters and digits of any script, `_`, `-`, `.` and `:`; starts with a letter, a digit or
    `_`.
    """
    kind: Literal["workflow"]
    workflow: str
    """Id or exact name of a workflow in the workspace, looked up when the step starts."""


class WorkflowNode(_WorkflowNode, total=False):
    label: str
    """Its name for people."""
    position: NodePosition
    """Where the editor draws it."""
    retry: NodeRetry
    """How often a failed attempt is repeated."""
    version: int
    """The default is the version that is current when the step starts."""
    input: dict[str, Any]
    """The input of the started run. Strings in it, at any depth, are templates."""
    output_key: str
    """State key of that run's output; the default is the node's id."""
    approval: str | WorkflowNodeApproval


class _WorkflowNodeApproval(TypedDict):
    when: str


class WorkflowNodeApproval(_WorkflowNodeApproval, total=False):
    title: str
    """Reads `args`, the arguments of the step."""
    approvers: GateApprovers
    """Who can decide; by default, every credential with the capability `approve_gates`."""
    required: int
    """How many different members must approve; the default is 1. A single rejection rejects."""
    not_the_starter: bool
    """Members who started the run, or one before it, cannot decide."""
    signed_in: bool
    """Only members with a session can decide, not a key, a link or Slack."""
    timeout_seconds: float
    """How long it waits for a decision. Requires `on_timeout`."""
    on_timeout: Literal["reject", "approve", "fail"]
    remind_seconds: float
    """The interval between reminders while it waits."""


class WorkflowOrDraftChanged(TypedDict):
    """It is not as `If-Match` says."""

    detail: str
    """The error message."""
    current: WorkflowOrDraft | None
    """As it is now; null when it is gone."""


class WorkflowVersion(TypedDict):
    workflow_id: str
    version: int
    created_by: str | None
    """The member who wrote it."""
    created_by_name: str | None
    note: str | None
    """What its author said about it."""
    created_at: str
    """ISO 8601, UTC."""
    graph: Graph
    input_schema: dict[str, Any] | None
    """JSON Schema, draft 2020-12 or 7, that the input of every run must fit; null accepts any
    object. Patterns are RE2; `format` is not checked; external references are not loaded. At
    most 65,536 characters and 40 levels.
    """


class WorkflowVersionList(TypedDict):
    versions: list[WorkflowVersionSummary]
    next_cursor: str | None


class WorkflowVersionSummary(TypedDict):
    workflow_id: str
    version: int
    created_by: str | None
    """The member who wrote it."""
    created_by_name: str | None
    note: str | None
    """What its author said about it."""
    created_at: str
    """ISO 8601, UTC."""
    nodes: int
    edges: int


class Workspace(TypedDict):
    id: str
    name: str
    plan: Literal["free", "starter", "pro", "enterprise"]
    member_count: int
    has_examples: bool
    """Its first start has created examples in it. They may be deleted."""
    invitations_by_email: bool
    """Invitations are also sent by email: the service has an email provider."""
    created_at: str
    """ISO 8601, UTC."""
    etag: str
    """Changes with each edit. The header `ETag` has it in double quotes; send that as `If-Match`
    to change only this state.
    """


class WorkspaceChanged(TypedDict):
    """It is not as `If-Match` says."""

    detail: str
    """The error message."""
    current: Workspace | None
    """As it is now; null when it is gone."""


class WorkspaceDataUsage(TypedDict):
    month: str
    """Calendar month, UTC."""
    period_start: str
    """First instant of the month."""
    period_end: str
    """Last second of the month."""
    plan: Literal["free", "starter", "pro", "enterprise"]
    requests: Allowance
    """Every call with a valid key, including refused ones."""
    credits: Allowance
    records: int
    """Paid records, events, changes and rows."""
    webhook_deliveries: int
    source_checks: int
    keys: list[WorkspaceDataUsageKey]
    """The keys used this month, most credits first; at most 200."""


class WorkspaceDataUsageKey(TypedDict):
    id: str
    name: str
    mode: Literal["live", "test"]
    requests: Allowance
    credits: Allowance
    records: int


EvaluationCheck: TypeAlias = Union[TextCheck, LimitCheck, ExpressionCheck]
EvidenceLine: TypeAlias = Union[EvidenceHead, EvidenceGraph, EvidenceResults, EvidenceStep, EvidenceGate, EvidenceVerdict, EvidenceChain, EvidenceSeals, EvidenceEntry, EvidenceEnd]
GraphNode: TypeAlias = Union[AgentNode, ToolNode, CodeNode, ConditionNode, LoopNode, MapNode, WorkflowNode, HumanGateNode, WaitNode, MergeNode]
IngestRecord: TypeAlias = Union[EntityRecord, EventRecord]
JsonRpcResponse: TypeAlias = Union[JsonRpcResult, JsonRpcError]
McpRefusal: TypeAlias = Union[Error, JsonRpcError]
Message: TypeAlias = Union[SystemMessage, UserMessage, AssistantMessage, ToolMessage]
StreamFrame: TypeAlias = Union[StepStartedFrame, StepCompletedFrame, StepFailedFrame, RunPausedFrame, RunCompletedFrame, RunFailedFrame, RunEvaluatedFrame, AgentTurnFrame, ChildPausedFrame, ChildContinuedFrame]
WorkflowOrDraft: TypeAlias = Union[Workflow, WorkflowDraft]
