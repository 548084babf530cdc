import type { BodyOf, ConnectionPreset, OAuthConnection } from '#client/index.ts';
import { SECRET_NAME } from '#shared/values/secrets.ts';

type Input = BodyOf<'POST /api/connections'>;

/** Instead of a preset: an MCP server, whose metadata gives the rest. */
export const MCP_SERVER = 'mcp_server';

/** A connection as entered. */
export interface ConnectionDraft {
  /** Empty for a service without a preset. */
  preset: string;
  /** For `MCP_SERVER`. */
  server: string;
  name: string;
  owner: OAuthConnection['owner'];
  grant: OAuthConnection['grant'];
  client_id: string;
  client_secret: string;
  issuer: string;
  authorization_url: string;
  token_url: string;
  scopes: string[];
  allowed_hosts: string[];
}

/** `server` is the MCP server that a new connection is for. */
export const draftOf = (
  connection: OAuthConnection | undefined,
  server: string = connection?.resource ?? '',
): ConnectionDraft => ({
  preset: connection?.preset ?? (server === '' ? '' : MCP_SERVER),
  server,
  name: connection?.name ?? (server === '' ? '' : connectionOfServer(server)),
  owner: connection?.owner ?? 'workspace',
  grant: connection?.grant ?? 'authorization_code',
  client_id: connection?.client_id ?? '',
  client_secret: '',
  issuer: connection?.issuer ?? '',
  authorization_url: connection?.authorization_url ?? '',
  token_url: connection?.token_url ?? '',
  scopes: connection?.scopes ?? [],
  allowed_hosts: connection?.allowed_hosts ?? [],
});

/** A name for the connection to an MCP server: that of its host. */
export function connectionOfServer(server: string): string {
  const host = URL.parse(server)?.hostname ?? '';
  const name = host.toUpperCase().replaceAll(/[^A-Z0-9]+/g, '_');
  return (/^[A-Z]/.test(name) ? name : `MCP_${name}`).slice(0, 64);
}

/** The draft with what a well-known service is set to. */
export const withPreset = (
  draft: ConnectionDraft,
  preset: ConnectionPreset | undefined,
): ConnectionDraft => ({
  ...draft,
  preset: preset?.id ?? '',
  server: '',
  name: draft.name === '' && preset !== undefined ? preset.id.toUpperCase() : draft.name,
  grant: 'authorization_code',
  issuer: '',
  authorization_url: preset?.authorization_url ?? '',
  token_url: preset?.token_url ?? '',
  scopes: preset?.scopes ?? [],
  allowed_hosts: preset?.allowed_hosts ?? [],
});

const ifGiven = <Name extends string>(name: Name, value: string): { [Key in Name]?: string } =>
  (value.trim() === '' ? {} : { [name]: value.trim() }) as { [Key in Name]?: string };

/** What a connection is created with. A preset or an MCP server gives what is not changed. */
export const inputOf = (draft: ConnectionDraft): Input =>
  draft.preset === MCP_SERVER
    ? {
        ...{ name: draft.name, owner: draft.owner, mcp_server_url: draft.server.trim() },
        ...ifGiven('client_id', draft.client_id),
        ...ifGiven('client_secret', draft.client_secret),
        ...(draft.scopes.length === 0 ? {} : { scopes: draft.scopes }),
      }
    : givenOf(draft);

const givenOf = (draft: ConnectionDraft): Input => ({
  ...(draft.preset === '' ? {} : { preset: draft.preset as NonNullable<Input['preset']> }),
  ...{ name: draft.name, owner: draft.owner, grant: draft.grant, client_id: draft.client_id },
  ...ifGiven('client_secret', draft.client_secret),
  ...ifGiven('issuer', draft.issuer),
  ...(draft.grant === 'authorization_code'
    ? ifGiven('authorization_url', draft.authorization_url)
    : {}),
  ...ifGiven('token_url', draft.token_url),
  ...{ scopes: draft.scopes, allowed_hosts: draft.allowed_hosts },
});

/** What has been changed of a connection. */
export function changesOf(
  connection: OAuthConnection,
  draft: ConnectionDraft,
): BodyOf<'PUT /api/connections/{id}'> {
  const before = draftOf(connection);
  const isChanged = (name: keyof ConnectionDraft): boolean =>
    JSON.stringify(before[name]) !== JSON.stringify(draft[name]);
  const { client_id, authorization_url, token_url, issuer, scopes, allowed_hosts } = draft;
  const fields = { client_id, authorization_url, token_url, issuer, scopes, allowed_hosts };
  return {
    ...Object.fromEntries(
      Object.entries(fields).filter(([name]) => isChanged(name as keyof typeof fields)),
    ),
    ...ifGiven('client_secret', draft.client_secret),
  };
}

/** Whether the draft has what every connection needs. */
export const isComplete = (draft: ConnectionDraft): boolean =>
  SECRET_NAME.test(draft.name) &&
  (draft.preset === MCP_SERVER
    ? draft.server.trim() !== ''
    : draft.client_id !== '' &&
      draft.allowed_hosts.length > 0 &&
      (draft.issuer !== '' ||
        (draft.token_url !== '' &&
          (draft.grant === 'client_credentials' || draft.authorization_url !== ''))));
