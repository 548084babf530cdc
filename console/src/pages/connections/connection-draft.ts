import type { BodyOf, ConnectionPreset, OAuthConnection } from '#client/index.ts';
import { SECRET_NAME } from '#shared/values/secrets.ts';

type Input = BodyOf<'POST /api/connections'>;

/** A connection as entered. */
export interface ConnectionDraft {
  /** Empty for a service without a preset. */
  preset: string;
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

export const draftOf = (connection: OAuthConnection | undefined): ConnectionDraft => ({
  preset: connection?.preset ?? '',
  name: connection?.name ?? '',
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

/** The draft with what a well-known service is set to. */
export const withPreset = (
  draft: ConnectionDraft,
  preset: ConnectionPreset | undefined,
): ConnectionDraft => ({
  ...draft,
  preset: preset?.id ?? '',
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

/** What a connection is created with. A preset gives what is not changed. */
export const inputOf = (draft: ConnectionDraft): Input => ({
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
  draft.client_id !== '' &&
  draft.allowed_hosts.length > 0 &&
  (draft.issuer !== '' ||
    (draft.token_url !== '' &&
      (draft.grant === 'client_credentials' || draft.authorization_url !== '')));
