import { Textarea, TextInput } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import { words } from '#console/src/messages/en/words.ts';

/** The name and description of a workflow or template. */
export function NameFields({
  form,
  first = false,
  maxRows = 8,
}: {
  form: UseFormReturnType<{ name: string; description: string }>;
  /** Whether a dialog opens with the focus on the name. */
  first?: boolean;
  maxRows?: number;
}) {
  return (
    <>
      <TextInput
        label={words.name}
        required
        maxLength={200}
        data-autofocus={first || undefined}
        {...form.getInputProps('name')}
      />
      <Textarea
        label={words.description}
        autosize
        minRows={2}
        maxRows={maxRows}
        maxLength={10_000}
        {...form.getInputProps('description')}
      />
    </>
  );
}
