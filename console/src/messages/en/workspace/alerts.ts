import type { AlertChannel } from '#client/index.ts';

/** Names of the channels of alerts. */
export const channelNames = {
  chat: 'Chat message',
  email: 'Email',
} as const satisfies Record<AlertChannel['channel'], string>;

/** What a channel sends alerts for, within a sentence. */
export const eventTexts = {
  failed: 'failed runs',
  paused: 'runs waiting at a gate',
  waiting: 'runs that still wait after a reminder',
  budget: 'budgets at 80% and 100% of their limit',
  connection: 'connections that need a sign-in',
} as const satisfies Record<AlertChannel['events'][number], string>;

const list = new Intl.ListFormat('en');

/** Messages for the alerts in the settings. */
export const alerts = {
  title: 'Alerts',
  about:
    'Sent when a run fails or waits for approval, and when 80% and 100% of a budget is spent, with a link. Addresses and credentials are part of the service configuration.',
  configured: 'Configured',
  notConfigured: 'Not configured',
  sendsFor: (events: readonly string[]) => `Sends alerts for ${list.format(events)}.`,
  canSendFor: (events: readonly string[]) => `Can send alerts for ${list.format(events)}.`,
  test: 'Send test alert',
  testSent: (channels: readonly string[]) => `Test alert sent: ${channels.join(', ')}`,
} as const;
