import { readFileSync } from 'node:fs';

/** What the kubelet sets for the whole machine: these belong to no namespace. */
const rewritten = ['kernel.panic', 'kernel.panic_on_oops', 'vm.overcommit_memory', 'vm.panic_on_oom'];

const fileOf = (name: string): string => `/proc/sys/${name.replaceAll('.', '/')}`;

/** A shell's words for setting them back to what they are now. */
export const restoreSysctls = (): string =>
  rewritten.map((name) => `echo ${readFileSync(fileOf(name), 'utf8').trim()} > ${fileOf(name)}`).join('\n');
