import type { Command } from 'commander';
import { Ending, exitCodes } from '#cli/endings.ts';
import { wholePositive } from '#cli/input.ts';
import { inSession } from '#cli/session.ts';
import { firstOf } from '#cli/records.ts';

interface ListOptions {
  action?: string;
  actor?: string;
  targetType?: string;
  target?: string;
  since?: string;
  until?: string;
  limit: number;
}

export function auditCommands(program: Command): void {
  const audit = program.command('audit').description('see who changed what');

  audit
    .command('list', { isDefault: true })
    .description('list entries, newest first')
    .option('--action <action>', 'with this action, such as plan_change')
    .option('--actor <id>', 'by this member')
    .option('--target-type <type>', 'on this target type, such as run')
    .option('--target <id>', 'on this target')
    .option('--since <time>', 'written at or after, such as 2026-11-01T00:00:00Z')
    .option('--until <time>', 'written before')
    .option('--limit <number>', 'maximum number', wholePositive, 20)
    .action(
      inSession<ListOptions>(async ({ client, output }, _args, options) => {
        const { action, actor, targetType, target, since, until, limit } = options;
        const query = {
          action,
          actor_id: actor,
          target_type: targetType,
          target_id: target,
          since,
          until,
        };
        output.list(await firstOf(client.auditEntries(query), limit), {
          Time: 'created_at',
          Who: 'actor_name',
          Action: 'action',
          On: (row) => `${row.target_type} ${row.target_id}`,
          Details: 'details',
        });
      }),
    );

  audit
    .command('verify')
    .description('verify the log and the approvals of tool calls; code 1 when they do not hold')
    .action(
      inSession(async ({ client, output }) => {
        const verification = await client.verifyAudit();
        output.record(verification);
        if (!verification.valid) throw new Ending(exitCodes.refused);
      }),
    );
}
