// Has the SDK download the Temporal CLI into the folder given. It knows no "download only": a server is started and stopped.
const packageName = '@temporalio/testing';
const { TestWorkflowEnvironment } = await import(packageName);
const environment = await TestWorkflowEnvironment.createLocal({
  server: { executable: { type: 'cached-download', downloadDir: process.argv[2] } },
});
await environment.teardown();
process.exit(0);
