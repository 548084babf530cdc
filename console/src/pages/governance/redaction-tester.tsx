import { Skeleton, Text, Textarea } from '@mantine/core';
import { lazy, Suspense, useDeferredValue, useState } from 'react';
import { Section } from '../../parts/page.tsx';
import type { Redaction } from './policy-draft.ts';

const RedactionOutcome = lazy(async () => ({
  default: (await import('./redaction-outcome.tsx')).RedactionOutcome,
}));

const MOST_CHARACTERS = 50_000;

/** Shows what the redaction in the form would do to a text. It is worked out in the browser. */
export function RedactionTester({ redaction }: { redaction: Redaction }) {
  const [text, setText] = useState('');
  const settled = useDeferredValue(text);
  return (
    <Section title="Try the redaction">
      <Text size="sm" c="dimmed">
        With the rules as they stand above, saved or not. This runs in your browser and sends
        nothing.
      </Text>
      <Textarea
        label="Text to try"
        placeholder="Paste a prompt, or an e-mail"
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
        maxLength={MOST_CHARACTERS}
        autosize
        minRows={3}
        maxRows={12}
      />
      {settled !== '' && (
        <Suspense fallback={<Skeleton h={80} />}>
          <RedactionOutcome redaction={redaction} text={settled} />
        </Suspense>
      )}
    </Section>
  );
}
