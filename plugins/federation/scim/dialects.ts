/** Dialects: which product a directory is, by choice or as detected, and what that product writes otherwise than RFC 7644 says. */
import type { Habit } from './habits.ts'
import type { Caller } from './caller.ts'

/** A product of directories. `standard` is one that writes what RFC 7644 says, and nothing else. */
export type Dialect = 'entra' | 'okta' | 'google' | 'onelogin' | 'jumpcloud' | 'ping' | 'rippling' | 'standard'

interface Product {
  name: string
  /** How it names itself in User-Agent. */
  agent?: RegExp
  habits: readonly Habit[]
}

const products: Readonly<Record<Dialect, Product>> = {
  entra: {
    name: 'Microsoft Entra ID',
    agent: /microsoft|azure|entra/i,
    habits: [
      'operationCase',
      'textBoolean',
      'dottedSchema',
      'dottedName',
      'membersRemovedByValue',
      'textReference',
      'nullReference',
      'noUserAgent',
    ],
  },
  okta: { name: 'Okta', agent: /okta/i, habits: ['repeatedId'] },
  google: { name: 'Google Workspace', agent: /google/i, habits: ['repeatedId'] },
  onelogin: { name: 'OneLogin', agent: /onelogin/i, habits: ['repeatedId', 'textReference'] },
  jumpcloud: { name: 'JumpCloud', agent: /jumpcloud/i, habits: ['repeatedId', 'nullReference', 'membersRemovedByValue'] },
  ping: { name: 'Ping Identity', agent: /ping ?(?:identity|one|federate)/i, habits: ['repeatedId'] },
  rippling: { name: 'Rippling', agent: /rippling/i, habits: ['repeatedId'] },
  standard: { name: 'SCIM 2.0', habits: [] },
}

/** All dialects, with the names of their products. */
export const dialects: readonly { dialect: Dialect; name: string }[] = Object.entries(products).map(([dialect, { name }]) => ({
  dialect: dialect as Dialect,
  name,
}))

/** Whether a text is a dialect. */
export function isDialect(value: unknown): value is Dialect {
  return typeof value === 'string' && Object.hasOwn(products, value)
}

/** What a directory writes otherwise than RFC 7644 says, by its dialect. */
export function habitsOf(dialect: Dialect): readonly Habit[] {
  return products[dialect].habits
}

/** The product that a request is from. Undefined: neither its User-Agent nor its habits say. */
export function detectDialect({ ctx }: Pick<Caller, 'ctx'>, habits: readonly Habit[] = []): Dialect | undefined {
  const agent = ctx.request.headers.get('user-agent') ?? ''
  const named = (Object.entries(products) as [Dialect, Product][]).find(([, product]) => product.agent?.test(agent))
  if (named) return named[0]
  const isOfEntra = habits.some((habit) => habit === 'operationCase' || habit === 'dottedSchema' || habit === 'membersRemovedByValue')
  return isOfEntra ? 'entra' : undefined
}

// Rows that this process has compared: a directory reads thousands of times an hour.
const detections = new Map<string, Dialect>()
const most = 10_000

/** Keeps the product that a directory was detected as. One write for each change, and none for what is known. */
export async function keepDetection(caller: Caller, habits: readonly Habit[] = []): Promise<void> {
  const { ctx, directory } = caller
  const found = detectDialect(caller, habits)
  if (found === undefined || directory.detected === found || detections.get(directory.id) === found) return
  if (detections.size >= most) detections.clear()
  detections.set(directory.id, found)
  ctx.logger.debug('scim-dialect', { directory: directory.name, dialect: found })
  await ctx.records('scimDirectory').update(directory.id, { detected: found })
}
