import type { CustomToolInput } from '#shared/contract/tools/custom-tool.ts';
import type { RequestMapping } from '#shared/contract/tools/request-mapping.ts';
import type { ListedTool, ToolImport } from '#shared/contract/tools/tool-import.ts';
import type { NewTool } from '#shared/db/tools/custom-tools.ts';
import type { JsonObject } from '#shared/json.ts';

/** A tool as it will be registered. */
export type Described = CustomToolInput & NewTool & { pinned_schema: string };

/** A tool at its source: an MCP server, or an API document. */
export interface SourceTool {
  /** Its name there. */
  source: Pick<ListedTool, 'mcp_tool' | 'operation' | 'endpoint'>;
  /** Its name here; empty if it cannot have one. */
  name: string;
  description: string;
  input_schema: JsonObject | null;
  /** The tool as it will be registered, or why it cannot be. A function, since a digest of each takes time. */
  describe: () => Described | string;
}

/** What an import found at its source. */
export interface Found {
  tools: SourceTool[];
  skipped: ToolImport['skipped'];
  document?: ToolImport['document'];
}

/** The address of an operation, with `{name}` for the parameters of its path. */
export const endpointOf = ({ server, path }: RequestMapping): string =>
  server.replace(/\/$/, '') + path;
