import { stringify } from 'yaml';

/** Writes no anchors. It is in its own file, because most commands need no YAML. */
export const toYaml = (value: unknown): string => stringify(value, { aliasDuplicateObjects: false }).trimEnd();
