import { z } from 'zod';
import type { Actor } from '#shared/people/actor.ts';
import {
  changedMeanwhile,
  type IfMatch,
  matches,
  preconditionFailed,
} from '#shared/contract/if-match.ts';
import type { DraftInput, Workflow, WorkflowDraft } from '#shared/contract/workflows/workflow.ts';
import { withEtag } from '#shared/crypto/etags.ts';
import { AppError, notFound } from '#shared/errors.ts';
import { canonicalJson } from '#shared/graph/diff.ts';
import type { JsonObject } from '#shared/json.ts';
import { type Db, inSnapshot, jsonOrNull, type Pool, statement, type Tx } from '#shared/db/pool.ts';
import { readVersion } from './versions.ts';
import {
  auditWorkflow,
  lockWorkflow,
  readWorkflow,
  requireWorkflow,
  type WorkflowScope,
} from './workflows.ts';
import { storedJson } from '#shared/db/stored-json.ts';

const draftRow = z.object({
  workflow_id: z.string(),
  base_version: z.number(),
  revision: z.number(),
  graph: storedJson<WorkflowDraft['graph']>(),
  input_schema: storedJson<JsonObject | null>(),
  created_at: z.string(),
  saved_by: z.string().nullable(),
  saved_by_name: z.string().nullable(),
  saved_at: z.string(),
});

/** The draft of a workflow, if there is one. */
export async function findDraft(
  db: Db,
  { workspaceId, workflowId }: WorkflowScope,
): Promise<WorkflowDraft | undefined> {
  const row = await db.maybeOne(statement(draftRow)`
    SELECT workflow_id, base_version, revision, graph, input_schema, created_at, saved_by, saved_by_name, saved_at
    FROM workflow_drafts WHERE workflow_id = ${workflowId} AND workspace_id = ${workspaceId}
  `);
  return row === null ? undefined : withEtag(row);
}

/** Throws AppError `not_found`, with the noun that is missing. */
export async function readDraft(db: Db, scope: WorkflowScope): Promise<WorkflowDraft> {
  const draft = await findDraft(db, scope);
  if (draft !== undefined) return draft;
  await requireWorkflow(db, scope);
  throw notFound('Draft');
}

/** A workflow and its draft, if there is one, as of one moment. Throws AppError `not_found`. */
export async function readWithDraft(
  db: Pool,
  scope: WorkflowScope,
): Promise<Workflow & { draft: WorkflowDraft | null }> {
  return inSnapshot(db, async (tx) => {
    const workflow = await readWorkflow(tx, scope);
    return { ...workflow, draft: (await findDraft(tx, scope)) ?? null };
  });
}

/**
 * Requires that the caller has this revision of the draft, so that two people who edit it do not overwrite each other's
 * changes. Throws AppError `precondition_required`, `precondition_failed`.
 */
export function requireKnownDraft(ifMatch: IfMatch | undefined, draft: WorkflowDraft): void {
  if (ifMatch === undefined) {
    throw new AppError(
      'precondition_required',
      'Changing, discarding or publishing a draft requires the header If-Match: send the ETag of ' +
        `GET /api/workflows/${draft.workflow_id}/draft`,
    );
  }
  if (!matches(ifMatch, draft.etag)) throw changedMeanwhile(draft);
}

/** The error for a caller whose draft was deleted. */
export const draftGone = (current: object | null): AppError =>
  preconditionFailed(
    current,
    'The draft that you read is gone: it was published or discarded. Compare with the current version, and save again without If-Match',
  );

/**
 * Saves the draft of a workflow. The first save creates it from the content of its base version. A save without a
 * change keeps the revision. Returns the saved draft. Throws AppError `not_found`, `invalid`, `precondition_required`,
 * `precondition_failed`.
 */
export async function saveDraft(
  db: Pool,
  actor: Actor,
  workflowId: string,
  { input, ifMatch }: { input: DraftInput; ifMatch: IfMatch | undefined },
): Promise<{ draft: WorkflowDraft; created: boolean }> {
  const scope = { workspaceId: actor.workspaceId, workflowId };
  return db.transaction(async (tx) => {
    const { version } = await lockWorkflow(tx, actor, workflowId);
    const base = input.base_version;
    if (base !== undefined && base > version) {
      const problem = `must be at most ${version}, the current version`;
      throw new AppError('invalid', `Invalid body: base_version ${problem}`);
    }
    const before = await findDraft(tx, scope);
    if (before === undefined) {
      if (ifMatch !== undefined) throw draftGone(null);
      const start = await readVersion(tx, { ...scope, version: base ?? version });
      await insertDraft(tx, actor, changedBy(input, { ...start, base_version: start.version }));
      await auditDraft(tx, actor, workflowId, { base_version: start.version, revision: 1 });
      return { draft: await readDraft(tx, scope), created: true };
    }
    const after = changedBy(input, before);
    // Also for a caller whose first attempt was saved without a response.
    if (contentOf(after) === contentOf(before)) return { draft: before, created: false };
    requireKnownDraft(ifMatch, before);
    const revision = before.revision + 1;
    await updateDraft(tx, actor, { ...after, revision });
    await auditDraft(tx, actor, workflowId, { base_version: after.base_version, revision });
    return { draft: await readDraft(tx, scope), created: false };
  });
}

type Content = Pick<WorkflowDraft, 'workflow_id' | 'base_version' | 'graph' | 'input_schema'>;

const changedBy = (input: DraftInput, before: Content): Content => ({
  workflow_id: before.workflow_id,
  base_version: input.base_version ?? before.base_version,
  graph: (input.graph as Content['graph'] | undefined) ?? before.graph,
  input_schema: input.input_schema === undefined ? before.input_schema : input.input_schema,
});

const contentOf = ({ base_version, graph, input_schema }: Content): string =>
  canonicalJson({ base_version, graph, input_schema });

async function insertDraft(tx: Tx, actor: Actor, draft: Content): Promise<void> {
  await tx.query(statement(z.object({}))`
    INSERT INTO workflow_drafts (workflow_id, workspace_id, base_version, graph, input_schema, saved_by, saved_by_name)
    VALUES (${draft.workflow_id}, ${actor.workspaceId}, ${draft.base_version}, ${jsonOrNull(draft.graph)},
            ${jsonOrNull(draft.input_schema)}, ${actor.id}, ${actor.name})
  `);
}

async function updateDraft(
  tx: Tx,
  actor: Actor,
  draft: Content & { revision: number },
): Promise<void> {
  await tx.query(statement(z.object({}))`
    UPDATE workflow_drafts
    SET base_version = ${draft.base_version}, graph = ${jsonOrNull(draft.graph)},
        input_schema = ${jsonOrNull(draft.input_schema)}, revision = ${draft.revision},
        saved_by = ${actor.id}, saved_by_name = ${actor.name}, saved_at = now()
    WHERE workflow_id = ${draft.workflow_id} AND workspace_id = ${actor.workspaceId}
  `);
}

const auditDraft = (tx: Tx, actor: Actor, workflowId: string, details: JsonObject): Promise<void> =>
  auditWorkflow(tx, actor, workflowId, 'save_draft', details);

/** The caller must have locked the workflow. */
export async function deleteDraft(tx: Tx, scope: WorkflowScope): Promise<void> {
  await tx.query(statement(z.object({}))`
    DELETE FROM workflow_drafts WHERE workflow_id = ${scope.workflowId} AND workspace_id = ${scope.workspaceId}
  `);
}

/** Throws AppError `not_found`, `precondition_required`, `precondition_failed`. */
export async function discardDraft(
  db: Pool,
  actor: Actor,
  workflowId: string,
  ifMatch: IfMatch | undefined,
): Promise<void> {
  const scope = { workspaceId: actor.workspaceId, workflowId };
  await db.transaction(async (tx) => {
    await lockWorkflow(tx, actor, workflowId);
    const draft = await findDraft(tx, scope);
    if (draft === undefined) throw ifMatch === undefined ? notFound('Draft') : draftGone(null);
    requireKnownDraft(ifMatch, draft);
    await deleteDraft(tx, scope);
    await auditWorkflow(tx, actor, workflowId, 'discard_draft', {
      base_version: draft.base_version,
      revision: draft.revision,
      author: draft.saved_by_name,
    });
  });
}
