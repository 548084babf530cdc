import type { HistoryAndWorkflowId } from '@temporalio/client';
import { Worker } from '@temporalio/worker';
import fc from 'fast-check';
import { z } from 'zod';
import type { Actor } from '#shared/people/actor.ts';
import { unrestricted } from '#shared/contract/policies/policy.ts';
import { newId } from '#shared/crypto/ids.ts';
import { replacePolicies } from '#shared/db/policies/policies.ts';
import { sql } from '#shared/db/pool.ts';
import { updateWorkflow } from '#shared/db/workflows/workflows.ts';
import { withReads } from '#test/graph/generated/behind.ts';
import { childWorkflow, randomGraphOf, randomInput } from '#test/graph/generated/build.ts';
import type { Engine } from '#test/support/engine.ts';
import { setting } from '#test/support/settings.ts';
import { type Case, historiesOf } from './case.ts';

/** Cases at the same time. */
const AT_ONCE = 6;

/** The seed of the cases: `GRAPH_SEED`, or another one each time. */
export const seedOf = (): number => {
  const { GRAPH_SEED } = process.env;
  return GRAPH_SEED === undefined ? Date.now() % 1_000_000_000 : Number(GRAPH_SEED);
};

/** Cases with a gate, in which what is sent depends on the state. `GRAPH_CASE`: only this one. */
export function gatedCases(count: number, seed: number): Case[] {
  const { GRAPH_CASE } = process.env;
  const gated = randomGraphOf(6, 40).filter(({ nodes }) =>
    nodes.some(({ kind }) => kind === 'human_gate'),
  );
  return fc
    .sample(fc.tuple(gated, randomInput, fc.nat({ max: 10_000 })), { numRuns: count, seed })
    .map(([plain, given, salt], at) => {
      const ids = plain.nodes.map(({ id }) => [id, `before ${id}`]);
      const input = { ...Object.fromEntries(ids), shared: 'none', ...given };
      return { name: `case-${at}`, graph: withReads(plain, salt), input, salt };
    })
    .filter((_, at) => GRAPH_CASE === undefined || Number(GRAPH_CASE) === at);
}

/** What repeats a case. */
export const named = (seed: number, { name, ...rest }: Case): string =>
  `GRAPH_SEED=${seed} GRAPH_CASE=${name.replace('case-', '')} ${JSON.stringify(rest)}`;

/** The child of generated graphs, the policy that refuses their mails, and a second approver, who is returned. */
export async function prepareGenerated(engine: Engine): Promise<Actor> {
  const id = newId('member');
  await engine.db.query(sql.unsafe`
    INSERT INTO members (id, workspace_id, name, email, role, status)
    VALUES (${id}, ${engine.actor.workspaceId}, 'Other', 'other@example.com', 'editor', 'active')`);
  await engine.db.query(sql.unsafe`UPDATE workspaces SET plan = 'enterprise'`);
  const refused = { tool: 'send_email', allowed_workflow_ids: ['wf_other'] };
  const { name, graph, input_schema } = childWorkflow;
  const childId = await engine.define(graph, name);
  await updateWorkflow(engine.db, engine.actor, childId, { input_schema });
  await replacePolicies(engine.db, engine.actor, { ...unrestricted, tools: [refused] });
  return { ...engine.actor, id, name: 'Other', role: 'editor' };
}

/** The steps that would have sent something else than what a gate had shown. */
export const mismatches = ({ db }: Engine): Promise<readonly string[]> =>
  db.anyFirst(sql.type(z.object({ reason: z.string() }))`
    SELECT concat(g.reason, ' in ', w.name, ', ', g.run_id) AS reason
    FROM governance_events g JOIN runs r ON r.id = g.run_id JOIN workflows w ON w.id = r.workflow_id
    WHERE g.type = 'approval_mismatch'`);

/** The histories of all executions of the cases, and why some of them cannot be replayed, with what repeats the case. */
export async function replayAll(
  engine: Engine,
  seed: number,
  ran: ReadonlyMap<string, Case>,
): Promise<{ histories: HistoryAndWorkflowId[]; broken: string[] }> {
  const all = await sideBySide([...ran.keys()], (runId) => historiesOf(engine, runId));
  const histories = all.flat();
  const workflowBundle = { codePath: setting('WORKFLOW_BUNDLE') };
  const broken: string[] = [];
  for await (const result of Worker.runReplayHistories({ workflowBundle }, histories)) {
    if (result.error === undefined) continue;
    broken.push(`${result.error.message} in ${named(seed, ran.get(result.workflowId)!)}`);
  }
  return { histories, broken };
}

/** Does the same for all, some at a time; the results in their order. */
export async function sideBySide<Item, Result>(
  all: readonly Item[],
  act: (item: Item) => Promise<Result>,
  atOnce = AT_ONCE,
): Promise<Result[]> {
  const results: Result[] = [];
  let next = 0;
  const lane = async (): Promise<void> => {
    while (next < all.length) {
      const at = next;
      next += 1;
      results[at] = await act(all[at]!);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, lane));
  return results;
}
