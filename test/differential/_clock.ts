/** The clock of both libraries: it stands still unless a flow moves it. */

const RealDate = Date
let now: number | undefined

class StandingDate extends RealDate {
  constructor(...args: [] | [number | string | Date]) {
    if (args.length === 0 && now !== undefined) super(now)
    else super(...(args as [number]))
  }

  // Dates from before the clock stood still are dates too.
  static override [Symbol.hasInstance](value: unknown): boolean {
    return Object.prototype.toString.call(value) === '[object Date]'
  }

  static override now(): number {
    return now ?? RealDate.now()
  }
}

/** Runs `work` with a clock that begins at `start`. */
export async function withClock<T>(start: Date, work: () => Promise<T>): Promise<T> {
  now = start.getTime()
  globalThis.Date = StandingDate as DateConstructor
  try {
    return await work()
  } finally {
    globalThis.Date = RealDate
    now = undefined
  }
}

/** Moves the clock. */
export function wait(seconds: number): void {
  now = (now ?? 0) + seconds * 1000
}
