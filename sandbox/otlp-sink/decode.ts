import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import protobuf from 'protobufjs';
import type { Signal } from '../../runtime/contract.ts';

export interface Group {
  readonly resource: Attributes;
  readonly scope: { readonly name: string; readonly version: string };
  readonly items: readonly (SpanItem | LogItem | MetricItem)[];
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
export interface MetricItem {
  readonly name: string;
  readonly value: unknown;
  readonly attributes: Attributes;
}

const definitions = protobuf.parse(readFileSync(fileURLToPath(new URL('otlp.proto', import.meta.url)), 'utf8')).root;
const types: Readonly<Record<Signal, protobuf.Type>> = {
  traces: definitions.lookupType('ExportTraces'),
  logs: definitions.lookupType('ExportLogs'),
  metrics: definitions.lookupType('ExportMetrics'),
};

/** Reads the body of an OTLP request. @throws Error if it is neither protobuf nor JSON */
export function decode(signal: Signal, body: Buffer, contentType: string): readonly Group[] {
  const isJson = contentType.startsWith('application/json');
  const message = isJson ? (JSON.parse(body.toString('utf8')) as Message) : unpack(types[signal], body);
  const { resourceSpans = [], resourceLogs = [], resourceMetrics = [] } = message;
  return [...resourceSpans.flatMap(getSpans), ...resourceLogs.flatMap(getLogs), ...resourceMetrics.flatMap(getMetrics)];
}

const unpack = (type: protobuf.Type, body: Buffer): Message =>
  type.toObject(type.decode(body), { longs: Number, bytes: String }) as Message;

/** Returns a JSON request as protobuf. Ids are in hexadecimal, as in OTLP's JSON. */
export function encode(signal: Signal, body: object): Buffer {
  const binary = JSON.parse(JSON.stringify(body), (key, value: unknown) =>
    key === 'spanId' || key === 'traceId' ? Buffer.from(String(value), 'hex').toString('base64') : value,
  ) as Record<string, unknown>;
  return Buffer.from(types[signal].encode(types[signal].fromObject(binary)).finish());
}

interface Message {
  readonly resourceSpans?: readonly Resourced[];
  readonly resourceLogs?: readonly Resourced[];
  readonly resourceMetrics?: readonly Resourced[];
}
interface Resourced {
  readonly resource?: { readonly attributes?: readonly RawAttribute[] };
  readonly scopeSpans?: readonly { readonly scope?: RawScope; readonly spans?: readonly RawItem[] }[];
  readonly scopeLogs?: readonly { readonly scope?: RawScope; readonly logRecords?: readonly RawItem[] }[];
  readonly scopeMetrics?: readonly { readonly scope?: RawScope; readonly metrics?: readonly RawMetric[] }[];
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
interface RawMetric {
  readonly name?: string;
  readonly gauge?: RawPoints;
  readonly sum?: RawPoints;
}
interface RawPoints {
  readonly dataPoints?: readonly {
    readonly asDouble?: number;
    readonly asInt?: number | string;
    readonly attributes?: readonly RawAttribute[];
  }[];
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

const getSpans = ({ resource, scopeSpans = [] }: Resourced): Group[] =>
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

const getMetrics = ({ resource, scopeMetrics = [] }: Resourced): Group[] =>
  scopeMetrics.map(({ scope, metrics = [] }) => ({
    ...{ resource: toAttributes(resource?.attributes), scope: toScope(scope) },
    items: metrics.flatMap(({ name = '', gauge, sum }) =>
      ((gauge ?? sum)?.dataPoints ?? []).map(({ asDouble, asInt, attributes }) => ({
        ...{ name, value: asDouble ?? Number(asInt), attributes: toAttributes(attributes) },
      })),
    ),
  }));

const toScope = ({ name = '', version = '' }: RawScope = {}) => ({ name, version });

const toAttributes = (attributes: readonly RawAttribute[] = []): Attributes =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, getValue(value)]));

function getValue(value: RawValue = {}): unknown {
  if (value.arrayValue !== undefined) return (value.arrayValue.values ?? []).map(getValue);
  if (value.kvlistValue !== undefined) return toAttributes(value.kvlistValue.values);
  return Object.values(value)[0];
}
