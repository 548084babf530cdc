import { callbacks } from './callbacks.ts';
import type { Check, Violation } from './check.ts';
import { credits, deliveries, events, posts, records } from './data.ts';
import { debounced } from './debounce.ts';
import { effects, processes } from './effects.ts';
import { crashes, executions, frames, rest, shown, steps, streams } from './engine.ts';
import type { Evidence } from './evidence.ts';
import { calls, priorities, queues, rates, slots, superseded } from './limits.ts';
import { budgets, caps, costs } from './money.ts';
import { proofs } from './proofs.ts';
import {
  admissions,
  answers,
  decisions,
  definitions,
  refusedDecisions,
  runActs,
  schedules,
  triggers,
} from './requests.ts';
import { sentEvents, waits } from './waits.ts';

export type { Violation } from './check.ts';

const checks: Readonly<Record<string, Check>> = {
  triggers,
  admissions,
  decisions,
  'refused decisions': refusedDecisions,
  'cancels and resumes': runActs,
  definitions,
  answers,
  schedules,
  rest,
  crashes,
  steps,
  frames,
  executions,
  'what the API shows': shown,
  streams,
  evidence: proofs,
  'sent events': sentEvents,
  waits,
  callbacks,
  slots,
  queues,
  rates,
  priorities,
  superseded,
  debounced,
  calls,
  costs,
  budgets,
  caps,
  records,
  events,
  deliveries,
  posts,
  credits,
  effects,
  processes,
};

export interface Judgment {
  /** How many things each check has checked. */
  looked: Record<string, number>;
  violations: Violation[];
}

/** Compares the evidence with the guarantees of the service. */
export function judge(evidence: Evidence): Judgment {
  const looked: Judgment['looked'] = {};
  const violations: Violation[] = [];
  for (const [name, check] of Object.entries(checks)) {
    const finding = check(evidence);
    looked[name] = finding.looked;
    violations.push(...finding.violations.map((violation) => ({ check: name, ...violation })));
  }
  return { looked, violations };
}
