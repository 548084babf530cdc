import { Button, Group, NativeSelect, Stack, Textarea, TextInput } from '@mantine/core';
import type { RuleDraft } from './policy-draft.ts';

/** A rule that blocks values of one tool argument: listed values, or matches of a pattern. */
export function ArgumentRule({
  rule,
  onChange,
  onRemove,
}: {
  rule: RuleDraft;
  onChange: (part: Partial<RuleDraft>) => void;
  onRemove: () => void;
}) {
  const name = rule.argument.trim() === '' ? 'this argument' : rule.argument;
  return (
    <Stack gap="xs" role="group" aria-label={`Block ${name}`} pl="md">
      <Group align="flex-end" gap="xs">
        <TextInput
          label="Blocked argument"
          description="Path to the parameter, like body.country"
          value={rule.argument}
          onChange={(event) => onChange({ argument: event.currentTarget.value })}
          flex={1}
          miw={180}
          maxLength={200}
          required
        />
        <NativeSelect
          label="Condition"
          value={rule.by}
          onChange={(event) => onChange({ by: event.currentTarget.value as RuleDraft['by'] })}
          data={[
            { value: 'values', label: 'is one of' },
            { value: 'pattern', label: 'matches a pattern' },
          ]}
        />
        <Button
          variant="subtle"
          color="red"
          onClick={onRemove}
          aria-label={`Remove rule for ${name}`}
        >
          Remove
        </Button>
      </Group>
      <BlockedContent rule={rule} onChange={onChange} />
    </Stack>
  );
}

/** The values or the pattern that the rule blocks. */
function BlockedContent({
  rule,
  onChange,
}: {
  rule: RuleDraft;
  onChange: (part: Partial<RuleDraft>) => void;
}) {
  return rule.by === 'values' ? (
    <Textarea
      label="Values"
      description="One per line. Numbers, true, false, null, lists and objects are read as JSON. Put quotes around them to match text."
      value={rule.values}
      onChange={(event) => onChange({ values: event.currentTarget.value })}
      autosize
      minRows={2}
      required
    />
  ) : (
    <TextInput
      label="Pattern"
      description="RE2. Matches anywhere in the value. Start with (?i) to ignore case."
      value={rule.pattern}
      onChange={(event) => onChange({ pattern: event.currentTarget.value })}
      maxLength={500}
      required
    />
  );
}
