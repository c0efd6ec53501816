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

type Method = (...given: never[]) => unknown

/**
 * An object with the methods `names`, whose code is loaded by the first call: `make` makes of the module, once, the object that has them. They answer
 * promises until then. From then on they are those of the made object. After an import that failed, the next call tries again.
 */
export function lateObject<K extends string, T extends Record<K, Method>, M extends object>(
  names: readonly K[],
  load: Lazy<M>,
  make: (module: M) => T,
): Pick<T, K> {
  let made: T | undefined
  const late = {} as Pick<T, K>
  const become = async (): Promise<void> => {
    const module = await load()
    if (made) return
    made = make(module)
    for (const name of names) late[name] = made[name]
  }
  for (const name of names) {
    // A decorator may keep what it was given.
    const first: Method = (...given) => (made ? made[name](...given) : become().then(() => first(...given)))
    late[name] = first as T[K]
  }
  return late
}
