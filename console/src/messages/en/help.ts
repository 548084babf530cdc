/** Messages for the help. */
export const help = {
  title: 'Help',
  version: (version: string) => `Version ${version}`,
  documentation: 'Documentation',
  reference: 'API reference',
  guides: 'Guides',
  keys: 'Keyboard shortcuts',
} as const;
