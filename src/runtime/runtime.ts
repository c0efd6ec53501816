/** The three seams of every test, and of runtimes that bring their own: clock, random and fetch. */
import type { Optional } from '../contract/data.ts'
import type { Runtime } from '../contract/runtime.ts'
import { randomBytes } from './random.ts'

/** The platform's clock, Web Crypto and `fetch`, with the host's replacements. */
export function resolveRuntime(overrides: Optional<Runtime> = {}): Runtime {
  const { fetch: replacement } = overrides
  return {
    now: overrides.now ?? Date.now,
    random: overrides.random ?? randomBytes,
    // The global is looked up per call: hosts and test tools replace it after start. Never called as a method: workers throw "Illegal invocation".
    fetch: replacement ? (input, init) => replacement(input, init) : (input, init) => globalThis.fetch(input, init),
  }
}
