import { z } from 'zod';
import { jsonObject } from '#shared/contract/common.ts';
import { endpointUrl, toolHeaders } from './custom-tool.ts';

/** A tool's name on its MCP server. */
const serverToolName = z.string().min(1).max(200);

export const toolImportInput = z
  .strictObject({
    server_url: endpointUrl,
    headers: toolHeaders.default({}),
    names: z
      .array(serverToolName)
      .min(1)
      .max(200)
      .optional()
      .meta({ description: 'Which tools of the server to import; default: all, at most 200' }),
    prefix: z
      .string()
      .regex(
        /^[a-z][a-z0-9_-]{0,31}$/,
        "must start with a letter and contain only a-z, 0-9, '_' and '-', at most 32",
      )
      .optional()
      .meta({ description: 'What the names of the tools begin with here' }),
    only_list: z
      .boolean()
      .default(false)
      .meta({ description: 'Imports nothing: `listed` says what an import would do' }),
  })
  .meta({ examples: [{ server_url: 'https://tools.example.com/mcp', prefix: 'crm_' }] });
export type ToolImportInput = z.infer<typeof toolImportInput>;

const importedTool = z
  .object({
    id: z.string(),
    name: z.string(),
    mcp_tool: z.string().meta({ description: 'Its name on the server' }),
    schema_digest: z.string(),
  })
  .meta({ id: 'ImportedTool' });
export type ImportedTool = z.infer<typeof importedTool>;

const listedTool = z
  .object({
    mcp_tool: z.string().meta({ description: 'Its name on the server' }),
    name: z.string().meta({ description: 'Its name here; empty if it cannot have one' }),
    description: z.string(),
    input_schema: jsonObject.nullable(),
    state: z.enum(['new', 'changed', 'unchanged', 'skipped']).meta({
      description:
        'What an import would do with it. `changed`: imported earlier, described otherwise now',
    }),
    reason: z.string().optional().meta({ description: 'Why it would be skipped' }),
  })
  .meta({ id: 'ListedTool' });
export type ListedTool = z.infer<typeof listedTool>;

export const toolImportSchema = z
  .object({
    listed: z.array(listedTool).optional().meta({ description: 'With `only_list`' }),
    created: z.array(importedTool),
    updated: z.array(importedTool).meta({
      description:
        'Imported earlier; the server describes them otherwise now, or they were changed',
    }),
    unchanged: z.array(importedTool),
    skipped: z.array(
      z.object({
        name: z.string().meta({ description: 'Its name on the server' }),
        reason: z.string(),
      }),
    ),
  })
  .meta({ id: 'ToolImport' });
export type ToolImport = z.infer<typeof toolImportSchema>;
