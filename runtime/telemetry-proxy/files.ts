import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { telemetryProxyFiles } from '../contract.ts';
import { render, serialize, tokensFile } from './render.ts';
import { loopKeyFile } from './render-collection.ts';
import type { Collection, ProxySettings } from './types.ts';

/** What the collector is started with. */
export const configurationFile = (folder: string): string => join(folder, telemetryProxyFiles.configuration);

/** Writes the file anew, whole; without a collection the collector only forwards. */
export function writeConfiguration(settings: ProxySettings, collection?: Collection): void {
  writeWhole(configurationFile(settings.telemetryProxyDirectory), serialize(render(settings, collection)));
}

/** One a line. An empty file would let in an empty token, so one that nobody can know stands for none. */
export function writeTokens(folder: string, tokens: readonly string[]): void {
  writeWhole(tokensFile(folder), (tokens.length === 0 ? [`nobody-${randomUUID()}`] : tokens).join('\n'));
}

/** Returns the key of the collector's loop. */
export const readLoopKey = (folder: string): string => readFileSync(loopKeyFile(folder), 'utf8');

/** Changes the key of the collector's loop. A configuration with the former key sends no collected data from then on. */
export const changeLoopKey = (folder: string): void => writeWhole(loopKeyFile(folder), randomUUID());

/**
 * What a collector that starts finds: it forwards, for nobody yet, and collects nothing. An init container writes it, so
 * the collector need not wait for the manager.
 */
export function prepare(settings: ProxySettings): void {
  const { telemetryProxyDirectory: folder } = settings;
  mkdirSync(folder, { recursive: true });
  // After a restart of the manager those who were let in stay so until their tokens are read again.
  if (!existsSync(tokensFile(folder))) writeTokens(folder, []);
  if (!existsSync(loopKeyFile(folder))) changeLoopKey(folder);
  writeConfiguration(settings);
}

/** Whole or not at all, and for nobody else to read: it holds tokens. */
export function writeWhole(file: string, text: string): void {
  const unfinished = `${file}.${process.pid}`;
  writeFileSync(unfinished, text, { mode: 0o600 });
  renameSync(unfinished, file);
}
