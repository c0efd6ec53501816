/** The one way options are merged (D50). */
import { createDefu } from 'defu'

/**
 * `over` over `under`: arrays replace, objects merge, `undefined` keeps what is under, `null` is a value,
 * symbol keys are copied. Plain defu would join arrays and drop nulls and symbols.
 */
export function merge<T extends object, U extends object>(over: T, under: U): T & U {
  const result = combine(over, under) as Record<PropertyKey, unknown>
  for (const key of Reflect.ownKeys(over)) {
    const value = (over as Record<PropertyKey, unknown>)[key]
    if (value === null || (typeof key === 'symbol' && value !== undefined)) result[key] = value
  }
  return result as T & U
}

const combine = createDefu((target, key, value) => {
  if (Array.isArray(value)) target[key] = value
  else if (isPlain(value) && isPlain(target[key])) target[key] = merge(value, target[key]) as never
  else return false
  return true
})

function isPlain(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}
