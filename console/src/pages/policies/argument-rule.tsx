import { Button, Group, NativeSelect, Stack, Textarea, TextInput } from '@mantine/core';
import { words } from '#console/src/messages/en/words.ts';
import { argumentRule as text } from '#console/src/messages/en/governance/policies.ts';
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
  const unnamed = rule.argument.trim() === '';
  return (
    <Stack
      gap="xs"
      role="group"
      aria-label={unnamed ? text.blockUnnamed : text.block(rule.argument)}
      pl="md"
    >
      <Group align="flex-end" gap="xs">
        <TextInput
          label={text.argument}
          description={text.argumentAbout}
          value={rule.argument}
          onChange={(event) => onChange({ argument: event.currentTarget.value })}
          flex={1}
          miw={180}
          maxLength={200}
          required
        />
        <NativeSelect
          label={text.condition}
          value={rule.by}
          onChange={(event) => onChange({ by: event.currentTarget.value as RuleDraft['by'] })}
          data={[
            { value: 'values', label: text.isOneOf },
            { value: 'pattern', label: text.matches },
          ]}
        />
        <Button
          variant="subtle"
          color="danger"
          onClick={onRemove}
          aria-label={unnamed ? text.removeRuleUnnamed : text.removeRule(rule.argument)}
        >
          {words.remove}
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
      label={text.values}
      description={text.valuesAbout}
      value={rule.values}
      onChange={(event) => onChange({ values: event.currentTarget.value })}
      autosize
      minRows={2}
      required
    />
  ) : (
    <TextInput
      label={text.pattern}
      description={text.patternAbout}
      value={rule.pattern}
      onChange={(event) => onChange({ pattern: event.currentTarget.value })}
      maxLength={500}
      required
    />
  );
}
