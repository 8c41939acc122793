import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { chartFiles } from '../../infra/helm/chart.ts';
import { writeFiles } from '../../infra/helm/write-files.ts';
import type { NodeCluster } from '../node/node.ts';
import { runInNode } from '../node/script.ts';
import { run } from '../run.ts';
import { eventually } from '../testing/eventually.ts';

const PORT = 8879;

export class ChartRepository {
  readonly url: string;
  /** The chart of this checkout. */
  readonly files = chartFiles();
  private readonly folder: string;

  constructor(
    private readonly node: NodeCluster,
    private readonly helm: string,
  ) {
    this.folder = mkdtempSync(join(node.dir, 'chart-repository-'));
    this.url = `http://${node.slot.nodeAddress}:${PORT}`;
  }

  async start(): Promise<void> {
    const args = [this.folder, this.node.slot.nodeAddress, String(PORT)];
    const running = runInNode(this.node, 'chart-repository', 'sandbox/chart-repository/main.ts', args);
    await eventually(() => fetch(this.url), { complaint: 'the chart repository did not answer', processes: [running] });
  }

  /** Adds a version of this project's chart. Changed files simulate those of a later version. */
  publish(version: string, changes: Readonly<Record<string, (text: string) => string>> = {}): void {
    const chart = join(this.folder, `chart-${version}`);
    const versioned = (text: string) => text.replace(/^version: .*$/m, `version: ${version}`);
    const files: Record<string, string> = { ...this.files };
    for (const [path, change] of Object.entries({ ...changes, 'Chart.yaml': versioned }))
      files[path] = change(this.files[path] ?? '');
    writeFiles(chart, files);
    run(this.helm, ['package', chart, '--destination', this.folder]);
    rmSync(chart, { recursive: true });
    run(this.helm, ['repo', 'index', this.folder]);
  }
}
