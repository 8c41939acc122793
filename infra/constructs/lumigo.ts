/** A Lumigo resource as a typed construct, as `cdk8s import` makes it of the definition: for programs that declare their own. */
export { Lumigo, type LumigoProps } from '../../imports/operator.lumigo.io.ts';
