import { customToolName } from '#shared/tools.ts';

/** The root of references to the addresses of callbacks, in a graph that waits for one. */
export const CALLBACKS = 'callbacks';

/** The parameters in which built-in tools send an address. Custom tools do in all of theirs. */
const sendingParams: Readonly<Record<string, readonly string[]>> = {
  http_request: ['headers', 'query', 'body'],
  mcp: ['headers', 'arguments'],
  send_email: ['text', 'html'],
  send_chat_message: ['text'],
};

/** For error messages. */
export const WHERE_CALLBACKS_STAND =
  'headers, query or body of http_request, headers or arguments of mcp, text or html of send_email, text of ' +
  'send_chat_message, or the arguments of a custom tool';

/** Whether a tool's parameter can contain the address of a callback. */
export const sendsCallbacks = (tool: string, param: string): boolean =>
  customToolName(tool) !== undefined ||
  (Object.hasOwn(sendingParams, tool) && sendingParams[tool]!.includes(param));
