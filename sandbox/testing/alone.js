import TestRunner from 'jest-runner';

/** Runs one file after the other, after all files of Jest's own runner. */
export default class Alone extends TestRunner {
  isSerial = true;
}
