import { byOffset } from './pages.ts';
import type { CallOptions, Send } from './request.ts';
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
      options?: CallOptions,
    ): Promise<Workspace> => send('PUT /api/workspace', [], { body, options }),
    setPlan: (plan: Workspace['plan'], options?: CallOptions): Promise<Workspace> =>
      send('PUT /api/workspace/plan', [], { body: { plan }, options }),
    /** The same as `setPlan`, over POST. */
    changePlan: (plan: Workspace['plan'], options?: CallOptions): Promise<Workspace> =>
      send('POST /api/workspace/plan', [], { body: { plan }, options }),
    /** Runs and cost of the month so far, and the plan's limit. */
    getUsage: (options?: CallOptions): Promise<Usage> => send('GET /api/usage', [], { options }),
    /** What runs of the last `days` days (30) cost, by workflow, by model and by day. */
    getUsageBreakdown: (
      query: QueryOf<'GET /api/usage/breakdown'> = {},
      options?: CallOptions,
    ): Promise<UsageBreakdown> => send('GET /api/usage/breakdown', [], { query, options }),
    getMetricsOverview: (options?: CallOptions): Promise<MetricsOverview> =>
      send('GET /api/metrics/overview', [], { options }),

    /** The channels for alerts about runs that failed or wait. */
    getAlerts: (options?: CallOptions): Promise<AlertSettings> =>
      send('GET /api/workspace/alerts', [], { options }),
    /** Sends a test over every channel that is configured. Refused with 409 when none is. */
    testAlerts: (options?: CallOptions): Promise<AnswerOf<'POST /api/workspace/alerts/test'>> =>
      send('POST /api/workspace/alerts/test', [], { options }),

    getPrices: (options?: CallOptions): Promise<AnswerOf<'GET /api/workspace/prices'>> =>
      send('GET /api/workspace/prices', [], { options }),
    /** Replaces the workspace's own prices of models. */
    setPrices: (
      body: BodyOf<'PUT /api/workspace/prices'>,
      options?: CallOptions,
    ): Promise<AnswerOf<'PUT /api/workspace/prices'>> =>
      send('PUT /api/workspace/prices', [], { body, options }),

    /** How the service and what it stands on are. Needs no credential. */
    getHealth: (options?: CallOptions): Promise<Health> => send('GET /api/health', [], { options }),
    /** The same as `getHealth`, but throws an `ApiError` of status 503 until runs can be taken. */
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
    /** The whole audit log, or what of it passes the filters, newest first. */
    auditEntries: (
      query: Omit<QueryOf<'GET /api/audit'>, 'limit' | 'offset'> = {},
    ): AsyncGenerator<AuditEntry, void> =>
      byOffset(async (offset) => (await listAudit({ ...query, limit: PAGE, offset })).logs),
    /** Whether the log is as it was written. */
    verifyAudit: (options?: CallOptions): Promise<AuditVerification> =>
      send('GET /api/audit/verify', [], { options }),

    getPolicies: (options?: CallOptions): Promise<Policies> =>
      send('GET /api/workspace/policies', [], { options }),
    /** Replaces all policies; absent ones are unrestricted. */
    setPolicies: (
      body: BodyOf<'PUT /api/workspace/policies'>,
      options?: CallOptions,
    ): Promise<Policies> => send('PUT /api/workspace/policies', [], { body, options }),
    /** One page of the decisions of policies, newest first. */
    listGovernanceEvents,
    /** All decisions of policies, newest first. */
    governanceEvents: (
      query: Omit<QueryOf<'GET /api/governance/events'>, 'limit' | 'offset'> = {},
    ): AsyncGenerator<GovernanceEvent, void> =>
      byOffset((offset) => listGovernanceEvents({ ...query, limit: PAGE, offset })),
  };
}
