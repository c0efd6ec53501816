/** Sign-in for mobile and desktop apps: what it takes and gives. Types only. */
import type { Session } from 'authkernel'

/** Where an app keeps its tokens: the keychain, a file, `localStorage`. Values are secrets. */
export interface AppStorage {
  get(key: string): string | null | undefined | PromiseLike<string | null | undefined>
  set(key: string, value: string): unknown
  remove(key: string): unknown
}
/** Where an app keeps its key pair, which cannot be exported: IndexedDB keeps `CryptoKey` objects. */
export interface AppKeys {
  get(): CryptoKeyPair | null | undefined | PromiseLike<CryptoKeyPair | null | undefined>
  set(keys: CryptoKeyPair): unknown
}
/** Options of `createAppClient`. */
export interface AppClientOptions {
  /** Origin of the server: `https://app.example`. */
  server: string
  /** `id` of the app in bearerPlugin. */
  clientId: string
  /** Keeps the tokens between starts of the app. */
  storage: AppStorage
  /** Path of the routes; default `/auth`. */
  basePath?: string | undefined
  /** Where the browser leads back to; not needed for devices with a code. */
  redirectUri?: string | undefined
  /** Separated by blanks; default: all that the app may have. */
  scope?: string | undefined
  /** Further origins that `fetch` sends the token to; default: none. */
  resources?: readonly string[] | undefined
  /**
   * Binds the tokens to a key of this device (DPoP, RFC 9449), so that copied tokens are worth nothing. `true` keeps the key in memory: after a restart
   * the user signs in again. Default: bearer tokens.
   */
  dpop?: AppKeys | true | undefined
  /** Default: the global one. */
  fetch?: typeof fetch | undefined
}
/** A code that the user types on another device. */
export interface DeviceSignIn {
  userCode: string
  /** What to show, or to open. */
  verificationUri: string
  /** The same with the code: for a QR code. */
  verificationUriComplete: string
  /** Seconds. */
  expiresIn: number
  /** Waits until the user has answered. Throws AuthClientError with `error` `access_denied` or `expired_token`. */
  done(signal?: AbortSignal): Promise<void>
}
/** What an app can do. Each throws AuthClientError, with the `error` of RFC 6749 where the server told one. */
export interface AppClient {
  /** The URL to open in the browser of the device, never in a web view. */
  signIn(): Promise<string>
  /** Goes on with the URL that the browser led back to. */
  finish(url: string): Promise<void>
  /** For devices without a browser. Needs deviceFlowPlugin. */
  startDevice(): Promise<DeviceSignIn>
  /** A token that is valid for at least 30 seconds; null if the app is signed out. */
  accessToken(): Promise<string | null>
  /** The headers of one request with the token, for other HTTP libraries; empty when signed out. The same origins as for `fetch`. */
  headers(url: string, method?: string): Promise<Record<string, string>>
  /** With the token, for the server and for `resources`. A 401 is tried again once, with a fresh token. */
  fetch(url: string, init?: RequestInit): Promise<Response>
  /** The session, or null if the app is signed out. */
  getSession(): Promise<Session | null>
  /** Ends the session on the server and forgets the tokens, also when the server cannot be reached. */
  signOut(): Promise<void>
}
