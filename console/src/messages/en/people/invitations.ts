/** Messages for the form to invite a member. */
export const inviteForm = {
  send: 'Send invitation',
  aboutRole: 'You can only assign roles up to your own permissions.',
  sendLink: 'Send {name} this link. If an email provider is configured, they also get it by email.',
  orSendCode: 'Or send only the code:',
  aboutCode:
    'Anyone with the code can join as this member. It works once and expires after a few days. The member list shows the expiry date and can create a new code.',
} as const;

/** Messages for an invitation to share. */
export const inviteLink = {
  link: 'Link',
  code: 'Code',
  whatLink: 'the invitation link',
  whatCode: 'the invitation code',
} as const;
