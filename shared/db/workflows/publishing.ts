import { z } from 'zod';
import type { Actor } from '#shared/people/actor.ts';
import { preconditionFailed } from '#shared/contract/if-match.ts';
import type { WorkflowDraft } from '#shared/contract/workflows/workflow.ts';
import { type Pool, statement, type Tx } from '#shared/db/pool.ts';
import { deleteDraft, draftGone, findDraft, requireKnownDraft } from './drafts.ts';
import { lockWorkspace } from '#shared/db/people/workspaces.ts';
import { anotherVersion, requireToChange } from './graphs-in-use.ts';
import { insertVersion, nextVersion } from './version-content.ts';
import { requireTried } from '#shared/db/experiments/publishing.ts';
import { readVersion } from './versions.ts';
import { auditWorkflow, lockWorkflow, readWorkflow } from './workflows.ts';

/** Publishes the current version. Has no effect on a published workflow. Throws AppError `not_found`. */
export async function publishWorkflow(db: Pool, actor: Actor, workflowId: string): Promise<void> {
  await db.transaction(async (tx) => {
    await lockWorkspace(tx, actor.workspaceId);
    const {
      status,
      version,
      requires_experiment: required,
    } = await lockWorkflow(tx, actor, workflowId);
    if (status === 'published') return;
    if (required) {
      const scope = { workspaceId: actor.workspaceId, workflowId };
      await requireTried(
        tx,
        { workflowId, required },
        await readVersion(tx, { ...scope, version }),
      );
    }
    await setPublished(tx, actor, { workflowId, version });
    await auditWorkflow(tx, actor, workflowId, 'publish', { version });
  });
}

async function setPublished(
  tx: Tx,
  actor: Actor,
  { workflowId, version }: { workflowId: string; version: number },
): Promise<void> {
  await tx.query(statement(z.object({}))`
    UPDATE workflows SET status = 'published', version = ${version}, updated_at = now()
    WHERE id = ${workflowId} AND workspace_id = ${actor.workspaceId}
  `);
}

/**
 * Makes the draft the current version, with the member who last saved it as author, and publishes it. The draft is
 * removed. `checked` is the draft that the caller has validated. If it equals the current version, no new version is
 * created. Throws AppError `not_found`; `forbidden` for a version that the actor cannot bring into use; and
 * `precondition_failed` when the draft has changed or was deleted, or when its base version is no longer current.
 */
export async function publishDraft(
  db: Pool,
  actor: Actor,
  workflowId: string,
  { checked, note }: { checked: WorkflowDraft; note: string | undefined },
): Promise<void> {
  const scope = { workspaceId: actor.workspaceId, workflowId };
  await db.transaction(async (tx) => {
    await lockWorkspace(tx, actor.workspaceId);
    const workflow = await lockWorkflow(tx, actor, workflowId);
    const current = workflow.version;
    const draft = await findDraft(tx, scope);
    if (draft === undefined) throw draftGone(await readWorkflow(tx, scope));
    requireKnownDraft([checked.etag], draft);
    if (draft.base_version !== current) {
      throw preconditionFailed(
        await readWorkflow(tx, scope),
        `The draft began at version ${draft.base_version}, and version ${current} is current now: compare them, and ` +
          `save the draft with base_version ${current} to publish it on top`,
      );
    }
    const next = await nextVersion(tx, { workflowId, version: current }, draft);
    const version = next === undefined ? current : current + 1;
    const author = { id: draft.saved_by, name: draft.saved_by_name };
    const required =
      workflow.requires_experiment && (next !== undefined || workflow.status !== 'published');
    await requireTried(tx, { workflowId, required }, draft);
    if (next !== undefined) {
      await requireToChange(tx, actor, anotherVersion({ id: workflowId, name: workflow.name }));
      await insertVersion(tx, author, { workflowId, version, ...next.content, note });
    }
    await setPublished(tx, actor, { workflowId, version });
    await deleteDraft(tx, scope);
    await auditWorkflow(tx, actor, workflowId, 'publish_draft', {
      version,
      base_version: current,
      revision: draft.revision,
      author: author.name,
      author_id: author.id,
      changed: next?.changed ?? [],
      note: note ?? null,
    });
  });
}
