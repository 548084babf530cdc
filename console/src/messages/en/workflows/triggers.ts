/** Messages for the webhook of a workflow: its URL and its actions. */
export const webhookPanel = {
  title: 'Webhook',
  enabled: 'enabled',
  disabled: 'disabled',
  enableToGetUrl:
    'Enable webhook to get a URL. Programs without an API key can start runs by sending JSON to it.',
  urlHidden:
    'You need the create_edit_workflows and run_workflows permissions to see the URL, because it starts runs.',
  theUrl: 'the URL',
  theCommand: 'the command',
  anyone: 'Anyone with this URL can start runs. Keep it secret, like a password.',
  anyoneSigned:
    'Anyone with this URL can start runs with requests signed with the last part of the URL.',
  example: 'Example request:',
  exampleSigned: 'Example signed request:',
  enable: 'Enable webhook',
  nowEnabled: 'Webhook enabled',
  changeUrl: 'Change URL',
  confirmChangeUrl: {
    title: 'Change the webhook URL?',
    consequence: 'The webhook gets a new secret. Requests to the old URL return 404 immediately.',
    confirm: 'Change webhook URL',
  },
  urlChanged: 'Webhook URL changed',
  disable: 'Disable',
  confirmDisable: {
    title: 'Disable this webhook?',
    consequence:
      'Requests to the URL return 404, and the secret is deleted. If you enable the webhook again, it gets a new URL.',
    confirm: 'Disable webhook',
  },
  nowDisabled: 'Webhook disabled',
} as const;

/** Messages for the settings of a webhook. */
export const webhookConfig = {
  legend: 'Settings',
  save: 'Save settings',
  saved: 'Webhook settings saved',
  event: 'Send as event',
  eventAbout:
    'The name of an event that is sent for each request, instead of starting a run. Empty: a run starts',
  requireSignatures: 'Require signatures',
  requireSignaturesAbout: 'Reject requests that are not signed with the secret',
  tolerance: 'Signature tolerance (seconds)',
  toleranceAbout: 'Maximum clock difference, past or future',
  window: 'Deduplication window (seconds)',
  windowAbout: '0: every request starts a run. An event with an ID is always sent once',
  eventIdField: 'Event ID field',
  eventIdFieldAbout: 'Used when the request has no X-Service-Event-Id header',
  eventIdHeader: 'Event ID header',
  eventIdHeaderAbout: 'Such as X-GitHub-Delivery. Other headers and the body are then ignored',
  acceptForms: 'Accept forms',
  acceptFormsAbout: 'Use the fields of a form as the input',
  answerChallenges: 'Answer challenges',
  answerChallengesAbout:
    'Confirm the URL to senders such as Slack and Microsoft Graph, without a run',
} as const;
