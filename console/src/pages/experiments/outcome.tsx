import { Badge, type MantineColor } from '@mantine/core';
import type { ComparedRun, ListedExperiment } from '#client/index.ts';
import {
  experimentCandidate,
  experimentOutcomes,
  experimentStatuses,
} from '#console/src/messages/en/workflows/experiments.ts';

const outcomeColours: Record<ComparedRun['outcome'], MantineColor> = {
  equal: 'success',
  changed: 'warning',
  failed: 'danger',
  unrecorded: 'gray',
  refused: 'gray',
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
export const OutcomeBadge = ({ outcome }: Pick<ComparedRun, 'outcome'>) => (
  <Word word={experimentOutcomes[outcome]} colour={outcomeColours[outcome]} />
);

/** The status of an experiment, as a word on a color. */
export const ExperimentStatus = ({ status }: Pick<ListedExperiment, 'status'>) => (
  <Word word={experimentStatuses[status]} colour={statusColours[status]} />
);

export const candidateText = ({ candidate }: Pick<ListedExperiment, 'candidate'>): string =>
  candidate === 'draft'
    ? experimentCandidate.draft
    : experimentCandidate.version(candidate.version);
