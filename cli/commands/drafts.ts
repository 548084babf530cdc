import type { Command } from 'commander';
import { ApiError, type BodyOf, type Client, type WorkflowDraft } from '#client/index.ts';
import { refusal } from '#cli/endings.ts';
import { readJsonObject, wholePositive } from '#cli/input.ts';
import { ifMatch, inSession } from '#cli/session.ts';
import { findWorkflow } from './workflows.ts';
import { recordCommand } from '#cli/records.ts';

/** The draft, or undefined if the workflow has none. */
async function findDraft(client: Client, workflowId: string): Promise<WorkflowDraft | undefined> {
  try {
    return await client.getDraft(workflowId);
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return undefined;
    throw error;
  }
}

/** The tag for changing a draft: the given one, or that of the present draft. */
async function tagOf(client: Client, workflowId: string, given: string | undefined) {
  if (given !== undefined) return given;
  const draft = await findDraft(client, workflowId);
  if (draft === undefined) {
    throw refusal('The workflow has no draft: save one with ops drafts save');
  }
  return draft.etag;
}

/** The changes of a draft require a tag. */
const OTHERWISE = '; by default, as it is now';

export function draftCommands(program: Command): void {
  const drafts = program.command('drafts').description('edit workflows beside their version');

  recordCommand(drafts, ['show', 'show the draft of a workflow'], {
    argument: ['workflow', 'id or name'],
    read: async (client, reference) => client.getDraft((await findWorkflow(client, reference)).id),
    fields: shownOf,
  });

  drafts
    .command('save')
    .argument('<workflow>', 'id or name')
    .description('save a draft from a file, or change the one that is there')
    .requiredOption(
      '-f, --file <file>',
      'JSON with graph, input_schema; - for standard input; other fields of a workflow are ignored',
    )
    .option('--base-version <version>', 'the version that the work began at', wholePositive)
    .addOption(ifMatch('draft', OTHERWISE))
    .action(
      inSession<{ file: string; baseVersion?: number }>(
        async ({ client, output, known }, [reference = ''], options) => {
          const { graph, input_schema } = await readJsonObject(options.file);
          const { id } = await findWorkflow(client, reference);
          const tag = known.ifMatch ?? (await findDraft(client, id))?.etag;
          // The service validates the fields.
          const body = {
            graph,
            input_schema,
            base_version: options.baseVersion,
          } as BodyOf<'PUT /api/workflows/{id}/draft'>;
          const draft = await client.saveDraft(id, body, { ifMatch: tag });
          output.record(draft, shownOf(draft));
        },
      ),
    );

  drafts
    .command('discard')
    .argument('<workflow>', 'id or name')
    .description('delete the draft of a workflow; its version is unchanged')
    .addOption(ifMatch('draft', OTHERWISE))
    .action(
      inSession(async ({ client, output, known }, [reference = '']) => {
        const { id, name } = await findWorkflow(client, reference);
        await client.discardDraft(id, { ifMatch: await tagOf(client, id, known.ifMatch) });
        output.note(`Discarded the draft of ${id} (${name})`);
      }),
    );

  drafts
    .command('publish')
    .argument('<workflow>', 'id or name')
    .description('make the draft the current version')
    .option('--note <text>', 'what the version changes')
    .addOption(ifMatch('draft', OTHERWISE))
    .action(
      inSession<{ note?: string }>(
        async ({ client, output, known }, [reference = ''], { note }) => {
          const { id } = await findWorkflow(client, reference);
          const tag = await tagOf(client, id, known.ifMatch);
          const published = await client.publishDraft(id, { note }, { ifMatch: tag });
          if (output.format === 'json') return output.record(published);
          output.note(`Published version ${published.version} of ${id} (${published.name})`);
        },
      ),
    );
}

const shownOf = ({ graph, input_schema: schema, ...rest }: WorkflowDraft) => ({
  ...rest,
  nodes: (graph.nodes as { id: string; kind: string }[])
    .map(({ id, kind }) => `${id} (${kind})`)
    .join(', '),
  input: schema === null ? '' : JSON.stringify(schema),
});
