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
  label: 'Account',
  apiKey: 'API key',
  openMode: 'Open mode: no sign-in required',
  account: 'Account',
  reference: 'API reference',
  signOut: 'Sign out',
} as const;

/** Messages for the notice that the service does not respond. */
export const connectionNotice = {
  title: 'Cannot reach the service',
  reconnecting: 'Reconnecting…',
  stale: (readAt: string) => `Data may be stale: it was read at ${readAt}. Reconnecting…`,
} as const;

/** Messages for the button that opens the command palette. */
export const commandHost = {
  label: 'Search and commands',
  hint: 'Search and commands (Ctrl+K)',
} as const;

/** Messages for what is shown instead of a page. */
export const failurePages = {
  notFound: 'Page not found',
  toOverview: 'Go to Overview',
  failed: 'Something went wrong',
  again: 'Try again',
} as const;
