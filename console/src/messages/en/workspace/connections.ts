import type { OAuthConnection } from '#client/index.ts';

/** Messages for the page of connections. */
export const connections = {
  title: 'Connections',
  about:
    'Accounts at other services. Workflows send their access tokens to allowed hosts, as {connections.NAME}. No one can read the tokens here.',
  new: 'New connection',
  empty: {
    title: 'No connections yet',
    about:
      'With a connection, workflows use an account at a service such as Slack, Google or GitHub, without anyone copying a token.',
    create: 'Create connection',
  },
  table: 'Connections',
  account: 'Account',
  owners: { workspace: 'Workspace', member: 'Each member' },
  allowedHosts: 'Allowed hosts',
  status: 'Status',
  statuses: {
    not_signed_in: 'Not signed in',
    connected: 'Connected',
    needs_sign_in: 'Sign-in ended',
  } satisfies Record<OAuthConnection['status'], string>,
  lastUsed: 'Last used',
  actions: 'Actions',
  never: 'never',
  signIn: 'Sign in',
  signInTo: (name: string) => `Sign in to ${name}`,
  disconnect: 'Disconnect',
  disconnectFrom: (name: string) => `Disconnect ${name}`,
  disconnected: 'Disconnected',
  confirmDisconnect: {
    title: 'Disconnect this account?',
    consequence: 'Steps that use {name} fail or wait until someone signs in again.',
    confirm: 'Disconnect',
  },
  edit: (name: string) => `Edit ${name}`,
  editTitle: 'Edit connection',
  delete: (name: string) => `Delete ${name}`,
  deleted: 'Connection deleted',
  confirmDelete: {
    title: 'Delete this connection?',
    consequence:
      'The tokens of all accounts are deleted, and steps that use {name} fail. You cannot undo this.',
    confirm: 'Delete connection',
  },
  importTools: 'Import its tools',
  toSignIn: 'Sign in to finish the connection, or to renew it.',
  connectedTo: (name: string) => `Signed in to ${name}`,
  connected: 'Signed in',
  failed: 'The sign-in did not succeed',
  close: 'Close',
  reasons: {
    expired:
      'It took more than ten minutes, was used before, or began in another browser. Try again.',
    denied: 'It was declined at the service.',
    issuer:
      'Another service answered than the one that was asked. Check the issuer and the addresses.',
    refused: 'The service did not accept the client. Check its id, secret and redirect address.',
    unavailable: 'The service did not respond in time. Try again.',
    changed: 'The connection was changed or deleted in the meantime. Try again.',
    forbidden: 'You cannot sign in to this connection.',
    unknown: 'The service gave no reason that is known here. Try again.',
  },
} as const;

/** Messages about an MCP server that requires sign-in. */
export const neededSignIn = {
  title: 'This server requires sign-in',
  about: '{server} only answers after a sign-in.',
  aboutIssuer: '{server} only answers after a sign-in at {issuer}.',
  name: 'Name of the connection',
  wrongName: 'Use capital letters, digits and _, and start with a letter',
  owner: 'Account',
  owners: { workspace: 'One for the workspace', member: "Each member's own" },
  create: 'Create connection and sign in',
  leaves: 'You come back after the sign-in, and can import the tools with the connection.',
  giveClient: 'Create the connection with a client of your own',
  use: (name: string) => `Use ${name}`,
  needs: (capability: string) => `You need the ${capability} permission to sign in here.`,
} as const;

/** Messages for the form of a connection. */
export const connectionForm = {
  created: 'Connection created',
  saved: 'Connection saved',
  create: 'Create connection',
  service: 'Service',
  other: 'Another service',
  mcpServer: 'MCP server',
  serverUrl: 'URL of the MCP server',
  aboutServer: 'Its metadata gives the addresses, the scopes and the client.',
  aboutOwnClient: 'Only if the server does not register clients by itself.',
  aboutName: 'Capital letters, digits and _. Workflows refer to it as {connections.NAME}.',
  wrongName: 'Use capital letters, digits and _, and start with a letter, like SLACK',
  owner: 'Account',
  owners: {
    workspace: 'One account for the workspace',
    member: 'The account of the member who started the run',
  },
  grant: 'Sign-in',
  grants: {
    authorization_code: 'A person signs in',
    client_credentials: 'The client itself, without a person',
  },
  clientId: 'Client ID',
  clientSecret: 'Client secret',
  aboutClientSecret: 'It is encrypted and never shown again. Leave it empty for a public client.',
  aboutNewSecret: 'Leave it empty to keep it. Changes of addresses and hosts need it again.',
  issuer: 'Issuer',
  aboutIssuer: 'If the service has one, it gives the addresses below.',
  authorizationUrl: 'Authorization URL',
  tokenUrl: 'Token URL',
  scopes: 'Scopes',
  aboutScopes: 'What to ask for, from the next sign-in on. Press Enter after each.',
  allowedHosts: 'Allowed hosts',
  aboutAllowedHosts: 'The only hosts that receive the token. Press Enter after each.',
  callback: 'Redirect address',
  aboutCallback: 'Register it with the service.',
  whatCallback: 'the redirect address',
} as const;
