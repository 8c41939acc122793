import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { RemoteSink } from './remote.ts';
import { post, toLog } from './sender.ts';
import { OtlpSink } from './sink.ts';

let sink: OtlpSink;
beforeAll(async () => {
  sink = await OtlpSink.start();
});
afterAll(() => sink.close());

it('returns each item once to several that read at the same time', async () => {
  const remote = new RemoteSink(sink.url);
  const read = async () => (await remote.received()).map(({ item }) => 'body' in item && item.body);
  const send = (text: string) => post(`${sink.url}/v1/logs`, toLog({}, text));
  await send('first');
  await Promise.all([read(), read(), read()]);
  await send('second');
  const all = ['first', 'second'];
  expect(await Promise.all([read(), read()])).toEqual([all, all]);
});
