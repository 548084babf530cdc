import type { Authorization } from '#client/index.ts';

type Scope = 'view' | 'run' | 'edit' | 'manage' | 'decide';

/** What a client can do with each scope. */
export const scopeTexts = {
  view: 'See workflows, runs, members and the audit log',
  run: 'Start, cancel and resume runs',
  edit: 'Create and edit workflows, without publishing them',
  manage: 'Change webhook endpoints, and try policies on history',
  decide: 'Approve and reject gates in your name, and publish workflows',
} as const satisfies Record<Scope, string>;

/** Messages for the page on which a member lets a client use the service. */
export const authorize = {
  title: (client: string) => `Allow ${client} to use this workspace?`,
  titleUnknown: 'Allow a client?',
  host: 'Its address',
  returnsTo: 'Sends you to',
  workspace: 'Workspace',
  as: 'You act as',
  thisComputer: (host: string) => `a program on this computer (${host})`,
  unverified: {
    title: 'This name is not verified',
    about:
      'Any program can call itself {name}. Allow it only if you have just started to connect it yourself, and know the address it sends you to.',
  },
  verified: 'The address is verified: {host} describes this client.',
  local: 'Any program on this computer can receive what you allow.',
  scopes: 'It will be able to',
  required: 'Always included',
  notHeld: 'You are not allowed to do this yourself',
  runs: 'Runs use the accounts that you have signed in to under “Connections”',
  decides: 'Runs will no longer wait for a person where you can decide',
  never: 'It decides no gates and publishes nothing. It can never do more than you can.',
  onlyIfTicked:
    'It decides gates and publishes only if you tick that. It can never do more than you can.',
  allow: 'Allow',
  deny: 'Deny',
  refused: 'This request cannot be allowed',
  back: (host: string) => `Return to ${host}`,
  sent: 'You can close this page when the client has continued.',
  twice: 'The address of this page is not valid: it has a parameter twice.',
} as const;

/** Messages for the list of clients that a member has authorized. */
export const clients = {
  title: 'Clients with access',
  about:
    'Programs that use the service for you over MCP. Each can do at most what you allowed, and never more than you can.',
  workspaceTitle: 'Clients of members',
  workspaceAbout: 'Programs that members have authorized to use the service for them over MCP.',
  none: 'No clients have access.',
  client: 'Client',
  host: 'Address',
  member: 'Member',
  can: 'Can',
  lastUsed: 'Last used',
  never: 'never',
  unverified: 'not verified',
  revoke: 'Revoke',
  revokeClient: ({ client_name: name }: Authorization) => `Revoke ${name}`,
  revoked: 'Access revoked',
  confirmRevoke: {
    title: 'Revoke the access of this client?',
    consequence: 'Requests of {name} will fail immediately. It can ask for access again.',
    confirm: 'Revoke access',
  },
} as const;
