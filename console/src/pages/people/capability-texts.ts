import type { Capability } from '../../../../client/index.ts';

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

export const capabilityNames = Object.keys(capabilityTexts) as Capability[];
