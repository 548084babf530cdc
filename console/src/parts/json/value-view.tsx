import { SegmentedControl, Stack } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { valueView as text } from '#console/src/messages/en/parts/json.ts';
import { JsonView } from '#console/src/parts/code/json-view.tsx';
import { Markdown, MOST_MARKDOWN } from '#console/src/parts/markdown/markdown.tsx';
import { isContainer } from './json-rows.ts';
import { JsonTree } from './json-tree.tsx';

interface ValueViewProps {
  value: unknown;
  /** What the value is, for screen readers. */
  what: string;
  /** Whether a text comes from a model or is for one, so that it is initially formatted. */
  prose?: boolean;
}

/** A value of a run: JSON as a tree, a text formatted, or either as raw text. */
export function ValueView({ value, what, prose = false }: ValueViewProps) {
  if (typeof value === 'string' && value.trim() !== '' && value.length <= MOST_MARKDOWN) {
    return (
      <TwoWays
        what={what}
        name={text.formatted}
        first={prose}
        plain={<JsonView {...{ value, what }} />}
      >
        <Markdown text={value} />
      </TwoWays>
    );
  }
  if (isContainer(value) && Object.keys(value).length > 0) {
    return (
      <TwoWays what={what} name={text.tree} first plain={<JsonView {...{ value, what }} />}>
        <JsonTree value={value} what={what} />
      </TwoWays>
    );
  }
  return <JsonView value={value} what={what} />;
}

function TwoWays({
  what,
  name,
  first,
  plain,
  children,
}: {
  what: string;
  name: string;
  first: boolean;
  plain: ReactNode;
  children: ReactNode;
}) {
  const [chosen, setChosen] = useState<string>();
  const shown = chosen ?? (first ? name : text.plain);
  return (
    <Stack gap={4}>
      <SegmentedControl
        size="xs"
        aria-label={text.label(what)}
        data={[name, text.plain]}
        value={shown}
        onChange={setChosen}
        style={{ alignSelf: 'flex-start' }}
      />
      {shown === name ? children : plain}
    </Stack>
  );
}
