import type { Actor } from '#shared/people/actor.ts';
import type { IfMatch } from '#shared/contract/if-match.ts';
import type { GraphIssue } from '#shared/contract/workflows/graph.ts';
import { draftGone, findDraft, requireKnownDraft } from '#shared/db/workflows/drafts.ts';
import { publishDraft } from '#shared/db/workflows/publishing.ts';
import { readWorkflow } from '#shared/db/workflows/workflows.ts';
import type { Pool } from '#shared/db/pool.ts';
import { AppError } from '#shared/errors.ts';
import type { ModelSettings } from '#shared/platform/calls/models.ts';
import { validateWorkflow } from './validate-workflow.ts';
import { adHocGraphOf } from '#shared/db/runs/run-request.ts';

/** The maximum number of errors in a refusal. */
const MAX_REASONS = 5;

/**
 * Publishes the draft in the revision that the caller has, if it can run. Throws AppError `not_found`, `graph_invalid`,
 * `precondition_required`, `precondition_failed`, and `forbidden` for a version that the actor cannot bring into use.
 */
export async function publishFromDraft(
  db: Pool,
  actor: Actor,
  workflowId: string,
  wanted: { ifMatch: IfMatch | undefined; note: string | undefined; models: ModelSettings },
): Promise<void> {
  const scope = { workspaceId: actor.workspaceId, workflowId };
  const draft = await findDraft(db, scope);
  if (draft === undefined) {
    const workflow = await readWorkflow(db, scope);
    if (wanted.ifMatch !== undefined) throw draftGone(workflow);
    const detail = `Draft not found: save one with PUT /api/workflows/${workflowId}/draft, or leave out from_draft`;
    throw new AppError('not_found', detail);
  }
  requireKnownDraft(wanted.ifMatch, draft);
  const drawn = adHocGraphOf(draft);
  const { valid, errors } = await validateWorkflow(db, scope, wanted.models, drawn);
  if (!valid) throw invalidDraft(errors);
  await publishDraft(db, actor, workflowId, { checked: draft, note: wanted.note });
}

function invalidDraft(errors: readonly GraphIssue[]): AppError {
  const reasons = errors
    .slice(0, MAX_REASONS)
    .map(({ path, message }) => (path === undefined ? message : `${path}: ${message}`));
  const more = errors.length - reasons.length;
  return new AppError(
    'graph_invalid',
    `The draft cannot run: ${reasons.join('; ')}${more > 0 ? `; and ${more} more` : ''}`,
  );
}
