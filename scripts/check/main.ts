import { checkSteps, runChecks, sourceTests } from './steps.ts';

/** `npm run check`: types, lint, import rules, sizes, format, unused exports, folders and words, without a server. */
const { passed, failed } = await runChecks({ steps: [...checkSteps, ...sourceTests], atOnce: 2 });
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);
