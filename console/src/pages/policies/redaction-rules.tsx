import { Button, Checkbox, Group, SimpleGrid, Stack, TextInput } from '@mantine/core';
import { words } from '#console/src/messages/en/words.ts';
import {
  detectorTexts,
  redactionRules as text,
} from '#console/src/messages/en/governance/policies.ts';
import { Dimmed } from '#console/src/parts/text/dimmed.tsx';
import { detectorNames } from './detector-texts.ts';
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
      <Dimmed>{text.about}</Dimmed>
      <Checkbox.Group
        label={text.detectors}
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
          {text.addPattern}
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
  const { name } = pattern;
  return (
    <Group
      align="flex-end"
      gap="xs"
      role="group"
      aria-label={name === '' ? text.patternUnnamed : text.pattern(name)}
    >
      <TextInput
        label={words.name}
        value={name}
        onChange={(event) => onChange({ name: event.currentTarget.value })}
        maxLength={50}
        required
      />
      <TextInput
        label={text.regex}
        value={pattern.regex}
        onChange={(event) => onChange({ regex: event.currentTarget.value })}
        maxLength={500}
        flex={1}
        miw={200}
        required
      />
      <Button
        variant="light"
        color="danger"
        onClick={onRemove}
        aria-label={name === '' ? text.removePatternUnnamed : text.removePattern(name)}
      >
        {words.remove}
      </Button>
    </Group>
  );
}
