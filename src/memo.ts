/** What one request works out at most once. Types only. */
import type { ParsedBody } from './body.ts'
import type { CookieSet } from './cookies.ts'
import type { Provider } from './flow.ts'

export interface Memo {
  origin?: string
  cookies?: CookieSet
  provider?: Promise<Provider>
  providers?: Promise<readonly Provider[]>
  body?: Promise<ParsedBody>
  candidate?: string | undefined
  callbackUrl?: Promise<string>
  csrfToken?: Promise<string>
  abort?: AbortController
}
