/** An object with some members of another kind: what decorators of a service are made of. */

const inners = new WeakMap<object, object>()

/** What an object was laid over, to the last: contexts lay a store of their own over the one that they share. */
export function innermostOf<T extends object>(object: T): T {
  const inner = inners.get(object)
  return inner ? innermostOf(inner as T) : object
}

/** Members of `over`, and all others from `inner`, bound to it. `inner` itself is not changed. */
export function overlay<T extends object>(inner: T, over: Partial<T>): T {
  const result = {}
  for (
    let source: object | null = inner;
    source && source !== Object.prototype && source !== Function.prototype;
    source = Object.getPrototypeOf(source) as object | null
  ) {
    for (const key of Reflect.ownKeys(source)) {
      if (key === 'constructor' || Object.hasOwn(result, key)) continue
      const { enumerable = false } = Object.getOwnPropertyDescriptor(source, key) ?? {}
      const value: unknown = inner[key as keyof T]
      Object.defineProperty(
        result,
        key,
        typeof value === 'function'
          ? { value: (value as CallableFunction).bind(inner) as unknown, enumerable, configurable: true, writable: true }
          : // Read anew: it may change.
            { get: () => inner[key as keyof T], enumerable, configurable: true },
      )
    }
  }
  for (const key of Reflect.ownKeys(over)) {
    const value: unknown = over[key as keyof T]
    if (value !== undefined) Object.defineProperty(result, key, { ...Object.getOwnPropertyDescriptor(over, key), configurable: true })
  }
  inners.set(result, inner)
  return result as T
}
