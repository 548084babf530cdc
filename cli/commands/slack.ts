import type { Command } from 'commander';
import { refusal } from '#cli/endings.ts';
import { inSession } from '#cli/session.ts';

/** The account of Slack that decides as the caller. */
export function slackCommands(program: Command): void {
  const slack = program
    .command('slack')
    .description('show, confirm or remove the account that decides as you in Slack');

  slack
    .command('account')
    .description('show the account, and one that wants to be yours')
    .action(
      inSession(async ({ client, output }) => {
        const { confirmed, asked } = await client.getSlackAccount();
        const accounts = [
          ...(confirmed === null ? [] : [{ ...confirmed, status: 'confirmed' }]),
          ...(asked === null ? [] : [{ ...asked, status: 'asked' }]),
        ];
        output.list(accounts, { Status: 'status', Name: 'name', Team: 'team_id', User: 'user_id' });
      }),
    );

  slack
    .command('confirm')
    .argument('<user>', 'id of the user in Slack, such as U0123456789')
    .description('confirm that the account which has clicked in Slack is yours')
    .action(
      inSession(async ({ client, output }, [user = '']) => {
        const { asked } = await client.getSlackAccount();
        if (asked?.user_id !== user) {
          throw refusal(`The user '${user}' has not asked; click a button in Slack first`);
        }
        const { team_id, user_id, name } = asked;
        await client.confirmSlackAccount({ team_id, user_id });
        output.note(`Confirmed ${name}`);
      }),
    );

  slack
    .command('remove')
    .description('let no account decide as you in Slack')
    .action(
      inSession(async ({ client, output }) => {
        await client.removeSlackAccount();
        output.note('Removed your account of Slack');
      }),
    );
}
