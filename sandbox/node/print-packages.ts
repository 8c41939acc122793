import { debianPackages } from './requirements.ts';

/** For `apt-get install`: what a node needs of Debian. */
process.stdout.write(`${debianPackages.join(' ')}\n`);
