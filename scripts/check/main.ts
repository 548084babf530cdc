import { runChecks } from './steps.ts';

/** `npm run check`: types, lint, the import law, words, format and unused exports, without starting anything. */
const { passed, failed } = await runChecks({ atOnce: 2 });
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);
