import { Skeleton, Textarea } from '@mantine/core';
import { Suspense, useDeferredValue, useState } from 'react';
import { lazyPart } from '#console/src/chunks.ts';
import { redactionTester as texts } from '#console/src/messages/en/governance/policies.ts';
import { Section } from '#console/src/parts/page.tsx';
import { Dimmed } from '#console/src/parts/text/dimmed.tsx';
import type { Redaction } from './policy-draft.ts';

const RedactionOutcome = lazyPart(() => import('./redaction-outcome.tsx'), 'RedactionOutcome');

const MOST_CHARACTERS = 50_000;

/** Applies the redaction in the form to a text. Runs in the browser. */
export function RedactionTester({ redaction }: { redaction: Redaction }) {
  const [text, setText] = useState('');
  const settled = useDeferredValue(text);
  return (
    <Section title={texts.title}>
      <Dimmed>{texts.about}</Dimmed>
      <Textarea
        label={texts.sample}
        placeholder={texts.samplePlaceholder}
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
