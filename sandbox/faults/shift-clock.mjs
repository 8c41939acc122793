import process from 'node:process';

// Preloaded by a program: its wall clock differs by CLOCK_SHIFT_MS, but its monotonic clock and its timers do not.
const shiftMs = Number(process.env.CLOCK_SHIFT_MS);
const RealDate = Date;
const now = () => RealDate.now() + shiftMs;

globalThis.Date = class Date extends RealDate {
  constructor(...given) {
    super(...(given.length === 0 ? [now()] : given));
  }

  static now() {
    return now();
  }
};
