import { Group, NativeSelect, Select } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { CustomTool, ToolImport } from '#client/index.ts';
import { toolImport as text } from '#console/src/messages/en/workspace/tools.ts';
import { secretsQuery } from '#console/src/queries/workspace.ts';

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

/** The secret that calls authenticate with, and where it stands. */
export function AuthFields({
  schemes,
  value,
  onChange,
}: {
  schemes: readonly SecurityScheme[];
  value: AuthDraft | undefined;
  onChange: (value: AuthDraft | undefined) => void;
}) {
  const { data: secrets = [] } = useQuery(secretsQuery);
  const places = placesOf(schemes);
  const as = value?.as ?? places[0]?.value ?? 'bearer';
  return (
    <Group grow align="flex-start">
      <Select
        label={text.secret}
        description={text.aboutSecret}
        placeholder={text.noSecret}
        data={secrets.map(({ name }) => name)}
        clearable
        searchable
        value={value?.secret ?? null}
        onChange={(secret) => onChange(secret === null ? undefined : { secret, as })}
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
