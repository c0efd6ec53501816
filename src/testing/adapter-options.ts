/** What the contract of an adapter needs. Types only. */
import type { Adapter, AdapterMethod, Awaitable } from 'authkernel/kernel'

/** What `testAdapter` needs. */
export interface TestAdapterOptions {
  /** Makes the adapter, once. Its store may hold other data: every test brings values that nobody else uses. */
  adapter(): Awaitable<Adapter>
  /** Runs after the last test: drop the database, close connections. */
  close?(): Awaitable<unknown>
  /** Operations that run at once in the tests of races; default 20. */
  parallel?: number
  /**
   * Rules that the adapter is known to break, by the text of their tests. These tests must then fail: a repaired rule is noticed, and
   * the list stays a true account of what is missing. Races of the list are left out, as luck may win them.
   */
  gaps?: readonly string[]
  /** Operations that the adapter is known not to have: rules about them are left out. Others that it lacks are reported as skipped. */
  lacks?: readonly AdapterMethod[]
}
