import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { repository } from '../images/recipes.ts';

export interface Documented {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace: string };
  readonly spec: Readonly<Record<string, unknown>>;
}

/** Returns the YAML objects of a page of docs/, below one of its headings, so the test uses what the page says. */
export function documented(page: string, heading: string): readonly Documented[] {
  const text = readFileSync(join(repository, 'docs', page), 'utf8');
  const section = text.split(/^## /m).find((each) => each.startsWith(`${heading}\n`)) ?? '';
  const blocks = [...section.matchAll(/^```yaml\n([^]*?)^```$/gm)].map(([, block = '']) => block);
  const objects = blocks.flatMap((block) => parseAllDocuments(block).map((document) => document.toJS() as Documented));
  if (objects.length === 0) throw new Error(`docs/${page} has no YAML below '${heading}'`);
  return objects;
}
