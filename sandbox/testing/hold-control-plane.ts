import { startControlPlane } from '../control-plane/control-plane.ts';

// Starts a control plane, prints its parts, and waits, so that a test can kill this process.
const cluster = await startControlPlane();
process.stdout.write(`${JSON.stringify({ dir: cluster.dir, pids: cluster.pids() })}\n`);
setInterval(() => undefined, 60_000);
