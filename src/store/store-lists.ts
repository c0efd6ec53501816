/** Operations over several rows, where an adapter has only the one for a single row, and lists of one tenant. */
import type { AdapterUser, UserQuery } from '../contract/adapter.ts'
import type { Awaitable } from '../contract/data.ts'

const atOnce = 8

/** Asks for each, eight at a time: a pool has few connections. */
export async function inEights<T, R>(values: readonly T[], ask: (value: T) => Awaitable<R>): Promise<R[]> {
  const answers: R[] = []
  for (let at = 0; at < values.length; at += atOnce) answers.push(...(await Promise.all(values.slice(at, at + atOnce).map(ask))))
  return answers
}

/** Whether a row was found. */
export function isThere<T>(row: T | null | undefined): row is T {
  return row !== null && row !== undefined
}

/** A page of one tenant. `ask` answers the id alone for rows of others; the next page makes up for them. */
export async function listOwn(ask: (query: UserQuery) => Awaitable<(AdapterUser | string)[]>, query: UserQuery): Promise<AdapterUser[]> {
  const found: AdapterUser[] = []
  for (let { after } = query; ;) {
    // Always given: the tenant is a beginning of the stored address.
    const page = await ask({ ...query, email: query.email ?? '', after })
    found.push(...page.filter((row) => typeof row !== 'string'))
    const last = page.at(-1)
    if (found.length >= query.limit || page.length < query.limit || last === undefined) return found.slice(0, query.limit)
    after = typeof last === 'string' ? last : last.id
  }
}
