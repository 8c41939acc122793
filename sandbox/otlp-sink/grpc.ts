import { connect } from 'node:http2';
import type { Signal } from '../../runtime/contract.ts';
import { encode } from './decode.ts';

const services: Readonly<Record<Signal, string>> = {
  traces: 'trace.v1.TraceService',
  logs: 'logs.v1.LogsService',
  metrics: 'metrics.v1.MetricsService',
};

/** Returns the status of the call: 0 is OK, 16 is Unauthenticated. */
export function postByGrpc(port: number, body: object, token?: string, signal: Signal = 'traces') {
  const session = connect(`http://127.0.0.1:${port}`);
  const message = encode(signal, body);
  // One uncompressed message, preceded by its length.
  const frame = Buffer.alloc(5);
  frame.writeUInt32BE(message.length, 1);
  return new Promise<{ status: number }>((resolve, reject) => {
    session.on('error', reject);
    const stream = session.request({
      ':method': 'POST',
      ':path': `/opentelemetry.proto.collector.${services[signal]}/Export`,
      'content-type': 'application/grpc',
      te: 'trailers',
      ...(token === undefined ? {} : { authorization: `LumigoToken ${token}` }),
    });
    const seen: Record<string, unknown> = {};
    stream.on('response', (headers) => Object.assign(seen, headers));
    stream.on('trailers', (trailers) => Object.assign(seen, trailers));
    stream.on('error', reject);
    stream.on('end', () => resolve({ status: Number(seen['grpc-status']) }));
    stream.resume();
    stream.end(Buffer.concat([frame, message]));
  }).finally(() => session.close());
}
