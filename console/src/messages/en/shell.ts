/** Messages for the frame around every page. */
export const shell = {
  skip: 'Skip to content',
  navigation: 'Navigation',
  pages: 'Pages',
  waiting: 'waiting',
  lightTheme: 'Light theme',
  darkTheme: 'Dark theme',
} as const;

/** Messages for the menu of the user. */
export const userMenu = {
  label: (name: string) => `Account: ${name}`,
  apiKey: 'API key',
  openMode: 'Open mode: no sign-in required',
  account: 'Account',
  signOut: 'Sign out',
} as const;

/** Messages for the bar that says why the console waits. */
export const connectionBar = {
  offline: (since: string) => `Offline since ${since}.`,
  unanswered: 'Offline: your last action got no response.',
  file: 'A part of the console could not be loaded.',
  version: 'A new version of the console is installed.',
  reload: 'Reload',
  tryingIn: (seconds: number) => `Trying again in ${seconds} s.`,
  trying: 'Trying again.',
  back: 'The service responds again',
  check: 'Your last action got no response. Check whether it was done, and repeat it if not.',
} as const;

/** Messages for the button that opens the command palette. */
export const commandHost = {
  label: 'Search and commands',
  short: 'Search',
  keys: 'Ctrl K',
  macKeys: 'Cmd K',
} as const;

/** Messages for what is shown instead of a page. */
export const failurePages = {
  notFound: 'Page not found',
  toOverview: 'Go to Overview',
  failed: 'Something went wrong',
  pageFailed: 'This page does not work',
  again: 'Try again',
} as const;
