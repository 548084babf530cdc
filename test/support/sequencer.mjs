import Sequencer from '@jest/test-sequencer';

/**
 * The longest files, for a first run, which knows no durations. Started late, they would delay the end of a run. Those
 * that use the processors are between those that wait for server timeouts.
 */
const longest = [
  'launcher/start',
  'engine/deliveries',
  'storm/storm.soak',
  'engine/cuts/gate.soak',
  'engine/cuts/admission',
  'engine/cuts/children.soak',
  'engine/cuts/agent.soak',
  'engine/cuts/rehearsals.soak',
  'engine/crashes.soak',
  'engine/resume-interrupted.soak',
  'security/decision-paths',
  'security/foreign-ids',
  'engine/outages.soak',
  'engine/reconciler.soak',
  'engine/sweep',
  'engine/alerts',
  'engine/schedules',
  'engine/replay-broken.soak',
  'graph/generated/forks',
  'db/cost-in-flight.soak',
  'platform/untrusted.soak',
  'api/people/sign-in',
  'api/people/members',
  'api/mcp/mcp',
  'engine/backtests/backtests',
  'engine/gate-clocks',
  'engine/traces',
  'api/contract/effects',
  'security/injection',
  'engine/fair-steps.soak',
  'seed/seed',
  'engine/members',
  'engine/agents',
  'api/money/money-races.soak',
  'engine/resume',
  'api/runs/lost-commits.soak',
  'console/everywhere.soak',
  'launcher/image.soak',
  'seed/tours.soak',
  'console/workbench-story.soak',
  'client/package.soak',
  'console/story.soak',
  'console/workflows',
  'console/data',
  'console/sign-in',
];

const isIn = (folder, { path }) => path.includes(`/test/${folder}`);
const rankOf = (test) => {
  const rank = longest.findIndex((file) => isIn(`${file}.test.ts`, test));
  return rank === -1 ? longest.length : rank;
};

/**
 * Browser tests run last: a browser takes a whole processor, and other tests check response times. The other files keep
 * jest's order, the longest of the last run first.
 */
export default class extends Sequencer {
  /** Deals the files to the shards, the longest first, so that all take about as long. */
  shard(tests, { shardIndex, shardCount }) {
    return tests
      .toSorted((a, b) => rankOf(a) - rankOf(b) || (a.path < b.path ? -1 : 1))
      .filter((_test, at) => at % shardCount === shardIndex - 1);
  }

  sort(tests) {
    const ordered = super.sort(tests).sort((a, b) => rankOf(a) - rankOf(b));
    return [
      ...ordered.filter((test) => !isIn('console/', test)),
      ...ordered.filter((test) => isIn('console/', test)),
    ];
  }
}
