/** Code that is loaded by the first request that needs it. */

/** Answers a module, or the promise of it. */
export type Lazy<M> = () => M | Promise<M>

/**
 * A module that is imported once: by the first call, which answers a promise. Later calls answer at once, which an `import()` does not. A failed
 * import is tried again.
 */
export function lazily<M extends object>(load: () => Promise<M>): Lazy<M> {
  let loaded: M | undefined
  let loading: Promise<M> | undefined
  // One import for all who ask at once: some loaders of TypeScript give the second one a module that is half evaluated.
  return () =>
    loaded ??
    (loading ??= load().then(
      (module) => (loaded = module),
      (error: unknown) => {
        loading = undefined
        throw error
      },
    ))
}
