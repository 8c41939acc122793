import type { Expression } from './markers.ts';
import { ABSENT, DOCUMENT, Either } from './merge.ts';

/** JSON without `$` (constructs/configuration.ts). */
const inDocument = 'toRawJson | replace "$" "\\\\u0024"';

/** Writes a tree with markers as a Helm template. Scalars are JSON, which YAML reads without guessing their type. */
export class TemplateWriter {
  private readonly pattern: RegExp;

  constructor(private readonly expressions: ReadonlyMap<string, Expression>) {
    this.pattern = new RegExp([...expressions.keys()].join('|'), 'g');
  }

  file(object: unknown): string {
    return [...this.object(object), ''].join('\n');
  }

  private object(object: unknown): string[] {
    if (object === ABSENT) return [];
    return object instanceof Either ? this.either(object, (each) => this.object(each)) : this.block(object, 0);
  }

  private block(value: unknown, depth: number): string[] {
    const pad = '  '.repeat(depth);
    if (Array.isArray(value)) return value.flatMap((item: unknown) => this.item(item, depth));
    // An annotation of the user replaces one of the chart. In other maps of the user, the chart refuses its own keys.
    const isOpen = Object.keys(value as object).some((key) => this.expressions.get(key)?.path === 'podAnnotations');
    return Object.entries(value as Readonly<Record<string, unknown>>).flatMap(([key, child]) => {
      if (key === DOCUMENT) return [`${pad}value: |-`, ...this.document(child as object, depth + 1)];
      const marker = this.expressions.get(key);
      if (marker?.type !== 'map') {
        const name = marker === undefined ? quoteKey(key) : `{{ ${marker.code} | quote }}`;
        const own = isOpen ? new Either(`not (hasKey $.Values.podAnnotations "${key}")`, child, ABSENT) : child;
        return this.entry(`${pad}${name}:`, own, depth);
      }
      // A map of the user, beside keys of the chart.
      return [`${pad}{{- with ${marker.code} }}`, `${pad}{{- toYaml . | nindent ${pad.length} }}`, `${pad}{{- end }}`];
    });
  }

  private item(item: unknown, depth: number): string[] {
    const [first = '', ...rest] = this.entry(`${'  '.repeat(depth)}-`, item, depth);
    const [second = '', ...others] = rest;
    // A map begins on the line of its dash, unless it begins with a directive.
    const joins = first.endsWith('-') && second !== '' && !second.includes('{{- ');
    return joins ? [`${first} ${second.trimStart()}`, ...others] : [first, ...rest];
  }

  private entry(head: string, value: unknown, depth: number): string[] {
    if (value === ABSENT) return [];
    if (value instanceof Either) return this.either(value, (each) => this.entry(head, each, depth));
    const whole = this.parseWhole(value);
    if (whole !== undefined) return [`${head} {{- toYaml ${whole.code} | nindent ${2 * (depth + 1)} }}`];
    if (typeof value === 'string' && this.isBlock(value)) return [`${head} |-`, ...indented(literal(value), depth + 1)];
    if (typeof value !== 'object' || value === null) return [`${head} ${this.scalar(value)}`];
    if (Object.keys(value).length === 0) return [`${head} ${Array.isArray(value) ? '[]' : '{}'}`];
    return [head, ...this.block(value, depth + 1)];
  }

  private either({ condition, then, otherwise }: Either, write: (value: unknown) => string[]): string[] {
    const yes = write(then);
    const no = write(otherwise);
    const opposite = condition.startsWith('not ') ? condition.slice('not '.length) : `not (${condition})`;
    if (yes.length === 0) return [`{{- if ${opposite} }}`, ...no, '{{- end }}'];
    return [`{{- if ${condition} }}`, ...yes, ...(no.length === 0 ? [] : ['{{- else }}', ...no]), '{{- end }}'];
  }

  private document(content: object, depth: number): string[] {
    const pad = '  '.repeat(depth);
    const last = Object.keys(content).at(-1);
    const lines = Object.entries(content).flatMap(([key, value]) =>
      this.documentValue(`${pad}  "${key}": `, value, key === last ? '' : ','),
    );
    return [`${pad}{`, ...lines, `${pad}}`];
  }

  private documentValue(head: string, value: unknown, end: string): string[] {
    if (value instanceof Either) return this.either(value, (each) => this.documentValue(head, each, end));
    const whole = this.parseWhole(value);
    const json = whole === undefined ? this.scalar(value, inDocument) : `{{ ${whole.code} | ${inDocument} }}`;
    return [`${head}${json}${end}`];
  }

  /** Returns the setting of a list or a map, if its only item or key is the marker. */
  private parseWhole(value: unknown): Expression | undefined {
    if (!Array.isArray(value)) return this.wholeMap(value);
    const [only, ...more] = value as unknown[];
    if (more.length > 0) return undefined;
    if (typeof only !== 'string') return this.wholeMap(only);
    return this.findExpression(only, 'strings');
  }

  private wholeMap(value: unknown): Expression | undefined {
    if (typeof value !== 'object' || value === null || value instanceof Either) return undefined;
    const [key = '', ...others] = Object.keys(value);
    return others.length === 0 ? this.findExpression(key, 'map', 'objects') : undefined;
  }

  private findExpression(marker: string, ...types: readonly Expression['type'][]): Expression | undefined {
    const found = this.expressions.get(marker);
    return found !== undefined && types.includes(found.type) ? found : undefined;
  }

  private scalar(value: unknown, as = 'quote'): string {
    if (typeof value === 'number') {
      const marker = this.expressions.get(String(value));
      return marker === undefined ? String(value) : `{{ ${marker.code} | int64 }}`;
    }
    return typeof value === 'string' ? this.text(value, as) : JSON.stringify(value);
  }

  /** A block keeps the lines of a text, so people can read it. */
  private isBlock(value: string): boolean {
    return /^\S.*\n/.test(value) && !value.endsWith('\n') && value.search(this.pattern) < 0;
  }

  private text(value: string, as: string): string {
    const codes = [...value.matchAll(this.pattern)].map(([marker]) => this.toText(marker));
    if (codes.length === 0) return as === 'quote' && isPlain(value) ? value : literal(JSON.stringify(value));
    if (this.expressions.has(value)) return `{{ ${codes[0]} | ${as} }}`;
    const format = value.replaceAll('%', '%%').replace(this.pattern, '%v');
    return `{{ printf ${JSON.stringify(format)} ${codes.join(' ')} | ${as} }}`;
  }

  private toText(marker: string): string {
    const expression = this.expressions.get(marker);
    if (expression === undefined) throw new Error(`${marker} is no marker`);
    if (expression.type === 'strings') return `(join "," ${expression.code})`;
    return expression.type === 'integer' ? `(${expression.code} | int64)` : expression.code;
  }
}

/** Keeps the brackets that Helm would evaluate. Prometheus and Grafana have the same. */
const literal = (text: string): string => text.replaceAll('{{', '{{`{{`}}');

const indented = (value: string, depth: number): string[] =>
  value.split('\n').map((line) => `${'  '.repeat(depth)}${line}`);

const isPlain = (text: string): boolean =>
  /^[A-Za-z/][-A-Za-z0-9_./]*$/.test(text) && !/^(true|false|yes|no|on|off|null|nan|y|n)$/i.test(text);

const quoteKey = (key: string): string => (isPlain(key) ? key : JSON.stringify(key));
