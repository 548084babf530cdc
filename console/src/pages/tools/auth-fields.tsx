import { Group, NativeSelect, Select } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { CustomTool, ToolImport } from '#client/index.ts';
import { toolImport as text } from '#console/src/messages/en/workspace/tools.ts';
import { connectionsQuery, secretsQuery } from '#console/src/queries/workspace.ts';

export type AuthDraft = NonNullable<CustomTool['auth']>;

type SecurityScheme = NonNullable<ToolImport['document']>['security_schemes'][number];

export const authOf = (auth: AuthDraft | undefined): { auth?: AuthDraft } =>
  auth === undefined ? {} : { auth };

/** What the schemes of a document ask for, and what every API may take. */
function placesOf(schemes: readonly SecurityScheme[]): { value: string; label: string }[] {
  const asked = schemes.flatMap(({ type, scheme, in: place, parameter }) => {
    if (type === 'apiKey' && parameter !== undefined && place !== 'cookie') {
      return [`${place}:${parameter}`];
    }
    return type === 'http' && scheme === 'basic' ? ['basic'] : ['bearer'];
  });
  const places = [...new Set([...asked, 'bearer', 'basic'])];
  return places.map((value) => ({ value, label: labelOf(value) }));
}

function labelOf(place: string): string {
  if (place === 'bearer' || place === 'basic') return text.places[place];
  const name = place.slice(place.indexOf(':') + 1);
  return place.startsWith('header:') ? text.places.header(name) : text.places.query(name);
}

/** The value of an option, such as `secret:CRM_API_KEY`. */
function optionOf({ secret, connection }: AuthDraft): string {
  return connection === undefined ? `secret:${secret ?? ''}` : `connection:${connection}`;
}

function authOfOption(option: string, as: string): AuthDraft {
  const name = option.slice(option.indexOf(':') + 1);
  return option.startsWith('connection:') ? { connection: name, as } : { secret: name, as };
}

const optionsOf = (kind: 'secret' | 'connection', all: readonly { name: string }[]) => ({
  group: text.groups[kind],
  items: all.map(({ name }) => ({ value: `${kind}:${name}`, label: name })),
});

/** The secret or connection that calls authenticate with, and where it stands. */
export function AuthFields({
  schemes,
  value,
  onChange,
  about = text.aboutAuth,
}: {
  schemes: readonly SecurityScheme[];
  value: AuthDraft | undefined;
  onChange: (value: AuthDraft | undefined) => void;
  about?: string;
}) {
  const { data: secrets = [] } = useQuery(secretsQuery);
  const { data: connections = [] } = useQuery(connectionsQuery);
  const places = placesOf(schemes);
  const as = value?.as ?? places[0]?.value ?? 'bearer';
  return (
    <Group grow align="flex-start">
      <Select
        label={text.auth}
        description={about}
        placeholder={text.noAuth}
        data={[optionsOf('secret', secrets), optionsOf('connection', connections)].filter(
          ({ items }) => items.length > 0,
        )}
        clearable
        searchable
        value={value === undefined ? null : optionOf(value)}
        onChange={(option) => onChange(option === null ? undefined : authOfOption(option, as))}
      />
      {value !== undefined && (
        <NativeSelect
          label={text.as}
          data={
            places.some((place) => place.value === as)
              ? places
              : [{ value: as, label: labelOf(as) }, ...places]
          }
          value={as}
          onChange={({ currentTarget }) => onChange({ ...value, as: currentTarget.value })}
        />
      )}
    </Group>
  );
}
