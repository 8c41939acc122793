import { OtlpSink } from './sink.ts';

/** `main.ts HOST PORT`: a sink as a process, for programs that reach it over a network. */
const [host = '127.0.0.1', port = '4318'] = process.argv.slice(2);
await OtlpSink.start({ host, port: Number(port) });
