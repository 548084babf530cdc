import { Radio, Stack, TagsInput } from '@mantine/core';
import { priceTable } from '#shared/money/prices.ts';
import { modelRules as text } from '#console/src/messages/en/governance/policies.ts';
import type { PolicyDraft } from './policy-draft.ts';

/** Common models; users can type any other. */
const suggestions = ['mock', ...Object.keys(priceTable.models)];

/** The models that agents can use. */
export function ModelRules({
  draft,
  change,
}: {
  draft: PolicyDraft;
  change: (part: Partial<PolicyDraft>) => void;
}) {
  return (
    <Stack gap="sm">
      <Radio.Group
        aria-label={text.label}
        value={draft.restrictModels ? 'listed' : 'all'}
        onChange={(value) => change({ restrictModels: value === 'listed' })}
      >
        <Stack gap="xs">
          <Radio value="all" label={text.all} />
          <Radio value="listed" label={text.listed} description={text.listedAbout} />
        </Stack>
      </Radio.Group>
      {draft.restrictModels && (
        <TagsInput
          label={text.allowed}
          description={text.allowedAbout}
          value={draft.models}
          onChange={(models) => change({ models })}
          data={suggestions}
          limit={20}
          acceptValueOnBlur
          clearable
          clearButtonProps={{ 'aria-label': text.removeAll }}
          error={draft.models.length === 0 ? text.none : undefined}
        />
      )}
    </Stack>
  );
}
