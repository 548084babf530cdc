import { describe, expect, test } from '@jest/globals';
import type { GraphInput } from '#shared/contract/workflows/graph.ts';
import { publishWorkflow } from '#shared/db/workflows/publishing.ts';
import { saveDraft } from '#shared/db/workflows/drafts.ts';
import { readWorkflow, updateWorkflow } from '#shared/db/workflows/workflows.ts';
import { publishFromDraft } from '#shared/operations/workflows/publish-draft.ts';
import { sql } from '#shared/db/pool.ts';
import { chain, echo, useEngine } from '#test/support/engine.ts';
import { pastRuns, redraft, tried } from '#test/support/experiments.ts';
import { raceRounds, soakTest } from '#test/support/soak.ts';

const engine = useEngine();

const graphOf = (expression: string): GraphInput => chain(echo('answer', expression));
const says = [{ name: 'says yes', type: 'contains', value: 'yes' }] as never;

/** A published workflow with past runs, which asks for an experiment. */
async function guarded(): Promise<string> {
  const inputs = [
    { n: '1', other: 'no', bad: 1 },
    { n: '2', other: 'yes', bad: '' },
  ];
  const { workflowId } = await pastRuns(engine, graphOf("'yes'"), inputs, says);
  await publishWorkflow(engine.db, engine.actor, workflowId);
  await updateWorkflow(engine.db, engine.actor, workflowId, { requires_experiment: true });
  return workflowId;
}
const publish = async (workflowId: string, etag: string) =>
  publishFromDraft(engine.db, engine.actor, workflowId, {
    ifMatch: [etag],
    note: undefined,
    models: engine.deps.config.models,
  });
const read = (workflowId: string) =>
  readWorkflow(engine.db, { workspaceId: engine.actor.workspaceId, workflowId });

describe('a workflow that requires an experiment', () => {
  test('can be published after an experiment with exactly this draft that lost nothing', async () => {
    const workflowId = await guarded();
    const etag = await redraft(engine, workflowId, graphOf("'yes, ' + n"));
    await expect(publish(workflowId, etag)).rejects.toThrow('there is none of exactly this graph');
    await tried(engine, workflowId, { candidate: { version: 1 } });
    await expect(publish(workflowId, etag)).rejects.toThrow('there is none of exactly this graph');
    await tried(engine, workflowId);
    await publish(workflowId, etag);
    expect(await read(workflowId)).toMatchObject({ version: 2, status: 'published' });
  });

  test.each([
    ['lost a check', 'other', 'has lost 1'],
    ['failed a run', "'yes' + bad", 'has lost 1'],
  ])('cannot be published after one that %s', async (_what, expression, problem) => {
    const workflowId = await guarded();
    const etag = await redraft(engine, workflowId, graphOf(expression));
    await tried(engine, workflowId);
    await expect(publish(workflowId, etag)).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringContaining(problem),
    });
    expect(await read(workflowId)).toMatchObject({ version: 1 });
  });

  test('also counts failures without checks', async () => {
    const workflowId = await guarded();
    await engine.db.query(sql.unsafe`UPDATE workflows SET checks = '[]' WHERE id = ${workflowId}`);
    const etag = await redraft(engine, workflowId, graphOf("'yes' + bad"));
    await tried(engine, workflowId);
    await expect(publish(workflowId, etag)).rejects.toThrow('1 of the runs have failed');
  });

  test('cannot be published while the experiment runs, or after one that compared nothing', async () => {
    const workflowId = await guarded();
    const gated: GraphInput = chain({ id: 'gate', kind: 'human_gate', prompt: 'Sure?' });
    const etag = await redraft(engine, workflowId, gated);
    const { id } = await tried(engine, workflowId);
    await expect(publish(workflowId, etag)).rejects.toThrow('could compare no run');
    await engine.db.query(sql.unsafe`
      UPDATE background_jobs SET status = 'running', finished_at = NULL WHERE id = ${id}`);
    await expect(publish(workflowId, etag)).rejects.toThrow(`wait for ${id}`);
    await engine.db.query(sql.unsafe`
      UPDATE background_jobs SET status = 'cancelled', finished_at = now() WHERE id = ${id}`);
    await expect(publish(workflowId, etag)).rejects.toThrow('was cancelled');
  });

  soakTest('does not change through another route', async () => {
    const workflowId = await guarded();
    const graph = graphOf("'yes!'") as never;
    const update = (body: Parameters<typeof updateWorkflow>[3]) =>
      updateWorkflow(engine.db, engine.actor, workflowId, body);
    const refused = 'only after an experiment without lost checks';
    await expect(update({ graph })).rejects.toThrow(refused);
    await expect(update({ input_schema: { type: 'object' } })).rejects.toThrow(refused);
    await expect(update({ graph, requires_experiment: false })).rejects.toThrow(refused);
    await update({ name: 'Other name', graph: graphOf("'yes'") as never });
    expect(await read(workflowId)).toMatchObject({ version: 1, name: 'Other name' });
    await update({ requires_experiment: false });
    await update({ graph });
    expect(await read(workflowId)).toMatchObject({ version: 2, requires_experiment: false });
  });

  test('that was never published needs an experiment with its version', async () => {
    const { workflowId } = await pastRuns(engine, graphOf("'yes'"), [{ n: 1 }], says);
    const actor = engine.actor;
    await updateWorkflow(engine.db, actor, workflowId, { requires_experiment: true });
    // Nothing uses it yet.
    await updateWorkflow(engine.db, actor, workflowId, { graph: graphOf("'yes!'") as never });
    await expect(publishWorkflow(engine.db, actor, workflowId)).rejects.toThrow('there is none');
    await tried(engine, workflowId, { candidate: { version: 2 } });
    await publishWorkflow(engine.db, actor, workflowId);
    expect(await read(workflowId)).toMatchObject({ version: 2, status: 'published' });
  });

  soakTest('a draft that someone saves again is not published untried', 120_000, async () => {
    for (let round = 0; round < raceRounds(10); round += 1) {
      const workflowId = await guarded();
      const etag = await redraft(engine, workflowId, graphOf("'yes, ' + n"));
      await tried(engine, workflowId);
      const save = saveDraft(engine.db, engine.actor, workflowId, {
        input: { graph: graphOf("'no'") as never },
        ifMatch: [etag],
      });
      await Promise.allSettled([save, publish(workflowId, etag)]);
      const { graph, version } = await read(workflowId);
      expect(JSON.stringify(graph)).toContain(version === 1 ? "'yes'" : "'yes, ' + n");
    }
  });
});
