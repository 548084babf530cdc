import type { Config } from '#shared/platform/config.ts';
import type { Pool } from '#shared/db/pool.ts';
import type { EventName } from '#shared/db/waits/awaited-events.ts';
import type { Egress } from '#shared/platform/egress/egress.ts';
import type { Mailer } from '#shared/platform/mailer.ts';
import { createKeyCutter, createModels } from '#shared/platform/calls/models.ts';
import { createSealer } from '#shared/crypto/sealing.ts';
import { createCustom } from '#activities/tools/custom.ts';
import { createBuiltinTools, type ToolRegistry } from '#activities/tools/registry.ts';
import { runCodeNode } from './code.ts';
import { createTurnRunner } from './agent-turn.ts';
import { createAgentRunner } from './agent.ts';
import type { AgentDeps } from './model-order.ts';
import type { NodeRunners } from './node-runners.ts';
import { createToolRunner } from './tool.ts';

export interface NodeRunnerDeps {
  /** For tools that write records or events. */
  db: Pool;
  config: Pick<Config, 'models' | 'chatWebhookUrl' | 'encryptionKey' | 'previousEncryptionKey'>;
  egress: Egress;
  mailer: Mailer | undefined;
  /** Called after an event was stored. */
  onEvent?: (name: EventName) => void;
  /** Called after a change of the data of a workspace was committed. */
  onChange?: (workspaceId: string) => Promise<void>;
  /** Tools in addition to the built-in ones, by name. */
  tools?: ToolRegistry;
}

/** The node kinds with external effects. Only the tools for records and events use the database. */
export function createNodeRunners(deps: NodeRunnerDeps): NodeRunners {
  const { db, config, egress, mailer, onEvent = () => undefined } = deps;
  const { onChange = async () => undefined } = deps;
  const { models: settings, chatWebhookUrl } = config;
  const sealer = createSealer(config);
  const models: AgentDeps = {
    findModel: createModels(settings, egress),
    keys: createKeyCutter(settings),
  };
  return {
    agent: createAgentRunner(models),
    code: runCodeNode,
    turn: createTurnRunner(models),
    tool: createToolRunner(
      {
        ...createBuiltinTools({ db, sealer, egress, mailer, chatWebhookUrl, onEvent, onChange }),
        ...deps.tools,
      },
      createCustom({ egress, sealer }),
    ),
  };
}
