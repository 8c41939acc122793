/** What the npm package offers to programs of others: the operator as a cdk8s chart and as a Pulumi component, its settings, and a Lumigo. */
export { Lumigo, type LumigoProps } from './constructs/lumigo.ts';
export { Operator, type OperatorProps } from './operator.ts';
export { LumigoOperator } from './pulumi/component.ts';
export { loadSettings, parseSettings, SettingsError, type Settings } from './settings/settings.ts';
