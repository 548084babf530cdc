// Runs before `npm run bench:peers`, after scripts/setup.mjs: installs the packages of this folder unless they match its
// lock file.
import { installPackages } from '../../scripts/setup.mjs';
import { SetupError } from '../../scripts/setup/run-long.mjs';

try {
  await installPackages(import.meta.dirname);
} catch (error) {
  if (!(error instanceof SetupError)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}
