import { setTimeout as sleep } from 'node:timers/promises';
import type { Command } from 'commander';
import type { Client, EventReplay, ListedInboundEvent } from '#client/index.ts';
import { misuse, refusal } from '#cli/endings.ts';
import { timeOrAgo, wholePositive } from '#cli/input.ts';
import { printable } from '#cli/output.ts';
import { idempotencyKey, inSession } from '#cli/session.ts';
import { findWorkflow } from './workflows.ts';
import { firstOf, recordCommand } from '#cli/records.ts';

/** Milliseconds between two reads of a replay while waiting for its end. */
const LOOK_EVERY_MS = 500;

/** Commands for what the workflows' inbound webhooks received. */
export function inboundEventCommands(program: Command): void {
  const events = program
    .command('events')
    .description('list, read and replay what the webhooks of workflows received');
  listAndShow(events);
  replay(events);
  cancel(events);
}

interface ListOptions {
  outcome?: ListedInboundEvent['outcome'];
  since?: string;
  until?: string;
  limit: number;
}

function listAndShow(events: Command): void {
  events
    .command('list')
    .argument('<workflow>', 'id or name')
    .description('list the events that the webhook of a workflow received, newest first')
    .option('--outcome <outcome>', 'run, event, duplicate or refused')
    .option('--since <time>', 'only those received since then, as 7d, 12h or ISO 8601', timeOrAgo)
    .option('--until <time>', 'only those received before then', timeOrAgo)
    .option('--limit <number>', 'maximum number', wholePositive, 20)
    .action(
      inSession<ListOptions>(async ({ client, output }, [reference = ''], { limit, ...filter }) => {
        const { id } = await findWorkflow(client, reference);
        const query = { ...filter, limit: Math.min(limit, 200) };
        output.list(await firstOf(client.inboundEvents(id, query), limit), {
          Id: 'id',
          Received: 'received_at',
          Outcome: 'outcome',
          Status: 'status',
          Source: 'source',
          Bytes: 'size',
          Times: 'times',
          Run: 'run_id',
          Event: 'sent_event_id',
          Reason: (row) => printable(row.detail ?? row.reason ?? ''),
        });
      }),
    );

  recordCommand(events, ['show', 'show an event with its headers and its body'], {
    argument: ['event'],
    read: (client, id) => client.getInboundEvent(id),
    fields: ({ headers, replayed_by: replays, ...rest }) => ({
      ...rest,
      detail: printable(rest.detail ?? ''),
      headers: Object.entries(headers)
        .map(([name, value]) => printable(`${name}: ${value}`))
        .join(', '),
      body: printable(rest.body ?? ''),
      replays: replays.map(({ run_id, sent_event_id: sent }) => run_id ?? sent).join(', '),
    }),
  });
}

interface ReplayOptions {
  workflow?: string;
  since?: string;
  until?: string;
  all?: true;
  limit?: number;
  deduplicate?: true;
  allowUnverified?: true;
  wait: boolean;
  idempotencyKey?: string;
}

function replay(events: Command): void {
  events
    .command('replay')
    .argument('[event]', 'id; without it, those of --workflow and --since')
    .description('start runs with the inputs of events again, or send them again')
    .option('--workflow <workflow>', 'id or name: replay its refused events')
    .option('--since <time>', 'received since then, as 7d, 12h or ISO 8601', timeOrAgo)
    .option('--until <time>', 'received before then', timeOrAgo)
    .option('--all', 'runs, events and duplicates, too')
    .option('--limit <number>', 'at most so many, the oldest first', wholePositive)
    .option('--deduplicate', 'no second run for an event id within the window of the webhook')
    .option('--allow-unverified', 'also events without a valid signature')
    .option('--no-wait', 'do not wait for the result')
    .addOption(idempotencyKey())
    .action(
      inSession<ReplayOptions>(async ({ client, output }, [id], options) => {
        const { workflow, since, until, all, limit, deduplicate, allowUnverified, wait } = options;
        const once = { idempotencyKey: options.idempotencyKey };
        const how = {
          deduplicate,
          allow_unverified: allowUnverified,
        };
        if ((id === undefined) !== (workflow !== undefined && since !== undefined)) {
          throw misuse('Give an event, or --workflow and --since');
        }
        if (id !== undefined) {
          const replay = await client.replayInboundEvent(id, how, once);
          output.record(
            replay,
            'id' in replay ? { run: replay.id, status: replay.status } : replay,
          );
          return;
        }
        const job = await client.replayInboundEvents(
          (await findWorkflow(client, workflow ?? '')).id,
          {
            ...how,
            since: since ?? '',
            until,
            limit,
            outcome: all === true ? 'all' : 'refused',
          },
          once,
        );
        if (!wait) {
          output.record(job);
          return;
        }
        const done = await endOf(client, job.id);
        output.record(done, shortly(done));
        if (done.status !== 'done') throw refusal(`The replay was ${done.status}`);
      }),
    );
}

function cancel(events: Command): void {
  recordCommand(events, ['cancel', 'cancel a running replay; runs that it has started continue'], {
    argument: ['replay'],
    read: (client, id) => client.cancelEventReplay(id),
    fields: shortly,
  });
}

async function endOf(client: Client, id: string): Promise<EventReplay> {
  for (;;) {
    const state = await client.getEventReplay(id);
    if (state.status !== 'running') return state;
    await sleep(LOOK_EVERY_MS);
  }
}

const shortly = ({ progress, last_refusal: refused, ...replay }: EventReplay) => ({
  id: replay.id,
  status: replay.status,
  events: `${progress.done} of ${progress.total ?? '?'}`,
  started: replay.started,
  sent: replay.sent,
  duplicates: replay.duplicates,
  refused: replay.refused,
  last_refusal: printable(refused ?? ''),
});
