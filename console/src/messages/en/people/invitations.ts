/** Messages for the form to invite a member. */
export const inviteForm = {
  send: 'Create invitation',
  aboutRole: 'You can only assign roles up to your own permissions.',
  sendLink: 'Send {name} this link. They get it by email only if the operator has set up email.',
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
