import type { Capability } from '#client/index.ts';

/** What each capability allows. */
export const capabilityTexts = {
  view: 'View workflows, runs, members and the audit log',
  run_workflows: 'Start runs',
  approve_gates: 'Approve and reject human gates',
  cancel_resume: 'Cancel and resume runs',
  create_edit_workflows: 'Create and edit workflows and tools',
  publish_workflows: 'Publish drafts',
  delete_workflows: 'Delete workflows and their runs',
  manage_members: 'Invite, approve, change and remove members',
  manage_api_keys: 'Create and revoke API keys',
  manage_workspace: 'Manage settings, plan, budgets, policies, prices and budget overrides',
} as const satisfies Record<Capability, string>;

/** Whether a member has a permission. */
export const permission = {
  allowed: 'Allowed',
  notAllowed: 'Not allowed',
} as const;

/** Messages for the permissions of a member. */
export const capabilityMatrix = {
  saved: 'Permission saved. It applies from the next request',
  aboutChange:
    'An override takes precedence over the role. You can only grant permissions that you have.',
  about:
    'An override takes precedence over the role. You need the manage_members permission to change overrides.',
  permission: 'Permission',
  role: (role: string) => `Role: ${role}`,
  override: 'Override',
  yes: 'yes',
  no: 'no',
  overrideOf: (capability: string) => `Override ${capability}`,
  choices: {
    inherit: 'Same as role',
    allow: 'Allow',
    deny: 'Deny',
  },
} as const;
