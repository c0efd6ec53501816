/** What is kept of a session beside its row: in records, or in a sealed cookie of the browser that has it. */
import {
  type AnyContext,
  type Awaitable,
  type Context,
  type CookieHandle,
  type RecordTable,
  type SessionAttributes,
  type SessionCookie,
  type SessionFields,
  sha256,
  toHex,
} from 'authkernel/kernel'
import { indexedName } from 'authkernel/kernel/strategies'
import { infoCookie, type Keeping } from './options.ts'

/** A session that is about to be stored. */
export interface NewSession {
  id: string
  userId: string
  token: string
  attributes: SessionAttributes
  expires: Date
}

/** Where attributes are. */
export interface AttributeStore {
  /** Whether sessions can be found by what is kept. */
  readonly findable: boolean
  start(ctx: Context, session: NewSession): Promise<void>
  /** The session was extended. */
  extend(ctx: Context, id: string, expires: Date): Promise<void>
  attributes(ctx: Context, id: string): Promise<SessionAttributes | null>
  end(ctx: AnyContext, id: string): Promise<void>
}

/** Undefined: nothing is kept. */
export function createAttributeStore(keeping: Keeping): AttributeStore | undefined {
  return keeping === 'cookie' ? keepInCookie(infoCookie) : keeping && keepInRecords
}

const keepInRecords: AttributeStore = {
  findable: true,
  async start(ctx, { id, userId, token, attributes, expires }) {
    const { provider, sub, sid, started } = attributes
    const names = { sub: sub === undefined ? null : await indexedName(sub), sid: sid === undefined ? null : await indexedName(sid) }
    const row = { id, userId, token, provider, ...names, attributes, started: new Date(started), lastUsed: ctx.now, expires }
    await sessionRows(ctx).create(row)
  },
  async extend(ctx, id, expires) {
    await sessionRows(ctx).update(id, { expires, lastUsed: ctx.now })
  },
  async attributes(ctx, id) {
    return ((await sessionRows(ctx).get(id))?.attributes ?? null) as SessionAttributes | null
  },
  async end(ctx, id) {
    await sessionRows(ctx).delete(id)
  },
}

function keepInCookie(cookie: CookieHandle): AttributeStore {
  const write = async (ctx: Context, id: string, attributes: SessionAttributes, expires: Date): Promise<void> => {
    const seconds = Math.max(1, Math.round((expires.getTime() - ctx.now.getTime()) / 1000))
    cookie.set(ctx, await cookie.seal(ctx, { id, attributes }, seconds), { expires })
  }
  const readAttributes = async (ctx: Context, id: string): Promise<SessionAttributes | null> => {
    const opened = await cookie.open<{ id: string; attributes: SessionAttributes }>(ctx)
    // Bound to its session: beside another one it says nothing.
    return opened?.id === id ? opened.attributes : null
  }
  return {
    findable: false,
    start: (ctx, { id, attributes, expires }) => write(ctx, id, attributes, expires),
    async extend(ctx, id, expires) {
      const attributes = await readAttributes(ctx, id)
      if (attributes) await write(ctx, id, attributes, expires)
    },
    attributes: readAttributes,
    async end(ctx) {
      if (ctx.request) cookie.delete(ctx)
    },
  }
}

export function sessionRows(ctx: AnyContext): RecordTable<SessionFields> {
  return ctx.records('sessionRecord')
}

/** The token that the browser sent; undefined: none. `cookie`: its form, where it is not the token itself. */
export function readSessionToken(ctx: Context, cookie: SessionCookie | undefined): Awaitable<string | undefined> {
  const value = ctx.chunkedCookie(ctx.cookies.sessionToken.name)
  return value === undefined || !cookie ? value : cookie.open(ctx, value)
}

/** The id of a session; the same for a token and for the form in which `hashSessionTokens` lists it. */
export async function sessionIdOf(sessionToken: string): Promise<string> {
  return /^sha256:[0-9a-f]{64}$/.test(sessionToken) ? sessionToken.slice('sha256:'.length) : toHex(await sha256(sessionToken))
}
