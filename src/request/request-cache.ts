/** What one request works out at most once. Types only. */
import type { Facts } from '../contract/context.ts'
import type { CookieSet } from '../contract/data.ts'
import type { Provider } from '../contract/provider.ts'
import type { BodyReader } from './body-reader.ts'

export interface Cached {
  /** The URL of the request as it came: nobody changes it. */
  sent?: URL
  origin?: string
  cookies?: CookieSet
  /** Set together with `cookies`. */
  secure?: boolean
  provider?: Promise<Provider>
  providers?: Promise<readonly Provider[]>
  facts?: Facts
  body?: BodyReader
  candidate?: string | undefined
  callbackUrl?: Promise<string>
  csrfToken?: Promise<string>
  abort?: AbortController
}
