declare const __OPERATOR_VERSION__: string;

/** The version of this program. */
export const programVersion = typeof __OPERATOR_VERSION__ === 'string' ? __OPERATOR_VERSION__ : 'dev';
