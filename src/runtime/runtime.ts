/** What the platform gives: clock, random and fetch, which tests and some runtimes replace; what is a date, and which addresses are this machine. */

import type { Optional } from '../contract/data.ts'
import type { Runtime } from '../contract/services.ts'

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

// Random bytes come from a block: the platform takes as long for sixteen bytes as for a thousand.
const blockSize = 1_024
const largest = 64
// A process that was copied together with its block (a snapshot of a virtual machine) must not hand out the same bytes twice.
const lifetime = 1_000

let block = new Uint8Array(0)
let usedBytes = 0
let filledAt = 0

/** That many unpredictable bytes; each is handed out once. */
export function randomBytes(count: number): Uint8Array<ArrayBuffer> {
  if (count > largest) return crypto.getRandomValues(new Uint8Array(count))
  const age = Date.now() - filledAt
  if (usedBytes + count > block.length || age < 0 || age >= lifetime) {
    block = crypto.getRandomValues(new Uint8Array(blockSize))
    filledAt = Date.now()
    usedBytes = 0
  }
  const bytes = block.slice(usedBytes, usedBytes + count)
  block.fill(0, usedBytes, usedBytes + count)
  usedBytes += count
  return bytes
}

/** Whether something is a `Date`, of another realm too: a VM context, a frame and a test runner each have their class. */
export function isDate(value: unknown): value is Date {
  return Object.prototype.toString.call(value) === '[object Date]'
}

/** https, or http on loopback (D9), or any http when permitted. */
export function isSecureUrl(url: URL, insecure = false): boolean {
  return url.protocol === 'https:' || (url.protocol === 'http:' && (insecure || isLoopback(url.hostname)))
}

/** Returns whether a host is the local machine (RFC 6761 section 6.3, RFC 8252 section 8.3). */
export function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname.endsWith('.localhost') || hostname === '[::1]' || /^127(?:\.\d{1,3}){3}$/.test(hostname)
}
