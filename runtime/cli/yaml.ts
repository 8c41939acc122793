import { stringify } from 'yaml';

/** Returns a value as YAML, without anchors. It is in a file of its own because most commands need no YAML. */
export const toYaml = (value: unknown): string => stringify(value, { aliasDuplicateObjects: false }).trimEnd();
