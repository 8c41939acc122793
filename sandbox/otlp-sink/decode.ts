import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import protobuf from 'protobufjs';

export interface Group {
  readonly resource: Attributes;
  readonly scope: { readonly name: string; readonly version: string };
  readonly items: readonly (SpanItem | LogItem)[];
}
export type Attributes = Readonly<Record<string, unknown>>;
export interface SpanItem {
  readonly name: string;
  readonly spanId: string;
  readonly traceId: string;
  readonly attributes: Attributes;
}
export interface LogItem {
  readonly body: unknown;
  readonly attributes: Attributes;
}

const definitions = protobuf.parse(readFileSync(fileURLToPath(new URL('otlp.proto', import.meta.url)), 'utf8')).root;
const traces = definitions.lookupType('ExportTraces');
const logs = definitions.lookupType('ExportLogs');

/** Reads the body of an OTLP request. @throws Error if it is neither protobuf nor JSON */
export function decode(signal: 'traces' | 'logs', body: Buffer, contentType: string): readonly Group[] {
  const message = contentType.startsWith('application/json') ? parse(body) : unpack(signal, body);
  return signal === 'traces' ? message.resourceSpans.flatMap(countSpans) : message.resourceLogs.flatMap(getLogs);
}

const parse = (body: Buffer): Message => {
  const { resourceSpans = [], resourceLogs = [] } = JSON.parse(body.toString('utf8')) as Partial<Message>;
  return { resourceSpans, resourceLogs };
};

function unpack(signal: 'traces' | 'logs', body: Buffer): Message {
  const type = signal === 'traces' ? traces : logs;
  return type.toObject(type.decode(body), { longs: Number, bytes: String, arrays: true }) as Message;
}

/** Returns a JSON request as protobuf. Ids are in hexadecimal, as in OTLP's JSON. */
export function encodeTraces(body: object): Buffer {
  const binary = JSON.parse(JSON.stringify(body), (key, value: unknown) =>
    key === 'spanId' || key === 'traceId' ? Buffer.from(String(value), 'hex').toString('base64') : value,
  ) as Record<string, unknown>;
  return Buffer.from(traces.encode(traces.fromObject(binary)).finish());
}

interface Message {
  readonly resourceSpans: readonly Resourced[];
  readonly resourceLogs: readonly Resourced[];
}
interface Resourced {
  readonly resource?: { readonly attributes?: readonly RawAttribute[] };
  readonly scopeSpans?: readonly { readonly scope?: RawScope; readonly spans?: readonly RawItem[] }[];
  readonly scopeLogs?: readonly { readonly scope?: RawScope; readonly logRecords?: readonly RawItem[] }[];
}
interface RawScope {
  readonly name?: string;
  readonly version?: string;
}
interface RawItem {
  readonly name?: string;
  readonly spanId?: string;
  readonly traceId?: string;
  readonly body?: RawValue;
  readonly attributes?: readonly RawAttribute[];
}
interface RawAttribute {
  readonly key: string;
  readonly value?: RawValue;
}
interface RawValue {
  readonly arrayValue?: { readonly values?: readonly RawValue[] };
  readonly kvlistValue?: { readonly values?: readonly RawAttribute[] };
  readonly [kind: string]: unknown;
}

const countSpans = ({ resource, scopeSpans = [] }: Resourced): Group[] =>
  scopeSpans.map(({ scope, spans = [] }) => ({
    ...{ resource: toAttributes(resource?.attributes), scope: toScope(scope) },
    items: spans.map(({ name = '', spanId = '', traceId = '', attributes }) => ({
      ...{ name, spanId, traceId, attributes: toAttributes(attributes) },
    })),
  }));

const getLogs = ({ resource, scopeLogs = [] }: Resourced): Group[] =>
  scopeLogs.map(({ scope, logRecords = [] }) => ({
    ...{ resource: toAttributes(resource?.attributes), scope: toScope(scope) },
    items: logRecords.map(({ body, attributes }) => ({ body: getValue(body), attributes: toAttributes(attributes) })),
  }));

const toScope = ({ name = '', version = '' }: RawScope = {}) => ({ name, version });

const toAttributes = (attributes: readonly RawAttribute[] = []): Attributes =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, getValue(value)]));

function getValue(value: RawValue = {}): unknown {
  if (value.arrayValue !== undefined) return (value.arrayValue.values ?? []).map(getValue);
  if (value.kvlistValue !== undefined) return toAttributes(value.kvlistValue.values);
  return Object.values(value)[0];
}
