/** Answers of a tenant that are the same object for as long as their content is the same: caches of the kernel are keyed by identity. */

// Answers that one tenant may have at a time: one that answers with new functions at each request displaces its own answers only.
const maxVariants = 16
// Deeper values are compared by identity: what a function answered may refer to itself.
const maxDepth = 12

/** Finds the object to use for an answer. `owner` is the tenant, and what the answer is about. */
export type AnswerCache<T extends object> = (owner: string, answer: T) => T

/**
 * Keeps `max` answers, those of the least recently used owner go first. Two owners never get one object, so that nothing which is derived from it
 * (keys, clients, functions of a provider) is shared between tenants. Kept are copies: an object that the host changes and answers again is another
 * answer.
 */
export function createAnswerCache<T extends object>(max: number): AnswerCache<T> {
  const variantsByOwner = new Map<string, T[]>()
  let size = 0
  const dropOldest = (): void => {
    const [owner, variants] = variantsByOwner.entries().next().value as [string, T[]]
    variants.shift()
    size--
    if (variants.length === 0) variantsByOwner.delete(owner)
  }
  return (owner, answer) => {
    // An instance of a class has its own identity, and nothing of it can be copied.
    if (!isPlain(answer)) return answer
    const variants = variantsByOwner.get(owner) ?? []
    const at = variants.findIndex((variant) => hasSameContent(variant, answer))
    const found = at === -1 ? copyOf(answer) : (variants.splice(at, 1)[0] as T)
    if (at === -1) size++
    variants.push(found)
    if (variants.length > maxVariants) size -= variants.splice(0, 1).length
    variantsByOwner.delete(owner)
    variantsByOwner.set(owner, variants)
    while (size > max && size > 1) dropOldest()
    return found
  }
}

/**
 * Whether two values are the same, or plain objects and lists with the same members. Functions, symbols, keys, dates and other instances count as the
 * same only if they are one object: two private keys have the same JSON.
 */
function hasSameContent(one: unknown, other: unknown, within: readonly unknown[] = []): boolean {
  if (Object.is(one, other)) return true
  if (!isPlain(one) || !isPlain(other) || Array.isArray(one) !== Array.isArray(other)) return false
  if (within.length > maxDepth || within.includes(one)) return false
  const inside = [...within, one]
  const keys = Reflect.ownKeys(one)
  return (
    keys.length === Reflect.ownKeys(other).length &&
    keys.every((key) => Object.hasOwn(other, key) && hasSameContent(Reflect.get(one, key), Reflect.get(other, key), inside))
  )
}

function copyOf<T>(value: T, within: readonly unknown[] = []): T {
  if (!isPlain(value) || within.length > maxDepth || within.includes(value)) return value
  const inside = [...within, value]
  if (Array.isArray(value)) return value.map((item: unknown) => copyOf(item, inside)) as T
  const copy = Object.create(Object.getPrototypeOf(value) as object | null) as object
  for (const key of Reflect.ownKeys(value)) {
    const { enumerable = true } = Object.getOwnPropertyDescriptor(value, key) ?? {}
    Object.defineProperty(copy, key, { value: copyOf(Reflect.get(value, key), inside), enumerable, writable: true, configurable: true })
  }
  return copy as T
}

function isPlain(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null || (Array.isArray(value) && prototype === Array.prototype)
}
