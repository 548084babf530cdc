import type { Member } from '#client/index.ts';

/** Names of the status of a member. */
export const memberStatusNames = {
  active: 'Active',
  invited: 'Invited',
  pending: 'Pending',
} as const satisfies Record<Member['status'], string>;

/** Messages for the page of members. */
export const members = {
  title: 'Members',
  about:
    'People with access to this workspace. Select a member to see their permissions and activity.',
  invite: 'Invite member',
  pending: {
    title: 'Pending requests',
    about:
      'Anyone can sign up with any email address. Without an email provider, addresses are not verified. Only approve people you expect.',
    table: 'Members to approve',
    requested: 'Requested',
  },
  approve: 'Approve',
  approveMember: (name: string) => `Approve ${name}`,
  approved: (name: string, role: string) => `Approved ${name} as ${role}`,
  all: 'Members and invitations',
  table: 'Members',
  added: 'Added',
  codeExpires: 'Code expires {when}',
  owner: 'Owner',
  you: 'You',
  newCode: 'New code',
  newCodeFor: (name: string) => `New code for ${name}`,
  newCodeCreated: 'New code created',
  newCodeIs: (code: string) => `New code: ${code}`,
} as const;

/** Messages for the removal of a member, by status. */
export const removalTexts = {
  active: {
    remove: 'Remove',
    removeNamed: (name: string) => `Remove ${name}`,
    title: 'Remove this member?',
    consequence:
      'This signs {name} out immediately and revokes the API keys linked to them. Their name stays in the audit log.',
    confirm: 'Remove member',
    done: 'Member removed',
  },
  invited: {
    remove: 'Revoke',
    removeNamed: (name: string) => `Revoke ${name}`,
    title: 'Revoke this invitation?',
    consequence: 'The invitation for {name} stops working.',
    confirm: 'Revoke invitation',
    done: 'Invitation revoked',
  },
  pending: {
    remove: 'Reject',
    removeNamed: (name: string) => `Reject ${name}`,
    title: 'Reject this request?',
    consequence: 'This rejects the request of {name}. They can sign up again.',
    confirm: 'Reject request',
    done: 'Request rejected',
  },
} as const satisfies Record<Member['status'], object>;

/** Messages for the page of one member. */
export const member = {
  activity: 'Activity',
  joined: 'Joined',
  invitedAt: 'Invited',
  owner: 'Workspace owner. In open mode, requests without credentials act as this member.',
  roleChanged: 'Role changed. It applies from the next request',
  changeRole: 'Change role',
  approve: 'Approve',
  approved: 'Member approved',
  you: 'This is you.',
} as const;

/** Messages for the activity of a member. */
export const memberActivity = {
  runsStarted: 'Runs started',
  runCost: 'Run cost',
  approved: 'Approved',
  rejected: 'Rejected',
  workflowsCreated: 'Workflows created',
  perDay: 'Actions in the last 30 days',
  actions: 'Actions',
  none: 'No activity in the audit log.',
  recent: 'Recent actions',
  action: 'Action',
  target: 'Target',
  all: 'View all actions in the audit log',
} as const;
