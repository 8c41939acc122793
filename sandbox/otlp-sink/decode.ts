import { readFileSync } from 'node:fs';
import protobuf from 'protobufjs';
import type { Signal } from '../../runtime/contract.ts';

export interface Group {
  readonly resource: Attributes;
  readonly scope: string;
  readonly items: readonly Item[];
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
type Item = SpanItem | LogItem | MetricItem;

const definitions = protobuf.parse(readFileSync(new URL('otlp.proto', import.meta.url), 'utf8')).root;

/** The message of each signal, and the names of its nested lists. */
const forms = {
  traces: { message: definitions.lookupType('ExportTraces'), lists: ['resourceSpans', 'scopeSpans', 'spans'] },
  logs: { message: definitions.lookupType('ExportLogs'), lists: ['resourceLogs', 'scopeLogs', 'logRecords'] },
  metrics: { message: definitions.lookupType('ExportMetrics'), lists: ['resourceMetrics', 'scopeMetrics', 'metrics'] },
} as const;

/** Reads the body of an OTLP request. @throws Error if it is neither protobuf nor JSON */
export function decode(signal: Signal, body: Buffer, contentType: string): readonly Group[] {
  const { message: type, lists } = forms[signal];
  const message = contentType.startsWith('application/json')
    ? (JSON.parse(body.toString('utf8')) as object)
    : type.toObject(type.decode(body), { longs: Number, bytes: String });
  const [resources, scopes, items] = lists;
  return listIn(message, resources).flatMap((of) =>
    listIn(of, scopes).map((each) => ({
      resource: toAttributes(of.resource?.attributes),
      scope: each.scope?.name ?? '',
      items: listIn(each, items).flatMap(readItem[signal]),
    })),
  );
}

const listIn = (raw: object, name: string): readonly Raw[] =>
  (raw as Readonly<Record<string, readonly Raw[] | undefined>>)[name] ?? [];

/** Returns a JSON request as protobuf. Ids are in hexadecimal, as in OTLP's JSON. */
export function encode(signal: Signal, body: object): Buffer {
  const binary = JSON.parse(JSON.stringify(body), (key, value: unknown) =>
    key === 'spanId' || key === 'traceId' ? Buffer.from(String(value), 'hex').toString('base64') : value,
  ) as Record<string, unknown>;
  const { message } = forms[signal];
  return Buffer.from(message.encode(message.fromObject(binary)).finish());
}

/** A resource, a scope, an item or a point of a metric. */
interface Raw {
  readonly resource?: Raw;
  readonly scope?: Raw;
  readonly name?: string;
  readonly spanId?: string;
  readonly traceId?: string;
  readonly body?: RawValue;
  readonly attributes?: readonly RawAttribute[];
  readonly gauge?: { readonly dataPoints?: readonly Raw[] };
  readonly sum?: { readonly dataPoints?: readonly Raw[] };
  readonly asDouble?: number;
  readonly asInt?: number | string;
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

const readItem: Readonly<Record<Signal, (raw: Raw) => Item | readonly Item[]>> = {
  traces: ({ name = '', spanId = '', traceId = '', attributes }) => ({
    name,
    spanId,
    traceId,
    attributes: toAttributes(attributes),
  }),
  logs: ({ body, attributes }) => ({ body: getValue(body), attributes: toAttributes(attributes) }),
  metrics: ({ name = '', gauge, sum }) =>
    ((gauge ?? sum)?.dataPoints ?? []).map(({ asDouble, asInt, attributes }) => ({
      name,
      value: asDouble ?? Number(asInt),
      attributes: toAttributes(attributes),
    })),
};

const toAttributes = (attributes: readonly RawAttribute[] = []): Attributes =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, getValue(value)]));

function getValue(value: RawValue = {}): unknown {
  if (value.arrayValue !== undefined) return (value.arrayValue.values ?? []).map(getValue);
  if (value.kvlistValue !== undefined) return toAttributes(value.kvlistValue.values);
  return Object.values(value)[0];
}
