import Sequencer from '@jest/test-sequencer';

/**
 * What drives a browser comes last: a browser takes all of a processor, and other tests watch how soon something
 * happens. Among themselves files keep jest's order, the longest first.
 */
export default class extends Sequencer {
  sort(tests) {
    const ordered = super.sort(tests);
    const drivesBrowser = ({ path }) => path.includes('/test/console/');
    return [
      ...ordered.filter((test) => !drivesBrowser(test)),
      ...ordered.filter((test) => drivesBrowser(test)),
    ];
  }
}
