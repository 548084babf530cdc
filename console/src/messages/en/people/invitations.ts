/** Messages for the form to invite a member. */
export const inviteForm = {
  send: 'Send invitation',
  create: 'Create invitation',
  approver: 'Approver: can view everything and decide approvals',
  byEmail: 'They get the invitation by email.',
  noEmail: 'Email is not set up, so you send the invitation yourself.',
  aboutRole: 'You can only assign roles up to your own permissions.',
  sent: '{name} gets this link by email. You can also send it yourself.',
  sendLink: 'Email is not set up. Send {name} this link yourself.',
  orSendCode: 'Or send only the code:',
  aboutCode:
    'Anyone with the code can join as this member. It works once, until the date in the member list, where you can also create a new code.',
} as const;

/** Messages for an invitation to share. */
export const inviteLink = {
  link: 'Link',
  code: 'Code',
  whatLink: 'the invitation link',
  whatCode: 'the invitation code',
} as const;
