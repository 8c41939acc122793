declare const __OPERATOR_VERSION__: string;

export const programVersion = typeof __OPERATOR_VERSION__ === 'string' ? __OPERATOR_VERSION__ : 'dev';
