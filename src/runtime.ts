/** The three seams of every test, and of runtimes that bring their own: clock, random and fetch. */

export interface Runtime {
  /** Milliseconds since the epoch. */
  now(): number
  /** That many unpredictable bytes. */
  random(bytes: number): Uint8Array
  fetch: typeof fetch
}

/** The platform's clock, Web Crypto and `fetch`, with the host's replacements. */
export function resolveRuntime(overrides: Partial<Runtime> = {}): Runtime {
  return {
    now: overrides.now ?? Date.now,
    random: overrides.random ?? ((bytes) => crypto.getRandomValues(new Uint8Array(bytes))),
    // Looked up per call: hosts and test tools replace the global after start.
    fetch: overrides.fetch ?? ((input, init) => globalThis.fetch(input, init)),
  }
}
