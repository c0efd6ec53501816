/** A process of the model: the strategy `jwt` and the feed as they are, a clock of its own, and cookies in plain text. */
import type { Context, RecordSpec, RecordStore, SessionSelector, StrategyWork } from 'authkernel/kernel'
import { declareRecord } from 'authkernel/kernel/stores'
import { createFeed } from '../../plugins/sessions/revocation-feed/feed.ts'
import { openRegion } from '../../plugins/sessions/revocation-feed/region-store.ts'
import { entryName, entryRecord, headName, headRecord } from '../../plugins/sessions/revocation-feed/tables.ts'
import { createStrategy } from '../../plugins/sessions/session-jwt/strategy.ts'

const shards = ['0', '1', '2', '3']
/** Seconds. */
const tokenAge = 60

export interface ProcessOptions {
  region: string
  /** Stores by region, as this process reaches them. */
  stores: ReadonlyMap<string, RecordStore>
  now: () => number
  /** The monotonic clock. */
  elapsed: () => number
  random: () => number
  staleness: number
  clockDifference: number
  whenStale: 'ask' | 'reject'
  trimEvery: number
}
export interface Process {
  signIn(user: string, sid: string): Promise<string>
  /** Whether the token is accepted; throws where the answer is 503. */
  read(token: string): Promise<boolean>
  signOut(token: string): Promise<void>
  revoke(which: SessionSelector): Promise<void>
}

/** The tables of a region. */
export function defineFeed(store: RecordStore): RecordStore {
  store.define([declareRecord(headName, headRecord as RecordSpec).stored, declareRecord(entryName, entryRecord as RecordSpec).stored])
  return store
}

export function startProcess({ region, stores, now, elapsed, random, staleness, trimEvery, ...rest }: ProcessOptions): Process {
  const bytes = (count: number): Uint8Array<ArrayBuffer> => Uint8Array.from({ length: count }, () => Math.floor(random() * 256))
  const runtime = { now, random: bytes, fetch }
  const feed = createFeed({
    options: { region, staleness, shards, ...rest },
    stores: new Map([...stores].map(([name, store]) => [name, openRegion(store, { runtime, deadline: 60_000, shards })])),
    runtime,
    elapsed,
    logger: { warn: () => {} },
    trimEvery,
  })
  const strategy: StrategyWork = createStrategy({
    maxAge: tokenAge,
    tokenAge,
    updateAge: tokenAge,
    absoluteMaxAge: undefined,
    staleness: undefined,
    revocable: true,
    revocations: {
      ...feed,
      entries: feed.entries,
      get complete() {
        return feed.complete
      },
      get freshUntil() {
        return feed.freshUntil
      },
      get renewAt() {
        return feed.renewAt
      },
    },
    lists: false,
    encode: ({ token, maxAge }) => JSON.stringify({ ...token, iat: Math.floor(now() / 1000), exp: now() / 1000 + (maxAge ?? 0) }),
    decode: ({ token }) => {
      const payload = JSON.parse(token ?? 'null') as { exp: number } | null
      return payload && payload.exp > now() / 1000 ? (payload as never) : null
    },
  })
  const contextOf = (cookie?: string): { ctx: Context; cookies: string[] } => {
    const cookies: string[] = []
    const ctx = {
      runtime,
      now: new Date(now()),
      settings: { namespace: '', secret: ['s'] },
      logger: { error: () => {}, warn: () => {}, debug: () => {} },
      cookies: { sessionToken: { name: 'token', options: {} } },
      canSetCookies: false,
      store: undefined,
      has: () => false,
      ask: (_name: string, message: { token: unknown }) => Promise.resolve(message.token),
      chunkedCookie: () => cookie,
      setChunkedCookie: (_name: string, value: string) => void cookies.push(value),
      deleteCookie: () => {},
    }
    // The members that the strategy uses.
    return { ctx: ctx as unknown as Context, cookies }
  }
  return {
    async signIn(user, sid) {
      const { ctx, cookies } = contextOf()
      const login = { user: { id: user, name: user, email: null, image: null }, account: {}, session: 'new' }
      const attributes = { provider: 'idp', sub: user, sid, authTime: 0, methods: {}, factors: 1, started: now() }
      await strategy.issue!(ctx, login as never, attributes as never)
      return cookies.at(-1)!
    },
    read: async (token) => (await strategy.read(contextOf(token).ctx)) !== null,
    signOut: async (token) => void (await strategy.end(contextOf(token).ctx)),
    revoke: async (which) => void (await strategy.revoke!(contextOf().ctx, which)),
  }
}

/** The id of the session of a token. */
export function sessionOf(token: string): string {
  return (JSON.parse(token) as { ses: { id: string } }).ses.id
}
