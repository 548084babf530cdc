import { Text, VisuallyHidden } from '@mantine/core';
import { changedWords } from '#console/src/messages/en/parts/data.ts';
import { UserText } from './user-text.tsx';
import { wordChanges } from './word-changes.ts';

/** What has changed between two texts, word by word, distinguished by more than color. */
export const ChangedText = ({ before, after }: { before: string; after: string }) => (
  <Text size="sm" className="pre" component="div" dir="auto">
    {wordChanges(before, after).map(({ kind, text }, at) =>
      kind === 'same' ? (
        <UserText key={at}>{text}</UserText>
      ) : (
        <Text key={at} inherit component={kind === 'added' ? 'ins' : 'del'} className={kind}>
          <VisuallyHidden>{changedWords[kind]} </VisuallyHidden>
          <UserText>{text}</UserText>
        </Text>
      ),
    )}
  </Text>
);
