import { stringify } from 'yaml';

/** Writes no anchors. It is a file of its own, because most commands need no YAML, and the bundle needs a static import. */
export const toYaml = (value: unknown): string => stringify(value, { aliasDuplicateObjects: false }).trimEnd();
