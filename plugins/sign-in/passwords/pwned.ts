/** Passwords that were in a breach, by the range queries of Have I Been Pwned: only five digits of a SHA-1 leave the server. */
import { assertOptions, type AnyContext, type Awaitable, boundedFetch, bytes, toHex } from 'authkernel/kernel'

/** Whether a password is known to attackers. Throwing means: unknown, and the offline list decides. */
export type Breached = (ctx: AnyContext, password: string) => Awaitable<boolean>
/** Options of `pwned`. */
export interface PwnedOptions {
  /** Default `https://api.pwnedpasswords.com/range/`. */
  url?: string
  /** Default: that of the kernel. */
  fetch?: typeof globalThis.fetch
  /** Milliseconds; default 1000. */
  timeout?: number
}

/** Asks with padding, so that the length of the answer tells nothing. */
export function pwned(options: PwnedOptions = {}): Breached {
  assertOptions('pwned', options, { url: true, fetch: true, timeout: true })
  const { url = 'https://api.pwnedpasswords.com/range/', fetch, timeout = 1_000 } = options
  return async (ctx, password) => {
    const digest = toHex(new Uint8Array(await crypto.subtle.digest('SHA-1', bytes(password)))).toUpperCase()
    const ask = boundedFetch({ fetch: fetch ?? ctx.runtime.fetch, deadline: timeout, limit: 1_048_576, signal: ctx.signal })
    const response = await ask(url + digest.slice(0, 5), { headers: { 'Add-Padding': 'true' } })
    if (!response.ok) throw new Error(`The list of breached passwords answered with status ${response.status}.`)
    const suffix = digest.slice(5)
    // Padding has the count 0.
    return (await response.text()).split(/\r?\n/).some((line) => line.startsWith(`${suffix}:`) && Number(line.slice(suffix.length + 1)) > 0)
  }
}
