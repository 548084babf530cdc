import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import type { Violation } from '#test/storm/oracle/index.ts';
import type { Executed } from '#test/support/postgres-wire.ts';
import { soakCases } from '#test/support/soak.ts';
import { type Lane, startLane } from './lane.ts';

export interface Scenario<Fixtures> {
  name: string;
  /** Also cuts what is the same beside every run: what looks for work, seals the audit log, and adds up usage. */
  background?: boolean;
  /** What its runs need, once for each lane. */
  prepare(lane: Lane): Promise<Fixtures>;
  /**
   * Starts something that is called `id`, drives it to its end, and throws if that is not as expected. The lane sends a
   * request again that got 503.
   */
  drive(lane: Lane, fixtures: Fixtures, id: string): Promise<void>;
}

/** A place at which the connection breaks. */
interface Cut {
  statement: string;
  /** Among the statements with the same text, from 1. */
  nth: number;
  when: 'sent' | 'answered';
}

interface Report {
  /** The cuts whose statement came. Another may come less often than the first time. */
  made: number;
  /** One line each: the scenario, the cut and the violated guarantee. */
  problems: string[];
}

/** Lanes work at the same time, because a cut mostly waits for a retry. */
const LANES = 2;
/** How many cuts `npm test` makes, of the functions that admit a run, and begin and end its steps and itself. */
const SAMPLE = 8;
const SAMPLED = /\b(admit_run|begin_step|end_step|settle_run)_\d+\(/;
/** `CUT='after no. 1 of "SELECT * FROM settle_run' npm test -- <file>` makes only the cuts with this text. */
const isWanted = (cut: Cut): boolean => describeCut(cut).includes(process.env['CUT'] ?? '');
/** Several intervals of every background loop. */
const IDLE_MS = 1_500;
const SHOWN = 160;

/**
 * Runs the scenario, and then again for each statement that it sent to Postgres: without the connection before the
 * statement, and after it, the first time that it comes; if it writes, also the last time. Nothing may be lost or happen
 * twice.
 */
export function cutTest<Fixtures>(scenario: Scenario<Fixtures>): void {
  test(`${scenario.name}: a connection lost at any statement loses nothing and repeats nothing`, async () => {
    const { made, problems } = await cutEverywhere(scenario);
    expect(problems).toEqual([]);
    expect(made).toBeGreaterThan(0);
  }, 900_000);
}

interface OpenLane<Fixtures> extends Lane {
  scenario: Scenario<Fixtures>;
  fixtures: Fixtures;
  driven: number;
}

async function openLane<Fixtures>(scenario: Scenario<Fixtures>): Promise<OpenLane<Fixtures>> {
  const lane = await startLane();
  return { ...lane, scenario, fixtures: await scenario.prepare(lane), driven: 0 };
}

async function cutEverywhere<Fixtures>(scenario: Scenario<Fixtures>): Promise<Report> {
  const report: Report = { made: 0, problems: [] };
  const first = await openLane(scenario);
  const cuts = cutsOf(await record(first, report)).filter(isWanted);
  const isSampled = ({ statement, nth }: Cut): boolean => nth === 1 && SAMPLED.test(statement);
  const left = soakCases(
    [...cuts.filter(isSampled), ...cuts.filter((cut) => !isSampled(cut))],
    SAMPLE,
  );
  const work = async (given?: OpenLane<Fixtures>): Promise<void> => {
    let lane = given;
    for (let cut = left.shift(); cut !== undefined; cut = left.shift()) {
      lane ??= await openLane(scenario);
      // What is wrong once stays wrong in that database.
      if (await cutOnce(lane, cut, report)) continue;
      await lane.close();
      lane = undefined;
    }
    await lane?.close();
  };
  await Promise.all(Array.from({ length: LANES }, (_, at) => work(at === 0 ? first : undefined)));
  return report;
}

/** The statements of a scenario without cuts, at which nothing may be wrong. The first time fills caches. */
async function record<Fixtures>(lane: OpenLane<Fixtures>, report: Report): Promise<Executed[]> {
  let statements: Executed[] = [];
  for (let time = 1; time <= 2; time += 1) {
    lane.wire.takeStatements();
    const problems = await drive(lane, () => {
      statements = lane.wire.takeStatements();
    });
    const { name } = lane.scenario;
    report.problems.push(...problems.map((problem) => `${name}, undisturbed: ${problem}`));
  }
  if (lane.scenario.background === true) return statements;
  lane.wire.takeStatements();
  await sleep(IDLE_MS);
  const always = new Set(lane.wire.takeStatements().map(({ text }) => text));
  return statements.filter(({ text }) => !always.has(text) && !AFTERWARDS.test(text));
}

/** What follows each run: the words for its search, the seal of the audit log, and the sums of usage. */
const AFTERWARDS = /run_words|audit_chains|audit_unsealed|audit_chain|usage_deltas ORDER/;

/** What writes, calls a function that does, or commits a transaction. */
const WRITES = /^COMMIT|\b(INSERT|UPDATE|DELETE|pg_notify)\b|_\d+\(/;

/**
 * A statement that commits nothing has no cut after it, which is the same as a cut before the next one: the database
 * rolls back, or there was nothing to write.
 */
function cutsOf(statements: readonly Executed[]): Cut[] {
  const times = new Map<string, number>();
  for (const { text } of statements) times.set(text, (times.get(text) ?? 0) + 1);
  const commits = new Set(
    statements.filter(({ text, pending }) => !pending && WRITES.test(text)).map(({ text }) => text),
  );
  return [...times].flatMap(([statement, last]) =>
    timesToCut(statement, last).flatMap((nth) => [
      { statement, nth, when: 'sent' as const },
      ...(commits.has(statement) ? [{ statement, nth, when: 'answered' as const }] : []),
    ]),
  );
}

/** The second step of a scenario is a call of a tool. */
function timesToCut(statement: string, last: number): number[] {
  if (!WRITES.test(statement)) return [1];
  return [...new Set(SAMPLED.test(statement) && last > 1 ? [1, 2, last] : [1, last])];
}

/** Whether everything is right after the cut. */
async function cutOnce<Fixtures>(
  lane: OpenLane<Fixtures>,
  cut: Cut,
  report: Report,
): Promise<boolean> {
  let seen = 0;
  lane.wire.breakAt({
    when: cut.when,
    at: (statement) => statement === cut.statement && ++seen === cut.nth,
  });
  const problems = await drive(lane, () => {
    if (lane.wire.hasBroken()) report.made += 1;
    lane.wire.cancelBreak();
  });
  const place = `${lane.scenario.name}, ${describeCut(cut)}`;
  report.problems.push(...problems.map((problem) => `${place}: ${problem}`));
  return problems.length === 0;
}

/** Drives the scenario once, and returns what is wrong afterward. */
async function drive<Fixtures>(lane: OpenLane<Fixtures>, atRest: () => void): Promise<string[]> {
  lane.driven += 1;
  const problems: string[] = [];
  try {
    await lane.scenario.drive(lane, lane.fixtures, `act-${lane.driven}`);
  } catch (error) {
    problems.push(error instanceof Error ? error.message : String(error));
  }
  const quiet = await lane.rest();
  atRest();
  return [...problems, ...(await lane.judge(quiet)).map(describeViolation)];
}

const describeViolation = ({ check, subject, expected, found }: Violation): string =>
  `${check}: ${subject}: expected ${expected}, found ${found}`;

const describeCut = ({ statement, nth, when }: Cut): string => {
  const text = statement.replaceAll(/\s+/g, ' ').trim().slice(0, SHOWN);
  return `cut ${when === 'sent' ? 'before' : 'after'} no. ${nth} of "${text}"`;
};
