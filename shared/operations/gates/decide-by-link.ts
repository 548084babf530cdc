import type {
  DecideLinkBody,
  LinkDecision,
  OpenedLink,
} from '#shared/contract/gates/decide-link.ts';
import { decideTokenHash } from '#shared/crypto/decide-tokens.ts';
import { type DecideLink, findLink, readLinkedGate } from '#shared/db/gates/decide-links.ts';
import type { Pool } from '#shared/db/pool.ts';
import { AppError, conflict } from '#shared/errors.ts';
import { beginLinkUse } from '#shared/operations/people/sign-in.ts';
import { decideGate, type Dispatched, type RunDeps } from '#shared/operations/runs/runs.ts';
import type { DryRunDeps } from '#shared/operations/workflows/dry-run.ts';
import type { Actor } from '#shared/people/actor.ts';
import { holds } from '#shared/people/capabilities.ts';
import { readGate } from './read-gate.ts';

/**
 * What the page of a link shows. Changes nothing, so programs that check emails can call it. Throws AppError `not_found`
 * for every unknown token, `gone`, `forbidden` or `conflict` with the reason for which the link cannot be used, and
 * `rate_limited`.
 */
export async function openLink(
  db: Pool,
  { token, address }: { token: string; address: string },
): Promise<OpenedLink> {
  const link = await knownLink(db, token, address);
  if (link.approved !== null) throw alreadyUsed(link, link.approved);
  const actor = usableBy(link);
  const { run_id: runId, step_key: stepKey, mailed_digest: mailed } = link;
  const [known, pending] = await Promise.all([
    readGate(db, { actor, runId, stepKey }),
    readLinkedGate(db, link),
  ]);
  if (pending === undefined || known.status !== 'open') throw ended(await reread(db, token));
  if (known.refusal !== null) throw new AppError('forbidden', known.refusal);
  const { decisions = [], ...gate } = pending;
  return {
    member: { name: actor.name ?? '' },
    workspace: { name: link.workspace_name },
    workflow: { name: link.workflow_name },
    run_id: runId,
    expires_at: link.expires_at,
    changed: mailed !== known.digest,
    gate,
    approvals: decisions.filter(({ approved }) => approved).length,
    tool: known.tool,
    schema_problem: known.schema_problem,
    consequences: known.consequences,
    digest: known.digest,
  };
}

/**
 * Decides the gate of a link as its member, by what `approve` does. The link is used in the same transaction; a decision
 * that is refused leaves it. Throws the AppErrors of `openLink`, and those of `decideGate`.
 */
export async function decideByLink(
  deps: RunDeps & DryRunDeps,
  { token, decision, address, ...answer }: DecideLinkBody & { address: string },
): Promise<LinkDecision & Dispatched> {
  const approved = decision === 'approve';
  const link = await knownLink(deps.db, token, address);
  if (link.approved !== null) return again(link, link.approved, approved);
  const actor = usableBy(link);
  if (answer.digest === undefined && link.digest !== null) {
    throw new AppError('invalid', 'Invalid body: digest is required: it says what you have read');
  }
  try {
    const { dispatched } = await decideGate(deps, {
      ...answer,
      actor,
      runId: link.run_id,
      stepKey: link.step_key,
      approved,
      link: { id: link.id },
    });
    return { ...(await outcomeOf(deps.db, token, approved)), dispatched };
  } catch (error) {
    // Of two clicks at once, the second finds the decision of the first.
    const now = await reread(deps.db, token);
    if (now.approved !== null) return again(now, now.approved, approved);
    if (error instanceof AppError && error.code === 'conflict' && error.current === undefined) {
      usableBy(now);
    }
    throw error;
  }
}

/** Unknown tokens count as failures of the address. Throws AppError `not_found`, `rate_limited`. */
async function knownLink(db: Pool, token: string, address: string): Promise<DecideLink> {
  const attempt = await beginLinkUse(db, address);
  const link = await findLink(db, decideTokenHash(token));
  if (link === undefined) throw unknownLink();
  await attempt.forgive();
  return link;
}

async function reread(db: Pool, token: string): Promise<DecideLink> {
  const link = await findLink(db, decideTokenHash(token));
  if (link === undefined) throw unknownLink();
  return link;
}

const unknownLink = (): AppError =>
  new AppError('not_found', 'This link is unknown. Sign in to decide, or ask for another email');

/**
 * The member of a link, who can use it now. Throws AppError `gone` for a link that has ended, `forbidden` for a member who
 * has left or lost the permission, and `conflict` for a gate that is no longer open.
 */
function usableBy(link: DecideLink): Actor {
  const { member, workspace_id: workspaceId } = link;
  if (!link.enabled) {
    throw new AppError(
      'gone',
      'This workspace has turned off decisions by link. Sign in to decide',
    );
  }
  if (member?.status !== 'active') {
    throw new AppError('forbidden', 'The member who got this link is no longer in the workspace');
  }
  if (!link.same_opening || !link.decidable) throw ended(link);
  if (link.expired) throw new AppError('gone', 'This link has expired. Sign in to decide');
  const { id, name, role, overrides } = member;
  if (!holds(role, overrides, 'approve_gates')) {
    throw new AppError(
      'forbidden',
      `${name} no longer has the permission to decide (approve_gates)`,
    );
  }
  return { workspaceId, id, name, role, overrides, signedIn: { by: 'link' } };
}

/** Why the gate of a link is not open. */
function ended(link: DecideLink): AppError {
  const { status, label, timed_out, same_opening, decided_by_name: name, run_status: run } = link;
  if (!same_opening || status === 'cancelled') {
    return conflict(`Gate '${label}' is no longer open: its run was cancelled or resumed since`);
  }
  if (timed_out) return conflict(`Gate '${label}' has timed out: its deadline has passed`);
  if (status === 'open') {
    return conflict(`Gate '${label}' is no longer open: its run is ${run}`);
  }
  const by = name === null ? '' : ` by ${name}`;
  return conflict(`Gate '${label}' has already been ${status}${by}`);
}

const wordOf = (approved: boolean): LinkDecision['decision'] => (approved ? 'approve' : 'reject');

/** The same decision again is no error. Throws AppError `conflict` for another one. */
function again(link: DecideLink, before: boolean, approved: boolean): LinkDecision & Dispatched {
  if (before !== approved) throw alreadyUsed(link, before);
  return {
    status: 'already_decided',
    decision: wordOf(approved),
    dispatched: Promise.resolve(true),
  };
}

const alreadyUsed = ({ label }: DecideLink, approved: boolean): AppError =>
  conflict(`You have already ${approved ? 'approved' : 'rejected'} gate '${label}' with this link`);

/** A member who had approved before keeps that approval, and the link is not used. */
async function outcomeOf(db: Pool, token: string, approved: boolean): Promise<LinkDecision> {
  const link = await reread(db, token);
  const decision = wordOf(approved);
  if (link.approved === null) return { status: 'already_decided', decision };
  return { status: link.status === 'open' ? 'open' : 'decided', decision };
}
