/**
 * The data shapes that travel between hosts, plugins and adapters.
 * `Session`, `User`, `Account`, `Profile` and `JWT` are interfaces so that hosts can augment them:
 * `declare module 'authkernel' { interface User { role?: string } }`.
 */

/** A value, or a promise of it. The kernel awaits only what is a promise. */
export type Awaitable<T> = T | PromiseLike<T>

/** Every field may be left out, or be undefined: what a host writes from its environment under `exactOptionalPropertyTypes`. */
export type Optional<T> = { [K in keyof T]?: T[K] | undefined }

/** Shape of a user by default: what a provider's `profile()` returns (row 345). */
export interface DefaultUser {
  /** Id in the store, or the id that the provider gave. */
  id?: string
  name?: string | null
  email?: string | null
  /** URL of a picture. */
  image?: string | null
}
/** The signed-in user. Add custom fields by declaration merging. */
export interface User extends DefaultUser {}

/** What `/session` answers by default; `expires` is an ISO 8601 date (row 344). */
export interface DefaultSession {
  /** Who is signed in. */
  user?: User
  /** When the session ends unless it is extended. */
  expires: string
}
/** The session that clients get. Add custom fields by declaration merging. */
export interface Session extends DefaultSession {}

/**
 * Fields of `Session` that plugins add, each with the name of its plugin: `interface PluginSessionFields { guest: 'guest' }`. The client of a server without
 * the plugin does not have the field, whatever else the program imports.
 */
export interface PluginSessionFields {}

/** Payload of a session token under the `jwt` strategy; `iat`, `exp` are in seconds (row 357). */
export interface DefaultJWT extends Record<string, unknown> {
  name?: string | null
  email?: string | null
  /** URL of a picture; `image` of the user. */
  picture?: string | null
  /** Id of the user. */
  sub?: string
  /** When the token was made. */
  iat?: number
  /** When the token ends. */
  exp?: number
  /** Random id of the token. */
  jti?: string
  /** Who acts as the user (RFC 8693 section 4.1). Absent: the user. */
  act?: { sub: string }
}
/** Augment it to type what the `jwt` callback adds. */
export interface JWT extends Record<string, unknown>, DefaultJWT {}

/** Postal address claim of OpenID Connect Core 5.1.1 (row 347). */
export interface ProfileAddress {
  country?: string | null
  formatted?: string | null
  locality?: string | null
  postal_code?: string | null
  region?: string | null
  street_address?: string | null
}

/** Claims about a user as a provider returned them: an open map (rows 338, 346). */
export interface Profile {
  [claim: string]: unknown
  id?: string | null
  sub?: string | null
  name?: string | null
  given_name?: string | null
  family_name?: string | null
  middle_name?: string | null
  nickname?: string | null
  preferred_username?: string | null
  profile?: string | null
  // Providers return strings, objects and arrays here; narrowing is the host's business.
  picture?: unknown
  website?: string | null
  email?: string | null
  email_verified?: boolean | null
  gender?: string | null
  birthdate?: string | null
  zoneinfo?: string | null
  locale?: string | null
  phone_number?: string | null
  updated_at?: string | number | Date | null
  address?: ProfileAddress | null
}

/** Look and name of the built-in pages. */
export interface Theme {
  /** Default `auto`: that of the browser. */
  colorScheme?: 'auto' | 'dark' | 'light' | undefined
  /** URL of an image on the origin of the app, or a `data:` URL. */
  logo?: string | undefined
  /** CSS hex colour. */
  brandColor?: string | undefined
  /** CSS hex colour of text on `brandColor`. */
  buttonText?: string | undefined
  /** Corners of inputs, buttons and cards in pixels, 0 to 24; default 10. */
  radius?: number | undefined
  /** CSS font families, for fonts that the device has: `Georgia, serif`. Pages load no font. Default: Inter and those of the system. */
  font?: string | undefined
  /** Factor of the room inside cards and rows, 0.6 to 1.6; default 1. */
  spacing?: number | undefined
  /** What differs in the dark scheme. Default: colours that follow from the light ones. */
  dark?: { brandColor?: string | undefined; buttonText?: string | undefined; logo?: string | undefined } | undefined
}

/** URLs of pages of your app; each replaces a built-in page (row 36). */
export interface PagesOptions {
  /** Failures that users can fix add `error` to the query, and wrong credentials a `code` too. */
  signIn: string
  /** Where users are asked whether to sign out. */
  signOut: string
  /** Gets the error code as the query parameter `error`. */
  error: string
  /** Shown after a mail with a sign-in link was sent. */
  verifyRequest: string
  /** Where a user lands after the first sign-in; no built-in page. */
  newUser: string
  /** Pages of plugins, by their names. */
  [page: string]: string
}

/** Attributes of a cookie, RFC 6265bis names. `maxAge` is in seconds. */
export interface CookieOptions {
  /** Seconds. Default: the cookie ends with the browser. */
  maxAge?: number | undefined
  /** A date instead of `maxAge`; browsers prefer `maxAge`. */
  expires?: Date | undefined
  /** Default: the host alone, without its subdomains. */
  domain?: string | undefined
  /** Paths that the cookie is sent to. */
  path?: string | undefined
  /** Hides the cookie from scripts. */
  httpOnly?: boolean | undefined
  /** Sends it over https only. */
  secure?: boolean | undefined
  /** Keeps it apart for each site that embeds the app (CHIPS). */
  partitioned?: boolean | undefined
  /** What Chromium deletes first where there are too many cookies. */
  priority?: 'low' | 'medium' | 'high' | undefined
  /** Whether requests that begin at another site have it; `true` is `strict`. */
  sameSite?: true | false | 'lax' | 'strict' | 'none' | undefined
  /** Replaces `encodeURIComponent` for the value. */
  encode?: ((value: string) => string) | undefined
}
/** One cookie of the library: its name and its attributes. */
export interface CookieOption {
  /** With its prefix, as the browser stores it. */
  name: string
  /** Merged with the default attributes. */
  options: CookieOptions
}
/** The seven cookies of the library. */
export interface CookiesOptions {
  /** The session; a long one is split into `.0`, `.1` and so on. */
  sessionToken: Optional<CookieOption>
  /** The address to go to after the sign-in. */
  callbackUrl: Optional<CookieOption>
  /** The half of the CSRF token that forms must repeat. */
  csrfToken: Optional<CookieOption>
  /** PKCE verifiers of flows that are under way at a provider, sealed. */
  pkceCodeVerifier: Optional<CookieOption>
  /** Flows that are under way at a provider, sealed. */
  state: Optional<CookieOption>
  /** Nonces of flows that are under way at a provider, sealed. */
  nonce: Optional<CookieOption>
  /** Challenges of passkey ceremonies that are under way, sealed. */
  webauthnChallenge: Optional<CookieOption>
}

/** Keys of the library's cookies. */
export type CookieKey = keyof CookiesOptions
/** Names and attributes of all cookies, for http or for https. */
export type CookieSet = Readonly<Record<CookieKey, CookieOption>>

/** Where the kernel writes: replace any level, the others keep the console (row 42). */
export interface LoggerInstance {
  error: (error: Error) => void
  /** `details` say what happened, where there is more to say than the code. */
  warn: (code: WarningCode, details?: unknown) => void
  debug: (message: string, metadata?: unknown) => void
}
/** Codes given to `logger.warn`; the first five are those of Auth.js (row 343). */
export type WarningCode =
  | 'debug-enabled'
  | 'csrf-disabled'
  | 'env-url-basepath-redundant'
  | 'env-url-basepath-mismatch'
  | 'experimental-webauthn'
  | 'demo-account'
  | 'store-fault-healed'
  | 'trust-host-unlisted'
  | 'store-not-checked'
  | (string & {})
