import { debianPackages } from './requirements.ts';

/** Prints the Debian packages of a node, for `apt-get install`. */
process.stdout.write(`${debianPackages.join(' ')}\n`);
