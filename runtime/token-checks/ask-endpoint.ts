import { request as plain } from 'node:http';
import { request as secure } from 'node:https';
import { otlpPaths, tokenScheme } from '../contract.ts';

const ANSWER_MS = 10_000;
/** An OTLP request whose only resource has no span: it changes nothing. */
const nothing = Buffer.from([0x0a, 0x00]);

/** Resolves with the HTTP status; 0 without an answer. Follows no redirect, which could leak the token. @param endpoint without a slash at its end */
export function askEndpoint(endpoint: string, token: string, signal: AbortSignal): Promise<number> {
  const address = `${endpoint}${otlpPaths.traces}`;
  // The form of the setting cannot exclude each one that is none, such as a port of 99999.
  if (!URL.canParse(address)) return Promise.resolve(0);
  const url = new URL(address);
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
