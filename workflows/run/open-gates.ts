import type { CarriedState, LedgerState } from '#shared/execution.ts';
import type { GateOpening } from '#shared/graph/gates/gate-opening.ts';
import type { GateDecision } from '#shared/graph/gates/gate-decision.ts';
import type { ReadyNode } from '#shared/graph/schedule/scheduler.ts';

export interface DecidedGate {
  step: ReadyNode;
  opening: GateOpening;
  decision: GateDecision;
}

/** The open gates of a run and the decisions it has received, in either order. */
export interface OpenGates {
  /** The first decision for a gate's round is final; later and repeated ones change nothing. */
  learn: (decision: GateDecision) => void;
  /** The gates and decisions of a lost execution. */
  learnLedger: (ledger: LedgerState) => void;
  /** Waits for a decision, about a gate or about a tool call that needs approval. `round`: if the worker knows it. */
  reach: (step: ReadyNode, opening: Omit<GateOpening, 'round'> & { round?: number }) => void;
  /** Whether a step has asked before. */
  asked: (stepKey: string) => boolean;
  /** Whether the run has any decisions. */
  readonly anyDecided: boolean;
  /** Whether a gate has been decided that was not taken yet. */
  readonly decided: boolean;
  /** Removes and returns the first gate that has been decided. */
  takeDecided: () => DecidedGate | undefined;
  /** After a rejection that failed the run, the gate's next opening is a new round. */
  reopen: (gate: DecidedGate) => void;
  openings: () => GateOpening[];
  /** The opening of one step, if it waits. */
  openingsOf: (stepKey: string) => GateOpening[];
  carried: () => Pick<CarriedState, 'decisions' | 'rounds'>;
}

const keyOf = (stepKey: string, round: number): string => `${stepKey}/${round}`;

export function createOpenGates(carried?: Pick<CarriedState, 'decisions' | 'rounds'>): OpenGates {
  const decisions = new Map<string, GateDecision>();
  const rounds = new Map<string, number>(Object.entries(carried?.rounds ?? {}));
  const gates = new Map<string, { step: ReadyNode; opening: GateOpening }>();
  let ledger: LedgerState | undefined;

  function learn(decision: GateDecision): void {
    const key = keyOf(decision.step_key, decision.round);
    if (!decisions.has(key)) decisions.set(key, decision);
  }

  /** A gate from the ledger whose last round failed the run, by a rejection or its timeout, starts a new round. */
  function firstRound({
    step_key: stepKey,
    fails_on_reject,
    caught_on_reject = false,
  }: Pick<GateOpening, 'step_key' | 'fails_on_reject' | 'caught_on_reject'>): number {
    const known = ledger?.rounds[stepKey];
    if (known === undefined) return 1;
    const last = decisions.get(keyOf(stepKey, known));
    const failed = last?.timed_out === 'fail' || (last?.approved === false && fails_on_reject);
    return failed && !caught_on_reject ? known + 1 : known;
  }

  const findDecided = (): DecidedGate | undefined => {
    for (const gate of gates.values()) {
      const decision = decisions.get(keyOf(gate.step.step_key, gate.opening.round));
      if (decision !== undefined) return { ...gate, decision };
    }
    return undefined;
  };

  carried?.decisions.forEach(learn);

  return {
    learn,
    learnLedger: (known) => {
      ledger = known;
      known.decisions.forEach(learn);
    },
    reach: (step, opening) => {
      const { step_key: key } = opening;
      const { round = rounds.get(key) ?? firstRound(opening) } = opening;
      rounds.set(key, round);
      gates.set(key, { step, opening: { ...opening, round } });
    },
    asked: (stepKey) => rounds.has(stepKey) || ledger?.rounds[stepKey] !== undefined,
    get anyDecided() {
      return decisions.size > 0;
    },
    get decided() {
      return findDecided() !== undefined;
    },
    takeDecided: () => {
      const gate = findDecided();
      if (gate !== undefined) gates.delete(gate.opening.step_key);
      return gate;
    },
    reopen: ({ opening }) => {
      rounds.set(opening.step_key, opening.round + 1);
    },
    openings: () => [...gates.values()].map((gate) => gate.opening),
    openingsOf: (stepKey) => [gates.get(stepKey)?.opening ?? []].flat(),
    carried: () => ({ decisions: [...decisions.values()], rounds: Object.fromEntries(rounds) }),
  };
}
