/** The services `once` and `limit` over a key-value store: shared between processes where its transactions are. */
import type { Limit, Once } from 'authkernel/kernel'
import type { Model } from './model.ts'

export function createOnce({ engine, keys, now }: Model): Once {
  const live = (value: unknown): boolean => typeof value === 'number' && value > now()
  return {
    shared: engine.atomic,
    take: (name, ttlSeconds) =>
      engine.transact(async (tx) => {
        const key = await keys.once(name)
        if (live(await tx.get({ path: key.path }))) return false
        const until = now() + ttlSeconds * 1000
        tx.put({ path: key.path }, until, new Date(until))
        return true
      }),
    taken: async (name) => live(await engine.get({ path: (await keys.once(name)).path })),
  }
}

/** Attempts are kept with the moment they count until, so a window slides and a refund removes the latest. */
export function createLimit({ engine, keys, now }: Model): Limit {
  const attempts = (value: unknown): number[] =>
    Array.isArray(value) ? value.filter((until): until is number => typeof until === 'number' && until > now()) : []
  return {
    take: (name, { max, seconds }) =>
      engine.transact(async (tx) => {
        const { path } = await keys.limit(name)
        const moments = attempts(await tx.get({ path }))
        if (moments.length >= max) return { allowed: false, retryAfter: Math.ceil(((moments[0] ?? now() + seconds * 1000) - now()) / 1000) }
        moments.push(now() + seconds * 1000)
        tx.put({ path }, moments, new Date(moments.at(-1)!))
        return { allowed: true, retryAfter: 0 }
      }),
    refund: (name) =>
      engine.transact(async (tx) => {
        const { path } = await keys.limit(name)
        const moments = attempts(await tx.get({ path }))
        if (moments.length > 1) tx.put({ path }, moments.slice(0, -1), new Date(moments.at(-2)!))
        else if (moments.length === 1) tx.remove({ path })
      }),
  }
}
