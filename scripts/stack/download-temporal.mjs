// Makes the SDK download the Temporal CLI to the given folder. The SDK cannot just download it, so a server is started
// and stopped.
import { TestWorkflowEnvironment } from '@temporalio/testing';
import { temporalCliVersion } from './temporal-binary.mjs';

try {
  const environment = await TestWorkflowEnvironment.createLocal({
    server: {
      executable: {
        type: 'cached-download',
        downloadDir: process.argv[2],
        // The same version as the Go build, so that everyone runs the tested server.
        version: `v${temporalCliVersion}`,
      },
    },
  });
  await environment.teardown();
  process.exit(0);
} catch (error) {
  // Causes are joined by colons; the last ones describe the failure.
  const message = error instanceof Error ? error.message : String(error);
  console.error(message.split(': ').slice(-2).join(': '));
  process.exit(1);
}
