import { Badge, Box, Group, Text, UnstyledButton } from '@mantine/core';
import { mistakeList as text } from '#console/src/messages/en/workflows/mistakes.ts';
import { UserText } from '#console/src/parts/text/user-text.tsx';
import { Dimmed } from '#console/src/parts/text/dimmed.tsx';
import type { Mistake } from './mistakes.ts';

/** Limit of mistakes shown at a time. */
const SHOWN = 50;

/** The mistakes, each linked to its location. */
export function MistakeList({
  mistakes,
  onChoose,
}: {
  mistakes: readonly Mistake[] | undefined;
  onChoose: (mistake: Mistake) => void;
}) {
  if (mistakes === undefined) {
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
            <UnstyledButton w="100%" py={4} onClick={() => onChoose(mistake)}>
              <Group gap="xs" wrap="nowrap" align="flex-start">
                <Badge
                  size="sm"
                  variant="light"
                  c="bright"
                  tt="none"
                  flex="none"
                  color={mistake.severity === 'error' ? 'danger' : 'warning'}
                >
                  {text.severities[mistake.severity]}
                </Badge>
                <Text size="sm" miw={0}>
                  <UserText>{mistake.message}</UserText>
                </Text>
              </Group>
            </UnstyledButton>
          </li>
        ))}
      </Box>
      {mistakes.length > SHOWN && <Dimmed size="xs">{text.more(mistakes.length - SHOWN)}</Dimmed>}
    </>
  );
}
