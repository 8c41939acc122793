import { fromEnvironment } from '../config/config.ts';
import { runManager } from '../manager/manager.ts';
import type { Invocation } from './invocation.ts';

export const run = ({ flags, environment }: Invocation): Promise<void> =>
  runManager(fromEnvironment(environment), flags);
