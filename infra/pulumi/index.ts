/** The exports of the npm package for Pulumi programs, under `./pulumi`. */
export { LumigoOperator, type LumigoOperatorArgs } from './component.ts';
export { TracedNamespace, type TracedNamespaceArgs } from './traced-namespace.ts';
