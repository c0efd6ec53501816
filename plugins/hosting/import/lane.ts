/** Several pages under way at once: while the database stores one, the next one is read and compared. */

/** Work in a bounded number of places. */
export interface Lane {
  /** Waits for a place, and for all work that has one of these keys, then begins. Throws what earlier work threw. */
  start(keys: readonly string[], work: () => Promise<void>): Promise<void>
  /** Waits for all work. Throws what it threw. */
  finish(): Promise<void>
}

/** `places`: how much is under way at once. */
export function createLane(places: number): Lane {
  const flights = new Set<Promise<void>>()
  const busy = new Set<string>()
  let failure: { error: unknown } | undefined
  const finish = async (): Promise<void> => {
    await Promise.all(flights)
    if (failure) throw failure.error
  }
  return {
    finish,
    async start(keys, work) {
      if (keys.some((key) => busy.has(key))) await finish()
      while (flights.size >= places) await Promise.race(flights)
      if (failure) return finish()
      for (const key of keys) busy.add(key)
      const flight: Promise<void> = work()
        .catch((error: unknown) => void (failure ??= { error }))
        .finally(() => {
          flights.delete(flight)
          for (const key of keys) busy.delete(key)
        })
      flights.add(flight)
    },
  }
}
