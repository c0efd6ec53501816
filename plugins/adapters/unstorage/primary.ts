/** Writes after a fail-over: the client is led to the new primary. */

/** The part of a client that is used. */
interface Reconnecting {
  /** Closes the connection; with `true` the client opens another one. */
  disconnect?(reconnect: boolean): void
}

// After a fail-over the address of the server may lead to the former primary for a moment.
const reconnections = 10

// Milliseconds before a refused write is sent again.
const reconnectPause = 100

const disconnections = new WeakMap<object, number>()

/** A server that became a replica rejects every write, before it does anything. The client is made to connect again, and finds the new primary. */
export async function onPrimary<T>(client: () => Reconnecting, work: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    const own = client()
    const before = disconnections.get(own) ?? 0
    try {
      return await work()
    } catch (error) {
      if (tries > reconnections || !own.disconnect || !/\bREADONLY\b/.test(String((error as Error).message))) throw error
      // One for all writes that were under way.
      if ((disconnections.get(own) ?? 0) === before) {
        disconnections.set(own, before + 1)
        own.disconnect(true)
      }
      await new Promise((resolve) => setTimeout(resolve, reconnectPause))
    }
  }
}
