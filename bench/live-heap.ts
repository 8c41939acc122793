import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

/** Returns the bytes of this process's heap without garbage. */
export function getLiveHeap(): number {
  collect();
  return process.memoryUsage().heapUsed;
}
