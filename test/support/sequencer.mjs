import Sequencer from '@jest/test-sequencer';

/**
 * The longest files, for a first run, which knows no durations. Started late, they would delay the end of a run. Those
 * that use the processors are between those that wait for server timeouts.
 */
const longest = [
  'engine/deliveries',
  'storm/storm',
  'engine/resume-interrupted',
  'engine/crashes',
  'launcher/start',
  'engine/reconciler',
  'engine/outages',
  'cli/installation',
  'engine/replay-broken',
  'engine/alerts',
  'db/cost-in-flight',
  'engine/schedules',
  'engine/agent-crashes',
  'security/injection',
  'engine/fair-steps',
  'platform/untrusted',
  'engine/sweep',
  'engine/agents',
  'api/governance/money-races',
  'engine/resume',
  'api/runs/lost-commits',
  'console/everywhere',
  'console/story',
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
  sort(tests) {
    const ordered = super.sort(tests).sort((a, b) => rankOf(a) - rankOf(b));
    return [
      ...ordered.filter((test) => !isIn('console/', test)),
      ...ordered.filter((test) => isIn('console/', test)),
    ];
  }
}
