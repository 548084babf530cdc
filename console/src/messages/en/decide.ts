import { plural } from '#console/src/messages/format.ts';

/** Messages for the page of a link that decides a gate, without signing in. */
export const decide = {
  title: 'Your decision',
  loading: 'Opening the link',
  noToken: 'This address has no link',
  noTokenAbout: 'Open the link in the email again, in full.',
  ended: 'This link cannot be used',
  signIn: 'Sign in',
  /** Who decides. */
  as: 'You decide as {name}. Anyone who has this link can.',
  of: 'A run of {workflow} in {workspace} waits for this decision.',
  until: 'The link works once, until {at}.',
  changed:
    'What this gate sets in motion has changed since the email was sent. It is shown as it is now.',
  changedNow:
    'What this gate sets in motion has changed, and nothing was sent. Read it, then decide again.',
  approvals: (approvals: number, required: number) =>
    plural(required, {
      one: `${approvals} of # approval so far`,
      other: `${approvals} of # approvals so far`,
    }),
  deadline: 'The gate has a deadline: {at}.',
  form: 'Your decision',
  follows: 'What happens after each answer',
  reasonAbout: 'Optional. Saved with the decision.',
  approve: 'Approve',
  reject: 'Reject',
  done: {
    approve: 'Approved',
    reject: 'Rejected',
  },
  doneAbout: {
    decided: 'The decision is sent, and the run continues. You can close this page.',
    open: 'Your approval counts. The gate needs further approvals. You can close this page.',
    already_decided: 'You had decided so before. You can close this page.',
  },
} as const;
