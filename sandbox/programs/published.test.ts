import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { absent, cutOffAfter, drip, stallAfter, startMirror, well, type Answer } from '../testing/mirror.ts';
import { createTemporaryFolder } from '../testing/temporary-folder.ts';
import type { Archive } from './archives.ts';
import { PublishedPrograms, type Sources } from './published.ts';

// Some tests wait for a timeout.
jest.setTimeout(30_000);

const patience = { stallMs: 10_000, totalMs: 20_000, retries: 2, pauseMs: 10 };
const file = 'tools-v1.tar.gz';
const folders = createTemporaryFolder();
let folder: string;
let content: Buffer;
let archive: Archive;
const open: { stop(): Promise<void> }[] = [];
const said: string[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(folders, 'published-'));
  content = getArchive({ hello: '#!/bin/sh\necho hello\n', world: '#!/bin/sh\necho world\n' });
  archive = { file, url: `https://mirror.invalid/${file}`, programs: ['hello', 'world'], checksum: sha512(content) };
  said.length = 0;
});
afterEach(async () => {
  for (const each of open.splice(0)) await each.stop();
});

function getArchive(programs: Readonly<Record<string, string>>): Buffer {
  const inner = join(folder, 'source', 'controller-tools', 'envtest');
  mkdirSync(inner, { recursive: true });
  for (const [name, text] of Object.entries(programs)) {
    writeFileSync(join(inner, name), text);
    chmodSync(join(inner, name), 0o644);
  }
  execFileSync('tar', ['-czf', join(folder, 'made.tar.gz'), '-C', join(folder, 'source'), 'controller-tools']);
  return readFileSync(join(folder, 'made.tar.gz'));
}

const sha512 = (bytes: Buffer) =>
  ({ algorithm: 'sha512', digest: createHash('sha512').update(bytes).digest('hex') }) as const;

const cache = () => join(folder, 'cache');
const part = () => join(cache(), 'archives', `${file}.part`);
const say = (line: string): void => void said.push(line);

const programsFrom = (mirror: string | undefined, more: Partial<Sources> = {}): PublishedPrograms =>
  new PublishedPrograms({ archives: [archive], cache: cache(), mirror, patience, ...more });

async function mirrorThat(...answers: readonly Answer[]) {
  const mirror = await startMirror({ [file]: content }, ...answers);
  open.push(mirror);
  return mirror;
}

const left = (): readonly string[] =>
  existsSync(join(cache(), 'archives')) ? readdirSync(join(cache(), 'archives')) : [];
const bring = (bytes: Buffer): void => {
  mkdirSync(join(cache(), 'archives'), { recursive: true });
  writeFileSync(join(cache(), 'archives', file), bytes);
};

describe('programs as their projects publish them', () => {
  it('are fetched once, checked, and can be run', async () => {
    const mirror = await mirrorThat(well);
    const programs = programsFrom(`${mirror.url}/`);
    expect(programs.path('hello')).toBeUndefined();
    const [hello = '', world = ''] = await Promise.all(['hello', 'world'].map((name) => programs.fetch(name, say)));
    expect(execFileSync(hello, { encoding: 'utf8' })).toBe('hello\n');
    expect(execFileSync(world, { encoding: 'utf8' })).toBe('world\n');
    expect(mirror.asked).toEqual(['HEAD /archives/', `GET /archives/${file}`]);
    expect(said).toEqual([
      expect.stringMatching(/^tools-v1\.tar\.gz: fetching 0\.0 MB from 127\.0\.0\.1:\d+, once per machine$/),
    ]);
    expect(left()).toEqual([]);
    expect(programsFrom('http://127.0.0.1:9').path('hello')).toBe(hello);
  });

  it('may be a single program without an archive', async () => {
    content = Buffer.from('#!/bin/sh\necho alone\n');
    archive = { ...archive, file: 'alone-v1', programs: ['alone'], checksum: sha512(content) };
    const mirror = await startMirror({ 'alone-v1': content });
    open.push(mirror);
    const path = await programsFrom(mirror.url).fetch('alone', say);
    expect(execFileSync(path ?? '', { encoding: 'utf8' })).toBe('alone\n');
  });

  it('are not run if they differ from the pinned ones', async () => {
    content = getArchive({ hello: 'tampered', world: 'tampered' });
    const mirror = await mirrorThat(well);
    expect(await programsFrom(mirror.url).fetch('hello', say)).toBeUndefined();
    expect(said.at(-1)).toMatch(
      /tools-v1\.tar\.gz does not match the pinned checksum \(its sha512 begins with \w{12}, not \w{12}\) and was deleted; building hello, world from Go modules instead/,
    );
    expect(left()).toEqual([]);
    expect(readdirSync(join(cache(), 'published'))).toEqual([]);
  });

  it('continue at the byte where they were cut off', async () => {
    const mirror = await mirrorThat(cutOffAfter(100, part()), well);
    expect(await programsFrom(mirror.url).fetch('hello', say)).toBeDefined();
    expect(mirror.asked.slice(1)).toEqual([`GET /archives/${file}`, `GET /archives/${file} bytes=100-`]);
    expect(said[1]).toMatch(/was cut off after 0\.0 MB.*; trying again/);
  });

  it("continue an earlier run's download, and begin anew if it was of another file", async () => {
    const broken = await mirrorThat(cutOffAfter(20, part()));
    expect(await programsFrom(broken.url).fetch('hello', say)).toBeUndefined();
    expect(broken.asked.filter((each) => each.startsWith('GET'))).toHaveLength(1 + patience.retries);
    const good = await mirrorThat(well);
    expect(await programsFrom(good.url).fetch('hello', say)).toBeDefined();
    expect(good.asked[1]).toBe(`GET /archives/${file} bytes=60-`);

    rmSync(join(cache(), 'published'), { recursive: true });
    writeFileSync(part(), 'of something else');
    expect(await programsFrom(good.url).fetch('hello', say)).toBeDefined();
    expect(good.asked.at(-1)).toBe(`GET /archives/${file}`);
  });

  it.each([
    ['a mirror that falls silent', stallAfter(100), { stallMs: 300 }, /sent nothing for 0\.3 s after 0\.0 MB \(kept/],
    ['a mirror that is too slow', drip, { totalMs: 1_000 }, /is too slow: received 0\.0 MB \(kept/],
    ['a mirror that has no such file', absent, {}, /answers 404 Not Found/],
  ])('do not wait long: %s', async (_case, answer, limits, sentence) => {
    const mirror = await mirrorThat(answer);
    const programs = programsFrom(mirror.url, { patience: { ...patience, ...limits } });
    const started = Date.now();
    expect(await programs.fetch('hello', say)).toBeUndefined();
    expect(Date.now() - started).toBeLessThan(5_000);
    expect(said.at(-1)).toMatch(sentence);
    expect(said.at(-1)).toMatch(/from Go modules instead \(LUMIGO_SANDBOX_MIRROR can set another source/);
    const lines = said.length;
    expect(await programs.fetch('world', say)).toBeUndefined();
    expect(said).toHaveLength(lines);
  });

  it('are requested once without a network, from all their hosts at the same time', async () => {
    const other = { ...archive, file: 'others-v1', programs: ['other'], url: 'https://elsewhere.invalid/others-v1' };
    const programs = programsFrom(undefined, { archives: [archive, other] });
    const started = Date.now();
    for (const name of ['hello', 'world', 'other']) expect(await programs.fetch(name, say)).toBeUndefined();
    expect(Date.now() - started).toBeLessThan(5_000);
    expect(said).toEqual([
      expect.stringMatching(
        /^mirror\.invalid, elsewhere\.invalid cannot be reached \(.+\); their programs are built from Go modules/,
      ),
    ]);
  });

  it('are read without a network if the user has provided them', async () => {
    bring(content);
    expect(await programsFrom(undefined).fetch('hello', say)).toBeDefined();
    expect(said).toEqual([`${file}: using the copy in ${join(cache(), 'archives')}`]);
    expect(left()).toEqual([file]);
    expect(programsFrom(undefined).howToBring('hello')).toContain(`put ${file} (from ${archive.url}) into ${cache()}`);
  });

  it("are not read from the user's folder if they differ", async () => {
    bring(Buffer.from('something else'));
    expect(await programsFrom(undefined).fetch('hello', say)).toBeUndefined();
    expect(said[0]).toMatch(/archives\/tools-v1\.tar\.gz does not match the pinned checksum/);
    expect(left()).toEqual([file]);
  });

  it('are neither fetched nor used if that is disabled', async () => {
    bring(content);
    expect(await programsFrom(undefined).fetch('hello', say)).toBeDefined();
    said.length = 0;
    const off = programsFrom('off');
    expect(off.path('hello')).toBeUndefined();
    expect(await off.fetch('hello', say)).toBeUndefined();
    expect(said).toEqual([]);
  });

  it.each(['mirror.example.com', 'ftp://mirror.example.com', 'https://somebody:secret@mirror.example.com'])(
    'report a mirror that is no address, without its value: %s',
    async (mirror) => {
      expect(await programsFrom(mirror).fetch('hello', say)).toBeUndefined();
      expect(said).toEqual([
        expect.stringMatching(/^LUMIGO_SANDBOX_MIRROR must be 'off' or a URL without credentials, such as https:/),
      ]);
      expect(said.join()).not.toMatch(/secret|somebody/);
    },
  );
});
