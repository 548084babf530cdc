import { Badge, type MantineColor } from '@mantine/core';
import type { ListedExperiment } from '#client/index.ts';
import {
  experimentCandidate,
  experimentResults,
  experimentStatuses,
} from '#console/src/messages/en/workflows/experiments.ts';
import type { Result } from './run-groups.ts';

const resultColours: Record<Result, MantineColor> = {
  failed: 'danger',
  broken: 'danger',
  changed: 'warning',
  equal: 'success',
  none: 'gray',
};

const statusColours: Record<ListedExperiment['status'], MantineColor> = {
  running: 'info',
  done: 'success',
  cancelled: 'gray',
  failed: 'danger',
};

const Word = ({ word, colour }: { word: string; colour: MantineColor }) => (
  <Badge variant="light" color={colour} c="bright" tt="none" fw={600} miw="max-content">
    {word}
  </Badge>
);

/** The result of a rehearsal, as a word on a color. */
export const ResultBadge = ({ result }: { result: Result }) => (
  <Word word={experimentResults[result]} colour={resultColours[result]} />
);

/** The status of an experiment, as a word on a color. */
export const ExperimentStatus = ({ status }: Pick<ListedExperiment, 'status'>) => (
  <Word word={experimentStatuses[status]} colour={statusColours[status]} />
);

export const candidateText = ({ candidate }: Pick<ListedExperiment, 'candidate'>): string =>
  candidate === 'draft'
    ? experimentCandidate.draft
    : experimentCandidate.version(candidate.version);
