import Sequencer from '@jest/test-sequencer';

/** Files that wait for server timeouts, longest first. Started late, they would delay the end of a run. */
const longest = [
  'engine/crashes',
  'engine/outages',
  'engine/resume-interrupted',
  'engine/reconciler',
  'engine/replay-broken',
  'engine/schedules',
  'engine/deliveries',
  'storm/storm',
  'api/governance/money-races',
  'engine/alerts',
  'launcher/start',
  'db/cost-in-flight',
  'cli/installation',
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
