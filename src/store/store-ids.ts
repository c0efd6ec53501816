/** Ids of users are texts here, whatever the database counts with: cookies, JWTs and comparisons know nothing else (D28). */
import type { AdapterMethod } from '../contract/adapter.ts'

/** How an adapter's own ids are made of texts, once an answer has shown that they are numbers. */
export interface Ids {
  type?: typeof Number | typeof BigInt
}

/** Where a row says whose it is; the own `id` of a session or an account is nothing that the kernel looks at. */
export const ownerFields: readonly string[] = ['userId', 'identifier', 'id']

/** Arguments with ids as the adapter gave them: some, like Prisma's, take no text for a number. */
export function restoreIds({ type }: Ids, method: AdapterMethod, args: readonly unknown[]): readonly unknown[] {
  const given = (id: unknown): unknown => (type && /^\d+$/.test(id as string) ? type(id as string) : id)
  return args.map((arg, at) => {
    if (Array.isArray(arg)) return method === 'getUsers' ? arg.map(given) : arg
    if (typeof arg !== 'object' || arg === null) return at === 0 && /^(get|delete)User$|ByUserId$/.test(method) ? given(arg) : arg
    const field = ownerFields.find((name) => name in arg)
    // An identifier may be a telephone number.
    if (!field || field === 'identifier') return arg
    return { ...arg, [field]: given((arg as Record<string, unknown>)[field]) }
  })
}
