import { Text } from '@mantine/core';
import { code } from '#console/src/messages/en/parts/code.ts';
import { Copy } from './code/copy.tsx';
import { shortId } from './text/short-id.ts';

/** The end of an id within a line, with the whole one as its hint. */
export const IdEnd = ({ id }: { id: string }) => (
  <Text span size="xs" c="dimmed" title={id} className="id-end">
    {shortId(id)}
  </Text>
);

/** Copies an id. The button shows while the pointer or the focus is in its row. */
export const CopyId = ({ id }: { id: string }) => (
  <span className="copy-id">
    <Copy text={id} what={code.id(shortId(id))} />
  </span>
);
