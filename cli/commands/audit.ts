import type { Command } from 'commander';
import type { AuditEntry } from '../../client/index.ts';
import { Ending, exitCodes } from '../endings.ts';
import { wholePositive } from '../input.ts';
import { inSession } from '../session.ts';

export function auditCommands(program: Command): void {
  const audit = program.command('audit').description('see who changed what');

  audit
    .command('list')
    .description('list entries, newest first')
    .option('--limit <number>', 'how many at most', wholePositive, 20)
    .action(
      inSession<{ limit: number }>(async ({ client, output }, _args, { limit }) => {
        const rows: AuditEntry[] = [];
        for await (const entry of client.auditEntries()) if (rows.push(entry) === limit) break;
        output.list(rows, {
          Time: (row) => row.created_at,
          Who: (row) => row.actor_name,
          Action: (row) => row.action,
          On: (row) => `${row.target_type} ${row.target_id}`,
          Details: (row) => row.details,
        });
      }),
    );

  audit
    .command('verify')
    .description('tell whether the log is as it was written; code 1 when it is not')
    .action(
      inSession(async ({ client, output }) => {
        const verification = await client.verifyAudit();
        output.record(verification);
        if (!verification.valid) throw new Ending(exitCodes.refused);
      }),
    );
}
