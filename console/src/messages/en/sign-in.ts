/** Messages for the page to sign in. */
export const login = {
  title: 'Sign in',
  ended: 'Your session has ended',
  endedAbout: 'Sign in again to continue where you left off.',
  noAccount: 'No account yet? {signUp} or {useCode}.',
  signUp: 'Sign up',
  useCode: 'use an invite code',
  openMode:
    'This service is in open mode, so sign-in is not required. You act as {owner}, the workspace owner.',
  owner: 'the owner',
  continue: 'Continue',
  anyway: 'Sign in anyway',
} as const;

/** Messages for the fields to sign in. */
export const loginForm = {
  label: 'Sign in',
  email: 'Email',
  password: 'Password',
  submit: 'Sign in',
} as const;

/** Messages for the field for a new password. */
export const newPassword = {
  label: 'Password',
  about: (characters: string) =>
    `At least ${characters} characters. A few words are easier to remember than symbols.`,
} as const;

/** Messages for the page to sign up. */
export const signup = {
  title: 'Sign up',
  about: 'An administrator must approve your account before you can sign in.',
  submit: 'Sign up',
  haveAccount: 'Already have an account? {signIn}.',
  signIn: 'Sign in',
  waiting: 'Waiting for approval',
  mustApprove:
    'An administrator must approve {email} on the Members page. You will not get an email about it. If it takes too long, ask an administrator.',
  onceApproved: 'Once approved, {signIn} with your email and password.',
  signInThen: 'sign in',
} as const;

/** Messages for the page to accept an invitation. */
export const invite = {
  title: 'Join the workspace',
  about: 'Your invitation works once. Choose a password to join.',
  code: 'Invite code',
  nameAbout: 'Leave empty to keep the name from your invitation.',
  submit: 'Join',
  joined: 'Already joined? {signIn}.',
  signIn: 'Sign in',
} as const;
