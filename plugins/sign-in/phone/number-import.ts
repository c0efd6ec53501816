/** Phone numbers of another product that were verified there, for a move that may be run again. */
import { AdapterError, type AnyContext, type ImportTarget } from 'authkernel/kernel'
import { toNumber } from './numbers.ts'

/** A verified number as another product has it. */
export interface NumberTaken {
  userId: string
  /** With the code of the country: `+4915123456789`. */
  number: string
}

declare module 'authkernel/kernel' {
  interface Services {
    /** Stores verified numbers of another product: users sign in by a code that goes to them. Keys are ids of users. */
    numberImport: ImportTarget<NumberTaken>
  }
}

// Users whose accounts are read or written at once.
const width = 20

/** The number of a user is an account of the provider `phone`. Its version is the number. */
export function numberTarget(countries: readonly string[] | undefined): ImportTarget<NumberTaken> {
  return {
    async refuse(_ctx, { number }) {
      return (await toNumber(number, countries)) === undefined ? 'the phone number is none that phonePlugin takes' : undefined
    },
    async isEmpty(ctx) {
      const store = ctx.service('store')
      return store.supports('searchUsers') && (await store.searchUsers({ provider: 'phone', limit: 1 })).users.length === 0
    },
    async read(ctx, rows) {
      const numbers = await Promise.all(rows.map(async ({ value }) => value && (await toNumber(value.number, countries))))
      const owners = await findOwners(ctx, numbers)
      return eachOf([...rows.entries()], async ([at, { key }]) => {
        const wanted = numbers[at]
        if (wanted !== undefined && owners.get(wanted) === key) return { version: wanted, same: true }
        const number = await numberOf(ctx, key)
        return number === undefined ? undefined : { version: number, same: number === wanted }
      })
    },
    async write(ctx, rows) {
      const numbers = await Promise.all(rows.map(async ({ value }) => (await toNumber(value.number, countries)) ?? value.number))
      const owners = await findOwners(ctx, numbers)
      return eachOf([...rows.entries()], async ([at, { key, over }]) => {
        const number = numbers[at]!
        const store = ctx.service('store')
        const account = { provider: 'phone', providerAccountId: number }
        // The number of another user stays with that user. A user without one was looked at with this page.
        if (owners.has(number) || (over !== undefined && (await numberOf(ctx, key)) !== over)) return undefined
        try {
          // Adapters take the type `phone`. The published type of an account lists those of Auth.js.
          await store.linkAccount({ ...account, type: 'phone', userId: key } as never)
        } catch (error) {
          // Two users of the export have it, and the other one was faster.
          if (error instanceof AdapterError && (await store.getUserByAccount(account))) return undefined
          throw error
        }
        if (over !== undefined) await store.unlinkAccount({ provider: 'phone', providerAccountId: over })
        return number
      })
    },
    async remove(ctx, rows) {
      let removed = 0
      for (const { key, version } of rows) {
        if ((await numberOf(ctx, key)) !== version) continue
        await ctx.service('store').unlinkAccount({ provider: 'phone', providerAccountId: version })
        removed++
      }
      return removed
    },
  }
}

/** Users by number, in one call for the page. */
async function findOwners(ctx: AnyContext, numbers: readonly (string | undefined)[]): Promise<ReadonlyMap<string, string>> {
  const keys = [...new Set(numbers)].flatMap((number) => (number === undefined ? [] : [{ provider: 'phone', providerAccountId: number }]))
  const found = keys.length === 0 ? [] : await ctx.service('store').listAccountOwners(keys)
  return new Map(found.map(({ providerAccountId, userId }) => [providerAccountId, userId]))
}

async function numberOf(ctx: AnyContext, userId: string): Promise<string | undefined> {
  const store = ctx.service('store')
  if (!store.supports('listAccountsByUserId')) return undefined
  return (await store.listAccountsByUserId(userId)).find(({ provider }) => provider === 'phone')?.providerAccountId
}

async function eachOf<T, R>(rows: readonly T[], work: (row: T) => Promise<R>): Promise<R[]> {
  const done: R[] = []
  for (let at = 0; at < rows.length; at += width) done.push(...(await Promise.all(rows.slice(at, at + width).map(work))))
  return done
}
