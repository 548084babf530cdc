import { z } from 'zod';
import type { GateConsequences } from '#shared/contract/gates/consequences.ts';
import { sql } from '#shared/db/pool.ts';
import { storedJson } from '#shared/db/stored-json.ts';
import { compileGraph } from '#shared/graph/compile.ts';
import { differencesFrom, entryFor } from '#shared/graph/consequences/binding.ts';
import type { Json, JsonObject } from '#shared/json.ts';
import { relation } from '#shared/graph/consequences/relation.ts';
import { isEffect } from '#test/graph/generated/behind.ts';
import type { Engine } from '#test/support/engine.ts';
import type { Case, Report } from './case.ts';
import type { Arrived, Outside } from './outside.ts';

/** How much of it a check has seen. */
export interface Seen {
  behind: number;
  sent: number;
  known: number;
  certain: number;
  onlyRejected: number;
}

const answeredGate = z.object({
  step_key: z.string(),
  approved: z.boolean(),
  timed_out: z.string().nullable(),
  at: z.number(),
  consequences: storedJson<GateConsequences | null>(),
});

const executedStep = z.object({
  step_key: z.string(),
  node_id: z.string(),
  at: z.number(),
  input: storedJson<JsonObject | null>(),
});

/**
 * Compares the effects of a run that has ended with what the gates before them showed when they were decided. Only the
 * first execution of each step counts.
 */
export async function checkEffects(
  engine: Engine,
  outside: Outside,
  { name, graph }: Case,
  { runId, status, fromLedger }: Pick<Report, 'runId' | 'status' | 'fromLedger'>,
): Promise<{ problems: string[]; seen: Seen }> {
  const compiled = compileGraph(graph);
  const seen: Seen = { behind: 0, sent: 0, known: 0, certain: 0, onlyRejected: 0 };
  const problems: string[] = [];
  const gates = await readGates(engine, runId);
  const steps = await readSteps(engine, runId);
  const effects = steps.filter(({ node_id }) =>
    isEffect(compiled.nodes.find(({ id }) => id === node_id)!),
  );
  const arrived = outside.first(name);
  for (const { step_key: key, node_id, at, input } of effects) {
    const request = arrived.get(key);
    const first = request === undefined ? at : Math.min(at, request.at);
    const last = gates
      .filter((gate) => gate.at <= first && relation(compiled, gate.step_key, key) !== 'none')
      .at(-1);
    if (last === undefined || relation(compiled, last.step_key, key) === 'outside') continue;
    const { consequences, step_key: gateKey } = last;
    if (consequences === null) {
      problems.push(`${gateKey} showed nothing`);
      continue;
    }
    seen.behind += 1;
    const shown = entryFor(answerOf(last, consequences).effects, key);
    if (shown === undefined) {
      problems.push(`${key} was not listed by ${gateKey}`);
      continue;
    }
    if (shown.unknown.length === 0) seen.known += 1;
    const node = compiled.nodes.find(({ id }) => id === node_id)!;
    // The prompts of an agent with tools are part of its conversation.
    if (node.kind === 'agent' && node.tools !== undefined) continue;
    const real = request === undefined ? givenTo(input ?? {}) : sentIn(request);
    if (request !== undefined) seen.sent += 1;
    const tool = node.kind === 'tool' ? node.tool_name : undefined;
    const different = differencesFrom(
      { ...shown, arguments: shown.arguments! },
      { tool, arguments: real },
    );
    problems.push(...different.map((path) => `${key} behind ${gateKey}: ${path}`));
  }
  const executed = new Set(steps.map(({ step_key }) => step_key));
  for (const gate of gates) {
    if (gate.consequences === null) continue;
    const { effects: listed } = answerOf(gate, gate.consequences);
    if (gate.approved) {
      seen.onlyRejected += gate.consequences.reject.effects.filter(
        ({ step_key }) => entryFor(listed, step_key) === undefined,
      ).length;
    }
    for (const { step_key: key, certainty } of listed) {
      if (certainty !== 'certain' || key.includes('*')) continue;
      seen.certain += 1;
      if (status === 'failed' || fromLedger > 0 || executed.has(key)) continue;
      problems.push(`${key} was certain after ${gate.step_key}`);
    }
  }
  return { problems, seen };
}

function answerOf(
  { approved, timed_out }: z.infer<typeof answeredGate>,
  { approve, reject, timeout }: GateConsequences,
): GateConsequences['approve'] {
  if (timed_out !== null) return timeout!;
  return approved ? approve : reject;
}

/** What a step was executed with: of an agent, its prompts. */
function givenTo({ model: _model, mock: _mock, ...given }: JsonObject): JsonObject {
  return given;
}

/** The tools of generated graphs that are asked with `GET` have no other arguments. */
const sentIn = ({ url, method, body }: Arrived): JsonObject =>
  method === 'GET' ? { url } : { url, method, body: JSON.parse(body) as Json };

/** The decisions about gates and calls; that about a call of an agent is one about the agent. */
const readGates = async ({ db }: Engine, runId: string) =>
  db.any(sql.type(answeredGate)`
    SELECT split_part(step_key, '/', 1) AS step_key, status = 'approved' AS approved, timed_out, consequences,
           extract(epoch FROM decided_at)::float8 * 1000 AS at
    FROM gates WHERE run_id = ${runId} AND status IN ('approved', 'rejected')
      AND reused_from IS NULL
    ORDER BY decided_at`);

const readSteps = async ({ db }: Engine, runId: string) =>
  db.any(sql.type(executedStep)`
    SELECT s.step_key, s.node_id, coalesce(c.input, s.input) AS input,
           extract(epoch FROM least(s.started_at, (
             SELECT min(a.started_at) FROM step_attempts a
             WHERE a.run_id = s.run_id AND a.step_key = s.step_key)))::float8 * 1000 AS at
    FROM steps s LEFT JOIN runs c ON c.parent_run_id = s.run_id AND c.parent_step_key = s.step_key
    WHERE s.run_id = ${runId} AND s.parent_step_key IS NULL AND s.attempts > 0 AND s.status <> 'skipped'
      AND s.reused_from IS NULL`);
