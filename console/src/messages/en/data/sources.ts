import type { Source } from '#client/index.ts';
import { plural } from '#console/src/messages/format.ts';

/** Messages for the list of sources. */
export const sourceList = {
  title: 'Sources',
  add: 'Add source',
  health: 'Health',
  lastCheck: 'Last check',
  checkFrequency: 'Check frequency',
  reliability: 'Reliability',
  empty: {
    title: 'No sources yet',
    about:
      'A source is where records come from. Workflows and programs report the result of each check, so that you see when a source fails.',
  },
} as const;

/** Messages for one source. */
export const sourceRow = {
  health: {
    unknown: 'Unknown',
    healthy: 'Healthy',
    failed: 'Failed',
  } satisfies Record<Source['health']['status'], string>,
  failures: (count: number) =>
    plural(count, { one: '# consecutive failure', other: '# consecutive failures' }),
  noCheck: 'None yet',
  succeeded: 'Succeeded {time}',
  failed: 'Failed {time}',
  actionsFor: (name: string) => `Actions for ${name}`,
  report: 'Report check result',
  deleted: 'Source deleted',
  confirmDelete: {
    title: 'Delete this source?',
    consequence:
      'This deletes {name} and its check results. Records that refer to it do not change.',
    confirm: 'Delete source',
  },
} as const;

/** Messages for the form of a source. */
export const sourceForm = {
  newTitle: 'New source',
  editTitle: 'Edit source',
  add: 'Add source',
  added: 'Source added',
  saved: 'Source saved',
  typeAbout: 'The kind of source, such as permit_portal.',
  jurisdiction: {
    label: 'Jurisdiction',
    description: 'The area that the source covers, such as Austin, TX.',
  },
  cadence: {
    label: 'Check frequency',
    description: 'How often the source is checked, such as daily.',
  },
  permission_status: {
    label: 'Permission',
    description: 'Whether you are allowed to read the source.',
  },
  license_status: {
    label: 'License',
    description: 'Whether you are allowed to share its data.',
  },
  reliability: 'Reliability',
  reliabilityAbout: 'From 0 to 1. Leave empty if unknown.',
  demo: 'Demo source',
  demoAbout: 'Only test keys can see it. You cannot change this later.',
} as const;

/** Messages for the form that reports the result of a source check. */
export const sourceReportForm = {
  title: 'Report check result',
  submit: 'Report result',
  reported: 'Check result reported',
  about:
    'Report the result of a check of {name}. Subscribed endpoints are notified when the source fails or recovers.',
  succeeded: 'Succeeded',
  failed: 'Failed',
  errorPlaceholder: 'The portal returned 503',
} as const;
