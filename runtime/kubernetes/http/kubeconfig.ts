import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter } from 'node:path';
import { isatty } from 'node:tty';
import type { KubeConfig } from '@kubernetes/client-node';
import { ConfigError, describeError } from '../../wording/errors.ts';
import type { Connection } from './credentials.ts';
import { completeUser, mergeFiles } from './kubeconfig-files.ts';

interface KubeconfigSource {
  readonly path?: string | undefined;
  /** Files as in `KUBECONFIG`, for a source without a path. */
  readonly listed?: string | undefined;
  readonly context?: string | undefined;
}

/** Throws a ConfigError. */
export async function fromKubeconfig({ path, listed = '', context }: KubeconfigSource): Promise<Connection> {
  const files = path === undefined ? findFiles(listed) : [path];
  const origin = files.join(delimiter);
  let config: KubeConfig;
  try {
    config = mergeFiles(files);
  } catch (error) {
    throw new ConfigError([`The kubeconfig ${origin} cannot be used: ${describeError(error)}`]);
  }
  const names = config.getContexts().map(({ name }) => name);
  // The library declares a string, but returns undefined if no file names a context.
  const chosen = context ?? (config.getCurrentContext() as string | undefined) ?? '';
  if (!names.includes(chosen)) throw new ConfigError([unknownContext(origin, chosen, names)]);
  config.setCurrentContext(chosen);
  completeUser(config, files);
  for (const each of config['authenticators']) if ('execFn' in each) each.execFn = startPlugin;
  return connect(config, `context '${chosen}' of ${origin}`);
}

/** Without a file the library would silently use http://localhost:8080, and its error would mislead. */
function findFiles(listed: string): readonly string[] {
  const files = listed.split(delimiter).filter((file) => file !== '');
  const found = files.filter((file) => existsSync(file));
  if (found.length > 0) return found;
  throw new ConfigError([`No kubeconfig: ${files.join(', ')} does not exist. Pass one with --kubeconfig.`]);
}

/** Lets a plugin ask its user to log in. The library shows its text only after a failure, and gives it no terminal. */
function startPlugin(command: string, args: readonly string[], options: object) {
  const plugin = spawn(command, args, { ...options, stdio: [isatty(0) ? 'inherit' : 'ignore', 'pipe', 'pipe'] });
  plugin.stderr.pipe(process.stderr);
  return plugin;
}

function unknownContext(origin: string, chosen: string, names: readonly string[]): string {
  const choice = names.length === 0 ? 'It has no contexts with a cluster.' : `Its contexts: ${names.join(', ')}.`;
  return chosen === ''
    ? `${origin} sets no current context. ${choice} Pass one with --context.`
    : `${origin} has no context '${chosen}' with a cluster. ${choice}`;
}

async function connect(config: KubeConfig, origin: string): Promise<Connection> {
  const cluster = config.getCurrentCluster();
  if (cluster === null)
    throw new ConfigError([
      `The cluster of ${origin} is not defined in the kubeconfig. Add it, or pass another context with --context.`,
    ]);
  if (cluster.proxyUrl !== undefined)
    throw new ConfigError([
      `${origin} sets a proxy-url, which this program does not support. Pass a context without one with --context.`,
    ]);
  const first = await logIn(config, origin);
  return {
    server: new URL(cluster.server),
    ca: () => first.ca,
    insecure: cluster.skipTLSVerify,
    serverName: cluster.tlsServerName,
    cert: first.cert,
    key: first.key,
    headers: Object.fromEntries(Object.entries(first.headers).filter(([name]) => name !== 'Authorization')),
    namespace: config.getContextObject(config.getCurrentContext())?.namespace,
    // The library caches a plugin's answer until it expires.
    authorization: async () => (await logIn(config, origin)).headers.Authorization,
  };
}

interface Login {
  ca?: Buffer;
  cert?: Buffer;
  key?: Buffer;
  auth?: string;
  readonly headers: Record<string, string>;
}

function whyNot(error: unknown): string {
  const { code, syscall = '', path } = error as NodeJS.ErrnoException;
  return code === 'ENOENT' && syscall.startsWith('spawn')
    ? `needs the program '${path}', which is not installed or not in PATH. Install it, or pass another context with --context.`
    : `failed: ${describeError(error)}`;
}

async function logIn(config: KubeConfig, origin: string): Promise<Login> {
  const options: Login = { headers: {} };
  try {
    await config.applyToHTTPSOptions(options);
  } catch (error) {
    throw new ConfigError([`The login of ${origin} ${whyNot(error)}`]);
  }
  if (options.auth !== undefined)
    options.headers.Authorization ??= `Basic ${Buffer.from(options.auth).toString('base64')}`;
  return options;
}
