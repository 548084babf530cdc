import { Alert, Box, Group, Mark, Stack, Text } from '@mantine/core';
import { useMemo } from 'react';
import { PatternError } from '#shared/values/pattern.ts';
import { compileRedaction, RedactionError } from '#shared/policies/redaction.ts';
import { redactionOutcome as texts } from '#console/src/messages/en/governance/policies.ts';
import { Tag } from '#console/src/parts/tag.tsx';
import { countText } from '#console/src/parts/text/numbers.ts';
import type { Redaction } from './policy-draft.ts';

type Outcome = { text: string; counts: [string, number][] } | { problem: string };

/** The redacted text. Loaded only when there is a text, because the pattern engine is large. */
export function RedactionOutcome({ redaction, text }: { redaction: Redaction; text: string }) {
  const outcome = useMemo(() => redacted(redaction, text), [redaction, text]);
  if ('problem' in outcome) {
    return (
      <Alert color="danger" title={texts.failed} role="alert">
        {outcome.problem}
      </Alert>
    );
  }
  return (
    <Stack gap="xs" aria-live="polite">
      <Group gap="xs">
        <Text size="sm" fw={600}>
          {texts.redacted}
        </Text>
        {outcome.counts.length === 0 ? (
          <Tag color="gray">{texts.nothingFound}</Tag>
        ) : (
          outcome.counts.map(([name, count]) => (
            <Tag key={name} color="caution">
              {texts.found(name, countText(count))}
            </Tag>
          ))
        )}
      </Group>
      <Box
        className="pre user-text"
        dir="auto"
        p="xs"
        mah={320}
        tabIndex={0}
        role="region"
        aria-label={texts.redacted}
        style={{
          overflow: 'auto',
          border: 'var(--border)',
          borderRadius: 'var(--mantine-radius-default)',
        }}
      >
        {marked(outcome.text)}
      </Box>
    </Stack>
  );
}

function redacted(rules: Redaction, text: string): Outcome {
  try {
    // Ignore incomplete rows.
    const patterns = rules.patterns.filter(({ name, regex }) => name !== '' && regex !== '');
    const begin = compileRedaction({ ...rules, patterns });
    if (begin === undefined) return { text, counts: [] };
    const redaction = begin();
    return { text: redaction.redact(text), counts: [...redaction.counts] };
  } catch (error) {
    if (error instanceof PatternError || error instanceof RedactionError) {
      return { problem: error.message };
    }
    throw error;
  }
}

/** Highlights the redacted parts. */
function marked(text: string) {
  return text
    .split(/(\[REDACTED:[\w-]+\])/)
    .map((part, index) => (index % 2 === 1 ? <Mark key={index}>{part}</Mark> : part));
}
