import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describeError } from '../../runtime/wording/errors.ts';
import type { Archive } from './archives.ts';
import { download, usualPatience, verify, type Patience } from './download.ts';
import { getAddress, MIRROR, unreachable } from './mirror.ts';
import { oneAtATime } from './lock.ts';
import type { Progress } from './progress.ts';
import { unpack } from './unpack.ts';

export interface Sources {
  readonly archives: readonly Archive[];
  readonly cache: string;
  readonly mirror: string | undefined;
  readonly patience?: Patience;
}

/** Programs that their projects publish. Each archive is downloaded once per machine, and tried once in a process. */
export class PublishedPrograms {
  private readonly tried = new Map<Archive, Promise<void>>();
  private silent: Promise<ReadonlyMap<string, string>> | undefined;

  constructor(private readonly sources: Sources) {}

  path(name: string): string | undefined {
    const archive = this.findArchive(name);
    const path = archive === undefined ? undefined : join(this.getFolder(archive), name);
    return path !== undefined && existsSync(path) ? path : undefined;
  }

  /** Downloads a program unless it exists. Returns undefined if no project publishes it, or after a reported failure. */
  async fetch(name: string, progress: Progress): Promise<string | undefined> {
    const archive = this.findArchive(name);
    if (archive === undefined) return undefined;
    const attempt = this.tried.get(archive) ?? this.obtain(archive, progress);
    this.tried.set(archive, attempt);
    await attempt;
    return this.path(name);
  }

  /** Returns the advice for a machine without network and Go, or an empty text if no project publishes the program. */
  howToBring(name: string): string {
    const archive = this.findArchive(name);
    if (archive === undefined) return '';
    return `Without a network, put ${archive.file} (from ${archive.url}) into ${this.brought}, or set ${MIRROR} to a mirror that has it.`;
  }

  private async obtain(archive: Archive, progress: Progress): Promise<void> {
    const names = archive.programs.join(', ');
    const waiting = () => progress(`${names}: another process is fetching them; waiting`);
    try {
      await oneAtATime(this.getFolder(archive), waiting, () => this.make(archive, progress));
    } catch (error) {
      const otherwise = `building ${names} from Go modules instead (${MIRROR} can set another source)`;
      progress(`${describeError(error)}; ${otherwise}`);
    }
  }

  private async make(archive: Archive, progress: Progress): Promise<void> {
    const { file, checksum } = archive;
    const folder = this.getFolder(archive);
    const brought = join(this.brought, file);
    if (existsSync(brought)) {
      await verify(brought, checksum);
      progress(`${file}: using the copy in ${this.brought}`);
      return unpack(archive, brought, folder);
    }
    if (!(await this.answers(archive, progress))) return;
    mkdirSync(this.brought, { recursive: true });
    const part = `${brought}.part`;
    const { patience = usualPatience, mirror } = this.sources;
    await download({ url: getAddress(archive, mirror).href, checksum, file: part, progress, patience });
    await unpack(archive, part, folder);
    rmSync(part);
  }

  /** One check for all archives: without a network, it takes two seconds and prints one line. */
  private async answers(archive: Archive, progress: Progress): Promise<boolean> {
    this.silent ??= this.askAll(progress);
    return !(await this.silent).has(getAddress(archive, this.sources.mirror).host);
  }

  private async askAll(progress: Progress): Promise<ReadonlyMap<string, string>> {
    const { archives, mirror } = this.sources;
    const silent = await unreachable(archives.map((archive) => getAddress(archive, mirror)));
    const [why] = silent.values();
    if (why !== undefined)
      progress(
        `${[...silent.keys()].join(', ')} cannot be reached (${why}); their programs are built from Go modules instead`,
      );
    return silent;
  }

  private findArchive(name: string): Archive | undefined {
    if (this.sources.mirror === 'off') return undefined;
    return this.sources.archives.find(({ programs }) => programs.includes(name));
  }

  /** Another pinned content has another folder. */
  private getFolder({ file, checksum }: Archive): string {
    return join(this.sources.cache, 'published', `${file}-${checksum.digest.slice(0, 16)}`);
  }

  private get brought(): string {
    return join(this.sources.cache, 'archives');
  }
}
