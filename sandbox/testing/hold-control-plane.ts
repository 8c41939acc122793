import { startControlPlane } from '../control-plane/control-plane.ts';

// For a test that kills this process: starts a control plane, says what it is made of, and stays.
const cluster = await startControlPlane();
process.stdout.write(`${JSON.stringify({ dir: cluster.dir, pids: cluster.pids() })}\n`);
setInterval(() => undefined, 60_000);
