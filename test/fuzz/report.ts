import { asCurl } from './failures.ts';
import type { FuzzResult, OperationTally } from './run-fuzz.ts';

const list = (counts: Record<string, number>): string =>
  Object.entries(counts)
    .map(([name, count]) => `${name} ${count}`)
    .join(', ');

/** The operations with the longest average time, with that time. */
const slowest = (tallies: [string, OperationTally][]): string =>
  tallies
    .filter(([, { sent }]) => sent > 0)
    .map(([name, { sent, ms }]) => ({ name, ms: Math.round(ms / sent) }))
    .sort((a, b) => b.ms - a.ms)
    .slice(0, 8)
    .map(({ name, ms }) => `${name} ${ms} ms`)
    .join(', ');

/** The result for people, failures last. */
export function reportOf(result: FuzzResult): string {
  const { operations, failures, requests, seconds } = result;
  const tallies = [...operations];
  const reached = tallies.filter(([, { sent }]) => sent > 0);
  const succeeded = tallies.filter(([, tally]) => tally.succeeded > 0);
  const never = tallies.filter(([, tally]) => tally.succeeded === 0);
  return [
    `seed         ${result.seed}`,
    `requests     ${requests} in ${seconds.toFixed(1)} s, ${Math.round(requests / seconds)} a second`,
    `by class     ${list(result.classes)}; ${result.linked} with an id that an answer gave`,
    `by surface   ${list(result.surfaces)}`,
    `by status    ${list(result.statuses)}`,
    `operations   ${tallies.length} documented, ${reached.length} reached, ${succeeded.length} with a success`,
    ...never.map(([name, { refusals }]) => `  never succeeded: ${name} (${refusals.join(' | ')})`),
    `slowest      ${slowest(tallies)}`,
    `MCP tools    ${[...result.tools].map(([name, { called, succeeded: well }]) => `${name} ${well}/${called}`).join(', ')}`,
    `memory       ${Object.entries(result.memory)
      .map(([name, { warm, most }]) => `${name} ${warm} MB once warm, ${most} MB at most`)
      .join('; ')}`,
    `failures     ${failures.length}`,
    ...failures.map(
      (failure, index) =>
        `\n${index + 1}. ${failure.operation} answered ${failure.status}, ${failure.count} times\n` +
        `   ${failure.at}: ${failure.problem}\n` +
        `   seed ${result.seed}, request ${failure.request.number}, ${failure.request.class}` +
        `${failure.request.how.length === 0 ? '' : ` (${failure.request.how.join(', ')})`}\n` +
        `   ${asCurl(failure.request)}`,
    ),
  ].join('\n');
}

/** Requests that the document allows but the service refuses, most frequent first: gaps in the schemas. */
export const refusalsOf = ({ refused }: FuzzResult): string[] =>
  [...refused].sort((a, b) => b[1] - a[1]).map(([why, count]) => `${count} × ${why}`);
