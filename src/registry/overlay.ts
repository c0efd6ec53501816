/** An object with some members of another kind: what decorators of a service are made of. */

const inners = new WeakMap<object, object>()
const forwarders = new WeakMap<object, object>()

/** What an object was laid over, to the last: contexts lay a separate store over the one that they share. */
export function innermostOf<T extends object>(object: T): T {
  const inner = inners.get(object) ?? inners.get(Object.getPrototypeOf(object) as object)
  return inner ? innermostOf(inner as T) : object
}

/**
 * `overlay` for methods that differ from request to request: what leads to `inner` is created once, and inherited. Methods of `inner` that are replaced
 * later count from then on.
 */
export function layOver<T extends object>(inner: T, methods: Partial<T>): T {
  let forwarder = forwarders.get(inner)
  if (!forwarder) forwarders.set(inner, (forwarder = createForwarder(inner)))
  return Object.assign(Object.create(forwarder) as T, methods)
}

function createForwarder<T extends object>(inner: T): T {
  const forwarder = overlay(inner, {})
  for (const key of Reflect.ownKeys(forwarder)) {
    const { value: bound } = Object.getOwnPropertyDescriptor(forwarder, key) ?? {}
    const value = (...args: unknown[]): unknown => Reflect.apply(inner[key as keyof T] as CallableFunction, inner, args)
    if (typeof bound === 'function') Object.defineProperty(forwarder, key, { value })
  }
  return forwarder
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
