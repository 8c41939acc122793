import assert from 'node:assert/strict';
import { once } from 'node:events';
import { statSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { eventually } from './eventually.ts';

export type Answer = (content: Buffer, request: IncomingMessage, response: ServerResponse) => void | Promise<void>;

export const well: Answer = (content, request, response) => {
  const rest = begin(content, request, response);
  response.end(rest);
};

function begin(content: Buffer, request: IncomingMessage, response: ServerResponse): Buffer {
  const [, from] = /^bytes=(\d+)-$/.exec(request.headers.range ?? '') ?? [];
  const rest = content.subarray(Number(from ?? 0));
  if (from === undefined) response.writeHead(200, { 'content-length': rest.length });
  else if (rest.length === 0) response.writeHead(416);
  else {
    const range = `bytes ${from}-${content.length - 1}/${content.length}`;
    response.writeHead(206, { 'content-length': rest.length, 'content-range': range });
  }
  return rest;
}

/** Closes the connection when the client's file has some bytes, because bytes in transit would be lost. */
export const cutOffAfter =
  (bytes: number, kept: string): Answer =>
  async (content, request, response) => {
    const rest = begin(content, request, response);
    response.write(rest.subarray(0, bytes));
    const size = content.length - rest.length + bytes;
    await eventually(() => assert.equal(statSync(kept).size, size));
    response.destroy();
  };

export const stallAfter =
  (bytes: number): Answer =>
  (content, _request, response) => {
    response.writeHead(200, { 'content-length': content.length });
    response.write(content.subarray(0, bytes));
  };

/** Sends a byte again and again, and never completes. */
export const drip: Answer = (content, _request, response) => {
  response.writeHead(200, { 'content-length': content.length });
  let sent = 0;
  const timer = setInterval(() => response.write(content.subarray(sent, (sent += 1))), 20);
  response.on('close', () => clearInterval(timer));
};

export const absent: Answer = (_content, _request, response) => void response.writeHead(404).end();

/** Starts a mirror on loopback. Each request has the next answer, and later ones the last. */
export async function startMirror(files: Readonly<Record<string, Buffer>>, ...answers: readonly Answer[]) {
  const asked: string[] = [];
  let count = 0;
  const server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url} ${request.headers.range ?? ''}`.trim());
    if (request.method === 'HEAD') return void response.writeHead(404).end();
    const content = files[request.url?.slice('/archives/'.length) ?? ''];
    const answer = answers[Math.min(count, answers.length - 1)] ?? well;
    count += 1;
    void (content === undefined ? absent : answer)(content ?? Buffer.alloc(0), request, response);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/archives`,
    asked,
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
