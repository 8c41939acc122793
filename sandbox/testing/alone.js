import TestRunner from 'jest-runner';

/** Runs one file after the other. The sequencer (longest-first.js) puts them after all other files. */
export default class Alone extends TestRunner {
  isSerial = true;
}
