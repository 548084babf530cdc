import { plural } from '#console/src/messages/format.ts';

/** Messages for the page of the user's own account. */
export const account = {
  title: 'Account',
  about: 'Your profile, permissions, clients with access and password.',
  activity: 'View your activity',
  openMode: {
    title: 'Open mode',
    about:
      'Sign-in is off: everyone who can reach the service acts as the owner. To require sign-in, set AUTH_MODE=required.',
  },
  password: 'Password',
  hidden:
    'The console hides actions that you are not allowed to use. A member with the manage_members permission can change your permissions.',
} as const;

/** Messages for the form to change the password. */
export const passwordForm = {
  about: 'This signs you out of all other sessions.',
  current: 'Current password',
  new: 'New password',
  atLeast: (characters: number) =>
    plural(characters, { one: 'At least # character', other: 'At least # characters' }),
  confirm: 'Confirm new password',
  differs: 'The passwords do not match',
  change: 'Change password',
  changed: 'Password changed. You are signed out everywhere else',
} as const;

/** Messages about the account that decides as the user in Slack. */
export const slackAccount = {
  title: 'Slack',
  askedTitle: 'Is this your account in Slack?',
  asked:
    '{name} wants to decide as you. Confirm only if you have just clicked Approve or Reject in Slack yourself.',
  replaces: 'It replaces the account that decides as you now.',
  confirm: 'Confirm',
  confirmed: 'Account confirmed. Click again in Slack to decide',
  decides: '{name} decides as you in Slack, confirmed {time}.',
  remove: 'Remove',
  removed: 'Account removed',
  confirmRemove: {
    title: 'Remove your account of Slack?',
    consequence: 'You can decide there again after you have confirmed an account.',
    confirm: 'Remove account',
  },
} as const;
