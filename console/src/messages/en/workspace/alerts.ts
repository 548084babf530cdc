import type { AlertChannel } from '#client/index.ts';

/** Names of the channels of alerts. */
export const channelNames = {
  chat: 'Chat message',
  email: 'Email',
  slack: 'Slack',
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
    'Sent when a run fails or waits for approval, and when 80% and 100% of a budget is spent, with a link.',
  permissionNeeded: 'You need the manage_workspace permission to change alerts.',
  configured: 'Configured',
  notConfigured: 'Not configured',
  fromService: 'Uses the address of the service, since the workspace has none of its own.',
  sendsFor: (events: readonly string[]) => `Sends alerts for ${list.format(events)}.`,
  sendsNothing: 'Sends no alerts: every event is turned off.',
  canSendFor: (events: readonly string[]) => `Can send alerts for ${list.format(events)}.`,
  links: 'Members can decide with a link in an email, without signing in.',
  to: (address: string) => `To ${address}`,
  asksIn: (channel: string) => `In the channel ${channel}`,
  slackProblem: (problem: string) => `The last message was refused: ${problem}`,
  edit: 'Edit alerts',
  test: 'Send test alert',
  testSent: (channels: readonly string[]) => `Test alert sent: ${channels.join(', ')}`,
} as const;

/** Messages for the form of alerts. */
export const alertsForm = {
  title: 'Edit alerts',
  saved: 'Alerts changed',
  chat: 'Chat webhook',
  chatAbout:
    'The URL of an incoming webhook, such as one of Slack. It is never shown again: keep the *** to keep the URL.',
  email: 'Email addresses',
  emailAbout: 'Get one email for each alert. Press Enter after each address.',
  on: 'Send alerts for',
  events: {
    failed: 'Failed and cancelled runs',
    paused: 'Runs that wait at a gate, and reminders',
    waiting: 'Runs that still wait after a reminder',
    budget: 'Budgets at 80% and 100% of their limit',
    connection: 'Connections that need a new sign-in',
  } satisfies Record<AlertChannel['events'][number], string>,
  workflows: 'Workflows with other settings',
  workflowsAbout: 'What you leave off is as for the workspace.',
  addWorkflow: 'Add workflow',
  noWorkflow: 'No workflow has this name',
  settingsOf: (name: string) => `Alerts of ${name}`,
  removeFor: (name: string) => `Remove alerts of ${name}`,
  links: 'Let members decide with a link in an email',
  linksAbout:
    'When a gate opens, its assignee or its named approvers get an email with which they approve or reject without signing in. Never for gates that require members to sign in.',
  linksKnown: 'I know that anyone who has an email can decide as the member who got it',
  linksEnd: 'Turning this off ends all links that were sent.',
  slack: 'Ask for decisions in Slack',
  slackAbout:
    'Each gate gets a message in a channel, with buttons to approve and reject. Members decide as the member with the confirmed email of their Slack account. Everyone in the channel reads what is asked.',
  slackConnection: 'Connection to Slack',
  slackConnectionAbout:
    'One with the preset Slack that belongs to the workspace, with the scopes chat:write, users:read and users:read.email.',
  slackConnectionEmpty: 'No connection to Slack. Create one on the page Connections.',
  slackChannel: 'Channel',
  slackChannelAbout: 'Its id, at the end of “View channel details”. Invite the app to the channel.',
  slackSecret: 'Signing secret',
  slackSecretAbout:
    'Of the Slack app, under “Basic information”. It is never shown again: keep the *** to keep it.',
  slackUrl: 'Request URL for interactivity',
  slackManifest: 'Manifest for the Slack app',
  slackManifestAbout:
    'Create the app at Slack with it, then use its client id and client secret for the connection.',
  ownSlack: 'Other channel in Slack',
  ownChat: 'Other chat webhook',
  ownEmail: 'Other email addresses',
  ownEmailAbout: 'Without any address, the workflow sends no email.',
  ownEvents: 'Other events',
} as const;
