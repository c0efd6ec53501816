/** Code that is loaded by its first use: modules, and objects whose methods are in one. There is no other way to load on demand. */

/** Answers a module, or the promise of it. */
export interface Lazy<M> {
  (): M | Promise<M>
  /** The module once it is there. `lazy.loaded ?? (await lazy())` waits the first time alone: to await a value costs a turn. */
  readonly loaded: M | undefined
}

/**
 * A module that is imported once: by the first call, which answers a promise. Later calls answer at once, which an `import()` does not. A failed
 * import is tried again.
 */
export function lazily<M extends object>(load: () => Promise<M>): Lazy<M> {
  let loaded: M | undefined
  let loading: Promise<M> | undefined
  // One import for all who ask at once: some loaders of TypeScript give the second one a module that is half evaluated.
  const lazy = (): M | Promise<M> =>
    loaded ??
    (loading ??= load().then(
      (module) => (loaded = module),
      (error: unknown) => {
        loading = undefined
        throw error
      },
    ))
  return Object.defineProperty(lazy as Lazy<M>, 'loaded', { get: () => loaded })
}

type Method = (...args: never[]) => unknown

/**
 * An object with the methods `names`, whose code is loaded by the first call: `create` creates the real object from the module, once. The methods answer
 * promises until then, and are replaced by those of the real object afterwards. After an import that failed, the next call tries again. `facts` are
 * members that need no code.
 */
export function lazyObject<K extends string, T extends Record<K, Method>, M extends object, F extends object = object>(
  names: readonly K[],
  load: Lazy<M>,
  create: (module: M) => T,
  facts?: F,
): Pick<T, K> & F {
  let real: T | undefined
  const object = { ...facts } as Pick<T, K> & F
  const loadObject = async (): Promise<void> => {
    const module = await load()
    if (real) return
    real = create(module)
    // TypeScript does not follow that both have the type of the same name.
    for (const name of names) object[name] = real[name] as never
  }
  for (const name of names) {
    // A decorator may keep this function, and call it after the object is loaded.
    const first: Method = (...args) => (real ? real[name](...args) : loadObject().then(() => first(...args)))
    object[name] = first as never // As above.
  }
  return object
}
