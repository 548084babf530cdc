import type { CustomTool } from '#shared/db/tools/custom-tools.ts';
import type { Sealer } from '#shared/crypto/sealing.ts';
import type { Beginning } from '#shared/db/steps/step-ends.ts';
import type { DispatchDeps } from '#shared/operations/runs/executions.ts';
import type { FrameNotifier } from './frame-notifier.ts';
import type { DeltaNotifier } from './agents/delta-notifier.ts';
import type { CallApproval } from './agents/call.ts';
import type { RecentCalls } from './agents/recent-calls.ts';
import type { TurnContext } from './agents/turn.ts';
import type { EndedWait } from '#shared/db/waits/waits.ts';
import type { PriceOverrides } from '#shared/money/prices.ts';
import { type Consumption, NodeError } from './nodes/node.ts';
import type { NodeRunners } from './nodes/node-runners.ts';
import type { ConnectionTokens } from '#shared/operations/connections/tokens.ts';
import type { AddressOf, KnownSecrets } from './step-secrets.ts';
import type { PolicyCache } from './policies.ts';

/** If a claim was not renewed for this long, it is dead, and a resume stops waiting for it. */
export const CLAIM_MS = 15_000;

export const NOTHING_SPENT: Consumption = { costMicros: 0 };

export const attemptOutcomes = ['success', 'failed', 'retried', 'cancelled'] as const;
export type AttemptOutcome = (typeof attemptOutcomes)[number];

export interface StepMetrics {
  ended(kind: string, outcome: AttemptOutcome, seconds: number): void;
  /** A step would have sent something else than what was shown at a gate. */
  mismatched(): void;
  /** Code was stopped because it had used up its processor time or memory. */
  codeExceeded(resource: 'time' | 'memory'): void;
  /** A wait ended after this long, with what it waited for or because its time was up. */
  waited(wait: EndedWait): void;
  /** A step begins that has waited this long for a free call of its tool or model. */
  waitedForCall(seconds: number): void;
}

export interface ExecuteNodeDeps extends DispatchDeps {
  /** Opens the headers of custom tools. */
  sealer: Sealer | undefined;
  addressOf: AddressOf;
  connectionTokens: ConnectionTokens;
  metrics?: StepMetrics;
  frames: FrameNotifier;
  deltas: DeltaNotifier;
  recentCalls: RecentCalls;
  policies: PolicyCache;
  runners: NodeRunners;
}

export interface Claim {
  claim: string;
  beginning: Beginning;
  customTool?: CustomTool | undefined;
  /** For an agent's call that a person approved. */
  approval?: CallApproval | undefined;
  secrets?: KnownSecrets | undefined;
  /** For a turn of an agent with tools. It may still be loading when the step is claimed. */
  turn?: Promise<TurnContext> | undefined;
  errors: number;
  generation: number;
  budgeted: boolean;
  /** The prices by which its possible cost was reserved. */
  prices: PriceOverrides;
  counted: boolean;
  /** Whether calls of limits were taken. */
  limited: boolean;
  attempts: number;
}

export function spendingOf(error: unknown): Consumption {
  return error instanceof NodeError ? error.consumption : NOTHING_SPENT;
}
