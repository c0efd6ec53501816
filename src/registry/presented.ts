/** Credentials in the headers of a request: which there are, and what that means for its cookies. */
import { AuthError, HttpError } from '../errors/index.ts'
import { type CookieJar, PlainJar } from '../http/cookies.ts'
import type { Compiled } from './snapshot.ts'

/** What plugins find in the headers, each text once. */
export function presentedIn({ credentials }: Compiled, headers: Headers): readonly string[] {
  return [...new Set(credentials.map(({ read }) => read(headers)).filter((text) => text !== undefined))]
}

/** The jar of such a request: the token against cross-site requests is the only cookie that is read or written. */
export function jarWithout({ config }: Compiled, header: string | null): CookieJar {
  const name = config.cookies.csrfToken?.name
  return new PlainJar(header, (cookie) => cookie === name || cookie.endsWith('csrf-token'))
}

/** Throws HttpError 400 for two different credentials. */
export function assertOneCredential({ presented }: { readonly presented: readonly string[] }): void {
  if (presented.length > 1) throw badRequest('Two different credentials were sent. Send one, in one header.')
}

/** Throws HttpError 400: a credential in a header is the one of the request, so that it begins no session of a browser. */
export function assertNoCredential({ presented }: { readonly presented: readonly string[] }): void {
  if (presented.length > 0) throw badRequest('A request with an API key or an access token cannot sign in. Send it without the credential.')
}

function badRequest(what: string): HttpError {
  return new HttpError(400, what, {}, new AuthError(what))
}
