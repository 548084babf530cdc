import Sequencer from '@jest/test-sequencer';

/**
 * Files that mostly wait for timeouts of servers, with the seconds that they take, the longest first. They run side by
 * side with files that use the processors all the time. Started late, they would be what a run waits for at its end.
 */
const waiting = [
  ['storm/storm', 145],
  ['engine/deliveries', 145],
  ['engine/resume-interrupted', 130],
  ['engine/crashes', 115],
  ['engine/schedules', 105],
  ['engine/reconciler', 100],
  ['engine/replay-broken', 95],
  ['engine/alerts', 80],
  ['launcher/start', 70],
  ['engine/outages', 60],
  ['db/cost-in-flight', 50],
  ['cli/installation', 45],
  ['api/governance/money-races', 45],
];

/** How many files of the list run at the same time. */
const WAITING_AT_ONCE = 2;
/** The seconds that any other file takes on average. */
const OTHER_SECONDS = 7;

const isIn = (folder, { path }) => path.includes(`/test/${folder}`);
const rankOf = (test) => waiting.findIndex(([file]) => isIn(`${file}.test.ts`, test));

/**
 * Jest starts files in this order as its processes become free. The order is that of a plan in which each process is
 * given the next waiting file, or the next other file, at the estimated end of the last. Files that drive a browser come
 * last: a browser takes all of a processor, and other tests check how soon something happens. Among the rest files keep
 * jest's order, the longest of the last run first.
 */
export default class extends Sequencer {
  constructor(options) {
    super(options);
    this.processes = options.globalConfig.maxWorkers;
  }

  sort(tests) {
    const ordered = super.sort(tests);
    const plan = (some, lanes, secondsOf) => {
      const free = Array.from({ length: lanes }, () => 0);
      return some.map((test) => {
        const start = Math.min(...free);
        free[free.indexOf(start)] = start + secondsOf(test);
        return { test, start };
      });
    };
    const waits = ordered
      .filter((test) => rankOf(test) !== -1)
      .sort((a, b) => rankOf(a) - rankOf(b));
    const others = ordered.filter((test) => rankOf(test) === -1 && !isIn('console/', test));
    const lanes = Math.max(1, this.processes - WAITING_AT_ONCE);
    const planned = [
      ...plan(waits, WAITING_AT_ONCE, (test) => waiting[rankOf(test)][1]),
      ...plan(others, lanes, () => OTHER_SECONDS),
    ].sort((a, b) => a.start - b.start);
    return [
      ...planned.map(({ test }) => test),
      ...ordered.filter((test) => isIn('console/', test)),
    ];
  }
}
