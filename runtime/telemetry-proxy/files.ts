import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { serialize } from '../node-collector/common-parts.ts';
import { isToken } from '../wording/token.ts';
import { render } from './render.ts';
import { toFile, type Collection, type Folder, type ProxySettings } from './types.ts';

export function writeConfiguration(settings: ProxySettings, collection?: Collection): void {
  writeWhole(toFile(settings, 'configuration'), serialize(render(settings, collection)));
}

/** An empty file would accept an empty token, so a random one replaces it. */
export function writeTokens(settings: Folder, tokens: readonly string[]): void {
  const lines = tokens.length === 0 ? [`none-${randomUUID()}`] : tokens;
  writeWhole(toFile(settings, 'tokens'), lines.join('\n'));
}

export const writeNodeKeys = (settings: Folder, keys: readonly string[]): void =>
  writeWhole(toFile(settings, 'nodeKeys'), keys.join('\n'));

/** A cut ends `key`. Node collectors would drop what is refused, so the data of nodes has another one. */
export function readLoopKeys(settings: Folder): Pick<Collection, 'key' | 'nodeKey'> {
  const [key = '', nodeKey = ''] = readFileSync(toFile(settings, 'loopKey'), 'utf8').split('\n');
  return { key, nodeKey };
}

export const changeLoopKey = (settings: Folder, nodeKey: string = randomUUID()): void =>
  writeWhole(toFile(settings, 'loopKey'), `${randomUUID()}\n${nodeKey}`);

/** Writes files for a collector that only forwards: a manager's start ends former collection. Returns the accepted tokens. */
export function prepare(settings: ProxySettings): readonly string[] {
  mkdirSync(settings.telemetryProxyDirectory, { recursive: true });
  // After a restart of the manager the tokens stay accepted until they are read again.
  if (!existsSync(toFile(settings, 'tokens'))) writeTokens(settings, []);
  changeLoopKey(settings, existsSync(toFile(settings, 'loopKey')) ? readLoopKeys(settings).nodeKey : undefined);
  writeConfiguration(settings);
  return readFileSync(toFile(settings, 'tokens'), 'utf8').split('\n').filter(isToken);
}

/** Writes the whole file or nothing. Only this account can read it, because it has tokens. */
export function writeWhole(file: string, text: string): void {
  const unfinished = `${file}.${process.pid}`;
  writeFileSync(unfinished, text, { mode: 0o600 });
  renameSync(unfinished, file);
}
