import { checkSteps, runChecks, sourceTests } from './steps.ts';

/**
 * `npm run check [-- <part> ...]`: types, lint, import law, sizes, format, unused exports, folders and words, without a
 * server. With arguments, runs the parts whose names begin with them: `npm run check -- types lint`.
 */
const all = [...checkSteps, ...sourceTests];
const wanted = process.argv.slice(2);
const unknown = wanted.filter((part) => !all.some(({ name }) => name.startsWith(part)));
if (unknown.length > 0) {
  const names = all.map(({ name }) => `'${name}'`).join(', ');
  console.error(`No part of the check begins with '${unknown[0]}'. There are ${names}`);
  process.exit(1);
}
const steps =
  wanted.length === 0
    ? all
    : all.filter(({ name }) => wanted.some((part) => name.startsWith(part)));
const { passed, failed } = await runChecks({ steps });
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);
