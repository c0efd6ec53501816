/** Cookies of plugins. Types only. */
import type { Context } from './context.ts'
import type { Awaitable, CookieOptions, JWT } from './data.ts'

/** A cookie of a plugin. Its name gets the prefixes of the cookies of authkernel. It is HttpOnly and SameSite=Lax, and Secure on https. */
export interface CookieSpec {
  /** `base`: the base path, and on https `/`, which `__Host-` demands; `root` (default): `/`; else a path below the origin. */
  path?: 'base' | 'root' | `/${string}`
  /**
   * What the name begins with on https. `host` (default): `__Host-`, so that only this host can set the cookie; `__Secure-` where the host's options give it
   * a domain or a path. `secure`: always `__Secure-`, for a name that another product has too.
   */
  prefix?: 'host' | 'secure'
  /** Default `lax`. */
  sameSite?: 'lax' | 'strict' | 'none'
  /** In as many parts as needed. */
  chunked?: boolean
  /** Seconds. */
  maxAge?: number | undefined
  /** Member of the option `cookies` with which a host changes name and attributes; default: the name. */
  key?: string
}
/** Reads and writes one cookie of a plugin. Made by `kernel.cookie`, or by `createCookie` and then registered with it. */
export interface CookieHandle {
  /** What it was declared with. */
  readonly spec: CookieSpec & { readonly name: string; readonly key: string }
  /** With its prefixes, for this request. */
  name(ctx: Context): string
  /** Its value; undefined for none. */
  get(ctx: Context): string | undefined
  /** `survivesFailure`: the value goes out although the request failed, for lists that lost a used entry. */
  set(ctx: Context, value: string, options?: CookieOptions & { survivesFailure?: boolean }): void
  /** Removes it and its chunks. */
  delete(ctx: Context): void
  /** Encrypts a value for this cookie; nothing else opens it. */
  seal(ctx: Context, payload: JWT, seconds: number): Awaitable<string>
  /** The value that the browser sent; null: absent, expired, altered or not for this cookie. */
  open<T extends object>(ctx: Context): Promise<(JWT & T) | null>
}

/** Things that a browser has under way, several at a time: one sealed list in a cookie. */
export interface PendingList<E extends object> {
  /** The cookie that holds the list. */
  readonly cookie: CookieHandle
  /** Adds one; the oldest give way when there are more than `max`, or when the cookie would be too long. */
  add(ctx: Context, id: string, entry: E): Promise<void>
  /** What is under way, newest first. */
  all(ctx: Context): Promise<readonly PendingEntry<E>[]>
  /** Uses one up, in the browser and on the server: null when it is not there, or was used before. */
  take(ctx: Context, id: string): Promise<PendingEntry<E> | null>
  /** Removes entries from the browser only. */
  drop(ctx: Context, ids: readonly string[]): Promise<void>
}
/** One entry of a pending list. */
export type PendingEntry<E> = E & {
  readonly id: string
  /** Seconds since the epoch. */
  readonly until: number
}
/** How a pending list is declared. */
export interface PendingSpec<E> {
  /** Seconds until an entry expires. */
  seconds: number
  /** Default 5. */
  max?: number
  /** Key, path and attributes of the cookie; `maxAge` defaults to `seconds`. */
  cookie?: CookieSpec
  /** An entry whose answer is a cross-site POST: the cookie then is SameSite=None and Secure. */
  crossSite?(entry: E): boolean
}
