/**
 * What the Python client calls the operations of both APIs. A name is the `operationId` in snake_case unless this table has
 * another one. The names are those of the TypeScript client: a test compares them.
 */

/** How a method differs from what the OpenAPI document alone gives. */
export interface Naming {
  /** Default: the `operationId` in snake_case. */
  name?: string;
  /** Fields of the body that can be given without their names, in order. */
  positional?: readonly string[];
  /** Values of omitted fields of the body, as Python. */
  defaults?: Readonly<Record<string, string>>;
  /** The name of a body that is not an object with known fields. Default: `body`. */
  body?: string;
  /** Parameters with one value only, so that the response has one type. */
  fixed?: Readonly<Record<string, string>>;
  /** A second method for the same operation, with its own fixed values, that returns text. */
  text?: { name: string; fixed: Readonly<Record<string, string>>; summary: string };
  /** An iterator over the rows of all pages. Default: for a list, its name without `list_`. */
  rows?: { name: string; key: string };
  /** A list that a method without `limit` and `offset` reads as one page only. */
  onePage?: true;
}

export const operations: Readonly<Record<string, Naming>> = {
  assignGate: { positional: ['member_id'] },
  cancelRun: { name: 'cancel' },
  changePlan: { positional: ['plan'] },
  createTemplate: { body: 'template' },
  createTool: { name: 'register_tool' },
  createWebhookEndpoint: { name: 'create_endpoint' },
  decideGate: {
    name: 'approve',
    positional: ['approved', 'input'],
    defaults: { approved: 'True' },
  },
  deleteWebhookEndpoint: { name: 'delete_endpoint' },
  dryRunWorkflow: { name: 'dry_run', positional: ['input'] },
  forkRun: { name: 'fork', positional: ['from_step'] },
  getBacktest: { rows: { name: 'backtest_steps', key: 'steps' } },
  getEntityHistory: { rows: { name: 'entity_versions', key: 'versions' } },
  getExperiment: {
    fixed: { format: 'json' },
    text: {
      name: 'experiment_csv',
      fixed: { format: 'csv' },
      summary:
        'Read all runs of an experiment that are done, worst first, as CSV with a header row',
    },
    rows: { name: 'experiment_runs', key: 'runs' },
  },
  getWebhookDelivery: { name: 'get_delivery' },
  getWebhookEndpoint: { name: 'get_endpoint' },
  ingestRecords: { name: 'ingest', positional: ['feed_id', 'records'] },
  listAudit: { rows: { name: 'audit_entries', key: 'logs' } },
  listGovernanceEvents: { onePage: true, rows: { name: 'governance_events', key: '' } },
  listWebhookDeliveries: { name: 'list_deliveries' },
  listWebhookEndpoints: { name: 'list_endpoints' },
  listWebhookEvents: { name: 'list_endpoint_events' },
  login: { positional: ['email', 'password'] },
  pingWebhookEndpoint: { name: 'ping_endpoint' },
  receiveCallback: { name: 'send_callback' },
  redeliverWebhookDeadLetters: { name: 'redeliver_dead_letters' },
  redeliverWebhookDelivery: { name: 'redeliver_delivery' },
  rerunRun: { name: 'rerun' },
  resumeRun: { name: 'resume' },
  rotateWebhookEndpointSecret: { name: 'rotate_endpoint_secret' },
  saveRunView: { positional: ['filter'] },
  setChecks: { body: 'checks' },
  setPlan: { positional: ['plan'] },
  testTool: { positional: ['arguments'] },
  updateWebhookEndpoint: { name: 'update_endpoint' },
  validateWorkflow: { name: 'validate' },
};

/** The methods of `client.data`, by the `operationId` of the data API. */
export const dataOperations: Readonly<Record<string, Naming>> = {
  createExport: {
    fixed: { format: 'json' },
    text: {
      name: 'create_export_csv',
      fixed: { format: 'csv' },
      summary: 'Export up to 10,000 records or events as CSV with a header row',
    },
  },
  createWebhookEndpoint: { name: 'create_endpoint' },
  deleteWebhookEndpoint: { name: 'delete_endpoint' },
  listWebhookDeliveries: { name: 'list_deliveries' },
  listWebhookEndpoints: { name: 'list_endpoints' },
  pingWebhookEndpoint: { name: 'ping_endpoint' },
  redeliverDeadWebhookDeliveries: { name: 'redeliver_dead_letters' },
  redeliverWebhookDelivery: { name: 'redeliver_delivery' },
  rotateWebhookSecret: { name: 'rotate_endpoint_secret' },
};

/** Methods with logic of their own, in `client.py`, by the `operationId` of what they request. */
export const handwritten: Readonly<Record<string, string>> = {
  triggerRun: 'trigger_run',
  receiveEvent: 'send_event',
  streamRun: 'stream',
  streamWorkspace: 'stream_workspace',
};

/** MCP clients use it. */
export const omitted: readonly string[] = ['mcp'];

/** What `{id}` after a part of a path identifies, where it is not the singular of the part. */
export const identified: Readonly<Record<string, string>> = { webhooks: 'endpoint' };
