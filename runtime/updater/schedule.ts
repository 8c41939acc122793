/** Short forms as cron's, by what they stand for; those of every day and hour are the same here. */
const short: Readonly<Record<string, string>> = {
  '@yearly': '0 0 1 1 *',
  '@annually': '0 0 1 1 *',
  '@monthly': '0 0 1 * *',
  '@weekly': '0 0 * * 0',
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@hourly': '0 * * * *',
};

interface Unit {
  readonly first: number;
  readonly last: number;
  readonly names: readonly string[];
}

const units = {
  day: { first: 1, last: 31, names: [] },
  month: { first: 1, last: 12, names: 'jan feb mar apr may jun jul aug sep oct nov dec'.split(' ') },
  weekday: { first: 0, last: 6, names: 'sun mon tue wed thu fri sat'.split(' ') },
} as const;

const DAY_SECONDS = 86_400;
/** From one 29th of February to the next, where a year without one is between them. */
const FURTHEST_DAYS = 8 * 366;
/** The whole day of the next time, and one more: a pod may wait for a node, and one failure is none. */
const SLACK_DAYS = 2;

/**
 * By when something that runs on a schedule (as cron writes it, UTC) has run again after it ran at `ranAt`; in seconds since 1970.
 * Only the days count. 0 where it never runs again.
 */
export function dueAfter(schedule: string, ranAt: number): number {
  const runsOn = daysOf(schedule);
  const today = Math.floor(ranAt / DAY_SECONDS);
  for (let day = today + 1; day <= today + FURTHEST_DAYS; day += 1)
    if (runsOn(new Date(day * DAY_SECONDS * 1_000))) return (day + SLACK_DAYS) * DAY_SECONDS;
  return 0;
}

function daysOf(schedule: string): (date: Date) => boolean {
  const [, , days = '', months = '', weekdays = ''] = (short[schedule] ?? schedule).split(' ');
  const isEither = !isEvery(days) && !isEvery(weekdays);
  return (date) => {
    if (!includes(months, date.getUTCMonth() + 1, units.month)) return false;
    const [day, weekday] = [
      includes(days, date.getUTCDate(), units.day),
      includes(weekdays, date.getUTCDay(), units.weekday),
    ];
    // As cron has it: where both say something, one is enough.
    return isEither ? day || weekday : day && weekday;
  };
}

const isEvery = (list: string): boolean => list.split(',').some((item) => /^[*?](\/1)?$/.test(item));

/** Whether a list such as `1-5,MON/2` has the value. What the API server would refuse has none. */
function includes(list: string, value: number, unit: Unit): boolean {
  return list.split(',').some((item) => {
    const [range = '', step = ''] = item.split('/');
    const [from = NaN, to = step === '' ? from : unit.last] = /^[*?]$/.test(range)
      ? [unit.first, unit.last]
      : range.split('-').map((text) => numberOf(text, unit));
    return value >= from && value <= to && (value - from) % (step === '' ? 1 : Number(step)) === 0;
  });
}

function numberOf(text: string, { first, names }: Unit): number {
  const index = names.indexOf(text.toLowerCase());
  return index === -1 ? Number.parseInt(text, 10) : index + first;
}
