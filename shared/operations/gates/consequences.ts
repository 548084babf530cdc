import type { GateConsequences } from '#shared/contract/gates/consequences.ts';
import { jsonDigest } from '#shared/crypto/json-digest.ts';
import type { ShownItems } from '#shared/db/gates/decision.ts';
import { readGraph, type ShownGate } from '#shared/db/gates/shown.ts';
import { gateContent } from '#shared/evidence/bound-content.ts';
import { type Pinned, pinsOf } from './pins.ts';
import type { Consequences } from '#shared/graph/consequences/consequences.ts';
import type { Effect } from '#shared/graph/consequences/effects.ts';
import type { GateConsequences as Found } from '#shared/graph/consequences/gate-consequences.ts';
import type { GateDecision } from '#shared/graph/gates/gate-decision.ts';
import type { GateSettings } from '#shared/graph/gates/gate-settings.ts';
import type { Situation } from '#shared/graph/schedule/scheduler.ts';
import type { JsonObject } from '#shared/json.ts';
import {
  type DryRunDeps,
  inDollars,
  readDryRunFacts,
} from '#shared/operations/workflows/dry-run.ts';
import { consequencesUntrusted } from '#shared/platform/threads/untrusted.ts';

/** A gate as its approvers see it. */
interface AskedGate {
  step_key: string;
  round: number;
  prompt: string;
  title?: string | null | undefined;
  /** The step in the graph that waits, if it is another one. */
  at?: string;
  on_timeout?: GateSettings['on_timeout'];
  /** What the approvers send. */
  input?: JsonObject | undefined;
}

/**
 * What each answer to open gates of a run sets in motion. Empty when it cannot be known, because values that decide it
 * are too large. Throws AppError `not_found`, WorkBusyError, and `invalid` when it takes too long to compute.
 */
export async function findConsequences(
  deps: DryRunDeps,
  runId: string,
  {
    gates,
    ...given
  }: { gates: readonly AskedGate[]; situation: Situation; decided?: readonly GateDecision[] },
): Promise<ShownGate[]> {
  const { workspaceId, workflowId, graph, laid } = await readGraph(deps.db, runId);
  const facts = await readDryRunFacts(
    deps,
    { workspaceId, workflowId },
    { graph, input: undefined },
  );
  const asked = gates.map(({ step_key, at = step_key, on_timeout, input }) => {
    return { step_key: at, on_timeout, input };
  });
  const found = await consequencesUntrusted(workspaceId, {
    gates: asked,
    ...given,
    laid: laid ?? {},
    facts,
  });
  const { targets, pinned } = await pinsOf(deps.db, workspaceId, graph);
  return (found ?? []).map(({ consequences: each, situation: own }, at) => {
    const { step_key, round, prompt, title, input = null } = gates[at]!;
    const consequences = shownConsequences(each, pinned);
    const shown = { run_id: runId, step_key, round, title, prompt };
    return {
      ...{ step_key, round, input, consequences, situation: own, targets, items: itemsOf(each) },
      digest: jsonDigest(gateContent(shown, consequences)),
    };
  });
}

/** The digests of the items of maps that are not listed one by one, by answer and step key. */
function itemsOf(found: Found): ShownItems | null {
  const answers = Object.entries(found).map(([answer, { effects }]: [string, Consequences]) => {
    const many = effects.flatMap(({ step_key, digests }) =>
      digests === undefined ? [] : [[step_key, digests] as const],
    );
    return [answer, Object.fromEntries(many)] as const;
  });
  const some = answers.filter(([, items]) => Object.keys(items).length > 0);
  return some.length === 0 ? null : Object.fromEntries(some);
}

const shownConsequences = (
  { approve, reject, timeout }: Found,
  pinned: Pinned,
): GateConsequences => ({
  approve: shownAnswer(approve, pinned),
  reject: shownAnswer(reject, pinned),
  ...(timeout === undefined ? {} : { timeout: shownAnswer(timeout, pinned) }),
});

const shownAnswer = ({ effects, more, next_gates }: Consequences, pinned: Pinned) => ({
  effects: effects.map((effect) => shownEffect(effect, pinned)),
  more,
  next_gates,
});

const shownEffect = ({ cost, digests: _digests, ...effect }: Effect, pinned: Pinned) => ({
  ...pinned(effect),
  cost_usd: inDollars(cost),
});
