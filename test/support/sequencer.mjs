import Sequencer from '@jest/test-sequencer';

/** Files that wait for timeouts of servers, the longest first. Started late, they would be what a run waits for at its end. */
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
 * What drives a browser comes last: a browser takes all of a processor, and other tests check how soon something happens.
 * Among the rest files keep jest's order, the longest of the last run first.
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
