import type { Logger } from 'pino';
import { aborted } from '../async/aborted.ts';
import { toInjector, type RuntimeConfig } from '../config/config.ts';
import { paths } from '../contract.ts';
import type { LumigoStore } from '../lumigo/lumigo-store.ts';
import type { Metrics, ReviewOutcome } from '../observability/metrics.ts';
import { createApp } from './app.ts';
import { followCertificate, type CertificateSource, type Pair } from '../certificates/serve-certificate.ts';
import { reviewWorkload } from './injector.ts';
import { reviewLumigo } from './lumigoes.ts';
import { allowed, type Answer } from './review.ts';
import { serveTls } from '../serving/tls-server.ts';

interface AdmissionOptions {
  readonly config: RuntimeConfig;
  readonly certificate: (signal: AbortSignal) => CertificateSource;
  readonly onCertificate: (pair: Pair) => void;
  readonly lumigoes: LumigoStore;
  /** Returns why this installation changes nothing; undefined while it is the active one. */
  readonly standsBy: () => string | undefined;
  readonly metrics: Metrics;
  readonly logger: Logger;
}

/** The API server needs one per concurrent review. Each takes about 100 KB with a small body (body.ts). */
const MAX_CONNECTIONS = 512;

export class AdmissionServer {
  readonly name = 'webhook';
  private hasCertificate = () => false;

  constructor(private readonly options: AdmissionOptions) {}

  /** Only a leader issues a certificate. An installation that stands by answers without a change, so it needs none. */
  readonly unready = (): string[] =>
    this.hasCertificate() || this.options.standsBy() !== undefined ? [] : ['the webhook has no certificate yet'];

  /** Rejects with a sentence if the port is not free. */
  readonly run = async (signal: AbortSignal): Promise<void> => {
    const { config, metrics, logger, certificate, onCertificate } = this.options;
    const where = { port: config.webhookPort, host: config.listenAddress };
    const server = await serveTls(this.app(), where, 'the webhook', MAX_CONNECTIONS);
    this.hasCertificate = followCertificate({
      ...certificate(signal),
      use: (pair, { notAfter, renewalDueAt }) => {
        server.useCertificate(pair);
        onCertificate(pair);
        metrics.certificateExpiry.set(notAfter / 1_000);
        metrics.certificateRenewal.set(renewalDueAt / 1_000);
      },
      logger,
      signal,
    });
    await aborted(signal);
    await server.close(config.drainSeconds);
  };

  private app() {
    const { config, lumigoes, metrics, logger, standsBy } = this.options;
    const context = {
      injector: toInjector(config),
      ownUser: `system:serviceaccount:${config.operatorNamespace}:${config.serviceAccount}`,
      lumigoes,
    };
    /** A standby does not answer the probe either, which asks about the active installation's webhook. */
    const unlessStandby = (review: () => Answer): Answer => {
      const reason = standsBy();
      return reason === undefined ? review() : allowed(`No mutation: ${reason}`);
    };
    return createApp({
      reviews: {
        [paths.inject]: (request) => unlessStandby(() => reviewWorkload(request, context)),
        [paths.lumigoes]: (request) => unlessStandby(() => reviewLumigo(request, lumigoes)),
      },
      logger,
      onAnswer: (webhook, answer, seconds) => {
        metrics.reviews.inc({ webhook, outcome: getOutcome(answer) });
        metrics.reviewSeconds.observe({ webhook }, seconds);
      },
    });
  }
}

function getOutcome({ code, patch }: Answer): ReviewOutcome {
  if (code === 500) return 'failed';
  if (code === 409) return 'refused';
  return patch !== undefined && patch.length > 0 ? 'patched' : 'unchanged';
}
