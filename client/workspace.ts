import { byOffset } from './pages.ts';
import type { CallOptions, Send, WriteOptions } from './request.ts';
import type { AnswerOf, BodyOf, QueryOf } from './routes.ts';
import type {
  AlertSettings,
  AuditEntry,
  AuditList,
  AuditVerification,
  GovernanceEvent,
  Health,
  MetricsOverview,
  Policies,
  Usage,
  UsageBreakdown,
  Workspace,
} from './types.ts';

const PAGE = 200;

export function workspaceMethods(send: Send) {
  return { ...settingMethods(send), ...governanceMethods(send) };
}

function settingMethods(send: Send) {
  return {
    getWorkspace: (options?: CallOptions): Promise<Workspace> =>
      send('GET /api/workspace', [], { options }),
    updateWorkspace: (
      body: BodyOf<'PUT /api/workspace'>,
      options?: WriteOptions,
    ): Promise<Workspace> => send('PUT /api/workspace', [], { body, options }),
    setPlan: (plan: Workspace['plan'], options?: WriteOptions): Promise<Workspace> =>
      send('PUT /api/workspace/plan', [], { body: { plan }, options }),
    /** Like `setPlan`, with POST. */
    changePlan: (plan: Workspace['plan'], options?: WriteOptions): Promise<Workspace> =>
      send('POST /api/workspace/plan', [], { body: { plan }, options }),
    /** Runs and cost of the month so far, and the plan's limit. */
    getUsage: (options?: CallOptions): Promise<Usage> => send('GET /api/usage', [], { options }),
    /** Cost of runs in the last `days` days (default 30) by workflow, model and day. */
    getUsageBreakdown: (
      query: QueryOf<'GET /api/usage/breakdown'> = {},
      options?: CallOptions,
    ): Promise<UsageBreakdown> => send('GET /api/usage/breakdown', [], { query, options }),
    getMetricsOverview: (options?: CallOptions): Promise<MetricsOverview> =>
      send('GET /api/metrics/overview', [], { options }),

    /** What the workspace sends alerts for, and over which channels. */
    getAlerts: (options?: CallOptions): Promise<AlertSettings> =>
      send('GET /api/workspace/alerts', [], { options }),
    /** Replaces all settings of alerts. A masked URL keeps the stored one. */
    setAlerts: (
      body: BodyOf<'PUT /api/workspace/alerts'>,
      options?: WriteOptions,
    ): Promise<AlertSettings> => send('PUT /api/workspace/alerts', [], { body, options }),
    /** Sends a test to every configured channel. Fails with 409 if there is none. */
    testAlerts: (options?: CallOptions): Promise<AnswerOf<'POST /api/workspace/alerts/test'>> =>
      send('POST /api/workspace/alerts/test', [], { options }),

    getPrices: (options?: CallOptions): Promise<AnswerOf<'GET /api/workspace/prices'>> =>
      send('GET /api/workspace/prices', [], { options }),
    /** Replaces the workspace's own model prices. */
    setPrices: (
      body: BodyOf<'PUT /api/workspace/prices'>,
      options?: WriteOptions,
    ): Promise<AnswerOf<'PUT /api/workspace/prices'>> =>
      send('PUT /api/workspace/prices', [], { body, options }),

    /** The health of the service and its dependencies. Requires no credential. */
    getHealth: (options?: CallOptions): Promise<Health> => send('GET /api/health', [], { options }),
    /** Like `getHealth`, but throws an `ApiError` with status 503 until runs can be accepted. */
    getReadiness: (options?: CallOptions): Promise<Health> =>
      send('GET /api/ready', [], { options }),
  };
}

function governanceMethods(send: Send) {
  const listAudit = (
    query: QueryOf<'GET /api/audit'> = {},
    options?: CallOptions,
  ): Promise<AuditList> => send('GET /api/audit', [], { query, options });

  const listGovernanceEvents = (
    query: QueryOf<'GET /api/governance/events'> = {},
    options?: CallOptions,
  ): Promise<GovernanceEvent[]> => send('GET /api/governance/events', [], { query, options });

  return {
    /** One page of the audit log, newest first. */
    listAudit,
    /** All audit entries that match the filters, newest first. */
    auditEntries: (
      query: Omit<QueryOf<'GET /api/audit'>, 'limit' | 'offset'> = {},
    ): AsyncGenerator<AuditEntry, void> =>
      byOffset(async (offset) => (await listAudit({ ...query, limit: PAGE, offset })).logs),
    /** Verifies that the audit log was not altered, and that tool calls were made as approved. */
    verifyAudit: (options?: CallOptions): Promise<AuditVerification> =>
      send('GET /api/audit/verify', [], { options }),

    getPolicies: (options?: CallOptions): Promise<Policies> =>
      send('GET /api/workspace/policies', [], { options }),
    /** Replaces all policies. Those that are absent become unrestricted. */
    setPolicies: (
      body: BodyOf<'PUT /api/workspace/policies'>,
      options?: WriteOptions,
    ): Promise<Policies> => send('PUT /api/workspace/policies', [], { body, options }),
    /** One page of policy decisions, newest first. */
    listGovernanceEvents,
    /** All policy decisions, newest first. */
    governanceEvents: (
      query: Omit<QueryOf<'GET /api/governance/events'>, 'limit' | 'offset'> = {},
    ): AsyncGenerator<GovernanceEvent, void> =>
      byOffset((offset) => listGovernanceEvents({ ...query, limit: PAGE, offset })),
  };
}
