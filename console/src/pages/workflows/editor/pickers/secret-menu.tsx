import { ActionIcon, Menu } from '@mantine/core';
import { IconKey } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { SECRETS } from '#shared/values/secrets.ts';
import { namedValues as texts } from '#console/src/messages/en/workflows/node-fields.ts';
import { secretsQuery } from '#console/src/queries/workspace.ts';

/** Inserts the reference to a secret. */
export function SecretMenu({ onInsert }: { onInsert: (reference: string) => void }) {
  const { data: secrets = [] } = useQuery(secretsQuery);
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" aria-label={texts.secret} title={texts.secret}>
          <IconKey size={16} aria-hidden />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        {secrets.length === 0 && <Menu.Label>{texts.noSecrets}</Menu.Label>}
        {secrets.map(({ name }) => (
          <Menu.Item key={name} onClick={() => onInsert(`{${SECRETS}.${name}}`)}>
            {name}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}
