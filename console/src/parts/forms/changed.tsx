import { Alert, Button, Group, List, Stack, Text } from '@mantine/core';
import { action, changed as texts } from '#console/src/messages/en/forms.ts';
import { ChangedValue } from '#console/src/parts/data/changed-value.tsx';
import { sentenceCase } from '#console/src/parts/text/sentence-case.ts';
import { UserText } from '#console/src/parts/text/user-text.tsx';
import type { ChangedMeanwhile } from './edited.tsx';

/** The maximum number of displayed characters of a value. */
const MOST_CHARACTERS = 200;

/** Someone else changed or deleted the record that a form edits. Nothing that the user entered is lost. */
export function Changed({ fields, onReload }: ChangedMeanwhile) {
  if (fields === undefined) {
    return (
      <Alert color="warning" role="alert" title={texts.deleted}>
        <Text size="sm">{texts.deletedAbout}</Text>
      </Alert>
    );
  }
  return (
    <Alert color="warning" role="alert" title={action.stale}>
      <Stack gap="xs">
        {fields.length > 0 && (
          <List size="sm">
            {fields.map(({ name, before, after }) => (
              <List.Item key={name}>
                {sentenceCase(name.replaceAll('_', ' '))}:{' '}
                <ChangedValue before={valueText(before)} after={valueText(after)} />
              </List.Item>
            ))}
          </List>
        )}
        <Text size="sm">{texts.notSaved}</Text>
        <Group gap="xs">
          <Button size="compact-sm" variant="default" onClick={() => onReload(true)}>
            {texts.reload}
          </Button>
          <Button size="compact-sm" variant="subtle" onClick={() => onReload(false)}>
            {texts.discard}
          </Button>
        </Group>
      </Stack>
    </Alert>
  );
}

function valueText(value: unknown) {
  if (value === null || value === undefined || value === '') return texts.none;
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  const short = text.length > MOST_CHARACTERS ? `${text.slice(0, MOST_CHARACTERS)}…` : text;
  return <UserText>{short}</UserText>;
}
