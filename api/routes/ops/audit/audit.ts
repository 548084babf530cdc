import {
  auditListSchema,
  auditQuery,
  type AuditVerification,
  auditVerificationSchema,
} from '#shared/contract/audit/audit.ts';
import { listAudit } from '#shared/db/audit/audit.ts';
import { verifyAudit } from '#shared/db/audit/chain.ts';
import { responses } from '#api/http/responses.ts';
import type { App, RouteContext } from '#api/deps.ts';

export function auditRoutes(app: App, { db }: RouteContext): void {
  app.get('/api/audit', {
    schema: {
      operationId: 'listAudit',
      summary: 'List audit entries, newest first',
      description: 'An entry is listed when it matches all filters.',
      querystring: auditQuery,
      response: responses({ 200: auditListSchema }),
    },
    config: { capability: 'view' },
    handler: async (request) => listAudit(db, request.actor.workspaceId, request.query),
  });

  // A check reads the whole log, so concurrent requests share its response.
  const pending = new Map<string, Promise<AuditVerification>>();
  const verify = (workspaceId: string): Promise<AuditVerification> => {
    const running = pending.get(workspaceId);
    if (running !== undefined) return running;
    const check = verifyAudit(db, workspaceId).finally(() => pending.delete(workspaceId));
    pending.set(workspaceId, check);
    return check;
  };

  app.get('/api/audit/verify', {
    schema: {
      operationId: 'verifyAudit',
      summary: 'Verify the audit log',
      description:
        'Compares every entry with its seal and every seal with the previous one, and every tool call that needed approval with its decision, as of one moment.',
      response: responses({ 200: auditVerificationSchema }),
    },
    config: { capability: 'view' },
    handler: async (request) => verify(request.actor.workspaceId),
  });
}
