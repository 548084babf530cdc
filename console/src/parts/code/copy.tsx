import { ActionIcon, CopyButton, Tooltip } from '@mantine/core';
import { IconCheck, IconCopy, IconRoute } from '@tabler/icons-react';
import { code } from '#console/src/messages/en/parts/code.ts';

/** Copies a text to the clipboard. `what` describes it in the tooltip and for screen readers. */
export function Copy({ text, what, path = false }: { text: string; what: string; path?: boolean }) {
  const CopySign = path ? IconRoute : IconCopy;
  return (
    <CopyButton value={text} timeout={1_500}>
      {({ copied, copy }) => (
        <Tooltip label={copied ? code.copied : code.copy(what)}>
          <ActionIcon
            size="sm"
            variant="subtle"
            color={copied ? 'success' : 'gray'}
            aria-label={copied ? code.copied : code.copy(what)}
            onClick={copy}
          >
            {copied ? <IconCheck size={14} /> : <CopySign size={14} />}
          </ActionIcon>
        </Tooltip>
      )}
    </CopyButton>
  );
}
