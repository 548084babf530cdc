import { Badge, Box, Button, Group, Text, UnstyledButton } from '@mantine/core';
import type { Graph } from '#client/index.ts';
import { mistakeList as text } from '#console/src/messages/en/workflows/mistakes.ts';
import { UserText } from '#console/src/parts/text/user-text.tsx';
import { Dimmed } from '#console/src/parts/text/dimmed.tsx';
import { fixOf } from './fixes.ts';
import type { Checked } from './use-mistakes.ts';
import type { Mistake } from './mistakes.ts';

/** Limit of mistakes shown at a time. */
const SHOWN = 50;

/** Where the changes of fixes go. */
export interface Fixable {
  graph: Graph;
  onFix: (graph: Graph) => void;
}

/** The mistakes, each linked to its location, and with a button for a fix that is one change. */
export function MistakeList({
  checked: { mistakes, confirmed },
  fixable,
  onChoose,
}: {
  checked: Pick<Checked, 'mistakes' | 'confirmed'>;
  fixable?: Fixable;
  onChoose?: (mistake: Mistake) => void;
}) {
  if (mistakes === undefined || (mistakes.length === 0 && !confirmed)) {
    return <Dimmed>{text.checking}</Dimmed>;
  }
  if (mistakes.length === 0) {
    return <Dimmed>{text.none}</Dimmed>;
  }
  return (
    <>
      <Box component="ul" m={0} p={0} style={{ listStyle: 'none' }}>
        {mistakes.slice(0, SHOWN).map((mistake, index) => (
          <li key={`${index} ${mistake.message}`}>
            {onChoose === undefined ? (
              <MistakeText mistake={mistake} />
            ) : (
              <UnstyledButton w="100%" py={4} onClick={() => onChoose(mistake)}>
                <MistakeText mistake={mistake} />
              </UnstyledButton>
            )}
            {fixable !== undefined && <FixButton mistake={mistake} {...fixable} />}
          </li>
        ))}
      </Box>
      {mistakes.length > SHOWN && <Dimmed size="xs">{text.more(mistakes.length - SHOWN)}</Dimmed>}
    </>
  );
}

const MistakeText = ({ mistake: { severity, message } }: { mistake: Mistake }) => (
  <Group gap="xs" wrap="nowrap" align="flex-start">
    <Badge
      size="sm"
      variant="light"
      c="bright"
      tt="none"
      flex="none"
      color={severity === 'error' ? 'danger' : 'warning'}
    >
      {text.severities[severity]}
    </Badge>
    <Text size="sm" miw={0}>
      <UserText>{message}</UserText>
    </Text>
  </Group>
);

function FixButton({ mistake, graph, onFix }: Fixable & { mistake: Mistake }) {
  const fix = fixOf(mistake, graph);
  if (fix === undefined) return null;
  return (
    <Button size="compact-sm" variant="default" mb={4} onClick={() => onFix(fix.graph)}>
      {fix.label}
    </Button>
  );
}
