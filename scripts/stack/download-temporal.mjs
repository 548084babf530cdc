// Has the SDK download the Temporal CLI into the folder given. It knows no "download only": a server is started and stopped.
import { TestWorkflowEnvironment } from '@temporalio/testing';
import { temporalCliVersion } from './temporal-binary.mjs';

try {
  const environment = await TestWorkflowEnvironment.createLocal({
    server: {
      executable: {
        type: 'cached-download',
        downloadDir: process.argv[2],
        // The version that is built with Go elsewhere, so that everybody runs the server that was tested.
        version: `v${temporalCliVersion}`,
      },
    },
  });
  await environment.teardown();
  process.exit(0);
} catch (error) {
  // A chain of causes, each behind a colon; the last ones are what went wrong.
  const message = error instanceof Error ? error.message : String(error);
  console.error(message.split(': ').slice(-2).join(': '));
  process.exit(1);
}
