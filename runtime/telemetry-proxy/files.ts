import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { telemetryProxyFiles } from '../contract.ts';
import { serialize } from '../node-collector/common-parts.ts';
import { isToken } from '../wording/token.ts';
import { render, tokensFile } from './render.ts';
import { nodeKeysFile } from './render-nodes.ts';
import { loopKeyFile } from './render-tenants.ts';
import type { Collection, ProxySettings } from './types.ts';

type Folder = Pick<ProxySettings, 'telemetryProxyDirectory'>;

export const configurationFile = ({ telemetryProxyDirectory: folder }: Folder): string =>
  join(folder, telemetryProxyFiles.configuration);

export function writeConfiguration(settings: ProxySettings, collection?: Collection): void {
  writeWhole(configurationFile(settings), serialize(render(settings, collection)));
}

/** An empty file would accept an empty token, so a random one replaces it. */
export function writeTokens(settings: Folder, tokens: readonly string[]): void {
  const lines = tokens.length === 0 ? [`none-${randomUUID()}`] : tokens;
  writeWhole(tokensFile(settings.telemetryProxyDirectory), lines.join('\n'));
}

export const writeNodeKeys = ({ telemetryProxyDirectory: folder }: Folder, keys: readonly string[]): void =>
  writeWhole(nodeKeysFile(folder), keys.join('\n'));

/** A cut ends `key`. Node collectors would drop what is refused, so the data of nodes has another one. */
export function readLoopKeys({ telemetryProxyDirectory: folder }: Folder): Pick<Collection, 'key' | 'nodeKey'> {
  const [key = '', nodeKey = ''] = readFileSync(loopKeyFile(folder), 'utf8').split('\n');
  return { key, nodeKey };
}

export const changeLoopKey = ({ telemetryProxyDirectory: folder }: Folder, nodeKey: string = randomUUID()): void =>
  writeWhole(loopKeyFile(folder), `${randomUUID()}\n${nodeKey}`);

/** Writes files for a collector that only forwards: a manager's start ends former collection. Returns the accepted tokens. */
export function prepare(settings: ProxySettings): readonly string[] {
  const { telemetryProxyDirectory: folder } = settings;
  mkdirSync(folder, { recursive: true });
  // After a restart of the manager the tokens stay accepted until they are read again.
  if (!existsSync(tokensFile(folder))) writeTokens(settings, []);
  changeLoopKey(settings, existsSync(loopKeyFile(folder)) ? readLoopKeys(settings).nodeKey : undefined);
  writeConfiguration(settings);
  return readFileSync(tokensFile(folder), 'utf8').split('\n').filter(isToken);
}

/** Writes the whole file or nothing. Only this account can read it, because it has tokens. */
export function writeWhole(file: string, text: string): void {
  const unfinished = `${file}.${process.pid}`;
  writeFileSync(unfinished, text, { mode: 0o600 });
  renameSync(unfinished, file);
}
