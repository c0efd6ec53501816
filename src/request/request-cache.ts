/** What one request works out at most once. */
import type { Facts } from '../contract/context.ts'
import type { CookieSet } from '../contract/data.ts'
import type { Provider } from '../contract/provider.ts'
import type { BodyReader } from './body-reader.ts'

export interface Cached {
  /** The URL of the request as it came; it is never changed. */
  sent: URL | undefined
  origin: string | undefined
  cookies: CookieSet | undefined
  /** Set together with `cookies`. */
  secure: boolean | undefined
  provider: Promise<Provider> | undefined
  providers: Promise<readonly Provider[]> | undefined
  facts: Facts | undefined
  body: BodyReader | undefined
  candidate: string | undefined
  callbackUrl: Promise<string> | undefined
  csrfToken: Promise<string> | undefined
  abort: AbortController | undefined
}

/** Copied by each context: with all fields from the beginning contexts have one shape, whatever they work out first. */
export const nothingYet: Readonly<Cached> = {
  sent: undefined,
  origin: undefined,
  cookies: undefined,
  secure: undefined,
  provider: undefined,
  providers: undefined,
  facts: undefined,
  body: undefined,
  candidate: undefined,
  callbackUrl: undefined,
  csrfToken: undefined,
  abort: undefined,
}
