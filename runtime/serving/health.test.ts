import { afterAll, expect, it } from '@jest/globals';
import { connect, type Socket } from 'node:net';
import { freePorts } from '../../sandbox/control-plane/processes.ts';
import { eventually } from '../../sandbox/testing/eventually.ts';
import { paths } from '../contract.ts';
import { HealthServer } from './health.ts';

const stop = new AbortController();
const sockets: Socket[] = [];
afterAll(() => {
  stop.abort();
  for (const socket of sockets) socket.destroy();
});

it('the port for health checks answers while a pod opens many connections, and keeps few of them', async () => {
  const [healthPort = 0] = await freePorts(1);
  const server = new HealthServer({ config: { healthPort, listenAddress: '127.0.0.1' }, unready: () => [] });
  void server.run(stop.signal);
  const ask = async () => (await fetch(`http://127.0.0.1:${healthPort}${paths.live}`)).status;
  await eventually(async () => expect(await ask()).toBe(200));
  let opened = 0;
  for (let index = 0; index < 300; index += 1)
    sockets.push(connect(healthPort, '127.0.0.1', () => (opened += 1)).on('error', () => undefined));
  await eventually(() => expect(opened).toBe(300));
  expect(await ask()).toBe(200);
  await eventually(() => expect(sockets.filter(({ closed }) => !closed).length).toBeLessThanOrEqual(64));
});
