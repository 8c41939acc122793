import { randomUUID } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import type { Condition } from '../../runtime/api/lumigo.ts';
import type { ControlPlane } from '../control-plane/control-plane.ts';
import { freePorts, launch, type Running } from '../control-plane/processes.ts';
import type { Tool } from '../e2e/tools.ts';
import { repository as ownRepository } from '../images/recipes.ts';
import { ensureBinaries } from '../programs/build.ts';
import { fluxComponents } from '../programs/components.ts';
import { moduleFolder } from '../programs/modules.ts';
import { eventually } from '../testing/eventually.ts';
import { GitRepository } from './git-repository.ts';

export const fluxNamespace = 'flux-system';

const READY_MS = 60_000;

export interface Synced {
  readonly ready: string;
  readonly message: string;
}

/** Flux's source-controller and kustomize-controller beside a cluster, with a git repository over HTTP on loopback. */
export class Flux {
  readonly repository: GitRepository;
  /** The `url` of a GitRepository. */
  readonly url: string;
  private running: readonly Running[] = [];

  private constructor(
    private readonly cluster: ControlPlane,
    private readonly kubectl: Tool,
    port: number,
  ) {
    this.repository = new GitRepository(join(cluster.dir, 'git'));
    this.url = `http://127.0.0.1:${port}/clusters.git`;
  }

  static async start(cluster: ControlPlane, kubectl: Tool): Promise<Flux> {
    const [port = 0] = await freePorts(1);
    const flux = new Flux(cluster, kubectl, port);
    flux.define();
    await flux.launch(port);
    return flux;
  }

  apply(...objects: readonly object[]): void {
    const file = join(this.cluster.dir, 'flux-objects.yaml');
    writeFileSync(file, objects.map((object) => stringify(object)).join('---\n'));
    this.kubectl('apply', '--server-side', '--force-conflicts', '-f', file);
  }

  async sync(...names: readonly string[]): Promise<readonly Synced[]> {
    await this.handled('gitrepository', 'clusters');
    const synced: Synced[] = [];
    for (const name of names) synced.push(await this.handled('kustomization', name));
    return synced;
  }

  async stop(): Promise<void> {
    for (const running of this.running) await running.stop();
  }

  private define(): void {
    const files = fluxComponents.flatMap((component) => ['-f', join(moduleFolder(component), 'config/crd/bases')]);
    this.kubectl('apply', '--server-side', ...files);
    this.kubectl('wait', 'crd', '--all', '--for=condition=Established', '--timeout=30s');
    this.kubectl('create', 'namespace', fluxNamespace);
  }

  private async launch(gitPort: number): Promise<void> {
    const { dir: folder, reaper, kubeconfig } = this.cluster;
    const programs = await ensureBinaries(fluxComponents.map(({ name }) => name));
    const [storage = 0, ...ports] = await freePorts(5);
    const address = (port = 0) => `127.0.0.1:${port}`;
    const artifacts = join(folder, 'flux-artifacts');
    mkdirSync(artifacts);
    const { PATH, HOME } = process.env;
    const environment = { PATH, HOME, KUBECONFIG: kubeconfig, RUNTIME_NAMESPACE: fluxNamespace, TMPDIR: artifacts };
    const controller = (name: string, own: readonly string[]) => {
      const [metrics, health] = ports.splice(0, 2);
      const args = [
        '--enable-leader-election=false',
        '--log-encoding=console',
        `--metrics-addr=${address(metrics)}`,
        `--health-addr=${address(health)}`,
        ...own,
      ];
      return launch({ name, path: programs[name] ?? '', args, folder, environment, reaper });
    };
    const script = join(ownRepository, 'sandbox/flux/git-server.ts');
    const git = launch({
      name: 'git-server',
      path: process.execPath,
      args: ['--import', 'tsx', script, this.repository.folder, String(gitPort)],
      folder,
      reaper,
    });
    this.running = [
      git,
      controller('source-controller', [
        `--storage-path=${artifacts}`,
        `--storage-addr=${address(storage)}`,
        `--storage-adv-addr=${address(storage)}`,
      ]),
      controller('kustomize-controller', []),
    ];
    const answers = async () => {
      const { ok, status } = await fetch(`${this.url}/info/refs?service=git-upload-pack`);
      if (!ok) throw new Error(`it answers ${status}`);
    };
    const complaint = 'the git server did not answer';
    await eventually(answers, { complaint, timeoutMs: READY_MS, processes: this.running });
  }

  private async handled(kind: string, name: string): Promise<Synced> {
    const request = randomUUID();
    const own = ['-n', fluxNamespace, kind, name];
    this.kubectl('annotate', ...own, `reconcile.fluxcd.io/requestedAt=${request}`, '--overwrite');
    return eventually(
      async () => {
        const { status, ready } = await this.readStatus(kind, name);
        if (ready === undefined || ready.status === 'Unknown' || status.lastHandledReconcileAt !== request)
          throw new Error(`${kind} ${name} was not done: ${JSON.stringify(status)}`);
        return { ready: ready.status, message: ready.message };
      },
      { timeoutMs: READY_MS * 5, intervalMs: 200 },
    );
  }

  async readStatus(kind: string, name: string) {
    const text = await this.kubectl.meanwhile('get', '-n', fluxNamespace, kind, name, '-o', 'json');
    const { status = {} } = JSON.parse(text) as FluxObject;
    return { status, ready: status.conditions?.find(({ type }) => type === 'Ready') };
  }
}

interface FluxObject {
  readonly status?: {
    readonly lastHandledReconcileAt?: string;
    readonly conditions?: readonly Condition[];
  };
}
