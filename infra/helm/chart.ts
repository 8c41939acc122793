import { stringify } from 'yaml';
import { synthesize } from '../operator.ts';
import type { Manifest } from '../constructs/manifest.ts';
import { chartMetadata, chartReadme } from './chart-texts.ts';
import { certificateExpressions, certificateHelper, markedCertificate } from './certificate.ts';
import { markedSettings } from './markers.ts';
import { merge, withDocuments } from './merge.ts';
import { notes } from './notes.ts';
import { refusals } from './refusals.ts';
import { settled, switches } from './switches.ts';
import { chartValues, valuesSchema } from './values.ts';
import { operatorVersion } from '../settings/version.ts';
import { writeFiles } from './write-files.ts';
import { TemplateWriter } from './write.ts';

/** Returns the files of the Helm chart by path: the construct tree, rendered with markers for values. */
export function chartFiles(version = operatorVersion()): Readonly<Record<string, string>> {
  return {
    'Chart.yaml': stringify(chartMetadata(undefined, version), { lineWidth: 0 }),
    'README.md': chartReadme(),
    'values.yaml': chartValues(),
    'values.schema.json': valuesSchema(),
    'templates/_helpers.tpl': helpers + refusals + certificateHelper,
    'templates/NOTES.txt': notes,
    ...chartTemplates(),
  };
}

export const writeChart = (folder: string, version = operatorVersion()): void =>
  writeFiles(folder, chartFiles(version));

function renderTemplates() {
  const off = { ...settled, ...Object.fromEntries(switches.map(({ path, off: value }) => [path, value])) };
  const render = (fixed: Readonly<Record<string, unknown>>) =>
    withDocuments(byKey(synthesize(markedSettings(fixed).settings, 'Helm', markedCertificate)));
  const base = render(off);
  let tree: unknown = base;
  for (const { path, on, also, condition } of switches)
    tree = merge(tree, base, render({ ...off, [path]: on, ...also }), condition);
  const { expressions } = markedSettings(settled);
  const writer = new TemplateWriter(new Map([...expressions, ...certificateExpressions]));
  const objects = Object.entries(tree as Record<string, unknown>);
  return Object.fromEntries(objects.map(([key, object]) => [`templates/${key}.yaml`, writer.file(object)]));
}

let rendered: ReturnType<typeof renderTemplates> | undefined;
/** Renders once, because the templates depend on no argument and the tree is rendered for each switch. */
function chartTemplates() {
  rendered ??= renderTemplates();
  return rendered;
}

/** Returns objects by the name of their file, without the name of the release. */
function byKey(manifests: readonly Manifest[]): Readonly<Record<string, Manifest>> {
  return Object.fromEntries(
    manifests.map((manifest) => {
      const name = manifest.metadata.name.replace(/^xhelm\d+x-?/, '');
      return [[manifest.kind.toLowerCase(), name].filter(Boolean).join('.'), manifest];
    }),
  );
}

/** The fullname of charts by Helm's convention: the release, then the chart unless the release contains it. */
const helpers = `{{- define "lumigo-operator.fullname" -}}
{{- include "lumigo-operator.refuse" $ -}}
{{- if or .Values.name .Values.fullnameOverride -}}
{{- .Values.name | default .Values.fullnameOverride -}}
{{- else -}}
{{- $name := .Release.Name | replace "." "-" -}}
{{- if regexMatch "^[0-9]" $name -}}
{{- fail (printf "the name of the release is \\"%s\\", but names of Services begin with a letter. Set name, or rename the release" .Release.Name) -}}
{{- end -}}
{{- ternary $name (printf "%s-lumigo-operator" $name) (contains "lumigo-operator" $name) | trunc 28 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}
`;
