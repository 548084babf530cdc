import type { JsonObject } from '#shared/json.ts';

/** A tool as an agent offers it to its model: the node's entry resolved with the tool's definition. */
export interface OfferedTool {
  /** The tool's name in graphs, such as `custom:refund`. */
  name: string;
  /** The name for providers, which only allow letters, digits, `_` and `-`. */
  providerName: string;
  description: string;
  /** JSON Schema of the arguments that the model sets, without the fixed ones. Its type is `object`. */
  schema: JsonObject;
  /** `sha256:` and the digest of the schema's canonical JSON. */
  schemaDigest: string;
  /** The digest, in the same form, of what a call reaches: see `CallTarget`. Null for a built-in tool. */
  toolDigest: string | null;
  /** `always`, `never` or an expression over `args` and the run's state. */
  approval: string;
  /** The template of a call's title, over `args`. */
  title?: string | undefined;
  /** Names of the arguments that the node sets. */
  fixed: readonly string[];
  maxCalls: number | undefined;
  onError: 'tell' | 'fail';
}
