import { expect } from '@jest/globals';
import { Agent } from 'node:http';
import type { Answer } from '../answer.ts';
import type { Attributes } from '../otlp-sink/decode.ts';
import { countSpans, post, spanId } from '../otlp-sink/sender.ts';
import { eventually } from './eventually.ts';
import { getToken, type TelemetryBench } from './telemetry.ts';

export interface Sender {
  /** Default: 127.0.0.1. */
  readonly address?: string;
  readonly token?: string;
  /** Changes the request as no SDK does. */
  readonly forge?: (body: object) => object;
}

type Resource = Readonly<Record<string, string>>;

export const plainly = (body: object): object => body;

let counter = 1;

export function send(
  telemetry: TelemetryBench,
  resource: Resource,
  { address = '127.0.0.1', token = getToken(7), forge = plainly }: Sender = {},
  id = spanId(counter++),
): Promise<Answer> {
  const agent = new Agent({ localAddress: address });
  return post(`${telemetry.collector().url}/v1/traces`, forge(countSpans(resource, [id])), { token, agent });
}

/** Returns the attributes with which the sent ones arrive, with a retry as SDKs do it. */
export async function forward(telemetry: TelemetryBench, resource: Resource, sender: Sender = {}): Promise<Attributes> {
  const id = spanId(counter++);
  await eventually(async () => expect((await send(telemetry, resource, sender, id)).status).toBe(200));
  return eventually(() => {
    const hex = ({ spanId: sent }: { spanId: string }) => Buffer.from(sent, 'base64').toString('hex');
    const arrived = telemetry.sink.spans.find(({ item }) => hex(item) === id);
    if (arrived === undefined) throw new Error('the span has not arrived');
    return arrived.resource;
  });
}
