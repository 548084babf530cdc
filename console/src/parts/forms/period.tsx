import { TextInput } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { period as text } from '#console/src/messages/en/forms.ts';
import { localTime } from '#console/src/parts/text/times.ts';

const DAY_MS = 86_400_000;

/** A period to choose: by default, the last day until now. */
export interface PeriodFields {
  /** The period as the API expects it, in ISO 8601; without an end, until now. Only read it if `complete`. */
  chosen: () => { since: string; until?: string };
  complete: boolean;
  fields: ReactNode;
}

/** The state and fields of a period. The labels describe it: `Received since`, `Received before`. */
export function usePeriod(labels: { since: string; until: string }): PeriodFields {
  const [since, setSince] = useState(() => localTime(Date.now() - DAY_MS));
  const [until, setUntil] = useState('');
  return {
    chosen: () => ({
      since: new Date(since).toISOString(),
      ...(until === '' ? {} : { until: new Date(until).toISOString() }),
    }),
    complete: since !== '',
    fields: (
      <>
        <TextInput
          label={labels.since}
          type="datetime-local"
          value={since}
          onChange={(event) => setSince(event.currentTarget.value)}
        />
        <TextInput
          label={labels.until}
          description={text.untilAbout}
          type="datetime-local"
          value={until}
          onChange={(event) => setUntil(event.currentTarget.value)}
        />
      </>
    ),
  };
}
