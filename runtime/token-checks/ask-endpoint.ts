import { request as plain } from 'node:http';
import { request as secure } from 'node:https';
import { otlpPaths, tokenScheme } from '../contract.ts';

const ANSWER_MS = 10_000;
/** An OTLP request whose one resource holds no span: two bytes that change nothing wherever they arrive. */
const nothing = Buffer.from([0x0a, 0x00]);

/**
 * Asks Lumigo's endpoint about a token, as the telemetry proxy would send spans under it. Resolves with the status of the answer, or
 * with 0 where there is none; follows no redirect, which could carry the token elsewhere.
 */
export function askEndpoint(endpoint: string, token: string, signal: AbortSignal): Promise<number> {
  const url = new URL(`${endpoint}${otlpPaths.traces}`);
  const headers = {
    authorization: `${tokenScheme} ${token}`,
    'content-type': 'application/x-protobuf',
    'content-length': nothing.length,
  };
  return new Promise((resolve) => {
    const send = url.protocol === 'https:' ? secure : plain;
    const bounded = AbortSignal.any([signal, AbortSignal.timeout(ANSWER_MS)]);
    const sent = send(url, { method: 'POST', headers, agent: false, signal: bounded }, (response) => {
      resolve(response.statusCode ?? 0);
      response.destroy();
    });
    sent.on('error', () => resolve(0));
    sent.end(nothing);
  });
}
