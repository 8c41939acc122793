/** What the npm package offers to Pulumi programs of others, under `./pulumi`. */
export { LumigoOperator, type LumigoOperatorArgs } from './component.ts';
