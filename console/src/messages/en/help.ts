/** Messages for the help. */
export const help = {
  title: 'Help',
  version: (version: string) => `Version ${version}`,
  reference: 'API reference',
  guides: 'Guides',
  keys: 'Keyboard shortcuts',
  linkTo: (heading: string) => `Link to “${heading}”`,
} as const;
