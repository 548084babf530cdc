import { Radio, Stack, TagsInput } from '@mantine/core';
import { priceTable } from '../../../../../shared/prices.ts';
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
        aria-label="Models that agents can use"
        value={draft.restrictModels ? 'listed' : 'all'}
        onChange={(value) => change({ restrictModels: value === 'listed' })}
      >
        <Stack gap="xs">
          <Radio value="all" label="All models" />
          <Radio
            value="listed"
            label="Only listed models"
            description="A step that uses another model fails immediately. Fallback models that are not listed are skipped."
          />
        </Stack>
      </Radio.Group>
      {draft.restrictModels && (
        <TagsInput
          label="Allowed models"
          description="Use provider/model. Press Enter after each."
          value={draft.models}
          onChange={(models) => change({ models })}
          data={suggestions}
          limit={20}
          acceptValueOnBlur
          clearable
          clearButtonProps={{ 'aria-label': 'Remove all models' }}
          error={
            draft.models.length === 0 ? 'Add at least one model, or no agent can run.' : undefined
          }
        />
      )}
    </Stack>
  );
}
