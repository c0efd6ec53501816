/** What a snapshot must know of the strategy before any request. */
import { type CookieHandle, createCookie, type SessionAbility, type Store } from 'authkernel/kernel'

/** Where attributes are: in records, in a sealed cookie of the browser, or nowhere. */
export type Keeping = 'records' | 'cookie' | undefined

/** Made once: two kernels of a host may share it. */
export const infoCookie: CookieHandle = /* @__PURE__ */ createCookie('session-info', { path: '/', chunked: true })

/** Operations of the adapter that the strategy needs. */
export const methods = [
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
