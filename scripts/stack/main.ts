import { messageOf } from './output.ts';
import { removeFolder } from './temporary-folder.ts';
import { claimTestFolder, clearEarlierTests, startTestServers } from './test-servers.ts';

/**
 * `npm run stack`: keeps the test servers running until Ctrl-C, to run a few tests repeatedly. With the two variables
 * that it prints, `npm test -- <file>` uses them instead of starting its own.
 */
try {
  await clearEarlierTests();
  const claim = await claimTestFolder();
  const servers = await startTestServers(claim);
  console.log(`export TEST_DATABASE_URL=${servers.databaseUrl}`);
  console.log(`export TEST_TEMPORAL_ADDRESS=${servers.temporalAddress}`);
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => {
      void servers.stop().finally(() => {
        removeFolder(claim.folder);
        process.exit(0);
      });
    });
  }
  // Keeps this process alive, because the servers write to their logs and not to this process.
  setInterval(() => undefined, 60_000);
} catch (error) {
  console.error(messageOf(error));
  process.exit(1);
}
