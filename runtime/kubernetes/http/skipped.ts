import type { Logger } from 'pino';

export interface SkippedReporterOptions {
  /** Called for each object of a stream that is too large to be read, with the plural of its kind. */
  readonly onSkipped?: ((resource: string) => void) | undefined;
  readonly logger?: Logger | undefined;
}

/** Returns the function that reports an object which was skipped: always to `onSkipped`, in the log once for each kind. */
export function skippedReporter({ onSkipped, logger }: SkippedReporterOptions) {
  const reported = new Set<string>();
  return (resource: string, bytes: number): void => {
    onSkipped?.(resource);
    const level = reported.has(resource) ? 'debug' : 'warn';
    reported.add(resource);
    const hint =
      'make its labels and annotations smaller; more objects of this kind are counted in metrics and logged at debug level';
    logger?.[level]({ resource, bytes, hint }, 'skipped an object that is too large to read');
  };
}
