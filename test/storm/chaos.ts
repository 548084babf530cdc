import { setTimeout as sleep } from 'node:timers/promises';
import type { Cluster, Part, PartName, WireName } from './cluster.ts';
import { openEventFile } from './events.ts';
import type { Random } from './random.ts';

/** One fault. `forMs`: its duration, or its delay after a start. */
export type Mishap = { atMs: number; forMs: number } & (
  | { kind: 'kill' | 'terminate' | 'kill twice' | 'freeze'; part: PartName }
  | { kind: 'cut' | 'hold requests' | 'hold answers' | 'lose answers'; wires: WireName[] }
);

const services = ['api-1', 'api-2', 'worker-1', 'worker-2'] as const;
const servers = ['postgres', 'temporal'] as const;

/** The average time between two faults. */
const PAUSE_MS = 2_400;
/** No fault begins this shortly before the end. */
const CALM_MS = 1_500;

/** All faults within this time, in order: the same for the same seed. */
export function planChaos(random: Random, durationMs: number): Mishap[] {
  const mishaps: Mishap[] = [];
  for (let atMs = 3_000; ;) {
    atMs += Math.round(PAUSE_MS * (0.3 + 1.4 * random.next()));
    if (atMs > durationMs - CALM_MS) return mishaps;
    mishaps.push({ atMs, ...planMishap(random) } as Mishap);
  }
}

function planMishap(random: Random): Omit<Mishap, 'atMs'> {
  const kind = random.weighted([
    [34, 'kill'],
    [12, 'terminate'],
    [8, 'kill twice'],
    [8, 'kill server'],
    [9, 'freeze'],
    [10, 'cut'],
    [6, 'hold requests'],
    [6, 'hold answers'],
    [7, 'lose answers'],
  ] as const);
  switch (kind) {
    case 'kill server':
      return {
        kind: random.chance(0.2) ? 'terminate' : 'kill',
        part: random.pick(servers),
        forMs: 0,
      } as never;
    case 'kill':
    case 'terminate':
      return { kind, part: random.pick(services), forMs: 0 } as never;
    case 'kill twice':
      return { kind, part: random.pick(services), forMs: random.int(20, 2_500) } as never;
    case 'freeze':
      return {
        kind,
        part: random.pick([...services, 'temporal']),
        forMs: random.int(500, 9_000),
      } as never;
    case 'cut':
    case 'hold requests':
    case 'hold answers':
    case 'lose answers':
      return { kind, wires: planWires(random), forMs: random.int(200, 6_000) } as never;
  }
}

/** One wire; or all wires of one process; or all wires to one server, which is then unreachable or hangs for all. */
function planWires(random: Random): WireName[] {
  const one = random.pick(services);
  const server = random.pick(servers);
  return random.weighted<WireName[]>([
    [4, [`${one}>${server}`]],
    [2, [`${one}>postgres`, `${one}>temporal`]],
    [1, services.map((name): WireName => `${name}>${server}`)],
    [3, [`client>${random.pick(['api-1', 'api-2'] as const)}`]],
  ]);
}

/** Runs the planned faults at their times. Resolves when the last one is over, or soon after `signal`. */
export async function runChaos(
  cluster: Cluster,
  mishaps: readonly Mishap[],
  signal: AbortSignal,
): Promise<void> {
  const timeline = openEventFile(cluster.folder, 'chaos.ndjson');
  const started = Date.now();
  const lasting: Promise<void>[] = [];
  for (const mishap of mishaps) {
    await sleep(Math.max(0, started + mishap.atMs - Date.now()), undefined, { signal }).catch(
      () => undefined,
    );
    if (signal.aborted) break;
    const took = begin(cluster, mishap);
    timeline.write({ ...mishap, late: Date.now() - started - mishap.atMs, took });
    if (took) lasting.push(end(cluster, mishap, signal));
  }
  await Promise.all(lasting);
}

/** False if the process was not running at that time. */
function begin(cluster: Cluster, mishap: Mishap): boolean {
  if ('wires' in mishap) {
    for (const name of mishap.wires) {
      const wire = cluster.wires.get(name);
      if (mishap.kind === 'cut') wire?.cut();
      else if (mishap.kind === 'hold requests') wire?.hold();
      else wire?.holdAnswers();
    }
    return true;
  }
  const part = cluster.parts.get(mishap.part);
  if (part === undefined) return false;
  switch (mishap.kind) {
    case 'kill':
      // SIGQUIT is the same for Postgres: its sessions end immediately, and it starts with a recovery.
      return kill(part, mishap.part === 'postgres' ? 'SIGQUIT' : 'SIGKILL');
    case 'terminate':
      return kill(part, mishap.part === 'postgres' ? 'SIGINT' : 'SIGTERM');
    case 'kill twice':
      part.killNext(mishap.forMs);
      return kill(part, 'SIGKILL');
    case 'freeze':
      return part.freeze();
  }
}

const kill = (part: Part, signal: NodeJS.Signals): boolean => part.kill(signal, signal);

async function end(cluster: Cluster, mishap: Mishap, signal: AbortSignal): Promise<void> {
  if ('part' in mishap && mishap.kind !== 'freeze') return;
  await sleep(mishap.forMs, undefined, { signal }).catch(() => undefined);
  if (!('wires' in mishap)) {
    cluster.parts.get(mishap.part)?.thaw();
    return;
  }
  for (const name of mishap.wires) {
    const wire = cluster.wires.get(name);
    // The servers have done their work, but the responses are lost.
    if (mishap.kind === 'lose answers') wire?.cut();
    wire?.restore();
    wire?.release();
  }
}
