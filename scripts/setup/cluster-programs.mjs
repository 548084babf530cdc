import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isExecutable } from '#scripts/stack/temporal-binary.mjs';
import { provideGoProgram } from './go.mjs';
import { SetupError } from './run-long.mjs';

// The programs of `npm run cluster`, built from Go modules because they are released as container images only.

/**
 * The version of an image in the compose file, so that the cluster and its tests use the same version.
 * @param {string} projectDir
 * @param {string} image
 */
function composeVersion(projectDir, image) {
  const compose = readFileSync(join(projectDir, 'docker-compose.yml'), 'utf8');
  const version = new RegExp(`image: ${image}:([0-9.]+)$`, 'm').exec(compose)?.[1];
  if (version === undefined) {
    throw new SetupError(`docker-compose.yml names no version of ${image}`);
  }
  return version;
}

/**
 * The programs' paths and versions.
 * @param {string} projectDir
 */
export function clusterPrograms(projectDir) {
  const server = composeVersion(projectDir, 'temporalio/server');
  const ui = composeVersion(projectDir, 'temporalio/ui');
  const serverFolder = join(projectDir, '.cache', `temporal-server-${server}`);
  return {
    server: { version: server, path: join(serverFolder, 'server') },
    schemaTool: { version: server, path: join(serverFolder, 'sql') },
    ui: { version: ui, path: join(projectDir, '.cache', `temporal-ui-${ui}`, 'server') },
  };
}

/** @param {string} projectDir */
export async function provideClusterPrograms(projectDir) {
  const { server, schemaTool, ui } = clusterPrograms(projectDir);
  const builds = [
    {
      ...server,
      label: `Building the Temporal server ${server.version} with Go (once, 5 to 10 minutes)`,
      program: `go.temporal.io/server/cmd/server@v${server.version}`,
    },
    {
      ...schemaTool,
      label: `Building its schema tool ${schemaTool.version} (once, half a minute)`,
      program: `go.temporal.io/server/cmd/tools/sql@v${schemaTool.version}`,
    },
    {
      ...ui,
      label: `Building the Temporal UI ${ui.version} (once, half a minute)`,
      program: `github.com/temporalio/ui-server/v2/cmd/server@v${ui.version}`,
    },
  ].filter(({ path }) => !isExecutable(path));
  for (const build of builds) await provideGoProgram(build, projectDir);
}
