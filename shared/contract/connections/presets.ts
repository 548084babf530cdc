import { z } from 'zod';

/** Well-known services, with what their documentation says about OAuth. */
export const connectionPresets = [
  {
    id: 'atlassian',
    label: 'Atlassian',
    authorization_url: 'https://auth.atlassian.com/authorize',
    token_url: 'https://auth.atlassian.com/oauth/token',
    client_auth: 'post',
    scopes: ['read:jira-work', 'offline_access'],
    authorization_params: { audience: 'api.atlassian.com', prompt: 'consent' },
    allowed_hosts: ['api.atlassian.com'],
  },
  {
    id: 'github',
    label: 'GitHub',
    authorization_url: 'https://github.com/login/oauth/authorize',
    token_url: 'https://github.com/login/oauth/access_token',
    client_auth: 'post',
    scopes: ['read:user'],
    authorization_params: {},
    allowed_hosts: ['api.github.com'],
  },
  {
    id: 'google',
    label: 'Google',
    authorization_url: 'https://accounts.google.com/o/oauth2/v2/auth',
    token_url: 'https://oauth2.googleapis.com/token',
    client_auth: 'post',
    scopes: ['https://www.googleapis.com/auth/calendar.readonly'],
    // Without both, Google issues no refresh token.
    authorization_params: { access_type: 'offline', prompt: 'consent' },
    allowed_hosts: [
      'www.googleapis.com',
      'gmail.googleapis.com',
      'sheets.googleapis.com',
      'docs.googleapis.com',
      'people.googleapis.com',
    ],
  },
  {
    id: 'hubspot',
    label: 'HubSpot',
    authorization_url: 'https://app.hubspot.com/oauth/authorize',
    token_url: 'https://api.hubapi.com/oauth/2026-03/token',
    client_auth: 'post',
    scopes: ['oauth', 'crm.objects.contacts.read'],
    authorization_params: {},
    allowed_hosts: ['api.hubapi.com'],
  },
  {
    id: 'linear',
    label: 'Linear',
    authorization_url: 'https://linear.app/oauth/authorize',
    token_url: 'https://api.linear.app/oauth/token',
    client_auth: 'post',
    scopes: ['read'],
    scope_separator: ',',
    authorization_params: {},
    allowed_hosts: ['api.linear.app'],
  },
  {
    id: 'microsoft',
    label: 'Microsoft',
    authorization_url: 'https://login.microsoftonline.com/common/oauth2/v2.0/authorize',
    token_url: 'https://login.microsoftonline.com/common/oauth2/v2.0/token',
    client_auth: 'post',
    scopes: ['offline_access', 'User.Read'],
    authorization_params: {},
    allowed_hosts: ['graph.microsoft.com'],
  },
  {
    id: 'notion',
    label: 'Notion',
    authorization_url: 'https://api.notion.com/v1/oauth/authorize',
    token_url: 'https://api.notion.com/v1/oauth/token',
    client_auth: 'basic',
    scopes: [],
    authorization_params: { owner: 'user' },
    allowed_hosts: ['api.notion.com'],
  },
  {
    id: 'salesforce',
    label: 'Salesforce',
    authorization_url: 'https://login.salesforce.com/services/oauth2/authorize',
    token_url: 'https://login.salesforce.com/services/oauth2/token',
    client_auth: 'post',
    scopes: ['api', 'refresh_token'],
    authorization_params: {},
    allowed_hosts: ['*.my.salesforce.com'],
  },
  {
    id: 'slack',
    label: 'Slack',
    authorization_url: 'https://slack.com/oauth/v2/authorize',
    token_url: 'https://slack.com/api/oauth.v2.access',
    client_auth: 'basic',
    scopes: ['chat:write'],
    scope_separator: ',',
    authorization_params: {},
    allowed_hosts: ['slack.com'],
  },
  {
    id: 'stripe',
    label: 'Stripe',
    authorization_url: 'https://connect.stripe.com/oauth/authorize',
    token_url: 'https://connect.stripe.com/oauth/token',
    client_auth: 'post',
    scopes: ['read_only'],
    authorization_params: {},
    allowed_hosts: ['api.stripe.com'],
  },
] as const satisfies readonly ConnectionPreset[];

export const presetIds = connectionPresets.map(({ id }) => id);

/** How a client proves who it is to the token endpoint; `none`: it has no secret. */
export const clientAuths = ['basic', 'post', 'none'] as const;

export const presetSchema = z
  .object({
    id: z.string(),
    label: z.string(),
    authorization_url: z.string(),
    token_url: z.string(),
    client_auth: z.enum(clientAuths),
    scopes: z.array(z.string()),
    scope_separator: z.string().default(' ').meta({
      description: 'What is between two scopes; a space, unless the service deviates',
    }),
    authorization_params: z.record(z.string(), z.string()),
    allowed_hosts: z.array(z.string()),
  })
  .meta({ id: 'ConnectionPreset' });
export type ConnectionPreset = z.input<typeof presetSchema>;

export const presetOf = (id: string | null | undefined): ConnectionPreset | undefined =>
  connectionPresets.find((preset) => preset.id === id);
