import type { ToolNode } from '#shared/contract/workflows/graph.ts';
import type { Sealer } from '#shared/crypto/sealing.ts';
import { requireRecordWrites } from '#shared/platform/egress/effects.ts';
import type { Egress } from '#shared/platform/egress/egress.ts';
import type { Pool } from '#shared/db/pool.ts';
import type { EventName } from '#shared/db/waits/awaited-events.ts';
import type { Mailer } from '#shared/platform/mailer.ts';
import type { BuiltinTool } from '#shared/tools.ts';
import type { NodeRunner } from '#activities/nodes/node.ts';
import { delay } from './delay.ts';
import { createEntitySearch } from './entity-search.ts';
import { createEntityUpsert } from './entity-upsert.ts';
import { createEventEmit } from './event-emit.ts';
import { createFeedList } from './feed-list.ts';
import { createHttpRequest } from './http-request.ts';
import { jsonTransform } from './json-transform.ts';
import { createMcp } from './mcp.ts';
import { createSendChatMessage } from './send-chat-message.ts';
import { createSendEmail } from './send-email.ts';
import { createSendEvent } from './send-event.ts';
import { createSourceReport } from './source-report.ts';

export interface ToolDeps {
  /** For tools that read or write records. */
  db: Pool;
  /** Opens the secrets of calls. */
  sealer: Sealer | undefined;
  egress: Egress;
  mailer: Mailer | undefined;
  chatWebhookUrl: string | undefined;
  /** Called after an event was stored. */
  onEvent: (name: EventName) => void;
  /** Called after a change of the data of a workspace was committed. */
  onChange: (workspaceId: string) => Promise<void>;
}

/** Runners by tool name. Spread it to add more. */
export type ToolRegistry = Readonly<Record<string, NodeRunner<ToolNode>>>;

/** The tools of `builtinTools`, by the same names. */
export const createBuiltinTools = ({
  db,
  sealer,
  egress,
  mailer,
  chatWebhookUrl,
  onEvent,
  onChange,
}: ToolDeps): Readonly<Record<BuiltinTool, NodeRunner<ToolNode>>> => ({
  http_request: createHttpRequest(egress, sealer),
  send_email: createSendEmail(mailer),
  send_chat_message: createSendChatMessage(egress, chatWebhookUrl),
  json_transform: jsonTransform,
  delay,
  mcp: createMcp(egress, sealer),
  entity_upsert: writing(createEntityUpsert({ db, onChange })),
  event_emit: writing(createEventEmit({ db, onChange })),
  entity_search: createEntitySearch(db),
  feed_list: createFeedList(db),
  source_report: writing(createSourceReport({ db, onChange })),
  send_event: writing(createSendEvent(db, onEvent)),
});

/** A tool that writes data records or events, which a rehearsal must not do. */
const writing =
  (run: NodeRunner<ToolNode>): NodeRunner<ToolNode> =>
  (call) => {
    requireRecordWrites();
    return run(call);
  };
