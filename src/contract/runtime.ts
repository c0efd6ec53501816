/** The platform as the kernel sees it, and what outlives a kernel. Types only. */

/** Clock, randomness and `fetch`. Tests and runtimes can replace them. */
export interface Runtime {
  /** Milliseconds since the epoch. */
  now(): number
  /** That many unpredictable bytes. */
  random(bytes: number): Uint8Array
  fetch: typeof fetch
}

/** State that several kernels share: one-time use, derived keys, discovery documents, requests under way. One object per host, or per function-config binding. */
export interface Shared {
  /** A named map; the caller bounds its size. */
  cache<T>(name: string): Map<string, T>
  /** Runs `work` once for callers of the same key at the same time; all get its result. */
  flight<T>(key: string, work: () => Promise<T>): Promise<T>
}
