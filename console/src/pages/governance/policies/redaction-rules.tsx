import { Button, Checkbox, Group, SimpleGrid, Stack, Text, TextInput } from '@mantine/core';
import { detectorNames, detectorTexts } from './detector-texts.ts';
import {
  type DetectorName,
  newPattern,
  type PatternDraft,
  type PolicyDraft,
} from './policy-draft.ts';

/** What is redacted from prompts and parameters: matches of built-in detectors and of workspace patterns. */
export function RedactionRules({
  draft,
  change,
}: {
  draft: PolicyDraft;
  change: (part: Partial<PolicyDraft>) => void;
}) {
  const replace = (key: number, part: Partial<PatternDraft>): void =>
    change({
      patterns: draft.patterns.map((each) => (each.key === key ? { ...each, ...part } : each)),
    });
  return (
    <Stack gap="md">
      <Text size="sm" c="dimmed">
        Matches in prompts and parameters are replaced with [REDACTED:name] before they leave the
        service. If matches overlap, the longest one gives the name.
      </Text>
      <Checkbox.Group
        label="Detectors"
        value={draft.detectors}
        onChange={(detectors) => change({ detectors: detectors as DetectorName[] })}
      >
        <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="sm" mt="xs">
          {detectorNames.map((name) => (
            <Checkbox
              key={name}
              value={name}
              label={detectorTexts[name].label}
              description={detectorTexts[name].finds}
            />
          ))}
        </SimpleGrid>
      </Checkbox.Group>
      {draft.patterns.map((pattern) => (
        <PatternFields
          key={pattern.key}
          pattern={pattern}
          onChange={(part) => replace(pattern.key, part)}
          onRemove={() =>
            change({ patterns: draft.patterns.filter(({ key }) => key !== pattern.key) })
          }
        />
      ))}
      <Group>
        <Button
          variant="default"
          onClick={() => change({ patterns: [...draft.patterns, newPattern()] })}
        >
          Add pattern
        </Button>
      </Group>
    </Stack>
  );
}

function PatternFields({
  pattern,
  onChange,
  onRemove,
}: {
  pattern: PatternDraft;
  onChange: (part: Partial<PatternDraft>) => void;
  onRemove: () => void;
}) {
  const name = pattern.name === '' ? 'this pattern' : pattern.name;
  return (
    <Group align="flex-end" gap="xs" role="group" aria-label={`Pattern ${name}`}>
      <TextInput
        label="Name"
        value={pattern.name}
        onChange={(event) => onChange({ name: event.currentTarget.value })}
        maxLength={50}
        required
      />
      <TextInput
        label="RE2 pattern"
        value={pattern.regex}
        onChange={(event) => onChange({ regex: event.currentTarget.value })}
        maxLength={500}
        flex={1}
        miw={200}
        required
      />
      <Button variant="light" color="red" onClick={onRemove} aria-label={`Remove ${name}`}>
        Remove
      </Button>
    </Group>
  );
}
