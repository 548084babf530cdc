import type { CustomTool } from '#client/index.ts';
import { plural } from '#console/src/messages/format.ts';

/** Messages for the page of tools. */
export const tools = {
  title: 'Tools',
  about: 'Custom tools that workflows call as custom:name, in addition to the built-in tools.',
  new: 'New tool',
  editTitle: 'Edit tool',
  custom: 'Custom tools',
  filter: 'Search tools',
  noMatch: 'No tool matches the search.',
  empty: {
    title: 'No custom tools yet',
    about:
      'A tool is an HTTP endpoint, a tool of an MCP server, or code, so that workflows and agents can use your own systems. Its secrets are encrypted.',
    create: 'Create tool',
  },
  mcp: {
    title: 'MCP server',
    about:
      'Models can find, run and monitor the workflows of this workspace with the Model Context Protocol. Use any MCP client that supports streamable HTTP.',
    whatUrl: 'the MCP URL',
    whatConfiguration: 'the configuration of an MCP client',
    useKey: 'Use an {key}. Its role limits what the model can do.',
    key: 'API key',
  },
} as const;

/** Messages for one tool. */
export const toolCard = {
  mcp: 'MCP',
  whatName: 'the tool name',
  code: 'Code',
  computes: '{name} computes with code, and calls nothing',
  calls: '{name} calls {url}',
  callsTool: '{name} calls {url}, tool {tool}',
  timeout: (seconds: string) => `Timeout ${seconds} s`,
  retries: (count: number) => plural(count, { one: 'up to # retry', other: 'up to # retries' }),
  sends: 'sends {headers}',
  updated: 'updated {when}',
  hideDetails: 'Hide details',
  showDetails: 'Show schema and test',
  noSchema: 'No schema. The tool accepts any arguments.',
  whatSchema: (name: string) => `the schema of ${name}`,
  changed: 'Changed in its document',
  authenticates: 'authenticates with {name}',
  whatRequest: (name: string) => `the request of ${name}`,
  request: 'Request',
  editTool: (name: string) => `Edit ${name}`,
  deleteTool: (name: string) => `Delete ${name}`,
  deleted: 'Tool deleted',
  confirmDelete: {
    title: 'Delete this tool?',
    consequence:
      'Workflows that call {name} can no longer start, and runs that reach it fail. To fix them, create a tool with the same name.',
    confirm: 'Delete tool',
  },
} as const;

/** Kinds of tools to choose from. */
export const toolKinds = {
  http: 'HTTP endpoint',
  mcp: 'MCP server tool',
  code: 'Code',
} as const satisfies Record<CustomTool['kind'], string>;

/** Messages for the form of a tool. */
export const toolForm = {
  created: 'Tool created',
  saved: 'Tool saved',
  create: 'Create tool',
  schema: 'Arguments',
  aboutSchema: 'Checked before each call. Without fields, the tool accepts any arguments.',
  aboutName: 'Workflows call it as custom:name',
  label: 'Label',
  aboutLabel: 'Display name',
  timeout: 'Timeout (seconds)',
  retries: 'Retries',
  readOnly: 'Only reads',
  aboutReadOnly:
    'Its calls change nothing, so a gate can repeat them. Needs the publish_workflows permission.',
  method: 'Method',
  source: 'Code',
  aboutSource:
    'Its default export is a function of the arguments. It has no network, files or timers.',
  language: 'Language',
  languages: { javascript: 'JavaScript', typescript: 'TypeScript' },
  mcpTool: 'Tool name on the server',
  url: 'URL',
  aboutUrl: 'Called exactly as entered. Do not put secrets in the URL: use headers.',
} as const;

/** Messages for the import of tools. */
export const toolImport = {
  open: 'Import tools',
  title: 'Import tools',
  from: 'Source',
  sources: { mcp: 'MCP server', openapi: 'API document' },
  url: 'URL of the MCP server',
  documentUrl: 'URL of the OpenAPI document',
  aboutDocument: 'OpenAPI 3.0 or 3.1, or Swagger 2.0, as JSON or YAML.',
  file: 'Or a file',
  server: 'Server',
  aboutServer: 'Where the API is, if not at the first server in the document.',
  prefix: 'Prefix',
  aboutPrefix: 'What the names of the tools begin with here, if you want one.',
  list: 'List tools',
  found: (count: number) => plural(count, { one: '# tool found', other: '# tools found' }),
  ofDocument: (title: string, version: string) => `${title} ${version}`.trim(),
  unlisted: (count: number) =>
    plural(count, {
      one: '# more operation is not listed',
      other: '# more operations are not listed',
    }),
  back: 'Other source',
  all: 'All tools',
  allFound: 'All that match',
  filter: 'Search',
  noMatch: 'No tool matches the search.',
  tooMany: (most: string) => `Choose at most ${most} at a time.`,
  tools: 'Tools at the source',
  states: {
    new: 'New',
    changed: 'Update available',
    unchanged: 'Imported',
    skipped: 'Not possible',
  },
  schema: 'Input schema',
  whatSchema: (name: string) => `the schema of ${name}`,
  auth: 'Authentication',
  aboutAuth: 'A secret or connection that calls send. It must be allowed for the host of the API.',
  aboutServerAuth:
    'A secret or connection that listing and calls send. It must be allowed for the server.',
  noAuth: 'None',
  groups: { secret: 'Secrets', connection: 'Connections' },
  as: 'Sent as',
  places: {
    bearer: 'Bearer token',
    basic: 'Basic, from user:password',
    header: (name: string) => `Header ${name}`,
    query: (name: string) => `Query parameter ${name}`,
  },
  submit: (count: number) => plural(count, { one: 'Import # tool', other: 'Import # tools' }),
  imported: (count: number) => plural(count, { one: '# tool imported', other: '# tools imported' }),
  notImported: 'Not imported:',
} as const;

/** Messages for the comparison of a tool with its API document. */
export const toolRefresh = {
  check: 'Check for changes',
  checkTool: (name: string) => `Check ${name} for changes`,
  title: 'Changes in the API document',
  unchanged: 'No changes in the API document',
  gone: 'The API document no longer has this operation. The tool is not called until it is back.',
  blocks: 'The tool is not called until you accept the changes.',
  texts: 'Only texts have changed. The tool is still called.',
  accept: 'Accept changes',
  accepted: 'Changes accepted',
  file: 'API document',
  aboutFile: 'The tool was imported from a file. Choose the current one.',
  compare: 'Compare',
  fields: {
    method: 'Method',
    request: 'Request',
    input_schema: 'Arguments',
    response_schema: 'Result',
    description: 'Description',
  },
  before: 'Before',
  after: 'After',
  whatBefore: (field: string) => `the previous ${field}`,
  whatAfter: (field: string) => `the new ${field}`,
} as const;

/** Messages for the headers in the form of a tool. */
export const headerFields = {
  title: 'Headers',
  about: 'Use headers for credentials. Values are encrypted and never shown again.',
  add: 'Add header',
  header: 'Header',
  unchanged: 'Unchanged',
  removeHeader: (name: string) => `Remove header ${name}`,
} as const;

/** What prevents saving a tool. */
export const toolProblems = {
  name: 'Start with a letter. Use only a-z, 0-9, _ and -',
  url: 'Start with https:// or http://',
  mcpTool: 'Enter the tool name',
  headerWithoutName: 'Enter a name for each header',
  headerTwice: 'Use each header name once',
} as const;

/** Messages for the test of a tool. */
export const toolTrial = {
  test: 'Test tool',
  arguments: 'Arguments',
  aboutArguments:
    'Makes one real call without retries. Policies apply, and the call is logged in the audit log.',
  tookWithStatus: (duration: string, status: number) => `${duration}, status ${status}`,
  failed: 'Test failed',
  noError: 'No error message',
  succeeded: 'Test succeeded',
  whatResult: 'the result',
  omitted: (headers: string) =>
    `You need the run_workflows permission to send the stored headers. Not sent: ${headers}.`,
} as const;
