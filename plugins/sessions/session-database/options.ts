/** What must be known of the strategy before any request: options with their defaults, its cookie, what it needs and what it can do. */
import {
  type CookieHandle,
  createCookie,
  type ResolvedConfig,
  type SessionAbility,
  type SessionOptions,
  type Store,
} from 'authkernel/kernel'

/** Lifetimes in seconds; each defaults to the option of the same name in `session`. */
export interface DatabaseSessionOptions extends Pick<SessionOptions, 'maxAge' | 'updateAge' | 'absoluteMaxAge' | 'generateSessionToken'> {}
/** With the defaults in place. */
export type DatabaseOptions = { maxAge: number; updateAge: number } & Pick<SessionOptions, 'absoluteMaxAge' | 'generateSessionToken'>

export function resolveOptions({ session }: ResolvedConfig, options: DatabaseSessionOptions): DatabaseOptions {
  return {
    maxAge: options.maxAge ?? session.maxAge,
    updateAge: options.updateAge ?? session.updateAge,
    absoluteMaxAge: options.absoluteMaxAge ?? session.absoluteMaxAge,
    generateSessionToken: options.generateSessionToken ?? session.generateSessionToken,
  }
}

/** Where attributes are kept: in records, in a sealed cookie of the browser, or nowhere. */
export type Keeping = 'records' | 'cookie' | undefined

/** One object: two kernels of a host may share it. */
export const infoCookie: CookieHandle = /* @__PURE__ */ createCookie('session-info', { path: '/', chunked: true })

/** Operations of the adapter that the strategy needs. */
export const storeMethods = [
  'createUser',
  'getUser',
  'getUserByEmail',
  'getUserByAccount',
  'updateUser',
  'linkAccount',
  'createSession',
  'getSessionAndUser',
  'updateSession',
  'deleteSession',
] as const

/** What it can do, with an adapter that lists sessions or records in which they are found. */
export function abilitiesWith(keeping: Keeping, store: Store | undefined): ReadonlySet<SessionAbility> {
  const lists = store?.supports('listSessionsByUserId') === true
  const found = keeping === 'records'
  const all: [SessionAbility, boolean][] = [
    ['list', lists || found],
    ['revoke:id', lists || found],
    ['revoke:user', lists || store?.supports('deleteSessionsByUserId') === true],
    ['revoke:attribute', found],
    ['attributes', keeping !== undefined],
    ['kinds', true],
  ]
  return new Set(all.filter(([, can]) => can).map(([ability]) => ability))
}
