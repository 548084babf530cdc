import {
  Button,
  Fieldset,
  Group,
  NativeSelect,
  Stack,
  Switch,
  Text,
  TextInput,
} from '@mantine/core';
import { IconTrash } from '@tabler/icons-react';
import { words } from '#console/src/messages/en/words.ts';
import { checkFields as text } from '#console/src/messages/en/workflows/checks.ts';
import { CodeEditor } from '#console/src/parts/code/code-editor.tsx';
import {
  type Check,
  checkProblem,
  checkTypes,
  type CheckType,
  retyped,
  subjectOf,
} from './check.ts';
import { NumberField } from '#console/src/parts/forms/number-field.tsx';
import { countText } from '#console/src/parts/text/numbers.ts';

/** The form of one check, by its type. */
export function CheckFields({
  number,
  check,
  onChange,
  onRemove,
}: {
  number: number;
  check: Check;
  onChange: (check: Check) => void;
  onRemove: () => void;
}) {
  const problem = checkProblem(check);
  return (
    <Fieldset legend={text.title(countText(number))}>
      <Stack gap="sm">
        <Group grow align="flex-start" wrap="wrap" preventGrowOverflow={false}>
          <TextInput
            label={words.name}
            required
            maxLength={200}
            value={check.name}
            onChange={(event) => onChange({ ...check, name: event.currentTarget.value })}
          />
          <NativeSelect
            label={text.passesWhen}
            data={Object.entries(checkTypes).map(([value, { label }]) => ({ value, label }))}
            value={check.type}
            onChange={(event) => onChange(retyped(check, event.currentTarget.value as CheckType))}
          />
        </Group>
        <CheckValue check={check} onChange={onChange} />
        {subjectOf(check.type) === 'text' && <TextFields check={check} onChange={onChange} />}
        <Group justify="space-between">
          <Text size="sm" c="dimmed" aria-live="polite">
            {problem}
          </Text>
          <Button
            variant="subtle"
            color="danger"
            leftSection={<IconTrash size={16} aria-hidden />}
            aria-label={text.remove(countText(number))}
            onClick={onRemove}
          >
            {words.remove}
          </Button>
        </Group>
      </Stack>
    </Fieldset>
  );
}

function CheckValue({ check, onChange }: { check: Check; onChange: (check: Check) => void }) {
  const { value: label } = checkTypes[check.type];
  switch (subjectOf(check.type)) {
    case 'number':
      return (
        <NumberField
          label={label}
          required
          min={0}
          value={check.value}
          onChange={(value) => onChange({ ...check, value })}
        />
      );
    case 'expression':
      return (
        <CodeEditor
          label={label}
          description={text.expressionAbout}
          language="expression"
          minHeight={44}
          value={String(check.value ?? '')}
          onChange={(value) => {
            if (value !== String(check.value ?? '')) onChange({ ...check, value });
          }}
        />
      );
    case 'text':
      return (
        <TextInput
          label={label}
          dir="auto"
          maxLength={10_000}
          value={String(check.value ?? '')}
          onChange={(event) => onChange({ ...check, value: event.currentTarget.value })}
        />
      );
  }
}

function TextFields({ check, onChange }: { check: Check; onChange: (check: Check) => void }) {
  return (
    <>
      <TextInput
        label={text.target}
        description={text.targetAbout}
        maxLength={500}
        value={check.target ?? ''}
        onChange={(event) => {
          const target = event.currentTarget.value;
          onChange({ ...check, target: target === '' ? undefined : target });
        }}
      />
      <Switch
        label={text.caseSensitive}
        checked={check.case_sensitive === true}
        onChange={(event) =>
          onChange({ ...check, case_sensitive: event.currentTarget.checked || undefined })
        }
      />
    </>
  );
}
