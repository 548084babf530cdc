import { Anchor, Group, Text } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useEffect, useRef } from 'react';
import { type Trouble, useTrouble } from '#console/src/connection.ts';
import { connectionBar as text } from '#console/src/messages/en/shell.ts';
import { useMoment } from '#console/src/parts/text/now.ts';
import { clockText } from '#console/src/parts/text/times.ts';
import { connectionBarHeight } from '#console/src/tokens.ts';

/** One line that says why the console waits, and when it tries again. Without a reason, there is no bar. */
export function ConnectionBar() {
  const trouble = useTrouble();
  const unanswered = trouble?.unanswered === true;
  const before = useRef(false);
  useEffect(() => {
    if (before.current && trouble === undefined) {
      notifications.show({ color: 'warning', title: text.back, message: text.check });
    }
    before.current = unanswered;
  }, [unanswered, trouble]);
  if (trouble === undefined) return null;
  return (
    <Group className="connection-bar" h={connectionBarHeight} px="md" gap={6} wrap="nowrap">
      <Text span size="sm" role="status" truncate>
        {reasonOf(trouble)}
      </Text>
      {trouble.of === 'version' ? (
        <Anchor component="button" size="sm" onClick={() => window.location.reload()}>
          {text.reload}
        </Anchor>
      ) : (
        <Countdown nextTry={trouble.nextTry} />
      )}
    </Group>
  );
}

/** Not part of the status: a screen reader would read each second. */
function Countdown({ nextTry }: Pick<Trouble, 'nextTry'>) {
  const now = useMoment(nextTry !== undefined);
  return (
    <Text span size="sm" style={{ whiteSpace: 'nowrap' }}>
      {nextTry === undefined
        ? text.trying
        : text.tryingIn(Math.max(1, Math.ceil((nextTry - now) / 1_000)))}
    </Text>
  );
}

function reasonOf({ of, since, unanswered }: Trouble): string {
  if (of !== 'service') return text[of];
  return unanswered ? text.unanswered : text.offline(clockText(since));
}
