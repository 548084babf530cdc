import { settleEnvironment } from './settings-files.ts';

// Must be the first import of every process of the service, because modules are evaluated in the order of their
// imports, and some packages read variables when they are loaded.
try {
  settleEnvironment();
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`);
  process.exit(1);
}
